"""A judge's answers are kept by all that its function depends on: what changed is asked again, in
the same process and in a new one.
"""

import functools
import os
import subprocess
import sys
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import idealrank as ir
from idealrank.errors import IdealrankWarning
from idealrank.live.judges.function_identity import FunctionIdentity

Judge = Callable[[str, str], Any]
GRADE = "def grade(query, document):\n    return "


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    Path("pairs.csv").write_text("query,document\nq1,d1\n")
    return tmp_path


def graded(function: "Judge | str", **more: str) -> tuple[float, int]:
    """The grade of the only pair, and how many requests were sent."""
    section = {"kind": "function", "function": function, "takes": "ids", "name": "grade", **more}
    found = ir.judge({"judge": section, "pairs": "pairs.csv", "scale": [0, 1], "output": "a.qrels"})
    return found.grades["q1", "d1"], found.asked


@pytest.mark.spread(1)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"judge.py": f"V = 1\n{GRADE}V\n"}, {"judge.py": f"V = 0\n{GRADE}V\n"}),
        (
            {"judge.py": f"def help(): return 1\n{GRADE}help()\n"},
            {"judge.py": f"def help(): return 0\n{GRADE}help()\n"},
        ),
        (
            {"judge.py": f"from near import V\n{GRADE}V\n", "near.py": "V = 1\n"},
            {"near.py": "V = 0\n"},
        ),
        (
            {"judge.py": f"import deep.near\n{GRADE}deep.near.V\n", "deep/near.py": "V = 1\n"},
            {"deep/near.py": "V = 0\n"},
        ),
        (
            {"judge.py": "grade, other = lambda q, d: 1, lambda q, d: 0\n"},
            {"judge.py": "other, grade = lambda q, d: 1, lambda q, d: 0\n"},
        ),
    ],
    ids=["constant", "helper", "import", "package", "lambda"],
)
def test_a_change_anywhere_in_the_files_of_a_function_is_asked_again(
    folder: Path, before: dict[str, str], after: dict[str, str]
) -> None:
    command = [sys.executable, "-m", "idealrank", "judge", "run", "judge.json", "-o", "a.qrels"]
    section = '{"kind": "function", "function": "judge.py:grade", "takes": "ids"}'
    Path("judge.json").write_text(f'{{"judge": {section}, "pairs": "pairs.csv", "scale": [0, 1]}}')
    Path("deep").mkdir()
    for number, (files, grade) in enumerate(((before, 1), (before, 1), (after, 0))):
        for name, text in files.items():
            Path(name).write_text(text)
            if name != "judge.py":  # Python finds compiled modules by the second of the change
                os.utime(name, (number, number))
        subprocess.run(command, check=True, capture_output=True)
        assert ir.read_qrels("a.qrels")["q1"] == {"d1": grade}
    journal = Path("a.qrels.cache.jsonl").read_text().splitlines()
    assert len(journal) == 3, "a header, and two answers: the second run asked nothing"


@pytest.mark.spread(1)
@pytest.mark.parametrize("how", ["", "-"])
def test_a_script_is_asked_again_after_a_change_and_not_otherwise(folder: Path, how: str) -> None:
    script = (
        "import sys, idealrank as ir\nV = {}\ndef grade(q, d): return V\n"
        "section = dict(kind='function', function=grade, takes='ids')\n"
        "found = ir.judge(dict(judge=section, pairs='pairs.csv', scale=[0, 1], output='a.qrels'))\n"
        "print(found.grades['q1', 'd1'], found.asked)\n"
    )
    for value, said in ((1, "1.0 1"), (1, "1.0 0"), (0, "0.0 1"), (1, "1.0 0")):
        Path("script.py").write_text(script.format(value))
        command = [sys.executable, how or "script.py"]
        found = subprocess.run(
            command,
            input=script.format(value) if how else "",
            check=True,
            capture_output=True,
            text=True,
        )
        assert (found.stdout.strip(), found.stderr) == (said, "")


def made(value: object) -> Judge:
    def grade(query: str, document: str) -> object:
        return value

    return grade


