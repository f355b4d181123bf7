"""Every preset reproduces its tool on our fixtures: values of live peers (`make`), and measurements
of tools that cannot be installed.
"""

from pathlib import Path

import pytest

from idealrank.conventions import PRESETS, Convention
from tests.golden.checks import complaints, target_of
from tests.golden.records import Golden
from tests.golden.targets import TARGETS

HERE = Path(__file__).parent
GOLDENS = {
    "peers": Golden.read_calls(HERE / "peers.json", HERE / "fixtures.json"),
    "recorded": Golden.read_calls(HERE / "recorded.json"),
}
CALLS = [(name, *call) for name, golden in GOLDENS.items() for call in golden.calls()]
# Where the number comes from, for presets that no call of this folder reproduces.
BY_DEFINITION = {"standard", "linear-2010"}


@pytest.mark.parametrize(("file", "peer", "version", "call"), CALLS)
def test_recorded_values_are_reproduced(file: str, peer: str, version: str, call: str) -> None:
    """Equal on every fixture, at every cutoff, per query and in the mean."""
    target = target_of(peer, version, call)
    assert target is not None
    assert not complaints(GOLDENS[file], peer, version, call, target)


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_says_truthfully_how_it_was_proved(preset: str) -> None:
    """A live peer in ``peers.json``, a measurement in ``recorded.json``, or a definition; nothing
    claims more.
    """
    reproducing = {
        target.peer
        for target in TARGETS
        if Convention.of(target.convention).fingerprint == PRESETS[preset].fingerprint
    }
    files = {
        file
        for file, peer, version, call in CALLS
        for target in [target_of(peer, version, call)]
        if target and peer in reproducing
    }
    proof = PRESETS[preset].proof
    if preset in BY_DEFINITION:
        assert proof == "definition"
    elif proof == "live peer":
        assert "peers" in files
    else:
        assert proof in ("recorded", "source-derived")
        assert "recorded" in files
