"""trec_eval's printed digits on real runs: its own test folder (10.0), and TREC Deep Learning 2019
(9.0.4 and 10), per query.
"""

import gzip
import re
from pathlib import Path

import pytest

import idealrank as ir
from tests.parity.trec_folder import (
    DL19_QRELS,
    DL19_RUN,
    OUTPUTS,
    Printed,
    differences,
    dl19_file,
    dl19_output,
    first_documents,
    folder_file,
    folder_output,
    offered,
)

MEASURES_HERE = {
    "map",
    "P_10",
    "recall_100",
    "recip_rank",
    "ndcg",
    "ndcg_cut_10",
    "num_ret",
    "num_rel_ret",
    "map_cut_10",
    "set_recall",
}


def differing(
    printed: Printed,
    qrels: Path,
    run: Path | ir.Run,
    convention: str = "trec_eval-10",
    rel: float | None = None,
) -> list[str]:
    """What we would print otherwise."""
    measures = offered(printed, rel=rel)
    return differences(printed, measures, ir.evaluate(qrels, run, measures.values(), convention))


@pytest.mark.parametrize("name", OUTPUTS)
def test_its_own_test_folder(name: str) -> None:
    """Every measure we have, every query and the summary."""
    made = OUTPUTS[name]
    assert (
        differing(folder_output(name), folder_file(made.qrels), folder_file(made.run), rel=made.rel)
        == []
    )


def test_comment_lines_change_nothing() -> None:
    """The same output from judgments with comment lines among them."""
    assert (
        differing(
            folder_output("out.test"),
            folder_file("qrels.test.with-comments"),
            folder_file("results.test"),
        )
        == []
    )


def test_all_wanted_measures_are_compared() -> None:
    """Nothing slips through because a name was not understood."""
    assert set(offered(folder_output("out.test.aq"))) >= MEASURES_HERE


def test_lists_cut_at_100_documents() -> None:
    """-M100: only the first hundred documents of each query are looked at."""
    assert (
        differing(
            folder_output("out.test.aqcM"),
            folder_file("qrels.test"),
            first_documents("results.trunc", 100),
        )
        == []
    )


def test_gains_and_cutoffs_of_its_own() -> None:
    """-mndcg.1=3,2=9,4=4.5 -mP.5,7,3 -mrecall.20,2000 -mndcg_cut.10,20,23.4."""
    printed = folder_output("out.test.meas_params")
    gains = "nDCG(gain={0:0,1:3,2:9,4:4.5})"
    names = {
        name: name for name, _ in printed if re.fullmatch(r"(P|recall|ndcg_cut)_\d+", name)
    } | {"ndcg": gains}
    assert {"P_7", "recall_2000", "ndcg_cut_20"} <= set(names)
    measures = {name: ir.parse_measure(text) for name, text in names.items()}
    evaluation = ir.evaluate(
        folder_file("qrels.test"), folder_file("results.test"), measures.values(), "trec_eval-10"
    )
    assert differences(printed, measures, evaluation) == []


# --- TREC Deep Learning 2019: 43 queries, BM25, a thousand deep -----------------------------------


@pytest.mark.parametrize(
    ("version", "convention"), [("9.0.4", "trec_eval-9"), ("10", "trec_eval-10")]
)
@pytest.mark.parametrize("level", [1, 2])
def test_dl19_per_query(version: str, convention: str, level: int) -> None:
    """trec_eval -c -q -M1000 -l LEVEL -m all_trec, both versions."""
    printed = dl19_output(version, level)
    measures = offered(printed, rel=None if level == 1 else float(level))
    assert set(measures) >= MEASURES_HERE
    evaluation = ir.evaluate(
        dl19_file(DL19_QRELS), dl19_file(DL19_RUN), measures.values(), f"{convention},missing=zero"
    )
    # With -l 2 trec_eval -c still counts every grade above 0 in num_rel.
    assert differences(printed, measures, evaluation, but=["num_rel"] if level == 2 else []) == []


def test_dl19_headlines() -> None:
    """The numbers published for this BM25 run."""
    measures = [
        "nDCG@10",
        "AP(rel=2)",
        "R(rel=2)@100",
        "R(rel=2)@1000",
        "R@100",
        "R@1000",
        "NumRel(rel=2)",
        "NumRel",
    ]
    means = ir.evaluate(dl19_file(DL19_QRELS), dl19_file(DL19_RUN), measures).mean()
    assert [f"{value:.4f}" for value in means.values()] == [
        "0.5058",
        "0.3013",
        "0.4910",
        "0.7501",
        "0.4531",
        "0.7389",
        "2501.0000",
        "4102.0000",
    ]


def test_dl19_compressed_or_not(tmp_path: Path) -> None:
    """The same bits from the unpacked files."""
    for name in (DL19_QRELS, DL19_RUN):
        (tmp_path / name.removesuffix(".gz")).write_bytes(
            gzip.decompress(dl19_file(name).read_bytes())
        )
    packed = ir.evaluate(dl19_file(DL19_QRELS), dl19_file(DL19_RUN), ["nDCG@10", "AP"])
    plain = ir.evaluate(
        tmp_path / DL19_QRELS.removesuffix(".gz"),
        tmp_path / DL19_RUN.removesuffix(".gz"),
        ["nDCG@10", "AP"],
    )
    assert repr(packed.per_query()) == repr(plain.per_query())
