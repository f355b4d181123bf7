"""Every preset reproduces the calls it names, on the recorded measurements that lie beside the
checkout.
"""

from functools import cache

import pytest

from idealrank.conventions import PRESETS, Convention
from tests.conftest import SHARED, shared_file
from tests.golden.checks import complaints, target_of
from tests.golden.records import Golden
from tests.golden.targets import TARGETS
from tests.golden.test_recorded import CALLS

GOLDEN = SHARED / "golden" / "conventions.json"


@cache
def golden() -> Golden:
    """The file, read once."""
    return Golden.read(shared_file("golden", "conventions.json"))


def calls_with_target() -> list[tuple[str, str, str]]:
    """Recorded calls that a convention claims to reproduce; one empty call where the file is
    absent, so that the skip shows.
    """
    if not GOLDEN.exists():
        return [("", "", "")]
    return [call for call in golden().calls() if target_of(*call)]


@pytest.mark.parametrize(("peer", "version", "call"), calls_with_target())
def test_recorded_values_are_reproduced(peer: str, version: str, call: str) -> None:
    """Equal on every fixture, at every cutoff, per query and in the mean, or a known difference
    with its reason.
    """
    shared_file("golden", "conventions.json")
    target = target_of(peer, version, call)
    assert target is not None
    assert not complaints(golden(), peer, version, call, target)


def test_every_target_is_recorded() -> None:
    """No target names a call that nobody made, here or in the files beside this test."""
    calls = [*golden().calls(), *((peer, version, call) for _, peer, version, call in CALLS)]
    assert [target for target in TARGETS if not any(target.matches(*call) for call in calls)] == []


def test_every_preset_but_the_defined_ones_is_proved_here() -> None:
    """`standard` and `linear-2010` are definitions; every other preset has records."""
    shared_file("golden", "conventions.json")
    proved = {Convention.of(target.convention).name.split(",")[0] for target in TARGETS}
    assert set(PRESETS) - proved - {"trec_eval"} <= {"standard", "linear-2010"}
