"""Worth of one label of each of 22 language models, in human labels: the table of the page on label
worth.

Data    A folder with `judges.csv` (query, document, human, and a column for each judge) and
`runs/*.run`, as of the 22 public judges of
        the LLMJudge benchmark (Rahmani and others, "Judging the Judges", arXiv 2502.13908) on 4,423
        pairs of TREC 2023 Deep Learning. The data are not part of this repository. Grades outside 0
        to 3 are clipped.
Asked   Agreement with the human, bias, what each judge would change about the runs, and the worth
of its labels: of one pair where pairs
        are labelled at random, of the grades of one query for nDCG@10 (median over pairs of runs),
        and of 200 human labels with all others from the judge.
"""

import argparse
import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from models import progress_line

from idealrank.data.qrels import Qrels
from idealrank.io.read import read_run
from idealrank.judging import JudgeCheck, aggregations, check_judge, correct

SCALE = (0.0, 1.0, 2.0, 3.0)
LABELLED = 200
DRAWS = 200


class Data(NamedTuple):
    """Pairs in the order of the file."""

    queries: list[str]
    documents: list[str]
    grades: dict[str, Any]


def read(folder: Path) -> Data:
    """Read the grades of the human and of every judge."""
    with (folder / "judges.csv").open(encoding="utf-8", newline="") as file:
        head, *rows = list(csv.reader(file))
    grades = {
        name: np.array([float(row[place]) for row in rows])
        for place, name in enumerate(head)
        if place >= 2
    }
    return Data([row[0] for row in rows], [row[1] for row in rows], grades)


def qrels_of(data: Data, name: str) -> Qrels:
    """The grades of one rater as judgments."""
    return Qrels.from_columns(data.queries, data.documents, data.grades[name], name=name)


def worth_of_labels(data: Data, name: str, rng: np.random.Generator) -> float:
    """Median of how many human labels 200 of them are worth together with all other labels of the
    judge, over draws of the 200.
    """
    human, judge, found = data.grades["human"], np.clip(data.grades[name], SCALE[0], SCALE[-1]), []
    for _ in range(DRAWS):
        chosen = np.zeros(human.size, bool)
        chosen[rng.choice(human.size, LABELLED, replace=False)] = True
        found.append(
            correct(human[chosen], judge[chosen], judge[~chosen], tuning="ppi++").effective_labels
        )
    return float(np.median(found))


def rows(data: Data, folder: Path) -> list[tuple[JudgeCheck, float]]:
    """Each judge's check, and the worth of 200 human labels with it, the most useful first."""
    runs = {path.stem: read_run(path) for path in sorted((folder / "runs").glob("*.run"))}
    human, rng, found = qrels_of(data, "human"), np.random.default_rng(1), []
    judges = [name for name in data.grades if name != "human"]
    show = progress_line("judges") or (lambda _done, _runs: None)
    for done, name in enumerate(judges, 1):
        check = check_judge(
            human, qrels_of(data, name), runs, name=name, scale=SCALE, outside="clip"
        )
        found.append((check, worth_of_labels(data, name, rng)))
        show(done, len(judges))
    return sorted(found, key=lambda one: -one[0].worth_of_pair.value)


def table(found: Sequence[tuple[JudgeCheck, float]]) -> list[str]:
    """The table in Markdown."""
    lines = [
        "| judge | kappa | alpha, ordinal | bias | tau | tau_AP | swapped at the top | "
        "verdicts that flip | worth of a pair | of a query "
        f"| {LABELLED} labels are worth |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for one, labels in found:
        alpha, kappa, worth = (
            one.agreement["krippendorff_alpha_ordinal"],
            one.agreement["cohen_kappa"],
            one.worth_of_pair,
        )
        assert one.systems is not None
        low, high = alpha.interval
        lines.append(
            f"| {one.name} | {kappa.value:.3f} | {alpha.value:.3f} ({low:.2f} to {high:.2f}) "
            f"| {one.bias[0]:+.2f} "
            f"| {one.systems.tau:.2f} | {one.systems.tau_ap:.2f} | "
            f"{one.systems.swapped_at_top} of {one.systems.swapped} "
            f"| {one.systems.verdicts.flips} of {one.systems.verdicts.n_pairs} "
            f"| {worth.value:.2f} ({worth.interval[0]:.2f} to {worth.interval[1]:.2f}) | "
            f"{one.systems.worth:.2f} | {labels:.0f} |"
        )
    return lines


def combined(data: Data) -> list[str]:
    """Agreement of combinations of all judges with the human, beside the best judges."""
    judges = [name for name in data.grades if name != "human"]
    ratings = np.clip(np.stack([data.grades[name] for name in judges], axis=1), SCALE[0], SCALE[-1])
    found = aggregations(ratings, data.grades["human"], steps=(2, 10, 100), raters=judges)
    lines = ["| grades of | accuracy | kappa |", "|---|---:|---:|"]
    return [
        *lines,
        *(f"| {one.name} | {one.accuracy:.3f} | {one.kappa:.3f} |" for one in found[:8]),
    ]


def main(asked: Sequence[str] | None = None) -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="with judges.csv and runs/")
    parser.add_argument("--format", choices=["markdown", "json"], default="markdown")
    arguments = parser.parse_args(asked)
    data = read(arguments.folder)
    found = rows(data, arguments.folder)
    if arguments.format == "json":
        facts = [
            {"judge": one.name, "worth": one.worth_of_pair.value, "labels": labels}
            for one, labels in found
        ]
        print(json.dumps({"labelled": LABELLED, "judges": facts}, indent=1))
    else:
        print("\n".join([*table(found), "", *combined(data)]))


if __name__ == "__main__":
    main()
