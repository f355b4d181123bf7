"""A warning points at the line of the caller's own file."""

import warnings
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

import pytest

import idealrank as ir
from idealrank import clicks, errors

QRELS = {"q1": {"a": 1, "b": 2}}
SWAPPED = ({"q1": ["a", "b", "c"]}, {"q1": {"a": 2, "b": 0, "c": 0}})


def _interactions(folder: Path) -> Path:
    path = folder / "clicks.csv"
    path.write_text("user,item\nq1,a\n", encoding="utf-8")
    return path


def _sessions() -> clicks.Sessions:
    return clicks.Sessions.from_arrays(
        ["q"] * 4,
        [["a", "b"], ["a", "b"], ["b", "a"], ["b", "a"]],
        [[1, 0], [1, 1], [1, 0], [0, 0]],
    )


CALLS: dict[str, Callable[[Path], object]] = {
    "read_qrels": lambda folder: ir.read_qrels(_interactions(folder)),
    "evaluate": lambda _: ir.evaluate({"q1": {"a": 0.5}}, {"q1": ["a"]}, "AP"),
    "evaluate of files": lambda folder: ir.evaluate(_interactions(folder), {"q1": ["a"]}, "AP"),
    "evaluate of other ids": lambda _: ir.evaluate(QRELS, {"q1": ["x", "y"]}, "AP"),
    "evaluate of swapped tables": lambda _: ir.evaluate(*SWAPPED, "nDCG"),
    "compare": lambda folder: ir.compare(
        _interactions(folder), {"q1": ["a"]}, {"q1": ["b"]}, measures="AP"
    ),
    "overlap": lambda _: ir.overlap({"q1": ["a"]}, {"q1": ["b"]}),
    "overlap_matrix": lambda _: ir.overlap_matrix([{"q1": ["a"]}, {"q1": ["b"]}]),
    "clicks.grades": lambda _: clicks.grades(_sessions(), least=1),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_warning_shows_the_line_of_the_caller(name: str, tmp_path: Path) -> None:
    with warnings.catch_warnings(record=True, action="always") as caught:
        CALLS[name](tmp_path)

    ours = [one for one in caught if issubclass(one.category, ir.IdealrankWarning)]
    assert ours
    line = CALLS[name].__code__.co_firstlineno
    assert {(one.filename, one.lineno) for one in ours} == {(__file__, line)}


def test_a_frame_of_pythons_library_in_between_is_passed_over() -> None:
    scope: dict[str, object] = {
        "__name__": "idealrank.example",
        "warn": errors.warn,
        "contextmanager": contextmanager,
    }
    # as a module of the package
    exec("@contextmanager\ndef opened():\n    warn('one')\n    yield\n", scope)

    with warnings.catch_warnings(record=True, action="always") as caught, scope["opened"]():  # type: ignore[operator]
        pass

    assert [one.filename for one in caught] == [__file__]


def test_a_warning_is_told_once_a_line_of_the_caller() -> None:
    with warnings.catch_warnings(record=True, action="default") as caught:
        for _ in range(3):
            errors.warn("said")
        errors.warn("said")

    assert len(caught) == 2


def test_only_one_function_warns() -> None:
    source = Path(ir.__file__).parent
    warning = [
        path.name
        for path in source.rglob("*.py")
        if "warnings.warn" in path.read_text(encoding="utf-8")
    ]

    assert warning == ["errors.py"]
