"""Scores of answers by their nuggets: those of the tool's own script, of published files, and the
comparison of systems.
"""

import json
from pathlib import Path
from typing import Any

import pytest

import idealrank as ir
from idealrank.judging.nuggets import NUGGET_SCORES, AssignedAnswers, Nugget, nugget_scores

TOOLS = Path(__file__).parents[1] / "data" / "tools"
NAMES = {
    "strict_vital_score": "V_strict",
    "vital_score": "V",
    "strict_all_score": "A_strict",
    "all_score": "A",
}
WEIGHTED = {"strict_weighted_score": "W_strict", "weighted_score": "W"}
WORDS = {"s": "support", "p": "partial_support", "n": "not_support"}

# Assignments to vital and to okay nuggets, and the scores published with them, of the first four
# answers of command-r-plus to the topics of TREC RAG 2024: data/assignments and data/metrics of
# NamaWho/pyterrier-nuggetizer (Apache-2.0); the texts are left out.
PUBLISHED = {
    "2024-105741": (
        "ssppnssp",
        "ssn",
        [
            0.5,
            0.6875,
            0.5263157894736842,
            0.6842105263157895,
            0.5454545454545454,
            0.6818181818181818,
        ],
    ),
    "2024-109837": (
        "ssssssssssnnsnsss",
        "nnnn",
        [
            0.8235294117647058,
            0.8235294117647058,
            0.7368421052631579,
            0.7368421052631579,
            0.6666666666666666,
            0.6666666666666666,
        ],
    ),
    "2024-111331": (
        "sspnnsnnpsnnnsn",
        "ssnnsnnnnnnnnn",
        [
            0.3333333333333333,
            0.4,
            0.29545454545454547,
            0.3409090909090909,
            0.27586206896551724,
            0.3103448275862069,
        ],
    ),
    "2024-111506": (
        "sssssssnnsnnnsp",
        "snn",
        [
            0.6,
            0.6333333333333333,
            0.5757575757575758,
            0.6060606060606061,
            0.5555555555555556,
            0.5833333333333334,
        ],
    ),
}
ORDER = ("V_strict", "V", "W_strict", "W", "A_strict", "A")


def answer(query: str, vital: str, okay: str, run: str = "a") -> dict[str, Any]:
    words = [("vital", letter) for letter in vital] + [("okay", letter) for letter in okay]
    nuggets = [
        {"text": f"n{place}", "importance": one, "assignment": WORDS[letter]}
        for place, (one, letter) in enumerate(words)
    ]
    return {"qid": query, "run_id": run, "nuggets": nuggets}


def written(folder: Path, records: list[Any], name: str = "a.jsonl") -> Path:
    (folder / name).write_text(
        "".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8"
    )
    return folder / name


def test_scores_are_those_of_the_tools_script() -> None:
    said: list[str] = []
    (found,) = ir.evaluate_answers(TOOLS / "nuggets.jsonl", list(NAMES.values()), tell=said.append)
    *expected, mean = json.loads((TOOLS / "nugget-scores.json").read_text(encoding="utf-8"))
    assert found.per_query() == {
        one["qid"]: {name: one[key] for key, name in NAMES.items()} for one in expected
    }
    assert found.mean() == pytest.approx(
        {name: mean[key] for key, name in NAMES.items()}, abs=1e-15
    )
    assert (found.name, found.coverage.scored, found.coverage.no_relevant) == (
        "a",
        30,
        sum(not one for one in _vital_counts()),
    )
    failed = (TOOLS / "nuggets.jsonl").read_text(encoding="utf-8").count('"failed"')
    assert failed > 1
    assert said == [
        f"{TOOLS / 'nuggets.jsonl'}: {failed} nuggets were not rated or assigned (failed); "
        f"they count as not supported"
    ]


def _vital_counts() -> list[int]:
    lines = (TOOLS / "nuggets.jsonl").read_text(encoding="utf-8").splitlines()
    return [
        sum(one["importance"] == "vital" for one in json.loads(line)["nuggets"]) for line in lines
    ]


@pytest.mark.parametrize("query", PUBLISHED)
def test_scores_are_those_published_for_trec_rag(tmp_path: Path, query: str) -> None:
    vital, okay, expected = PUBLISHED[query]
    (found,) = ir.evaluate_answers(written(tmp_path, [answer(query, vital, okay)]), ORDER)
    assert list(found.per_query()[query].values()) == pytest.approx(expected, abs=1e-15)


def test_a_query_without_nuggets_counts_zero(tmp_path: Path) -> None:
    (found,) = ir.evaluate_answers(
        written(tmp_path, [answer("q1", "", "sp"), answer("q2", "", ""), answer("q3", "s", "")]),
        ORDER,
    )
    assert found.per_query() == {
        "q1": {"V_strict": 0, "V": 0, "W_strict": 0.5, "W": 0.75, "A_strict": 0.5, "A": 0.75},
        "q2": dict.fromkeys(ORDER, 0),
        "q3": dict.fromkeys(ORDER, 1),
    }


