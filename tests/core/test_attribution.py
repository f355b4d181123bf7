"""Attribution: documents sum to their query, queries to the difference of means, and each part is
what a recount by hand gives.
"""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import idealrank as ir
from idealrank.analysis.attribution.document_contributions import _from_the_top, added
from idealrank.data.align import align
from idealrank.errors import IdealrankError, InputError, OptionError
from idealrank.evaluation.evaluate import evaluate
from idealrank.inputs.explanation import explain
from idealrank.measures.terms import EXACT, FROM_THE_TOP, OWN_IDEAL
from tests.conftest import examples

DOCUMENTS = [f"d{number}" for number in range(10)]
# Sums in another order differ in the last bits; 1e-12 is far above that and far below anything
# printed.
CLOSE = 1e-12
EXPLAINED = (
    "nDCG@3",
    "nDCG",
    "nDCG(gain=exp2)@4",
    "nDCG(discount=linear)@0.5n",
    "DCG@3",
    "P@3",
    "R@4",
    "R",
    "AP",
    "AP@3",
    "RR",
    "RR@2",
)
OTHERS = (
    "ERR@5",
    "RBP(p=0.5)",
    "RBP(max_rel=query)@4",
    "bpref",
    "Rprec",
    "Success@3",
    "SetF",
    "INST(T=2)",
    "F@3",
    "nERR8@5",
    "Q",
    "NumRelRet",
)
TIES = ("docid", "docid-ascending", "input", "expected", "best", "worst")

grades = st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from([0, 1, 2, 3]), min_size=1)
scores = st.dictionaries(
    st.sampled_from(DOCUMENTS), st.sampled_from([0.25, 0.5, 1.0, 2.0]), min_size=1
)
# Runs may lack queries.
tables = st.dictionaries(st.sampled_from(["q1", "q2", "q3"]), grades, min_size=1)
runs = st.dictionaries(st.sampled_from(["q1", "q2", "q3"]), scores, min_size=1)
measures = st.sampled_from(EXPLAINED + OTHERS)


def attributed(qrels: dict, a: dict, b: dict, measure: str, convention: str) -> ir.Attribution:
    """The attribution; skips what the measure or the convention refuses."""
    try:
        return ir.attribute(qrels, a, b, measure, convention)
    except IdealrankError:
        assume(False)
        raise


@pytest.mark.filterwarnings("ignore:.*judged documents are all alike")
@settings(max_examples=examples(50), deadline=None)
@given(qrels=tables, a=runs, b=runs, measure=measures, ties=st.sampled_from(TIES))
def test_documents_sum_to_their_query_and_queries_to_the_difference_of_means(
    qrels, a, b, measure, ties
):
    found = attributed(qrels, a, b, measure, f"standard,ties={ties}")
    values = [
        evaluate(ir.Qrels(qrels), ir.Run(run), [measure], f"standard,ties={ties}").per_query()
        for run in (a, b)
    ]

    for query in found.queries:
        assert [query.value_a, query.value_b] == [
            side[query.query][found.measure] for side in values
        ]
        documents = math.fsum(document.difference for document in found.documents(query.query))
        assert documents + query.rest == pytest.approx(query.value_b - query.value_a, abs=CLOSE)
        assert query.rest == 0  # of these measures none depends on the list alone
    scale = 1 if found.measure == "NumRelRet" else found.n
    assert math.fsum(query.difference for query in found.queries) / scale == pytest.approx(
        found.difference, abs=CLOSE
    )
    assert math.fsum(move.difference for move in found.moves) == pytest.approx(
        found.difference, abs=CLOSE
    )


