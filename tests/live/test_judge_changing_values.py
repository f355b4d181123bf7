"""Functions that change what they use while they judge: the next call asks everything again, and a
warning says so.
"""

import functools
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import idealrank as ir
from idealrank.errors import BackendError, IdealrankWarning
from tests.live.test_judge_runs import config, folder

__all__ = ["folder"]
MEMO: dict[str, int] = {}


def by_memo(query: str, document: str) -> int:
    return MEMO.setdefault(document, 1)


def given(function: Callable[..., Any], **more: Any) -> dict[str, Any]:
    return {
        **config("", **more),
        "judge": {"kind": "function", "function": function, "takes": "ids"},
    }


def test_a_global_value_that_is_filled_is_named(folder: Path) -> None:
    MEMO.clear()
    with pytest.warns(
        IdealrankWarning,
        match="by_memo: 'MEMO' changed while it judged, so the next call in this process asks "
        "everything",
    ):
        assert ir.judge(given(by_memo)).asked == 12
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ir.judge(given(by_memo)).asked == 12, "as the warning says"
        assert ir.judge(given(by_memo)).asked == 0


def test_a_counter_of_a_run_that_fails_is_named(folder: Path) -> None:
    count = 0

    def grade(query: str, document: str) -> int:
        nonlocal count
        count += 1
        raise ValueError("no memory")

    with (
        pytest.warns(IdealrankWarning, match="grade: 'count' changed"),
        pytest.raises(BackendError),
    ):
        ir.judge(given(grade))


def test_an_object_that_counts_is_told_without_a_name(folder: Path) -> None:
    class Grader:
        calls = 0

        def __call__(self, query: str, document: str) -> int:
            self.calls += 1
            return 1

    with pytest.warns(IdealrankWarning, match="Grader: a value that it uses changed"):
        ir.judge(given(Grader()))


def test_results_that_functools_keeps_change_nothing(folder: Path) -> None:
    @functools.cache
    def grade(query: str, document: str) -> int:
        return 1

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [ir.judge(given(grade)).asked for _ in range(2)] == [12, 0]


def test_a_function_that_is_named_by_its_file_may_fill_what_it_likes(folder: Path) -> None:
    Path("filling.py").write_text(
        "MEMO = {}\n\ndef grade(query, document):\n    return MEMO.setdefault(document, 1)\n"
    )
    named = config("") | {
        "judge": {"kind": "function", "function": "filling.py:grade", "takes": "ids"}
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [ir.judge(named).asked for _ in range(2)] == [12, 0]