class Constant:
    def __init__(self, value: int) -> None:
        self.value = value

    def __call__(self, query: str, document: str) -> int:
        return self.value

    def grade(self, query: str, document: str) -> int:
        return self.value


def constant(query: str, document: str, value: int = 0, *, also: int = 0) -> int:
    return max(value, also)


# fmt: off
one_line, other_on_it = lambda query, document: 1, lambda query, document: 0
# fmt: on


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (made(1), made(0)),
        (one_line, other_on_it),
        (Constant(1), Constant(0)),
        (Constant(1).grade, Constant(0).grade),
        (functools.partial(constant, value=1), functools.partial(constant, value=0)),
        (functools.lru_cache(made(1)), functools.lru_cache(made(0))),
    ],
    ids=["closure", "lambdas", "object", "method", "partial", "wrapper"],
)
def test_functions_that_hold_other_values_do_not_share_answers(
    folder: Path, first: Judge, second: Judge
) -> None:
    assert [graded(first), graded(first), graded(second), graded(first)] == [
        (1, 1),
        (1, 0),
        (0, 1),
        (1, 0),
    ]


def test_values_that_no_digest_holds_are_asked_each_time_and_a_note_says_so(folder: Path) -> None:
    model = array("i", [0])

    def grade(query: str, document: str) -> int:
        return int(model[0])

    for value in (1, 0):
        model[0] = value
        with pytest.warns(
            IdealrankWarning,
            match=r"grade: its answers are not kept for the next run, as it uses an array.*version",
        ):
            assert graded(grade) == (value, 1)
    assert not Path("a.qrels.cache.jsonl").exists()
    assert [graded(grade, version="1"), graded(grade, version="1")] == [(0, 1), (0, 0)]


def test_a_changed_global_value_of_this_process_is_asked_again(folder: Path) -> None:
    scope: dict[str, Any] = {"V": 1}
    exec(compile(f"{GRADE}helper()\ndef helper(): return V\n", "<cell>", "exec"), scope)
    assert graded(scope["grade"]) == (1, 1)
    scope["V"] = 0
    assert graded(scope["grade"]) == (0, 1)


def test_two_values_that_are_one_object_differ_from_two_others() -> None:
    one, other = [1], [1]
    assert FunctionIdentity.of(made((one, other, one))) != FunctionIdentity.of(
        made((one, other, other))
    )


@pytest.mark.spread(1)
@pytest.mark.parametrize("inside", [False, True], ids=["at the top", "in the function"])
def test_a_file_imports_the_modules_beside_it(folder: Path, inside: bool) -> None:
    """In the command, whose path does not have the folder, and again in one process after a
    change.
    """
    script = (
        "import near\ndef grade(q, d): return near.V\n"
        if not inside
        else "def grade(q, d):\n    import near\n    return near.V\n"
    )
    for name, value in (("one", 1), ("other", 0)):
        Path(name).mkdir()
        Path(name, "near.py").write_text(f"V = {value}\n")
        Path(name, "judge.py").write_text(script)
        section = f'{{"kind": "function", "function": "{name}/judge.py:grade", "takes": "ids"}}'
        Path("judge.json").write_text(
            f'{{"judge": {section}, "pairs": "pairs.csv", "scale": [0, 1]}}'
        )
        subprocess.run(
            [
                sys.executable,
                "-m",
                "idealrank",
                "judge",
                "run",
                "judge.json",
                "-o",
                f"{name}.qrels",
            ],
            check=True,
        )
        assert ir.read_qrels(f"{name}.qrels")["q1"] == {"d1": value}
    if not inside:
        assert [
            graded("one/judge.py:grade"),
            graded("other/judge.py:grade"),
            graded("one/judge.py:grade"),
        ] == [(1, 1), (0, 1), (1, 0)]
        Path("one/near.py").write_text("V =  0\n")
        assert graded("one/judge.py:grade") == (0, 1)


def test_a_file_beside_the_function_hides_no_package(folder: Path) -> None:
    Path("keyword.py").write_text("raise ImportError('of the user')\n")
    Path("judge.py").write_text(
        "import collections, keyword\ndef grade(q, d): return keyword.iskeyword('if')\n"
    )
    assert graded("judge.py:grade") == (1, 1)
