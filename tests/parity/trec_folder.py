"""trec_eval's outputs beside the checkout: read as printed text by measure and query, and held
against an evaluation.

Its own test folder (10.0) and TREC Deep Learning 2019 (9.0.4 and 10) lie under ``../shared/data``;
a test that asks for a file that is not there is skipped.
"""

import gzip
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from idealrank.data.run import Run
from idealrank.errors import OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.measures.dcg import DCG, NDCG, IdealDCG
from idealrank.measures.measure import Measure
from idealrank.measures.parse import parse_measure
from tests.conftest import shared_file

Printed = dict[tuple[str, str], str]
"""Printed text by (measure, query), in the order of the lines; the query ``all`` is the summary."""


@dataclass(frozen=True)
class Output:
    """An output of the folder: the files it was made from, and the least grade of a relevant
    document (``-l``).
    """

    qrels: str
    run: str
    rel: float | None = None


OUTPUTS: Mapping[str, Output] = {
    "out.test": Output("qrels.test", "results.test"),
    "out.comment.test": Output("qrels.comment.test.gz", "results.comment.test.gz"),
    "out.test.a": Output("qrels.test", "results.test"),
    "out.test.aq": Output("qrels.test", "results.test"),
    "out.test.aqc": Output("qrels.test", "results.trunc"),
    "out.test.aql": Output("qrels.rel_level", "results.test", 2.0),
}
"""Outputs that are one evaluation of two files, nothing else being asked."""

DL19_QRELS, DL19_RUN = (
    "qrels.dl19-passage.txt.gz",
    "run.msmarco-v1-passage.bm25-default.dl19.txt.gz",
)

# What trec_eval means where the bare name is another tool's measure too. Its rbp does not look at
# -l, nor do its measures of gains.
OF_TREC_EVAL = {"rbp": "trec_rbp"}
WITHOUT_THRESHOLD = ("rbp", "rbp_resid")
OF_GAINS = (DCG, IdealDCG, NDCG)


def folder_file(name: str) -> Path:
    """A file of trec_eval's test folder."""
    return shared_file("data", "trec_eval", name)


def dl19_file(name: str) -> Path:
    """A file of TREC Deep Learning 2019."""
    return shared_file("data", "dl19", name)


def folder_output(name: str) -> Printed:
    """What trec_eval 10.0 printed into ``out.test.aq`` and its like."""
    return read_printed(folder_file(name))


def dl19_output(version: str, level: int) -> Printed:
    """What version 9.0.4 or 10 printed at relevance level 1 or 2."""
    return read_printed(dl19_file(f"dl19.l{level}.trec_eval-{version}.txt.gz"))


def first_documents(name: str, count: int) -> Run:
    """The first documents of each query of a run in the folder, as ``-M`` leaves them."""
    ranked: dict[str, list[tuple[float, str]]] = {}
    for line in folder_file(name).read_text(encoding="utf-8").splitlines():
        query, _, document, _, score, *_ = line.split()
        ranked.setdefault(query, []).append((float(score), document))
    return Run(
        {
            query: {document: score for score, document in sorted(rows, reverse=True)[:count]}
            for query, rows in ranked.items()
        }
    )


def read_printed(path: Path) -> Printed:
    """The lines of an output; a value may hold blanks, as the text of ``relstring`` does."""
    text = (
        gzip.decompress(path.read_bytes()).decode()
        if path.suffix == ".gz"
        else path.read_text(encoding="utf-8")
    )
    fields = (line.split(None, 2) for line in text.splitlines())
    return {
        (name, query): value for name, query, value in (line for line in fields if len(line) == 3)
    }


def offered(printed: Printed, *, rel: float | None = None) -> dict[str, Measure]:
    """The printed measures of numbers that we have, by trec_eval's name; those of relevance at the
    threshold of ``-l``.
    """
    measures: dict[str, Measure] = {}
    for name in dict.fromkeys(name for name, _ in printed):
        try:
            measure = parse_measure(OF_TREC_EVAL.get(name, name))
        except OptionError:
            continue
        if measure.aggregate != "text":
            is_without = name in WITHOUT_THRESHOLD or isinstance(measure, OF_GAINS)
            has_threshold = rel is not None and hasattr(measure, "rel") and not is_without
            measures[name] = replace(measure, rel=rel) if has_threshold else measure  # type: ignore[call-arg]
    return measures


def differences(
    printed: Printed,
    measures: Mapping[str, Measure],
    evaluation: Evaluation,
    *,
    but: Iterable[str] = (),
) -> list[str]:
    """Every value that we would print otherwise."""
    means, queries = evaluation.mean(), evaluation.per_query()
    lines = []
    for (name, query), text in printed.items():
        if name in measures and name not in but:
            value = (
                means[str(measures[name])]
                if query == "all"
                else queries[query][str(measures[name])]
            )
            found = "none" if value is None else f"{value:.4f}" if "." in text else f"{value:.0f}"
            if found != text:
                lines.append(f"{name} of {query}: printed {text}, found {found}")
    return lines
