"""Preferences and judgments of several assessors: how they are read, what is refused, and the
examples of trec_eval's help.
"""

import gzip
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import idealrank as ir

# `trec_eval -h -R prefs` says of each of these how many preferences it expresses.
HELP = {
    "a total order": ("1 1 a 3\n1 1 b 2\n1 1 c 0\n1 1 d 6\n1 1 e 0\n1 1 f 2\n", 13),
    "two sub-groups": ("1 1 a 3\n1 1 b 2\n1 1 c 1\n1 2 a 2\n1 2 b 1\n1 2 d 3\n", 5),
    "two users": ("1 1 a 3\n1 1 b 2\n2 1 a 0\n2 1 c 6\n2 1 d 2\n2 2 a 0\n2 2 b 8\n", 5),
    "transitive": ("1 1 a 3\n1 1 b 2\n1 1 c 1\n1 2 b 5\n1 2 d 4\n", 5),
}


@pytest.fixture
def written(tmp_path: Path):
    """Write a file."""

    def write(text: str | bytes, name: str = "a.prefs") -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def lines(rows: str) -> str:
    """Preferences of one query."""
    return "".join(f"qid1 {row}\n" for row in rows.splitlines())


# --- what preferences there are -------------------------------------------------------------------


# The second example is counted without what follows by transitivity (d > a > c), which the fourth
# example asks for.
@pytest.mark.parametrize("name", HELP)
def test_the_examples_of_the_help_text(name: str, written) -> None:
    text, expected = HELP[name]
    followed = 1 if name == "two sub-groups" else 0
    assert ir.read_preferences(written(lines(text))).n_preferences == expected + followed


def test_mappings_and_files_make_the_same_table(written) -> None:
    preferences = ir.PreferenceQrels(
        {"qid1": {"1": [{"a": 3, "b": 2, "c": 1}, {"b": 5, "d": 4}], "2": {"a": 0, "b": 1}}}
    )
    read = ir.read_preferences(written(lines(HELP["transitive"][0] + "2 1 a 0\n2 1 b 1\n")))
    assert (read.n_queries, read.n_groups, read.n_preferences) == (1, 2, 6)
    assert repr(preferences) == repr(read).replace(repr(read.name), "'preferences'")
    run = {"qid1": ["d", "a", "x", "b"]}
    measures = ["prefs_simp", "prefs_pair", "prefs_avgjg", "prefs_simp_ret", "prefs_avgjg_Rnonrel"]
    assert ir.evaluate(preferences, run, measures).mean() == ir.evaluate(read, run, measures).mean()


def test_of_groups_that_contradict_each_other_only_one_can_be_right() -> None:
    preferences = ir.PreferenceQrels({"q": {"ann": {"a": 1, "b": 0}, "ben": {"b": 1, "a": 0}}})
    for ranking in (["a", "b"], ["b", "a"]):
        assert ir.evaluate(preferences, {"q": ranking}, "prefs_simp").mean() == {"prefs_simp": 0.5}


def test_more_documents_that_are_not_relevant_than_relevant_ones() -> None:
    """Worked by hand: R = 1, N = 3; the ranking is b a c d, and only b, the first of level 0, is to
    count.
    """
    preferences = ir.PreferenceQrels({"q": {"ann": {"a": 1, "b": 0, "c": 0, "d": 0}}})
    run = {"q": ["a", "b", "c", "d"]}
    means = ir.evaluate(
        preferences, run, ["prefs_avgjg_Rnonrel", "prefs_avgjg_Rnonrel(surplus=cut)"]
    ).mean()
    # trec_eval's number: 1 fulfilled of 3 + 1 possible; by its words 1 of 1.
    assert list(means.values()) == [0.25, 1.0]


# --- reading --------------------------------------------------------------------------------------


def test_tabs_blanks_comments_and_ends_of_lines_are_those_of_qrels(written) -> None:
    text = (
        b"\xef\xbb\xbfq 1\tann\t0\td 1\t2\r\n# q ann 0 d9\n\n \t \nq2 ann  0\td1 1e0\nq2 ann 0 "
        b"d#2 0"
    )
    preferences = ir.read_preferences(written(text))
    assert list(preferences.queries) == ["q 1", "q2"]
    assert list(preferences.documents["q 1"]) == ["d 1"]
    assert list(preferences.documents["q2"]) == ["d1", "d#2"]


def test_compressed_and_several_files(written) -> None:
    first = written(gzip.compress(b"q ann 0 a 1\n"), "a.prefs.gz")
    second = written(b"q ann 0 b 0\n", "b.prefs")
    assert ir.read_preferences([first, second]).n_preferences == 1


