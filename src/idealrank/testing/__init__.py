"""Hypothesis strategies for judgments, runs, lists, measures and conventions, and the checks that
every measure and backend must pass.

For tests of measures and search backends of one's own and of this library. Hypothesis, of the extra
``testing``, is imported when a strategy is made; `check_measure` and `check_backend` do without it.
Scores tie often, near-ties differ beyond float32, and both zeros occur, for that is where rankings
go wrong.
"""

from idealrank.conventions import PRESETS
from idealrank.testing.backend_checks import check_backend, faults_of_backend
from idealrank.testing.property_checks import check_measure, faults_of
from idealrank.testing.strategies import (
    Grades,
    GroupedLevels,
    Scores,
    assessors,
    conventions,
    judgments,
    lists,
    measures,
    missing_facts,
    preferences,
    runs,
)

__all__ = [
    "PRESETS",
    "Grades",
    "GroupedLevels",
    "Scores",
    "assessors",
    "check_backend",
    "check_measure",
    "conventions",
    "faults_of",
    "faults_of_backend",
    "judgments",
    "lists",
    "measures",
    "missing_facts",
    "preferences",
    "runs",
]
