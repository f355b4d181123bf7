"""Results in Weights & Biases, offline: what a run has written is read from its own file."""

import json
import socket
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import idealrank as ir
from idealrank.errors import OptionError
from tests.offline import no_network

pytestmark = pytest.mark.slow  # its own library takes seconds to start
QRELS = {f"q{i}": {"x": 2, "y": 1} for i in range(8)}
OLD, NEW = (
    ir.evaluate(
        QRELS, ir.Run(dict.fromkeys(QRELS, ranking), name=name), ["nDCG(gain=exp2)@10", "RR"]
    )
    for name, ranking in {"old": ("u", "y", "x"), "new": ("x", "y")}.items()
)
_BLOCK, _HEAD = 32768, 7


def records(path: Path) -> Iterator[bytes]:
    """Records of a log in LevelDB's layout, which W&B's has: pieces with checksum, length and kind,
    in blocks, after 7 bytes.
    """
    data, place, parts = path.read_bytes(), _HEAD, b""
    while place + _HEAD <= len(data):
        left = _BLOCK - place % _BLOCK
        if left < _HEAD:
            place += left
            continue
        _, length, kind = struct.unpack("<IHB", data[place : place + _HEAD])
        parts += data[place + _HEAD : place + _HEAD + length]
        place += _HEAD + length
        if kind in {1, 4}:  # whole, or the last piece
            yield parts
            parts = b""


class Logged:
    """What a run of W&B wrote: its history, summary, configuration and artefacts."""

    def __init__(self, folder: Path) -> None:
        from wandb.proto.wandb_internal_pb2 import Record

        self.history: dict[str, Any] = {}
        self.summary: dict[str, Any] = {}
        self.config: dict[str, Any] = {}
        self.artefacts: dict[str, dict[str, str]] = {}
        (path,) = folder.rglob("*.wandb")
        for data in records(path):
            record = Record.FromString(data)
            for into, items in (
                (self.history, record.history.item),
                (self.summary, record.summary.update),
                (self.config, record.config.update),
            ):
                into.update(
                    {
                        item.key or "/".join(item.nested_key): json.loads(item.value_json)
                        for item in items
                    }
                )
            artefact = (
                record.artifact
                if record.HasField("artifact")
                else record.request.log_artifact.artifact
            )
            if artefact.name:
                self.artefacts[artefact.name] = {
                    entry.path: entry.local_path for entry in artefact.manifest.contents
                }


@pytest.fixture
def wandb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name in ("WANDB_DIR", "WANDB_DATA_DIR", "WANDB_CACHE_DIR", "WANDB_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    monkeypatch.setenv("WANDB_CONSOLE", "off")
    package = pytest.importorskip("wandb")
    # W&B sends from a program of its own, so a server of ours stands where it would send to, and
    # nobody may knock.
    with no_network(), socket.create_server(("127.0.0.1", 0)) as door:
        for name in ("WANDB_BASE_URL", "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{door.getsockname()[1]}")
        yield package
        package.teardown()
        door.setblocking(False)
        with pytest.raises(BlockingIOError):
            door.accept()


def test_everything_of_a_run_is_in_its_file(wandb: Any, tmp_path: Path) -> None:
    with wandb.init(project="ranking") as run:
        ir.log_to_wandb(NEW)
        ir.log_to_wandb(ir.compare(OLD, NEW), evaluations=(OLD, NEW), prefix="ab/")
        ir.log_to_wandb(ir.gate(OLD, NEW), prefix="gate/")

    wandb.teardown()  # the program that writes ends only now; on a busy machine it may be behind
    logged = Logged(tmp_path)
    low, high = ir.intervals(NEW)["nDCG(gain=exp2)@10"].interval
    names = json.loads(logged.summary["idealrank_measures"])
    assert {names[name]: logged.history[name] for name in names} == dict(NEW.mean())
    assert (
        logged.history["nDCG_gain_exp2_at_10_low"],
        logged.history["nDCG_gain_exp2_at_10_high"],
    ) == (low, high)
    assert logged.history["ab/RR_difference"] == 0.5
    assert logged.history["gate/gate_passed"] == 0
    assert logged.summary["gate/idealrank_gate"] == "closed"
    assert logged.config["idealrank"]["convention_fingerprint"] == NEW.convention.fingerprint
    artefact = logged.artefacts[f"idealrank-ab-{run.id}"]
    assert {
        "comparison.json",
        "comparison.csv",
        "per_query.csv",
        "per_query.parquet",
        "report.html",
    } <= set(artefact)
    rows = Path(artefact["per_query.csv"]).read_text(encoding="utf-8").splitlines()
    assert rows[1].startswith(f"old,q0,nDCG(gain=exp2)@10,{OLD.values[0, 0].item()!r},")
    assert len(list(tmp_path.rglob("media/html/**/*.html"))) == 2  # a panel of each report
    (table,) = (
        path
        for path in tmp_path.rglob("*.table.json")
        if "ab" not in str(path.relative_to(tmp_path)).split("/")
    )
    held = json.loads(table.read_text(encoding="utf-8"))
    assert held["columns"] == ["run", "query", "nDCG(gain=exp2)@10", "RR"]
    assert held["data"][3] == ["new", "q3", 1.0, 1.0]


def test_without_an_active_run_nothing_is_begun(wandb: Any) -> None:
    with pytest.raises(
        OptionError,
        match=r"found no active run of Weights & Biases; expected a call within `with wandb\.init",
    ):
        ir.log_to_wandb(NEW)
    assert wandb.run is None