@settings(max_examples=examples(50), deadline=None)
@given(qrels=grades, run=scores, measure=st.sampled_from(EXPLAINED), ties=st.sampled_from(TIES[:4]))
def test_a_document_adds_what_explain_shows(qrels, run, measure, ties):
    # else there is nothing to attribute
    assume(any(qrels.get(document, 0) > 0 for document in run))
    convention = f"standard,ties={ties}"
    shown = explain(ir.Qrels({"q": qrels}), ir.Run({"q": run}), "q", measure, convention)
    found = ir.attribute({"q": qrels}, {}, {"q": run}, measure, convention)

    added_b = {document.document: document.added_b for document in found.documents("q")}

    for row in shown.rows:
        assert added_b.get(row.document, 0.0) == pytest.approx(row.contribution, abs=CLOSE)


@settings(max_examples=examples(30), deadline=None)
@given(qrels=grades, run=scores, measure=st.sampled_from(EXPLAINED[:8]), ties=st.sampled_from(TIES))
def test_terms_of_sums_are_the_rises_of_the_value_down_the_list(qrels, run, measure, ties):
    convention = ir.Convention.of("standard", ties=ties)
    resolved = ir.parse_measure(measure).under(convention)
    judged = align(ir.Qrels({"q": qrels}), ir.Run({"q": run}), convention.alignment)

    terms, rises = added(resolved, judged), _from_the_top(resolved, judged)

    # Under the best and the worst order tied documents share their group's rise; each has a term of
    # its own.
    groups = (
        judged.hits.rank
        if judged.hits.tie_first is None or ties not in ("best", "worst")
        else judged.hits.tie_first
    )
    np.testing.assert_allclose(
        np.bincount(groups, weights=terms), np.bincount(groups, weights=rises), atol=CLOSE
    )


def recounted(qrels: dict[str, int], ranking: list[str], measure: str) -> dict[str, float]:
    """What each document adds: the value of the list with unjudged documents from there on, before
    and after the document is known.
    """
    lists = [
        ranking[:known] + [f"unjudged {rank}" for rank in range(known, len(ranking))]
        for known in range(len(ranking) + 1)
    ]
    values = [
        evaluate(ir.Qrels({"q": qrels}), ir.Run({"q": documents}), [measure]).mean()[measure]
        for documents in lists
    ]
    return {document: values[rank + 1] - values[rank] for rank, document in enumerate(ranking)}


@settings(max_examples=examples(40), deadline=None)
@given(
    qrels=grades,
    a=st.lists(st.sampled_from(DOCUMENTS), unique=True, min_size=1),
    b=st.lists(st.sampled_from(DOCUMENTS), unique=True, min_size=1),
    measure=measures,
)
def test_every_document_is_recounted_from_lists_known_down_to_it(qrels, a, b, measure):
    found = attributed({"q": qrels}, {"q": a}, {"q": b}, measure, "standard")
    before, after = (recounted(qrels, ranking, measure) for ranking in (a, b))

    for document in found.documents("q"):
        name = document.document
        assert document.added_a == pytest.approx(before.get(name, 0.0), abs=CLOSE)
        assert document.added_b == pytest.approx(after.get(name, 0.0), abs=CLOSE)
        assert document.rank_a == (a.index(name) + 1 if name in a else None)
        assert document.rank_b == (b.index(name) + 1 if name in b else None)


@settings(max_examples=examples(30), deadline=None)
@given(qrels=tables, a=runs, b=runs, measure=measures)
def test_the_reverse_comparison_has_the_opposite_parts(qrels, a, b, measure):
    there, back = (
        attributed(qrels, a, b, measure, "standard"),
        attributed(qrels, b, a, measure, "standard"),
    )
    opposite = {
        "entered": "left",
        "left": "entered",
        "moved up": "moved down",
        "moved down": "moved up",
    }

    parts = [
        {
            (one.query, one.document): (sign * one.difference, turned.get(one.move, one.move))
            for one in side.documents()
        }
        for side, sign, turned in ((there, 1, {}), (back, -1, opposite))
    ]

    assert parts[0] == parts[1]


SWITCHES = (
    "",
    "negative=kept",
    "duplicates=twice",
    "no_relevant=one",
    "no_relevant=left-out",
    "missing=left-out",
    "unjudged=skipped",
)


