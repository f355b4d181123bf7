"""Record what the evaluation scripts of LETOR 4.0 and of Microsoft's data sets print: ``python -m
tests.golden.record_letor Eval-Score-4.0.pl eval-score-mslr.pl``.

The scripts come with the data sets and are not part of the project. They run in Perl, with more
digits in what they print. Calls of other tools in ``recorded.json`` stay as they are.
"""

import argparse
import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.golden.harness import Fixture
from tests.golden.make import RECORDED, write
from tests.parity.calls import arrays

CUTOFFS = (1, 3, 5, 10)
PRINTED = 10  # cutoffs that the scripts print, from 1 on

Rows = dict[str, list[str]]


@dataclass(frozen=True)
class Script:
    """A script, the highest label that it knows, and its name in the records."""

    path: Path
    peer: str
    version: str
    highest: int

    def takes(self, fixture: Fixture) -> bool:
        """True if the script knows all labels; it finds documents by their names."""
        labels = [label for _, row, _ in arrays(fixture) for label in row]
        once = all(
            len({document for document, *_ in rows}) == len(rows)
            for rows in fixture.queries.values()
        )
        return bool(labels) and once and set(labels) <= set(range(self.highest + 1))

    def printed(self, fixture: Fixture) -> tuple[Rows, Rows]:
        """Cells of each query, of the table of precision and of the table of NDCG."""
        features = []
        predictions = []
        for query, labels, scores in arrays(fixture):
            for place, label in enumerate(labels):
                document = f"#docid = D{place} inc = 1 prob = 1"
                features.append(f"{int(label)} qid:{query} 1:0 {document}")
            predictions += [repr(score) for score in scores]
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "features").write_text("\n".join(features) + "\n", encoding="utf-8")
            (folder / "predictions").write_text("\n".join(predictions) + "\n", encoding="utf-8")
            exact = self.path.read_text("latin-1").replace("%.4f", "%.17g")
            (folder / "script.pl").write_text(exact, "latin-1")
            command = ["perl", "script.pl", "features", "predictions", "out", "1"]
            subprocess.run(command, cwd=folder, check=True)
            tables = (folder / "out").read_text("utf-8").strip().split("\n\n")
        precision, ndcg = map(_rows, tables)
        return precision, ndcg


def _rows(table: str) -> Rows:
    """Cells of each query, without the head of the table and its means."""
    lines = (line.split("\t") for line in table.splitlines()[1:])
    return {cells[0]: cells[1:] for cells in lines if cells[0] != "Average"}


def calls_of(script: Script, fixtures: Mapping[str, Fixture]) -> list[dict[str, Any]]:
    """The calls of a script: values by fixture, cutoff and query."""
    names = {"P@k": 0, "MAP": 0, "NDCG@k": 1, "MeanNDCG": 1}
    values: dict[str, dict[str, Any]] = {name: {} for name in names}
    for fixture_name, fixture in fixtures.items():
        if not script.takes(fixture):
            continue
        tables = script.printed(fixture)
        for name, table in names.items():
            values[name][fixture_name] = _by_cutoff(tables[table], is_cut=name.endswith("@k"))
    return [
        {
            "peer": script.peer,
            "version": script.version,
            "call": name,
            "command": "perl SCRIPT FEATURES PREDICTIONS OUT 1",
            "values": by_fixture,
        }
        for name, by_fixture in values.items()
    ]


def _by_cutoff(rows: Rows, *, is_cut: bool) -> dict[str, dict[str, float]]:
    places = {str(k): k - 1 for k in CUTOFFS} if is_cut else {"all": PRINTED}
    return {
        cutoff: {query: float(cells[place]) for query, cells in rows.items()}
        for cutoff, place in places.items()
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Update the calls of both scripts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("letor", type=Path, help="Eval-Score-4.0.pl")
    parser.add_argument("mslr", type=Path, help="eval-score-mslr.pl")
    paths = parser.parse_args(arguments)
    scripts = (
        Script(paths.letor, "LETOR Eval-Score-4.0.pl", "4.0 of 2009", 2),
        Script(paths.mslr, "MSLR eval-score-mslr.pl", "of 2010", 4),
    )
    content = json.loads(RECORDED.read_text("utf-8"))
    fixtures = {name: Fixture.of(queries) for name, queries in content["fixtures"].items()}
    peers = {script.peer for script in scripts}
    others = [call for call in content["calls"] if call["peer"] not in peers]
    made = [call for script in scripts for call in calls_of(script, fixtures)]
    write(RECORDED, content | {"calls": others + made})


if __name__ == "__main__":
    main()
