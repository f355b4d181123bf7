"""SciPy's functions are SciPy's, and are loaded with the first call."""

import subprocess
import sys
from pathlib import Path

import scipy.special

from idealrank.stats import special

NAMES = [
    name
    for name, value in vars(special).items()
    if callable(value) and value.__module__ == special.__name__ and not name.startswith("_")
]


def test_each_function_is_that_of_scipy() -> None:
    functions = [name for name in NAMES if name != "load_special"]
    assert len(functions) > 9
    for name in functions:
        wanted = getattr(scipy.special, name)
        numbers = (0.3, 0.4, 0.6)[: wanted.nin]
        if name.startswith("bdtr"):
            numbers = (2.0, 5, 0.4)
        assert getattr(special, name)(*numbers) == wanted(*numbers)


def test_a_comparison_begins_without_scipy_and_loads_it_once_it_is_wanted() -> None:
    script = (
        "import sys, idealrank.cli.commands.compare; before = 'scipy' in sys.modules; "
        "from idealrank.stats.special import load_special, ndtr; load_special(); "
        "print(before, float(ndtr(0.0)), 'scipy.special' in sys.modules)"
    )
    printed = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    ).stdout
    assert printed == "False 0.5 True\n"


def test_a_comparison_of_two_runs_loads_nothing_that_only_others_need(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q 0 d 1\n", encoding="utf-8")
    for name in ("a.run", "b.run"):
        (tmp_path / name).write_text("q Q0 d 1 1.0 a\n", encoding="utf-8")
    script = (
        "import sys; from idealrank.cli.main import run; code = run(['compare', 'qrels', "
        "'a.run', 'b.run']); "
        "print(code, [name for name in sys.modules if name.startswith('idealrank.') "
        "and name.split('.')[-1] in ('slice_differences', "
        "'compact_letters', 'margins', 'precision')])"
    )
    printed = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True, cwd=tmp_path
    ).stdout
    assert printed.splitlines()[-1] == "0 []"