def test_a_comment_that_hides_data_is_told(written) -> None:
    with pytest.warns(ir.IdealrankWarning, match="1 comment lines would be judgments without '#'"):
        ir.read_preferences(written("#q ann 0 a 1\nq ann 0 b 0\n"))
    said: list[str] = []
    ir.read_assessors(written("#q ann a 1\nq ann b 0\n"), tell=said.append)
    assert len(said) == 1


PREFS = "5 fields: QUERY GROUP SUBGROUP DOCUMENT LEVEL"
REFUSED = {
    "too few fields": (
        "q ann 0 a 1\nq ann a 1\n",
        2,
        f'found 4 fields in "q ann a 1", expected {PREFS}; graded judgments become',
    ),
    "a run": (
        "q Q0 a 1 0.5 tag\n",
        1,
        f'found 6 fields in "q Q0 a 1 0.5 tag", expected {PREFS}; judgments come first, then runs',
    ),
    "no number": (
        "q ann 0 a one\n",
        1,
        'found "one" in "q ann 0 a one", expected a number as level (field 5)',
    ),
    "no finite number": (
        "q ann 0 a inf\n",
        1,
        'found level "inf" in "q ann 0 a inf", expected a finite level',
    ),
    "NaN": ("q ann 0 a nan\n", 1, 'found level "nan" in "q ann 0 a nan", expected a finite level'),
    "a negative level": (
        "q ann 0 a 1\nq ann 0 b -1\n",
        2,
        "found level -1, expected a level of 0 or more; only the order",
    ),
    "a control byte": (
        "q ann 0 a\x01 1\n",
        1,
        'found a control byte in "q ann 0 a\\x01 1", expected text without control bytes',
    ),
    "a document twice": (
        "q ann 0 a 1\nq ann 0 b 0\nq ann 0 a 2\n",
        3,
        "found a document a second time in one group, expected each",
    ),
    "a contradiction": (
        "q ann 0 a 2\nq ann 0 b 1\nq ann 1 b 2\nq ann 1 a 1\n",
        4,
        "found document 'b' above 'a', which another sub-group contradicts, expected one "
        "order within a judgment group; put contradictory",
    ),
    "level and above": ("q ann 0 a 2\nq ann 0 b 1\nq ann 1 b 2\nq ann 1 a 2\n", 4, "level with"),
    "above and level": (
        "q ann 0 a 2\nq ann 0 b 2\nq ann 1 b 2\nq ann 1 a 1\n",
        4,
        "found document 'b' above 'a', which another",
    ),
    "a circle": (
        "q ann 0 a 2\nq ann 0 b 1\nq ann 1 b 2\nq ann 1 c 1\nq ann 2 c 2\nq ann 2 a 1\n",
        6,
        "found preferences that form a circle through document 'a', expected one order within "
        "a judgment group",
    ),
    "level by one, above by what follows": (
        "q ann 0 a 2\nq ann 0 b 1\nq ann 1 b 2\nq ann 1 c 1\nq ann 2 c 2\nq ann 2 a 2\n",
        6,
        "form a circle through document 'a' and 'c'",
    ),
    "relevant and not": (
        "q ann 0 a 0\nq ann 1 a 1\n",
        2,
        "found level 1 for document 'a', whose level is 0 in another sub-group, expected a "
        "document relevant (above 0) or not (0) in all",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_wrong_is_told_with_its_line(name: str, written) -> None:
    text, line, words = REFUSED[name]
    path = written(text)
    with pytest.raises(ir.FileFormatError) as caught:
        ir.read_preferences(path)
    assert caught.value.line == line
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert words in str(caught.value)


def test_the_line_is_that_of_the_second_file(written) -> None:
    first, second = written("q ann 0 a 1\n", "a.prefs"), written("# b\nq ann 0 a 2\n", "b.prefs")
    with pytest.raises(ir.FileFormatError, match=r"b\.prefs:2: found a document a second time"):
        ir.read_preferences([first, second])


def test_judgments_of_assessors_are_refused_alike(written) -> None:
    with pytest.raises(
        ir.FileFormatError,
        match="4 fields: QUERY GROUP DOCUMENT GRADE; preferences with sub-groups are read by",
    ):
        ir.read_assessors(written("q ann 0 a 1\n"))
    with pytest.raises(
        ir.FileFormatError,
        match=":2: found a document a second time in one group, expected each document once",
    ):
        ir.read_assessors(written("q ann a 1\nq ann a 1\n"))
    with pytest.raises(ir.InputError, match="found no judgments, expected at least one"):
        ir.read_assessors(written("# nothing\n"))
    with pytest.raises(ir.OptionError, match=r"layout=jg: expected one of prefs \| qrels"):
        ir.read_preferences("a", layout="jg")  # type: ignore[arg-type]


def test_mappings_are_refused_by_their_names() -> None:
    with pytest.raises(
        ir.InputError,
        match="preferences: query 'q', group 'ann', document 'a': found level -1, expected a level "
        "of 0",
    ):
        ir.PreferenceQrels({"q": {"ann": {"a": -1}}})
    with pytest.raises(
        ir.InputError,
        match="assessors: query 'q', group 'ann', document 'a': found level nan, expected a finite "
        "number",
    ):
        ir.AssessorQrels({"q": {"ann": {"a": float("nan")}}})


WRONG = {
    "nothing": (None, "found NoneType, expected {query: {GROUP: {document: LEVEL}}}"),
    "rows": ([1, 2], "found list, expected {query: {GROUP: {document: LEVEL}}}"),
    "plain qrels": ({"q": {"a": 1}}, "query 'q', GROUP 'a': found int, expected {document: LEVEL}"),
    "list of documents": (
        {"q": ["a"]},
        "query 'q': found list, expected {GROUP: ...}; the whole is {query: {GROUP: "
        "{document: LEVEL}}}",
    ),
    "documents alone": (
        {"q": {"ann": "a"}},
        "query 'q', GROUP 'ann': found str, expected {document: LEVEL}",
    ),
    "text": (
        {"q": {"ann": {"a": "2"}}},
        "query 'q', GROUP 'ann', document 'a': found str, expected a number as LEVEL",
    ),
    "no level": (
        {"q": {"ann": {"a": None}}},
        "query 'q', GROUP 'ann', document 'a': found NoneType, expected a number as LEVEL",
    ),
    "too deep": (
        {"q": {"ann": {"a": {"b": 1}}}},
        "query 'q', GROUP 'ann', document 'a': found dict, expected a number as LEVEL",
    ),
    "huge": (
        {"q": {"ann": {"a": 10**400}}},
        "document 'a': found a LEVEL above the largest float (1.8e308), expected a finite number",
    ),
    "id": (
        {"q": {None: {"a": 1}}},
        "query 'q', GROUP None: found NoneType as an id, expected text",
    ),
    "empty id": (
        {"q": {"ann": {"": 1}}},
        "query 'q', GROUP 'ann', document '': found an empty id, expected at least one character",
    ),
    "surrogate": (
        {"\ud800": {"ann": {"a": 1}}},
        "found an id with half a surrogate pair, expected text that has a UTF-8 form",
    ),
}


@pytest.mark.parametrize(
    ("kind", "group", "level"),
    [(ir.PreferenceQrels, "group", "level"), (ir.AssessorQrels, "assessor", "grade")],
)
@pytest.mark.parametrize("case", WRONG)
def test_other_nestings_are_refused_with_their_place(
    case: str, kind: type, group: str, level: str
) -> None:
    given, message = WRONG[case]
    with pytest.raises(
        ir.InputError, match=re.escape(message.replace("GROUP", group).replace("LEVEL", level))
    ):
        kind(given)


def test_sub_groups_are_mappings_each() -> None:
    with pytest.raises(
        ir.InputError,
        match=r"query 'q', group 'ann': found int, expected \{document: level\} or a sequence of "
        r"such",
    ):
        ir.PreferenceQrels({"q": {"ann": [{"a": 1, "b": 0}, 5]}})  # type: ignore[list-item]
    with pytest.raises(
        ir.InputError, match=r"query 'q', assessor 'ann': found list, expected \{document: grade\}"
    ):
        ir.AssessorQrels({"q": {"ann": [{"a": 1}]}})  # type: ignore[dict-item]


def test_whole_numbers_are_ids_as_in_qrels() -> None:
    assert ir.AssessorQrels({1: {2: {3: 1}}}).of("2")["1"] == {"3": 1.0}  # type: ignore[dict-item]


@pytest.mark.parametrize("given", [None, 5, {"q": {"a": 10**400}}])
def test_qrels_refuse_what_is_no_mapping_of_numbers(given: object) -> None:
    with pytest.raises(ir.InputError, match=r"qrels: found .*, expected"):
        ir.Qrels(given)  # type: ignore[arg-type]


# --- tables and measures that do not fit ----------------------------------------------------------


def test_a_measure_without_its_table_says_which_it_needs() -> None:
    qrels, run = {"q": {"a": 1}}, {"q": ["a"]}
    with pytest.raises(
        ir.OptionError,
        match=r"prefs_simp: expected preferences, found none; give judgments as PreferenceQrels",
    ):
        ir.evaluate(qrels, run, "prefs_simp")
    with pytest.raises(
        ir.OptionError,
        match=r"AP_avgjg: expected assessors, found none; give judgments as AssessorQrels",
    ):
        ir.evaluate(ir.PreferenceQrels({"q": {"ann": {"a": 1, "b": 0}}}), run, "AP_avgjg")
    with pytest.raises(ir.OptionError, match="prefs_pair: expected preferences, found none"):
        ir.evaluate(np.array([1, 0]), np.array([2.0, 1.0]), "prefs_pair")


@pytest.mark.parametrize("kind", [ir.PreferenceQrels, ir.AssessorQrels])
def test_a_measure_of_grades_refuses_other_tables(kind: type) -> None:
    table = kind({"q": {"ann": {"a": 1, "b": 0}}})
    assert ir.evaluate(table, {"q": ["a", "c"]}, ["NumQ", "NumRet"]).mean() == {
        "NumQ": 1.0,
        "NumRet": 2.0,
    }
    with pytest.raises(
        ir.OptionError, match=r"AP: found \w+, expected grades; give judgments as Qrels"
    ):
        ir.evaluate(table, {"q": ["a"]}, "AP")


def test_best_and_worst_orders_are_refused_where_scores_tie() -> None:
    preferences = ir.PreferenceQrels({"q": {"ann": {"a": 1, "b": 0}}})
    with pytest.raises(
        ir.OptionError,
        match="ties=best: found tied scores; contradictory preferences have no order",
    ):
        ir.evaluate(preferences, {"q": {"a": 1.0, "b": 1.0}}, "prefs_simp", "standard,ties=best")
    assert ir.evaluate(
        preferences, {"q": ["a", "b"]}, "prefs_simp", "standard,ties=best"
    ).mean() == {"prefs_simp": 1.0}


def test_options_are_checked() -> None:
    assert str(ir.parse_measure("prefs_avgjg_imp")) == "prefs_avgjg(among=implied)"
    for text in (
        "prefs_simp(among=some)",
        "prefs_avgjg_Rnonrel(surplus=all)",
        "prefs_simp@5",
        "prefs_avgjg_Rnonrel(among=implied)",
    ):
        with pytest.raises(ir.OptionError):
            ir.parse_measure(text)


# --- queries, policies, other processes -----------------------------------------------------------


def test_missing_queries_count_zero_or_are_left_out() -> None:
    preferences = ir.PreferenceQrels(
        {"q1": {"ann": {"a": 1, "b": 0}}, "q2": {"ann": {"a": 1, "b": 0}}}
    )
    run = {"q2": ["a"], "q3": ["a"]}
    assert ir.evaluate(preferences, run, "prefs_simp")["prefs_simp"].tolist() == [0.0, 1.0]
    left_out = ir.evaluate(preferences, run, "prefs_simp", "standard,missing=left-out")
    assert (list(left_out.queries), left_out["prefs_simp"].tolist()) == (["q2"], [1.0])
    assessors = ir.AssessorQrels(
        {"q1": {"ann": {"a": 1}}, "q2": {"ann": {"a": 1}, "ben": {"b": 1}}}
    )
    left_out = ir.evaluate(assessors, run, "AP_avgjg", "standard,missing=left-out")
    assert (list(left_out.queries), left_out["AP_avgjg"].tolist()) == (["q2"], [0.5])


def test_a_group_without_relevant_documents_falls_under_the_policy() -> None:
    assessors = ir.AssessorQrels({"q": {"ann": {"a": 1}, "ben": {"a": 0}}})
    for policy, expected in {"zero": 0.5, "one": 1.0, "left-out": 1.0}.items():
        assert ir.evaluate(
            assessors, {"q": ["a"]}, "AP_avgjg", f"standard,no_relevant={policy}"
        ).mean() == {"AP_avgjg": expected}


def test_levels_between_whole_numbers_are_no_grades_to_be_truncated() -> None:
    preferences = ir.PreferenceQrels({"q": {"ann": {"a": 1.5, "b": 1.2}}})
    evaluation = ir.evaluate(preferences, {"q": ["a", "b"]}, "prefs_simp", "trec_eval-10")
    assert (evaluation.mean()["prefs_simp"], evaluation.coverage.truncated_grades) == (1.0, 0)


def test_evaluations_of_these_tables_can_be_sent_to_another_process() -> None:
    preferences = ir.PreferenceQrels({"q": {"ann": {"a": 1, "b": 0}}})
    evaluation = ir.evaluate(preferences, {"q": ["a", "b"]}, "prefs_simp")
    assert pickle.loads(pickle.dumps(evaluation)).mean() == evaluation.mean()
