"""Total recall against tar_eval of CLEF TAR, as recorded by `record_total_recall`."""

import json
from pathlib import Path
from typing import Any

import pytest

import idealrank as ir
from tests.golden.harness import quietly

RECORDED: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("total_recall_recorded.json").read_text(encoding="utf-8")
)


def found(record: dict[str, Any]) -> dict[str, float]:
    """Ours, by tar_eval's names."""
    run = [f"d{rank}" for rank in range(1, record["length"] + 1)]
    missing = [f"m{number}" for number in range(record["total"] - len(record["ranks"]))]
    qrels = {"q": dict.fromkeys([*(f"d{rank}" for rank in record["ranks"]), *missing], 1)}
    texts = {
        "last_rel": "LastRel",
        "wss_95": "WSS(count=nearest)@0.95",
        "wss_100": "WSS@1",
        "norm_area": "RecallArea",
    }
    means = quietly(ir.evaluate, qrels, {"q": run}, list(texts.values())).mean()
    return {name: means[text] for name, text in texts.items()}


@pytest.mark.parametrize("record", RECORDED, ids=map(str, range(len(RECORDED))))
def test_tar_eval(record: dict[str, Any]) -> None:
    """Every number where all relevant documents are in the list; the area, which it rounds to 3
    decimals, in any case.
    """
    ours, theirs = found(record), record["values"]
    assert ours["norm_area"] == pytest.approx(theirs["norm_area"], abs=5.1e-4)
    if len(record["ranks"]) == record["total"]:
        for name in ("last_rel", "wss_95", "wss_100"):
            assert ours[name] == pytest.approx(theirs[name], abs=1e-12), name


def test_what_was_not_returned() -> None:
    """A known difference: tar_eval gives the last one returned and says that no work was saved;
    here all of the list was read in vain.
    """
    short = [record for record in RECORDED if len(record["ranks"]) < record["total"]]
    assert len(short) == 6
    for record in short:
        ours, theirs = found(record), record["values"]
        assert (ours["last_rel"], theirs["last_rel"]) == (record["length"] + 1, record["ranks"][-1])
        assert (ours["wss_100"], theirs["wss_100"]) == (0, 0)
