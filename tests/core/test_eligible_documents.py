"""Documents that may not count leave judgments and lists before anything is ranked. The values
equal those of the same files without these documents.
"""

import pickle
import random
import warnings
from pathlib import Path

import numpy as np
import pytest

import idealrank as ir

MEASURES = ["nDCG@5", "AP", "RR", "P@3", "R@4", "Judged@4"]

Pairs = dict[str, dict[str, int]]
Lists = dict[str, list[str]]


def random_case(seed: int) -> tuple[Pairs, Pairs, Lists]:
    """Judgments, a run with ties, and documents that overlap both."""
    dice = random.Random(seed)
    names = [f"d{number}" for number in range(14)]
    queries = [f"q{number}" for number in range(5)]
    qrels = {
        query: {name: dice.randrange(3) for name in dice.sample(names, 6)} for query in queries
    }
    run = {query: {name: dice.randrange(6) for name in dice.sample(names, 10)} for query in queries}
    documents = {query: dice.sample(names, dice.randrange(1, 10)) for query in queries}
    return qrels, run, documents


def cleaned(pairs: Pairs, documents: Lists, *, keeps: bool) -> Pairs:
    """The members of the sets, or the others; a query without any is gone, as in a file."""
    left = {
        query: {
            name: value for name, value in values.items() if (name in documents[query]) == keeps
        }
        for query, values in pairs.items()
    }
    return {query: values for query, values in left.items() if values}


def size(pairs: Pairs) -> int:
    return sum(map(len, pairs.values()))


@pytest.mark.parametrize("keeps", [False, True])
def test_values_are_those_of_inputs_without_these_documents(*, keeps: bool) -> None:
    for seed in range(40):
        qrels, run, documents = random_case(seed)
        clean_qrels, clean_run = (cleaned(pairs, documents, keeps=keeps) for pairs in (qrels, run))
        if not clean_qrels:
            continue
        with warnings.catch_warnings(action="ignore"):
            expected = ir.evaluate(clean_qrels, clean_run, MEASURES)
            evaluation = (
                ir.evaluate(qrels, run, MEASURES, permitted=documents)
                if keeps
                else ir.evaluate(qrels, run, MEASURES, exclude=documents)
            )

        assert evaluation.per_query() == expected.per_query()
        coverage = evaluation.coverage
        judged_run = {query: run[query] for query in clean_qrels}
        lost = size(judged_run) - size(cleaned(judged_run, documents, keeps=keeps))
        assert (coverage.excluded, coverage.breaches) == ((0, lost) if keeps else (lost, 0))
        assert coverage.excluded_judgments == size(qrels) - size(clean_qrels)


def test_other_documents_are_other_judgments_for_a_comparison() -> None:
    qrels, run, documents = random_case(1)
    train = {"q0": ["d-unknown"]}
    plain, excluded, permitted, again = (
        ir.evaluate(qrels, run, "AP", **options)  # type: ignore[arg-type]
        for options in (
            {},
            {"exclude": train},
            {"permitted": {**documents, "q0": ["d-unknown", *qrels["q0"]]}},
            {"exclude": {**train, "q-of-others": ["x"]}},
        )
    )

    assert excluded.per_query() == plain.per_query()
    assert len({one.provenance.judgments for one in (plain, excluded, permitted)}) == 3
    assert again.provenance.judgments == excluded.provenance.judgments
    with pytest.raises(ir.IncompatibleError):
        ir.compare(plain, excluded)


def test_parts_by_query_have_the_fingerprint_of_the_whole() -> None:
    qrels, run, documents = random_case(2)
    parts = [
        ir.evaluate({query: qrels[query]}, {query: run[query]}, "AP", exclude=documents)
        for query in ("q0", "q1")
    ]
    both = {query: qrels[query] for query in ("q0", "q1")}
    whole = ir.evaluate(both, {query: run[query] for query in both}, "AP", exclude=documents)

    merged = parts[0].merge(parts[1])

    assert merged.provenance.judgments == whole.provenance.judgments
    assert merged.coverage.excluded == whole.coverage.excluded
    assert merged.coverage.excluded_judgments == whole.coverage.excluded_judgments


def test_parts_have_the_fingerprint_of_the_whole_with_a_set_for_all_queries() -> None:
    qrels, run, _ = random_case(2)
    parts = [
        ir.evaluate({query: qrels[query]}, {query: run[query]}, "AP", exclude=["d1", "d2"])
        for query in ("q0", "q1")
    ]
    both = {query: qrels[query] for query in ("q0", "q1")}
    whole = ir.evaluate(both, {query: run[query] for query in both}, "AP", exclude=["d1", "d2"])

    assert parts[0].merge(parts[1]).provenance.judgments == whole.provenance.judgments


