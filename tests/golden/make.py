"""Record what the peers of this environment say about the fixtures: ``python -m
tests.golden.make``.

Run it once in the default environment and once in that of `make test-peers`; calls of peers that
are not installed keep their values. ``--recorded FILE`` takes the calls of tools that no registry
has (trec_eval 10, search engines) from a file of measurements.
"""

import argparse
import json
import math
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from tests.golden.harness import Fixture
from tests.parity.calls import DEFAULT_CALLS, Call
from tests.parity.heavy_calls import HEAVY_CALLS

HERE = Path(__file__).parent
PEERS, RECORDED = HERE / "peers.json", HERE / "recorded.json"
# Tools that cannot be installed, and the fixtures of the measurements that tell them apart.
NOT_INSTALLABLE = (
    "elasticsearch rank_eval",
    "opensearch search-relevance",
    "quepid",
    "rated-ranking-evaluator",
)
TELLING = (
    "basic",
    "unretrieved",
    "ties",
    "ties_all",
    "float32_tie",
    "only_unjudged",
    "all_zero",
    "all_zero_and_good",
    "k_gt_n",
    "negative",
    "grade_31",
    "neg_score",
    "single",
    "missing_query",
    "extra_query",
    "binary",
)


def main() -> None:
    """Update ``peers.json``, or ``recorded.json`` from a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--recorded",
        type=Path,
        help="file of measurements to take calls of tools from that cannot be installed",
    )
    source = parser.parse_args().recorded
    if source is None:
        write(
            PEERS,
            {
                "about": __doc__.splitlines()[0],
                "calls": merged(json.loads(PEERS.read_text()) if PEERS.exists() else {"calls": []}),
            },
        )
    else:
        write(RECORDED, taken_from(json.loads(source.read_text(encoding="utf-8"))))


def merged(before: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The calls recorded before, those of installed peers made anew."""
    content = json.loads((HERE / "fixtures.json").read_text(encoding="utf-8"))
    calls = {(call["peer"], call["call"]): call for call in before["calls"]}
    for call in (*DEFAULT_CALLS, *HEAVY_CALLS):
        try:
            version = metadata.version(call.package)
        except metadata.PackageNotFoundError:
            continue
        values = {
            name: at_cutoffs(call, Fixture.of(queries), content["cutoffs"])
            for name, queries in content["fixtures"].items()
        }
        calls[call.peer, call.call] = {
            "peer": call.peer,
            "version": version,
            "call": call.call,
            "command": " ".join((call.function.__doc__ or call.call).split()),
            "values": {name: made for name, made in values.items() if made},
        }
    return sorted(calls.values(), key=lambda call: (call["peer"].lower(), call["call"]))


def at_cutoffs(call: Call, fixture: Fixture, cutoffs: Iterable[int | None]) -> dict[str, Any]:
    """Values by cutoff (``all`` for none) and query."""
    return {
        str(k or "all"): {q: shown(v) for q, v in call.function(fixture, k).items()}
        for k in cutoffs
        if call.takes(fixture, k)
    }


def shown(value: float | None) -> float | str | None:
    """JSON has no NaN."""
    return (
        "nan"
        if value is not None and math.isnan(value)
        else None
        if value is None
        else float(value)
    )


def is_wanted(record: Mapping[str, Any]) -> bool:
    """True if a measurement is of a tool that cannot be installed."""
    trec_eval = (
        record["peer"] == "trec_eval"
        and record["version"] == "10.0"
        and record["call"] in ("ndcg", "ndcg_cut", "ndcg -c")
    )
    return trec_eval or record["peer"] in NOT_INSTALLABLE


def taken_from(content: Mapping[str, Any]) -> dict[str, Any]:
    """The telling measurements of tools that cannot be installed."""
    wanted = [
        record
        for record in content["records"]
        if record["fixture"] in TELLING and "error" not in record and is_wanted(record)
    ]
    calls: dict[tuple[str, str, str], dict[str, Any]] = {}
    for record in wanted:
        key = record["peer"], record["version"], record["call"]
        call = calls.setdefault(
            key, {"peer": key[0], "version": key[1], "call": key[2], "values": {}}
        )
        call["values"].setdefault(record["fixture"], {})[str(record["k"] or "all")] = {
            "": record["value"],
            **record.get("per_query", {}),
        }
    fixtures = {name: content["fixtures"][name]["queries"] for name in TELLING}
    return {
        "about": "Measurements of tools that no registry has: trec_eval 10.0 run on these inputs; "
        "Quepid's scorers run in node; the rest "
        "computed by a program written after their source code. The value of the query '' is "
        "the mean.",
        "measured": content["made"],
        "cutoffs": [None, 1, 3, 5, 10],
        "fixtures": fixtures,
        "calls": list(calls.values()),
    }


def write(path: Path, content: Mapping[str, Any]) -> None:
    """JSON with one line a fixture."""
    text = json.dumps(content, ensure_ascii=False, indent=1)
    lines = compact(content) if "calls" in content else text
    path.write_text(lines + "\n", encoding="utf-8")


def compact(content: Mapping[str, Any]) -> str:
    """Readable in a diff: heads in full, then a line for each fixture of each call."""
    parts = [
        f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
        for key, value in content.items()
        if key not in ("calls", "fixtures")
    ]
    if "fixtures" in content:
        rows = ",\n  ".join(
            f"{json.dumps(name)}: {json.dumps(queries, ensure_ascii=False)}"
            for name, queries in content["fixtures"].items()
        )
        parts.append('"fixtures": {\n  ' + rows + "}")
    calls = []
    for call in content["calls"]:
        head = ", ".join(
            f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
            for key, value in call.items()
            if key != "values"
        )
        rows = ",\n   ".join(
            f"{json.dumps(name)}: {json.dumps(values)}" for name, values in call["values"].items()
        )
        calls.append("  {" + head + ',\n   "values": {\n   ' + rows + "}}")
    parts.append('"calls": [\n' + ",\n".join(calls) + "]")
    return "{" + ",\n ".join(parts) + "}"


if __name__ == "__main__":
    main()
