"""Lists after -m: measures between commas, and trec_eval's lists of parameters."""

from collections.abc import Callable

import pytest

from idealrank.cli.options import measure_parts
from tests.cli.terminal import Said

Say = Callable[..., Said]


@pytest.mark.parametrize(
    "text",
    [
        "P.5,10",
        "success.1,5",
        "iprec_at_recall.0.1,0.2",
        "ndcg_cut.1,2,3",
        "Rprec_mult.0.2,0.4",
        "map_cut.2,3",
        "recall.1,2",
        "11pt_avg.0.1,0.5",
        "ndcg.1=3,2=9",
    ],
)
def test_lists_of_parameters_are_read_as_trec_eval_reads_them(text: str, say: Say) -> None:
    _the_same_lines(text, "bm25.run", say)


def test_coefficients_of_utility_are_read_as_trec_eval_reads_them_of_a_run_that_answers_every_query(
    say: Say,
) -> None:
    """For a query without an answer, trec_eval 10 counts a document that it makes up, and
    `evaluate` counts 0.
    """
    _the_same_lines("utility.1,-1,0,0", "neural.run", say)


def _the_same_lines(text: str, run: str, say: Say) -> None:
    """The numbers of `idealrank trec-eval`, line for line."""
    ours, theirs = (
        [
            line.split("\t")[1:]
            for line in say(*words).out.splitlines()
            if not line.startswith("runid")
        ]
        for words in (
            ("evaluate", "qrels.txt", run, "--format", "trec", "-m", text),
            ("trec-eval", "-c", "-m", text, "qrels.txt", run),
        )
    )
    assert ours == theirs
    assert len(ours) == (1 if text.startswith(("11pt", "util", "ndcg.")) else text.count(",") + 1)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("P.5,10,AP", ["P.5", "P.10", "AP"]),
        ("AP,nDCG@5,10", ["AP", "nDCG@5", "nDCG@10"]),
        ("nDCG(gain=exp2)@5,10", ["nDCG(gain=exp2)@5", "nDCG(gain=exp2)@10"]),
        ("P_5,10,R_5", ["P_5", "P_10", "R_5"]),
        ("utility.1,-1,0,0,P.1,2", ["utility.1,-1,0,0", "P.1", "P.2"]),
    ],
)
def test_a_number_alone_belongs_to_the_measure_before_it(text: str, parts: list[str]) -> None:
    assert measure_parts([text], "AP") == parts


def test_the_option_of_measures_has_one_name(say: Say) -> None:
    refused = say("evaluate", "qrels.txt", "bm25.run", "--measures", "MRR10")

    assert (refused.code, refused.out) == (2, "")
    assert "--measure" in refused.err.partition("did you mean")[2]


@pytest.mark.parametrize("text", ["AP,10", "10", "10,AP", "nDCG@0.2n,10"])
def test_a_number_without_a_measure_to_belong_to_is_refused(text: str, say: Say) -> None:
    said = say("evaluate", "qrels.txt", "bm25.run", "-m", text)
    assert (said.code, said.out) == (2, "")
    assert (
        f"-m {text}: found 10 without a measure, expected a measure with each number, as in "
        f"P@5,P@10" in said.err
    )
