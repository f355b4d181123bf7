"""NTCIR's measures against pyNTCIREVAL: recorded by `record_ntcir`, and live among the peers."""

import json
from pathlib import Path
from typing import Any

import pytest

import idealrank as ir
from tests.golden.harness import quietly
from tests.parity.ntcir_calls import Topic, peer_values, topics

RECORDED: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("ntcir_recorded.json").read_text(encoding="utf-8")
)


def assert_equal(topic: Topic, values: dict[str, float]) -> None:
    """Every value to 12 decimals."""
    scores = {document: -float(place) for place, document in enumerate(topic["ranked"])}
    found = quietly(ir.evaluate, {"q": topic["judged"]}, {"q": scores}, list(values)).mean()
    for text, value in values.items():
        assert found[text] == pytest.approx(value, abs=1e-12), text


@pytest.mark.parametrize("record", RECORDED, ids=map(str, range(len(RECORDED))))
def test_recorded(record: dict[str, Any]) -> None:
    """Q, O, P+, NCU with both of its stopping distributions, nERR and MSnDCG, with linear and
    exponential gains.
    """
    assert len(record["values"]) == 76
    assert_equal({"judged": record["judged"], "ranked": record["ranked"]}, record["values"])


@pytest.mark.peers
def test_live() -> None:
    """Other topics, and the recorded ones again."""
    for topic in topics(7, 200):
        assert_equal(topic, peer_values(topic))
    for record in RECORDED:
        assert peer_values(
            {"judged": record["judged"], "ranked": record["ranked"]}
        ) == pytest.approx(record["values"], abs=1e-12)