@settings(max_examples=examples(50), deadline=None)
@given(
    table=tables,
    a=runs,
    b=runs,
    measure=st.sampled_from(["nDCG@3", "AP", "RR", "RBP", "bpref"]),
    preset=st.sampled_from(sorted(ir.PRESETS)),
    switch=st.sampled_from(SWITCHES),
)
def test_parts_sum_up_under_every_convention(table, a, b, measure, preset, switch):
    qrels = {
        query: {document: grade - 1 for document, grade in row.items()}
        for query, row in table.items()
    }
    found = attributed(qrels, a, b, measure, f"{preset},{switch}".rstrip(","))

    for query in found.queries:
        documents = math.fsum(document.difference for document in found.documents(query.query))
        assert documents + query.rest == pytest.approx(query.difference, abs=CLOSE, nan_ok=True)
        assert (
            query.rest == 0
            or math.isnan(query.difference)
            or "round" in found.resolved
            or "floor" in found.resolved
        )


def test_a_difference_is_taken_apart_as_by_hand():
    qrels = {"q1": {"a": 3, "b": 1, "c": 2}}
    a, b = {"q1": ["a", "b", "x"]}, {"q1": ["b", "c", "a"]}

    found = ir.attribute(qrels, a, b, "DCG@2")

    log3 = math.log2(3)
    expected = {"a": (3.0, 0.0), "b": (1 / log3, 1.0), "c": (0.0, 2 / log3)}
    for one in found.documents("q1"):
        assert (one.added_a, one.added_b) == pytest.approx(expected[one.document])
    assert [(one.document, one.move) for one in found.documents("q1")] == [
        ("a", "left"),
        ("b", "moved up"),
        ("c", "entered"),
    ]
    shares = {move.move: move.share for move in found.moves}
    total = 1 + 2 / log3 - 3 - 1 / log3
    assert shares == pytest.approx(
        {"entered": 2 / log3 / total, "left": -3 / total, "moved up": (1 - 1 / log3) / total}
    )


def test_the_worst_query_for_the_user_comes_first():
    qrels = {f"q{number}": {"a": 1} for number in range(3)}
    a = {"q0": ["x", "a"], "q1": ["a"], "q2": ["a"]}
    b = {"q0": ["a"], "q1": ["a"], "q2": ["x", "a"]}

    assert [query.query for query in ir.attribute(qrels, a, b, "RR").queries] == ["q2", "q1", "q0"]
    assert [query.query for query in ir.attribute(qrels, a, b, "Unjudged@1").queries] == [
        "q2",
        "q1",
        "q0",
    ]


def test_a_query_in_one_run_only_counts_zero_or_is_left_out_of_both():
    qrels, a, b = {"q1": {"x": 1}, "q2": {"x": 1}}, {"q1": ["x"], "q2": ["x"]}, {"q2": ["x"]}

    zero = ir.attribute(qrels, a, b, "RR")
    left_out = ir.attribute(qrels, a, b, "RR", "standard,missing=left-out")

    assert (zero.difference, zero.n, zero.queries[0].query, zero.queries[0].answered_b) == (
        -0.5,
        2,
        "q1",
        False,
    )
    assert (left_out.difference, left_out.n, left_out.excluded) == (0.0, 1, ("q1",))
    assert zero.documents("q1")[0].rank_b is None
    with pytest.raises(InputError, match=r"'q1': found no difference.*leaves it out"):
        left_out.documents("q1")


def test_unjudged_documents_add_nothing_and_are_counted():
    found = ir.attribute({"q": {"a": 1}}, {"q": ["a", "x", "y"]}, {"q": ["x", "y", "a"]}, "RR@2")

    assert [one.document for one in found.documents("q")] == ["a"]
    assert (found.documents("q")[0].rank_b, found.documents("q")[0].move) == (3, "left")
    assert (found.queries[0].unjudged_a, found.queries[0].unjudged_b) == (1, 2)