def test_systems_in_one_file_are_compared_on_the_same_nuggets(tmp_path: Path) -> None:
    weak = [answer(f"q{number}", "snn", "n", "weak") for number in range(12)]
    strong = [
        answer(f"q{number}", "ssn" if number % 4 else "snn", "s", "strong") for number in range(12)
    ]
    first, second = ir.evaluate_answers(written(tmp_path, weak + strong))
    assert (first.name, second.name, first.provenance.judgments) == (
        "weak",
        "strong",
        second.provenance.judgments,
    )
    compared = ir.compare(first, second)
    row = next(iter(compared.records()))
    assert (row["measure"], row["verdict"], row["difference"]) == (
        "V_strict",
        "better",
        pytest.approx(9 / 12 / 3),
    )
    assert ir.intervals(first)["A"].n == 12
    others = [answer(f"q{number}", "sn", "n", "other") for number in range(12)]
    (third,) = ir.evaluate_answers(written(tmp_path, others))
    with pytest.raises(ir.IncompatibleError, match="judgments"):
        ir.compare(first, third)


def test_queries_without_an_answer_count_zero_if_the_nuggets_are_given(tmp_path: Path) -> None:
    listed = [
        {"qid": q, "nuggets": [{"text": f"n{n}", "importance": "vital"} for n in range(2)]}
        for q in ("q1", "q2")
    ]
    nuggets = written(tmp_path, listed, "nuggets.jsonl")
    path = written(tmp_path, [answer("q1", "ss", "")])
    assert ir.evaluate_answers(path)[0].mean()["V"] == 1
    assert ir.evaluate_answers(path, nuggets=nuggets)[0].per_query() == {
        "q1": dict.fromkeys(("V_strict", "V", "A_strict", "A"), 1),
        "q2": dict.fromkeys(("V_strict", "V", "A_strict", "A"), 0),
    }
    with pytest.raises(
        ir.InputError,
        match=r"a: query 'q1': found 'n2', expected the 2 nuggets of the list with their "
        r"importance",
    ):
        ir.evaluate_answers(written(tmp_path, [answer("q1", "sss", "")]), nuggets=nuggets)
    with pytest.raises(
        ir.InputError, match=r"a: found query 'q3', expected one of the 2 queries of the nuggets"
    ):
        ir.evaluate_answers(written(tmp_path, [answer("q3", "ss", "")]), nuggets=nuggets)


def test_an_array_of_records_is_read_as_lines_are(tmp_path: Path) -> None:
    records = [answer("q1", "sp", "n"), answer("q2", "n", "s")]
    (tmp_path / "a.json").write_text(json.dumps(records), encoding="utf-8")
    assert (
        ir.evaluate_answers(tmp_path / "a.json")[0].per_query()
        == ir.evaluate_answers(written(tmp_path, records))[0].per_query()
    )


def nugget(**fields: Any) -> dict[str, Any]:
    return {
        "qid": "q",
        "nuggets": [{"text": "x", "importance": "vital", "assignment": "support", **fields}],
    }


WRONG: list[tuple[list[Any], str]] = [
    ([{"nuggets": []}], "a.jsonl:1: found no qid among the fields 'nuggets', expected"),
    ([{"qid": True, "nuggets": []}], "a.jsonl:1: found no id as qid"),
    ([{"qid": "q"}], "a.jsonl:1: found NoneType as nuggets of query 'q'"),
    ([{"qid": "q", "nuggets": ["x"]}], "found a nugget without a text"),
    (
        [nugget(importance="vitl")],
        "found importance 'vitl' of nugget 'x', expected one of vital, okay, failed; did you "
        "mean vital?",
    ),
    (
        [nugget(assignment=None)],
        "found assignment None of nugget 'x', expected one of support, partial_support, "
        "not_support, failed",
    ),
    (
        [{"qid": "q", "nuggets": [{"text": "x", "importance": "okay"}]}],
        "found no assignment of nugget 'x'",
    ),
    (
        [nugget(), nugget()],
        "a.jsonl:2: found a second answer to query 'q', expected one answer to a query",
    ),
    (
        [{**nugget(), "docid": "a"}, {**nugget(), "docid": "b"}],
        "passages have assignments of their own (docid)",
    ),
    ([3], "a.jsonl:1: found int, expected a record"),
    ([], "found no answer, expected at least one"),
]


@pytest.mark.parametrize(("records", "message"), WRONG, ids=[message for _, message in WRONG])
def test_the_message_about_a_record(tmp_path: Path, records: list[Any], message: str) -> None:
    with pytest.raises(ir.InputError) as caught:
        ir.evaluate_answers(written(tmp_path, records))
    assert message in str(caught.value).replace('"', "'")


def test_scores_are_for_answers_only() -> None:
    with pytest.raises(
        ir.OptionError,
        match=r"found no score of that name, expected one of V_strict, V, .*; did you mean "
        r"V_strict",
    ):
        nugget_scores(["V_strikt"])
    with pytest.raises(
        ir.OptionError,
        match=r"V_strict: expected nuggets, found none; score answers with ir\.evaluate_answers",
    ):
        ir.evaluate({"q": {"a": 1}}, {"q": ["a"]}, NUGGET_SCORES["V_strict"])
    with pytest.raises(ir.OptionError, match="V has no cutoff"):
        type(NUGGET_SCORES["V"])(cutoff=3)


def test_the_weighted_score_lies_between_those_of_vital_and_of_all_nuggets() -> None:
    for vital in ("", "s", "sn", "ppn"):
        for okay in ("", "s", "nn", "sp"):
            nuggets = [Nugget(*one.values()) for one in answer("q", vital, okay)["nuggets"]]
            found = AssignedAnswers("a", {"q": nuggets}).evaluated(nugget_scores(ORDER)).mean()
            if vital:
                assert min(found["V"], found["A"]) <= found["W"] <= max(found["V"], found["A"])
            assert found["V_strict"] <= found["V"]
            assert found["A_strict"] <= found["A"]
