"""Identity of a function by the values that it holds and reads, and the note about a value that
cannot be described.
"""

import argparse
import ast
import cProfile
import dataclasses
import json
import subprocess
import sys
import threading
import tracemalloc
import uuid
import xmlrpc.client
from array import array
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from idealrank.live.judges.function_identity import FunctionIdentity, _digests, _statements

HEAD = (
    "import sys, argparse, dataclasses, functools, logging, threading, idealrank as ir\nnumber = "
    "int(sys.argv[1])\n"
)
JUDGE = "class Judge:\n    t = 0\n    def __init__(self, t): self.t = t\n"
ASK = (
    "section = dict(kind='function', function=g, takes='ids')\n"
    "found = ir.judge(dict(judge=section, pairs='pairs.csv', scale=[0, 1, 2], output='a.qrels'))\n"
    "print(found.grades['q1', 'd1'], found.asked)\n"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("pairs.csv").write_text("query,document\nq1,d1\n")
    return tmp_path


def identity(value: Any) -> FunctionIdentity:
    return FunctionIdentity.of(lambda query, document: value)


def said(script: str, *arguments: str) -> str:
    Path("script.py").write_text(script)
    return subprocess.run(
        [sys.executable, "script.py", *arguments], check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.mark.spread(2)
@pytest.mark.spread(1)
@pytest.mark.parametrize(
    "held",
    [
        JUDGE + "held = Judge(number)\ndef g(q, d): return held.t\n",
        JUDGE + "held = {'x': [Judge(number)]}\ndef g(q, d): return held['x'][0].t\n",
        JUDGE + "Judge.t = number\ndef g(q, d): return Judge.t\n",
        JUDGE + "held = Judge(number)\nheld.lock = threading.Lock()\ndef g(q, d): return held.t\n",
        "held = argparse.Namespace(t=number)\ndef g(q, d): return held.t\n",
        "@dataclasses.dataclass(frozen=True)\nclass Held:\n    t: int\nheld = Held(number)\n"
        "def g(q, d): return held.t\n",
        "class g:\n    def __init__(self, f, t): functools.update_wrapper(self, f); self.t = t\n"
        "    def __call__(self, q, d): return self.t\ng = g(lambda q, d: 1, number)\n",
    ],
    ids=[
        "object",
        "in a mapping",
        "attribute of a class",
        "with a lock",
        "namespace",
        "dataclass",
        "wrapper",
    ],
)
def test_an_object_that_a_script_makes_of_its_arguments_is_asked_again(
    folder: Path, held: str
) -> None:
    found = [said(HEAD + held + ASK, number) for number in ("1", "2", "2", "1")]
    assert found == ["1.0 1", "2.0 1", "2.0 0", "1.0 0"]


def test_loggers_locks_and_clients_that_a_file_makes_keep_the_answers(folder: Path) -> None:
    script = (
        "logger, lock, client = logging.getLogger('a'), threading.RLock(), "
        "logging.StreamHandler()\n"
        "logger.warning(number)\nclient.now = number\n"
        "def g(q, d): return 0 * len([logger, lock, client])\n"
    )
    assert [said(HEAD + script + ASK, number) for number in ("1", "2")] == ["0.0 1", "0.0 0"]


@pytest.mark.spread(1)
@pytest.mark.parametrize(
    "how",
    [
        "import helpc\ndef grade(q, d): return helpc.f()\n",
        "from helpc import f\ndef grade(q, d): return f()\n",
    ],
)
def test_a_helper_in_memory_is_told_from_its_changed_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Else answers of the old code are kept for the new one."""
    Path("modc.py").write_text(how)
    Path("helpc.py").write_text("def f(): return 0\n")
    script = (
        "import sys; from pathlib import Path; sys.path.append('')\nimport modc\n"
        "from idealrank.live.judges.function_identity import FunctionIdentity\n"
        "if sys.argv[1:]: Path('helpc.py').write_text('def f(): return 3 # new\\n')\n"
        "print(FunctionIdentity.of(modc.grade, 'modc:grade').digest)\n"
    )
    old, between, new, again = said(script), said(script, "edit"), said(script), said(script)
    assert len({old, between, new}) == 3
    assert new == again


def test_a_module_on_the_path_counts_for_a_function_of_a_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("src", "judges"):
        Path(name).mkdir()
    Path("judges/judge.py").write_text("from on_path import f\ndef grade(q, d): return f()\n")
    monkeypatch.setattr(sys, "path", ["x" * 5000, "src", *sys.path])  # the first one cannot be read
    digests = set()
    for value in ("0", "3"):
        Path("src/on_path.py").write_text(f"def f(): return {value}\n")
        digests.add(FunctionIdentity.of(print, "judges/judge.py:grade").digest)
    assert len(digests) == 2


def test_an_installed_package_counts_for_no_function_but_its_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In an environment below the folder of the function, where most have theirs."""
    installed = Path(".venv/site-packages")
    for place in ("grading", "grading/deep", "client"):
        (installed / place).mkdir(parents=True)
        (installed / place / "__init__.py").write_text("")
    Path("judge.py").write_text("import client\ndef grade(q, d): return 1\n")
    (installed / "grading/__init__.py").write_text(
        "import client\ndef f():\n    with open('x'):\n        from grading.deep import g\n"
        "def grade(q, d): return 1\n"
    )
    monkeypatch.syspath_prepend(str(installed.resolve()))
    import_module("grading")

    def identities() -> list[FunctionIdentity]:
        return [FunctionIdentity.of(print, place) for place in ("judge.py:grade", "grading:grade")]

    first = identities()
    (installed / "client/__init__.py").write_text("new = 1")
    assert identities() == first
    (installed / "grading/deep/__init__.py").write_text("new = 1")
    assert [one == other for one, other in zip(identities(), first, strict=True)] == [True, False]


def test_only_the_files_of_a_package_are_read_for_its_function() -> None:
    names = ("__init__", "decoder", "encoder", "scanner")
    assert set(_digests([Path(json.__file__)])) == {f"{name}.py" for name in names}


def test_the_statements_of_a_file_have_all_its_imports() -> None:
    for file in (ast, json, dataclasses, subprocess):
        tree = ast.parse(Path(str(file.__file__)).read_bytes())
        kinds = (ast.Import, ast.ImportFrom)
        assert {id(node) for node in _statements(tree) if isinstance(node, kinds)} == {
            id(node) for node in ast.walk(tree) if isinstance(node, kinds)
        }


class Failing:
    @property
    def __wrapped__(self) -> object:
        raise ValueError

    def __call__(self, query: str, document: str) -> int:
        return 1


def nested(depth: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(depth):
        found = [found]
    return found


def test_no_value_makes_the_identity_fail() -> None:
    assert identity(10**5000) != identity(10**5000 + 1)
    assert identity(xmlrpc.client.ServerProxy("http://localhost:1")).digest
    assert identity(nested(2000)).unknown == "a list"
    assert FunctionIdentity.of(nested(2000).append).unknown == "a list"
    assert FunctionIdentity.of(Failing()).unknown == ""

    class Kind(type):
        __hash__ = None  # type: ignore[assignment]

    class Odd(metaclass=Kind):
        def __call__(self, query: str, document: str) -> int:
            return 1

    assert identity(Odd()).unknown == "an Odd"
    assert FunctionIdentity.of(Odd()).unknown == "an Odd"


def test_a_value_nested_too_deep_has_the_same_identity_from_everywhere() -> None:
    def deeper(levels: int) -> FunctionIdentity:
        return deeper(levels - 1) if levels else identity(nested(2000))

    assert deeper(0) == deeper(100)


def test_objects_of_packages_are_known_only_if_all_their_parts_are() -> None:
    class Held:
        def __init__(self) -> None:
            self.lock = threading.Lock()

    assert identity(Held()).unknown == "a lock"
    assert identity(threading.Event()).unknown == "an Event"
    assert (
        identity(argparse.Namespace(a=1))
        == identity(argparse.Namespace(a=1))
        != identity(argparse.Namespace(a=2))
    )


class Slotted:
    __slots__ = ("__t", "_t", "u")

    def __init__(self, t: object, mangled: object = 0) -> None:
        self._t, self.__t = t, mangled


class Extended(Slotted):
    """A slot of the same name hides that of the base; other attributes are in the dictionary."""

    __slots__ = ("__dict__", "_t")

    def __init__(self, t: object, base: object) -> None:
        super().__init__(base)
        Slotted._t.__set__(self, base)  # type: ignore[attr-defined]
        self._t = t


class Compiled(bytearray):
    __slots__ = ("t",)


@dataclass(frozen=True, slots=True)
class Spot:
    one: object


def test_slots_count_by_value_as_attributes_do() -> None:
    for first, second in (
        (Slotted(1), Slotted(2)),
        (Slotted(1), Slotted(1, 1)),
        (Extended(1, 1), Extended(1, 2)),
        (Extended(1, 1), Extended(2, 1)),
        (Spot(Decimal(1)), Spot(Decimal(2))),
        (Spot(1), Spot("1")),
    ):
        assert identity(first).unknown == identity(second).unknown == ""
        assert identity(first) != identity(second)
    given, same = Extended(1, 2), Extended(1, 2)
    assert identity(given) == identity(same)
    given.more = 1  # type: ignore[attr-defined]
    assert identity(given) != identity(same)
    assert identity(Spot(threading.Lock())).unknown == "a lock"
    assert [identity(one).unknown for one in (Compiled(), object(), array("i"))] == [
        "a Compiled",
        "an object",
        "an array",
    ]


@dataclass(frozen=True)
class Pair:
    one: object


SUMMER, WINTER = (
    datetime(2026, 7, 1, tzinfo=ZoneInfo("Europe/Berlin")),
    datetime(2026, 7, 1, tzinfo=ZoneInfo("Europe/Paris")),
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Decimal(1), Decimal("1.0")),
        (Fraction(1, 2), Fraction(1, 3)),
        (date(2026, 1, 1), date(2026, 1, 2)),
        (SUMMER, WINTER),
        (datetime(2026, 1, 1), datetime(2026, 1, 1, tzinfo=UTC)),
        (timedelta(1), timedelta(2)),
        (timezone(timedelta(hours=1)), UTC),
        (uuid.UUID(int=1), uuid.UUID(int=2)),
        (range(2), range(3)),
        (slice(1), slice(2)),
        (1, True),
        (1, "0x1"),
        (0.0, -0.0),
        (SimpleNamespace(a=1), SimpleNamespace(a=2)),
        (Pair(Decimal(1)), Pair(Decimal(2))),
    ],
)
def test_plain_values_of_python_have_a_description(one: object, other: object) -> None:
    assert identity(one).unknown == identity(other).unknown == ""
    assert identity(one) != identity(other)
    assert identity([one]) == identity([one])


def test_large_data_are_described_in_few_steps_and_little_memory() -> None:
    texts = {f"d{number}": f"text {number}" for number in range(10_000)}
    profile = cProfile.Profile()
    profile.runcall(identity, texts)
    steps = sum(one.callcount for one in profile.getstats())
    peaks = []
    for size in (10, 10_000):
        some = dict(list(texts.items())[:size])
        tracemalloc.start()
        identity(some)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert steps < 15 * len(texts), (
        "10 for each entry; more if each value asks for the table of kinds"
    )
    assert peaks[1] - peaks[0] < 1e6, "the descriptions are not kept: 5 million bytes"