def test_tied_documents_share_what_their_group_adds():
    found = ir.attribute(
        {"q": {"a": 1, "b": 1, "c": 0}},
        {},
        {"q": {"a": 1.0, "b": 1.0, "c": 1.0}},
        "AP",
        "standard,ties=expected",
    )
    documents = {one.document: one for one in found.documents("q")}

    assert (
        documents["a"].added_b
        == documents["b"].added_b
        == pytest.approx(found.difference / 2, abs=CLOSE)
    )
    assert documents["c"].added_b == 0
    assert {one.rank_b for one in documents.values()} == {2}


def test_each_split_is_named():
    one = {"q": {"a": 1}}, {"q": ["a"]}, {"q": ["x", "a"]}
    splits = [
        ir.attribute(*one, measure).split
        for measure in ("nDCG", "RBP", "AP", "nDCG(ideal=returned)")
    ]

    assert splits == [EXACT, EXACT, FROM_THE_TOP, OWN_IDEAL]


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("GMAP", "geometric mean, expected one whose difference is a mean over queries"),
        ("AUC", "without a value for the first documents of a list, expected"),
        ("relstring@5", "a measure of text"),
        ("prefs_simp", "expected preferences, found none"),
    ],
)
def test_what_cannot_be_split_is_refused(measure, message):
    with pytest.raises(OptionError, match=message):
        ir.attribute({"q": {"a": 1, "b": 0}}, {"q": ["a", "b"]}, {"q": ["b", "a"]}, measure)


def test_runs_without_a_common_query_are_refused():
    with pytest.raises(InputError, match="no query counts in both"):
        ir.attribute(
            {"p": {"a": 1}, "q": {"a": 1}},
            {"p": ["a"]},
            {"q": ["a"]},
            "RR",
            "standard,missing=left-out",
        )
    with pytest.raises(InputError, match="no query to evaluate: qrels has 1 queries, run 'A'"):
        ir.attribute({"q": {"a": 1}}, {"p": ["a"]}, {"q": ["a"]}, "RR", "standard,missing=left-out")


def test_rounding_is_what_no_document_accounts_for():
    found = ir.attribute(
        {"q": {"a": 2, "b": 1}}, {"q": ["b", "a"]}, {"q": ["a", "b"]}, "nDCG(rounding=round-2)"
    )
    query = found.queries[0]

    assert query.rest == pytest.approx(
        (1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3)) - 0.86, abs=CLOSE
    )
    assert [move.move for move in found.moves][-1] == "no document"
    assert math.fsum(move.share for move in found.moves) == pytest.approx(1, abs=CLOSE)


def test_equal_runs_have_no_shares():
    found = ir.attribute({"q": {"a": 1}}, {"q": ["a"]}, {"q": ["a"]}, "AP")

    assert (found.difference, found.moves[0].share, found.moves[0].move) == (0, None, "stayed")


@pytest.mark.slow
def test_many_queries_are_measured_in_pieces(monkeypatch):
    generator = np.random.default_rng(5)
    qrels = {f"q{n}": {d: int(generator.integers(3)) for d in DOCUMENTS} for n in range(20)}
    a, b = (
        {q: dict(zip(DOCUMENTS, generator.random(10).tolist(), strict=True)) for q in qrels}
        for _ in range(2)
    )
    whole = ir.attribute(qrels, a, b, "ERR")
    monkeypatch.setattr("idealrank.analysis.attribution.document_contributions._ROWS", 7)

    assert ir.attribute(qrels, a, b, "ERR").documents() == whole.documents()


def test_what_judged_only_takes_out_is_not_ranked():
    found = ir.attribute(
        {"q": {"a": 1, "b": 1, "c": 0}},
        {"q": ["x", "a", "b"]},
        {"q": ["b", "x", "a"]},
        "AP(judged_only=True)",
    )

    assert {one.document: (one.rank_a, one.rank_b) for one in found.documents("q")} == {
        "a": (1, 2),
        "b": (2, 1),
    }
