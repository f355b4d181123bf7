"""Processor time of the tests by file and folder, including the processes that they start.

With ``--budget`` a run prints the slowest files, and fails if a folder takes longer than
budget.toml allows. The same tests take twice as long on a slow or busy processor, so a second of
the budget is not a second of the clock. It is the time in which a reference processor does a fixed
piece of work 73 times; a run times this piece again and again between its tests.

The reference was not measured. `_PIECE` was set so that a run that took 193 seconds on two cores,
less the tests that have left it since, takes 300 of the 360 seconds.
"""

import resource
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
_SHOWN = 25
_BROWSER = "tests/web"  # left out of the sum, since many machines have no browser
_EVERY = 100  # tests
_PIECE = 0.0137  # seconds that the piece of work takes on the processor of the budget
_SPENT = pytest.StashKey[Counter[str]]()
_PACES = pytest.StashKey[list[float]]()
_NUMBER = pytest.StashKey[int]()
_CLOSED = pytest.StashKey[float]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--budget", action="store_true", help="print and hold the processor time of the tests"
    )


def spent() -> float:
    """Processor time of this process and of all that it has waited for."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    used = [resource.getrusage(kind) for kind in kinds]
    return sum(one.ru_utime + one.ru_stime for one in used)


def pace() -> float:
    """Seconds of this processor for a second of the budget, just now."""
    start = time.process_time()
    table = {str(number): number * number for number in range(60_000)}
    sum(len(key) + value % 7 for key, value in table.items())
    return (time.process_time() - start) / _PIECE


def over_budget(seconds: Mapping[str, float], budget: Mapping[str, float]) -> list[str]:
    """Return a line for each folder that exceeds its budget or has none."""
    found = []
    for folder, taken in sorted(seconds.items()):
        if folder not in budget:
            found.append(f"{folder}: found {taken:.0f} s, expected a row in budget.toml")
        elif taken > budget[folder]:
            found.append(f"{folder}: found {taken:.0f} s, expected at most {budget[folder]:.0f}")
    return found


def by_folder(seconds: Mapping[str, float]) -> Counter[str]:
    """Sum the seconds of files by the folder of tests/ that they are in."""
    total: Counter[str] = Counter()
    for file, taken in seconds.items():
        parts = file.split("/")
        total["/".join(parts[:2]) if len(parts) > 2 else parts[0]] += taken
    return total


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    start = spent()
    result = yield
    file = item.nodeid.partition("::")[0]
    stash = item.config.stash
    stash.setdefault(_SPENT, Counter())[file] += item.stash.get(_CLOSED, spent()) - start
    stash[_NUMBER] = stash.get(_NUMBER, 0) + 1
    if stash[_NUMBER] % _EVERY == 1 and item.config.getoption("budget"):
        stash.setdefault(_PACES, []).append(pace())
    return result


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """The last test closes what all tests of the process shared. A browser's whole time counts
    there, at a test that has nothing to do with it, so it counts nowhere.
    """
    if nextitem is None:
        item.stash[_CLOSED] = spent()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand the seconds of a worker on; where all are together, fail above the budget."""
    config = session.config
    output: dict[str, Any] | None = getattr(config, "workeroutput", None)
    if output is not None:
        output["spent"] = dict(config.stash.setdefault(_SPENT, Counter()))
        output["paces"] = config.stash.setdefault(_PACES, [])
    elif config.getoption("budget") and _over(config) and session.exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    output = getattr(node, "workeroutput", {})  # a worker that crashed has none
    node.config.stash.setdefault(_SPENT, Counter()).update(output.get("spent", {}))
    node.config.stash.setdefault(_PACES, []).extend(output.get("paces", []))


def _seconds(config: pytest.Config) -> tuple[float, Counter[str]]:
    """Return the seconds here that make one of the budget, and the budget's seconds by file."""
    factor = median(config.stash.setdefault(_PACES, []) or [1.0])
    files = config.stash.setdefault(_SPENT, Counter())
    return factor, Counter({file: taken / factor for file, taken in files.items()})


def _over(config: pytest.Config) -> list[str]:
    _, files = _seconds(config)
    budget = tomllib.loads((ROOT / "budget.toml").read_text("utf-8"))["seconds"]
    folders = by_folder(files)
    everywhere = sum(taken for name, taken in folders.items() if name != _BROWSER)
    return over_budget({**folders, "all": everywhere}, budget)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if not config.getoption("budget"):
        return
    factor, files = _seconds(config)
    say = terminalreporter.write_line
    whole = sum(files.values())
    say(
        f"processor time of the tests: {whole:.0f} s of the budget; here {whole * factor:.0f} s, "
        f"{factor:.2f} s for each"
    )
    for name, taken in by_folder(files).most_common():
        say(f"{taken:8.1f} s  {name}")
    say("slowest files:")
    for name, taken in files.most_common(_SHOWN):
        say(f"{taken:8.1f} s  {name}")
    for line in _over(config):
        say(f"over budget: {line}", red=True)