def test_a_set_has_no_order() -> None:
    qrels, run, _ = random_case(4)
    first, second = (
        ir.evaluate(qrels, run, "AP", exclude={"q0": documents})
        for documents in (["d1", "d2", "d3"], ["d3", "d1", "d2", "d1"])
    )

    assert first.provenance.judgments == second.provenance.judgments


def test_explain_ranks_the_list_without_them() -> None:
    qrels, run = {"q": {"a": 1, "b": 2}}, {"q": ["x", "a", "b"]}
    evaluation = ir.evaluate(qrels, run, "nDCG@3", exclude={"q": ["x"]}, keep_unjudged=True)
    assert evaluation.sources is not None

    explanation = ir.explain(*evaluation.sources, "q", "nDCG@3")

    assert explanation.value == evaluation.mean()["nDCG@3"]
    assert " x " not in str(explanation)


def test_a_run_that_is_read_in_parts_loses_the_same(tmp_path: Path) -> None:
    qrels, run, documents = random_case(5)
    path = tmp_path / "mine.run"
    lines = [
        f"{query} Q0 {name} 1 {score} mine"
        for query, scores in run.items()
        for name, score in scores.items()
    ]
    path.write_text("\n".join(lines), encoding="utf-8")

    whole, in_parts = (
        ir.evaluate(qrels, path, MEASURES, exclude=documents, memory=memory)
        for memory in (None, "8GB")
    )

    assert in_parts.per_query() == whole.per_query()
    assert in_parts.coverage.excluded == whole.coverage.excluded > 0


def test_chance_levels_need_candidates_without_them() -> None:
    with pytest.raises(ir.OptionError, match="candidates: found exclude or permitted too"):
        ir.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "RR", exclude={"q": ["b"]}, candidates=3)


def test_a_breach_may_refuse_the_run() -> None:
    qrels = {"q": {"a": 1}, "r": {"b": 1}}
    run = {"q": ["a", "secret"], "r": ["b", "secret", "other"]}
    permitted = {"q": ["a"], "r": ["b"]}

    with pytest.raises(ir.InputError, match=r"query 'q'.*1 documents.*3 for 2 queries in all"):
        ir.evaluate(qrels, run, "AP", permitted=permitted, breach="error")
    assert ir.evaluate(qrels, run, "AP", permitted=permitted).coverage.breaches == 3
    with pytest.raises(ir.OptionError, match="breach=kept"):
        ir.evaluate(qrels, run, "AP", permitted=permitted, breach="kept")  # type: ignore[arg-type]


def test_every_judged_query_needs_its_permitted_documents() -> None:
    qrels = {"q": {"a": 1}, "r": {"b": 1}}

    with pytest.raises(ir.InputError, match=r"permitted: .* 1 of 2 .* such as 'r'"):
        ir.evaluate(qrels, {"q": ["a"]}, "AP", permitted={"q": ["a"]})
    evaluation = ir.evaluate(qrels, {"q": ["a"], "r": ["b"]}, "AP", permitted={"q": ["a"], "r": []})
    assert evaluation.per_query() == {"q": {"AP": 1.0}}


def test_files_and_a_set_for_all_queries(tmp_path: Path) -> None:
    table = tmp_path / "train.csv"
    table.write_text("user_id,item_id\nq,x\nq,y\n", encoding="utf-8")
    lines = tmp_path / "public.txt"
    lines.write_text("a\nb\n", encoding="utf-8")
    qrels, run = {"q": {"a": 1, "x": 1}}, {"q": ["x", "y", "c", "a"]}

    evaluation = ir.evaluate(qrels, run, "RR", exclude=table, permitted=lines)

    assert evaluation.mean()["RR"] == 1.0
    assert (evaluation.coverage.excluded, evaluation.coverage.breaches) == (2, 1)
    assert evaluation.coverage.as_dict()["excluded_judgments"] == 1
    paths = [Path(record.path).name for record in evaluation.provenance.inputs]
    assert paths == ["train.csv", "public.txt"]


def test_judgments_keep_it_in_another_process_and_with_other_labels() -> None:
    qrels, run, documents = random_case(3)
    evaluation = ir.evaluate(qrels, run, MEASURES, exclude=documents, keep_unjudged=True)
    assert evaluation.sources is not None
    judgments = evaluation.sources[0]

    for copy in (pickle.loads(pickle.dumps(judgments)), judgments.labelled("complete")):  # type: ignore[union-attr]
        assert ir.evaluate(copy, run, MEASURES).per_query() == evaluation.per_query()


def test_arrays_have_no_documents() -> None:
    with pytest.raises(ir.InputError, match="exclude: found arrays"):
        ir.evaluate(np.array([[1]]), np.array([[0.5]]), "AP", exclude={"q": ["a"]})
