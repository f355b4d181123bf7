"""Systems that were trained several times: copies of other seeds, or folds."""

from idealrank.analysis.systems.seeds import compare_systems
from idealrank.analysis.systems.system_differences import SystemComparison, SystemDifference

__all__ = [
    "SystemComparison",
    "SystemDifference",
    "compare_systems",
]
