"""Where data lie: the demo's collection in the checkout, and material of others beside it that some
tests check against.
"""

import gc
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

# runs pytest in pytest, for tests of the plug-in; only the top folder may ask for it
pytest_plugins = ["pytester", "tests.cli.fixtures", "tests.processor_time"]

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"
PYDOCS = ROOT / "examples" / "pydocs"

# Hundreds of tests start a process that loads the library; compiled code is kept for them, whatever
# the environment says.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Before NumPy is imported, here and in every process that a test starts: nothing of ours uses BLAS,
# whose pools of threads cost processor time at each start.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# pytest-xdist's workers share the cores. Without this limit, threads of different workers compete,
# which costs comparison tests a sixth of their time. No result depends on the number of threads;
# tests of that set the number, and programs that tests start use every core.
if "PYTEST_XDIST_WORKER_COUNT" in os.environ and hasattr(os, "sched_getaffinity"):
    _CORES = sorted(os.sched_getaffinity(0))[
        : max(len(os.sched_getaffinity(0)) // int(os.environ["PYTEST_XDIST_WORKER_COUNT"]), 1)
    ]
    os.sched_getaffinity = lambda _: set(_CORES)

# Thousands of collected tests live as long as the process. The collector of garbage would walk
# through them all again and again, which is an eighth of a run: it waits until all are there, and
# then leaves them alone.
gc.disable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One process more than there are cores: tests wait for browsers, servers and programs that
    they start.
    """
    if asked := os.environ.get("PYTEST_XDIST_AUTO_NUM_WORKERS"):
        return int(asked)
    return (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    ) + 1


def pytest_collection_finish() -> None:
    """Whatever is alive now stays; what tests make is collected, though in larger portions."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


# What takes long to be ready, a browser and a parsed library, is made in one process: these tests
# come first and next to each other, so that the process that has them keeps them. Others that have
# nothing left take tests from the end.
FIRST = ("tests/web/", "tests/test_architecture", "tests/docs/test_english.py")

# Experiments, benchmarks, fuzzers and examples: `make test-docs` runs their tests.
SCRIPTS = "tests/scripts/"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put those first that share much; and leave some cases of tests with the marker `spread(n)` to
    the slow ones.
    """
    items.sort(
        key=lambda item: next(
            (place for place, start in enumerate(FIRST) if item.nodeid.startswith(start)),
            len(FIRST),
        )
    )
    for item in items:
        if item.nodeid.startswith(SCRIPTS):
            item.add_marker(pytest.mark.docs)
    _leave_to_the_slow_ones(items)


def _leave_to_the_slow_ones(items: list[pytest.Item]) -> None:
    """Of the cases of a test with the marker `spread(n)`, all but n are slow; a case that is slow
    anyway does not count.
    """
    cases: dict[str, list[Any]] = {}
    for item in items:
        if item.get_closest_marker("spread") and not item.get_closest_marker("slow"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for same in cases.values():
        kept = _spread(same, same[0].get_closest_marker("spread").args[0])
        for item in same:
            if item not in kept:
                item.add_marker(pytest.mark.slow)


def _spread(cases: list[Any], number: int) -> list[Any]:
    """So many cases, each the one with most values of parameters that none before it has; among
    equals, by steps of the golden ratio.

    Equal steps would meet the same values of an inner parameter again and again.
    """
    values = {
        id(case): {(name, id(value)) for name, value in case.callspec.params.items()}
        for case in cases
    }
    left = [
        cases[place]
        for place in sorted(range(len(cases)), key=lambda place: place * 0.6180339887 % 1)
    ]
    kept: list[Any] = []
    seen: set[tuple[str, int]] = set()
    while left and len(kept) < number:
        kept.append(max(left, key=lambda case: len(values[id(case)] - seen)))
        left.remove(kept[-1])
        seen |= values[id(kept[-1])]
    return kept


def shared_file(*parts: str) -> Path:
    """A file of the material beside the checkout; skips the test where it is absent."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(
            f"../shared/{'/'.join(parts)} is not here; it is data of others for checking, not "
            f"part of the project"
        )
    return path


# The default run tries the same examples every time, so that a failure belongs to the change at
# hand. `full` tries more of them (`make test-slow`), and `thorough` looks for new ones. No profile
# traces the lines behind a failure: tracing is slow, and tests of `check_measure`, for example,
# fail on purpose.
settings.register_profile(
    "default",
    deadline=None,
    derandomize=True,
    max_examples=5,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[phase for phase in Phase if phase is not Phase.explain],
)
settings.register_profile("full", parent=settings.get_profile("default"), max_examples=25)
settings.register_profile(
    "thorough", parent=settings.get_profile("default"), derandomize=False, max_examples=3000
)
settings.load_profile("default")


def examples(number: int) -> int:
    """How many examples a test that wants so many of its own tries: all in a full run, in the
    default run the share that others have.
    """
    full = settings.get_profile("full").max_examples
    return max(number * min(settings().max_examples, full) // full, 1)
