"""Labels of people: who gets which pair, what is kept, and the judgments that follow."""

import math
import sqlite3
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import idealrank as ir
from idealrank.cli import main
from idealrank.errors import InputError, OptionError
from idealrank.io.formats.preferences import read_assessors
from idealrank.io.judgment_files import origin_of, read_labels_table, write_judgments
from idealrank.judging import agreement_report
from idealrank.judging.files.judgment_pairs import JudgmentPair
from idealrank.judging.inputs import read_labels
from idealrank.live.judges import label_store
from idealrank.live.judges.judge_answers import Scale
from idealrank.live.judges.label_plan import LabelPlan
from idealrank.live.judges.label_store import LabelStore
from idealrank.live.web.label_pages import marked, progress_report, safe_link
from idealrank.live.web.label_server import LabelServing, serve_labels

SCALE = Scale.of("0=no,1=partly,2=yes")


def pairs(number: int = 6) -> list[JudgmentPair]:
    return [JudgmentPair(query=f"q{place % 2}", document=f"d{place}") for place in range(number)]


def opened(
    folder: Path,
    given: "list[JudgmentPair] | None" = None,
    scale: Scale = SCALE,
    output: str = "labels.qrels",
    **options: Any,
) -> LabelStore:
    plan = LabelPlan(pairs=pairs() if given is None else given, scale=scale, **options)
    return LabelStore(str(folder / "labels.sqlite3"), plan, str(folder / output))


def label_all(store: LabelStore, rater: str, grade: float = 1.0) -> list[tuple[str, str]]:
    store.join(rater)
    found = []
    while (number := store.next_pair(rater)) is not None:
        store.answer(number, rater, grade)
        found.append(store.key(number))
    return found


def test_every_answer_is_on_the_disk_when_it_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(label_store, "_SLOW", math.inf)  # however long this disk takes
    store = opened(tmp_path)
    store.join("ann")
    for done in range(1, 7):
        store.answer(store.next_pair("ann") or 0, "ann", 2.0)
        assert len(ir.read_qrels(str(tmp_path / "labels.qrels")).grades) == done
        with sqlite3.connect(tmp_path / "labels.sqlite3") as other:
            assert other.execute("SELECT count(*) FROM answers").fetchone() == (done,)
        other.close()
    assert store.next_pair("ann") is None
    store.close()


def test_the_last_answer_is_in_the_files_however_slow_the_disk_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # every write is too slow, and the next one a day away
    monkeypatch.setattr(label_store, "_SLOW", -1.0)
    monkeypatch.setattr(label_store, "_PAUSE", math.inf)
    store = opened(tmp_path)
    store.join("ann")
    for _ in range(6):
        store.answer(store.next_pair("ann") or 0, "ann", 2.0)
    assert len(ir.read_qrels(str(tmp_path / "labels.qrels")).grades) == 6
    store.close()


def test_answers_are_there_again_after_an_end_and_a_longer_list_goes_on(tmp_path: Path) -> None:
    store = opened(tmp_path)
    first = label_all(store, "ann")
    store.close()
    store = opened(tmp_path, pairs(9))
    assert store.counts("ann") == (6, 9)
    assert set(first) | set(label_all(store, "ann")) == {pair.key for pair in pairs(9)}
    store.close()
    store = opened(tmp_path, pairs(2))
    assert len(ir.read_qrels(str(tmp_path / "labels.qrels")).grades) == 9, (
        "answers to pairs of an earlier list are kept"
    )
    store.close()


def test_pairs_of_one_query_follow_each_other_in_an_order_of_no_run_and_priority_goes_first(
    tmp_path: Path,
) -> None:
    given = [JudgmentPair(query=f"q{place // 10}", document=f"d{place}") for place in range(40)]
    ordered = LabelPlan(pairs=given, scale=SCALE).ordered
    assert [pair.query for pair in ordered] == [f"q{place // 10}" for place in range(40)]
    assert ordered != given
    assert (
        ordered
        == LabelPlan(pairs=given, scale=SCALE).ordered
        != LabelPlan(pairs=given, scale=SCALE, seed=1).ordered
    )
    urgent = JudgmentPair(query="q3", document="urgent", priority=1.0)
    later = JudgmentPair(query="q0", document="later", priority=2.0)
    assert LabelPlan(pairs=[*given, later, urgent], scale=SCALE).ordered[:2] == [urgent, later]


def test_gold_questions_that_the_list_lacks_are_mixed_with_the_others() -> None:
    gold = {(f"g{place}", "d"): 1.0 for place in range(20)}
    more = [JudgmentPair(query=query, document=document) for query, document in gold]
    for priorities in (range(1, 201), [float("inf")] * 200):
        given = [
            JudgmentPair(query=f"q{place // 10}", document=f"d{place}", priority=n)
            for place, n in enumerate(priorities)
        ]
        ordered = LabelPlan(pairs=[*given, *more], scale=SCALE, gold=gold).ordered
        assert [pair for pair in ordered if pair.key not in gold] == LabelPlan(
            pairs=given, scale=SCALE
        ).ordered
        places = [place for place, pair in enumerate(ordered) if pair.key in gold]
        for quarter in range(4):
            assert any(55 * quarter <= place < 55 * (quarter + 1) for place in places), (
                "twenty of 220, in each quarter at least one"
            )
    assert [pair.key for pair in LabelPlan(pairs=more, scale=SCALE, gold=gold).ordered] == list(
        gold
    ), "gold alone keeps its order"


def test_an_answer_is_kept_if_the_files_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    plan = LabelPlan(pairs=pairs(2), scale=SCALE)
    store = LabelStore(
        str(tmp_path / "labels.sqlite3"), plan, str(tmp_path / "out" / "labels.qrels")
    )
    (tmp_path / "out").rename(tmp_path / "away")
    store.join("ann")
    store.answer(1, "ann", 1.0)
    assert store.counts() == (1, 2)
    told = progress_report(store)["unwritten"]
    assert told.startswith("labels.qrels: cannot be written: ")
    assert str(tmp_path) not in told
    (tmp_path / "away").rename(tmp_path / "out")
    store.answer(2, "ann", 1.0)
    assert progress_report(store)["unwritten"] == ""
    store.close()
    assert len(ir.read_qrels(str(tmp_path / "out" / "labels.qrels")).grades) == 2


def test_the_same_grade_again_is_no_change(tmp_path: Path) -> None:
    store = opened(tmp_path, pairs(1), model={("q0", "d0"): 2.0})
    store.join("ann")
    for note in ("", "", "a note"):
        store.answer(1, "ann", 1.0, note=note)
    assert store.progress()[0].revised == 0
    answer = store.answer_of(1, "ann")
    assert answer is not None
    assert (answer.note, answer.after_model) == ("a note", False)
    store.answer(1, "ann", 2.0)
    answer = store.answer_of(1, "ann")
    assert answer is not None
    assert (answer.after_model, store.progress()[0].revised) == (True, 1)
    store.close()


def test_several_people_at_once_share_the_pairs(tmp_path: Path) -> None:
    store = opened(tmp_path, pairs(60), double=0.25)
    names = [f"rater {place}" for place in range(4)]
    found: dict[str, list[tuple[str, str]]] = {}
    threads = [
        threading.Thread(target=lambda name=name: found.update({name: label_all(store, name)}))
        for name in names
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    times = [sum(pair.key in keys for keys in found.values()) for pair in store.plan.pairs]
    assert times == [store.plan.n_raters(pair) for pair in store.plan.pairs]
    assert sum(times) == 75
    assert store.counts() == (75, 75)
    store.close()
    assert len(ir.read_qrels(str(tmp_path / "labels.qrels")).grades) == 60
    assert len(read_assessors(str(tmp_path / "labels.qrels.raters")).grades) == 75


def test_a_pair_stays_with_who_looks_at_it_for_a_while(tmp_path: Path) -> None:
    store = opened(tmp_path, pairs(2))
    store.join("ann")
    store.join("ben")
    first = store.next_pair("ann", now=1000.0)
    assert store.next_pair("ann", now=1001.0) == first, (
        "a page that is loaded again shows the same pair"
    )
    assert store.next_pair("ben", now=1002.0) not in {first, None}
    store.answer(store.next_pair("ben", now=1003.0) or 0, "ben", 1.0)
    assert store.next_pair("ben", now=1004.0) is None
    assert store.next_pair("ben", now=1001.0 + 901) == first
    store.close()


def test_a_skipped_pair_is_for_others(tmp_path: Path) -> None:
    store = opened(tmp_path, pairs(1))
    store.join("ann")
    number = store.next_pair("ann") or 0
    store.answer(number, "ann", None, note="in a language that I do not read")
    assert (store.next_pair("ann"), store.skipped_by("ann")) == (None, [number])
    assert label_all(store, "ben") == [("q0", "d0")]
    store.close()
    statuses = [
        (row["assessor"], row["status"], row["grade"])
        for row in read_labels_table(tmp_path / "labels.qrels.labels.csv")
    ]
    assert statuses == [("ann", "skipped", ""), ("ben", "graded", "1")]


def test_two_grades_of_a_pair_give_the_lower_and_both_are_kept(tmp_path: Path) -> None:
    store = opened(tmp_path, pairs(4), double=1.0)
    label_all(store, "Ann Lee", 2.0)
    label_all(store, "ben", 1.0)
    report = progress_report(store)
    store.close()
    found = read_assessors(str(tmp_path / "labels.qrels"))
    assert (found.assessors, set(found.grades.tolist())) == (("Ann_Lee+ben",), {1.0})
    each = read_assessors(str(tmp_path / "labels.qrels.raters"))
    assert (each.of("Ann_Lee")["q0"], each.of("ben")["q0"]) == (
        {"d0": 2.0, "d2": 2.0},
        {"d0": 1.0, "d2": 1.0},
    )
    assert report["agreement"]["percent"].startswith("0 %")
    assert len(report["disagreements"]) == 4
    assert report["disagreements"][0]["grades"] == "Ann Lee 2, ben 1"


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl"])
def test_ids_of_any_text_are_kept_in_tables(tmp_path: Path, ending: str) -> None:
    """Query texts as ids, as judge next writes them: with blanks at any place, commas, quotation
    marks and a leading #.
    """
    keys = [("phone cord", "s 1"), ('#1 "dad", mug ', "a,b"), ("tab\tid", "\u00e9\u4e2d")]
    listed = [JudgmentPair(query=query, document=document) for query, document in keys]
    output = f"labels{ending}"
    store = opened(tmp_path, listed, output=output, double=1.0)
    label_all(store, "Ann Lee", 2.0)
    label_all(store, "ben", 1.0)
    store.close()

    qrels = ir.read_qrels(tmp_path / output, tell=lambda _: None)
    grades = {(query, document) for query in qrels.queries for document in qrels[query]}
    assert grades == set(keys)
    each = read_labels(str(tmp_path / f"{output}.raters{ending}"), tell=lambda _: None)
    assert sorted(each.raters) == ["Ann_Lee", "ben"]
    assert set(zip(each.queries, each.documents, strict=True)) == set(keys)
    by_rater = dict(zip(each.raters, each.grades.T.tolist(), strict=True))
    assert by_rater == {"Ann_Lee": [2.0] * 3, "ben": [1.0] * 3}
    for name in (output, f"{output}.raters{ending}"):
        origin = origin_of(tmp_path / name)
        assert origin is not None
        assert (origin["kind"], origin["assessors"]) == ("people", ["Ann_Lee", "ben"])

    opened(tmp_path, listed, output=output, double=1.0).close()  # a second time
    assert ir.read_qrels(tmp_path / output, tell=lambda _: None).n_judgments == len(keys)


def test_gold_questions_go_to_everybody_and_not_into_the_judgments(tmp_path: Path) -> None:
    gold = {("q0", "d0"): 2.0, ("q1", "d1"): 1.0}
    store = opened(tmp_path, gold=gold)
    assert set(gold) <= set(label_all(store, "ann", 1.0))
    assert set(label_all(store, "ben", 2.0)) == set(gold)
    people = {one["name"]: one["gold"] for one in progress_report(store)["people"]}
    assert people["ann"].startswith("1 of 2 [")
    store.close()
    assert len(ir.read_qrels(str(tmp_path / "labels.qrels")).grades) == 4
    origin = origin_of(tmp_path / "labels.qrels")
    assert origin is not None
    assert origin["gold"] == {"ann": [1, 2], "ben": [1, 2]}
    rows = read_labels_table(tmp_path / "labels.qrels.labels.csv")
    assert sum(row["status"] == "gold" for row in rows) == 4


def test_the_page_and_the_command_count_the_same_pairs_for_agreement(tmp_path: Path) -> None:
    """Gold questions go to everybody: the page counted them, and `judge agreement` of the written
    grades did not.
    """
    store = opened(tmp_path, gold={("q0", "d0"): 2.0, ("q1", "d1"): 1.0}, double=1.0)
    label_all(store, "ann", 1.0)
    label_all(store, "ben", 2.0)
    told = progress_report(store)["agreement"]
    store.close()

    found = agreement_report(read_labels(str(tmp_path / "labels.qrels.raters")))

    assert told["pairs"] == str(found.n_shared) == "4"
    assert told["percent"].startswith(f"{100 * float(found.coefficients['percent'].value):.0f} %")


def test_a_gold_question_cannot_be_guessed(tmp_path: Path) -> None:
    store = opened(tmp_path, gold={("q0", "d0"): 2.0})
    gold = next(number for number in range(1, 7) if store.key(number) == ("q0", "d0"))

    def told() -> list[str]:
        return [one["gold"] for one in progress_report(store)["people"]]

    for name in ("ann", "ben"):
        store.join(name)
    for grade in (None, 0.0, 2.0):
        store.answer(gold, "ann", grade)
        assert told() == ["", ""], "nothing is told before the last pair"
    store.answer(gold, "ben", 2.0)
    assert progress_report(store)["disagreements"] == []
    store.answer(gold, "ben", 1.0)
    assert progress_report(store)["disagreements"] == [], "others have still to answer it"
    label_all(store, "ann")
    assert [one[:6] for one in told()] == ["0 of 1", "1 of 1"], "the first grade counts"
    assert [(one.gold_right, one.gold) for one in store.progress()] == [(0, 1), (1, 1)]
    store.close()
    origin = origin_of(tmp_path / "labels.qrels")
    assert origin is not None
    assert origin["gold"] == {"ann": [0, 1], "ben": [1, 1]}


def test_grades_of_people_and_of_a_model_stand_apart(tmp_path: Path) -> None:
    store = opened(
        tmp_path, pairs(2), model={("q0", "d0"): 2.0, ("q9", "d9"): 1.0}, model_name="tiny"
    )
    label_all(store, "ann", 0.0)
    assert progress_report(store)["model"] == {
        "name": "tiny",
        "pairs": "1",
        "equal": "0 %",
        "bias": "+2.00",
    }
    store.close()
    assert set(ir.read_qrels(str(tmp_path / "labels.qrels")).grades.tolist()) == {0.0}
    rows = [
        (row["assessor"], row["kind"], row["grade"])
        for row in read_labels_table(tmp_path / "labels.qrels.labels.csv")
    ]
    assert sorted(rows) == [("ann", "people", "0"), ("ann", "people", "0"), ("tiny", "model", "2")]


def test_the_same_answer_sent_twice_is_kept_once(tmp_path: Path) -> None:
    store = opened(tmp_path, pairs(1))
    store.join("ann")
    for _ in range(2):
        store.answer(1, "ann", 1.0, nonce="a")
    store.close()
    store = opened(tmp_path, pairs(1))
    store.answer(1, "ann", 1.0, nonce="a")
    assert len(read_labels_table(tmp_path / "labels.qrels.labels.csv")) == 1
    assert store.progress()[0].revised == 0
    store.answer(1, "ann", 2.0, nonce="b", seconds=-5)
    assert store.progress()[0].revised == 1
    store.close()


@pytest.mark.parametrize(
    ("number", "rater", "grade", "said"),
    [
        (99, "ann", 1.0, "pair 99"),
        (1, "eve", 1.0, "joined"),
        (1, "ann", 7.0, "found 7"),
        (1, "ann", float("nan"), "found nan"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused(
    tmp_path: Path, number: int, rater: str, grade: float, said: str
) -> None:
    store = opened(tmp_path)
    store.join("ann")
    with pytest.raises(OptionError, match=said):
        store.answer(number, rater, grade)
    with pytest.raises(OptionError, match="letters"):
        store.answer(1, "ann", 1.0, note="x" * 5000)
    assert store.counts() == (0, 6)
    store.close()


@pytest.mark.parametrize("name", ["", " ann", "a" * 81, "a\x1b[1m", "a\nb", "Ann_Lee"])
def test_a_name_that_judgments_could_not_hold_is_refused(tmp_path: Path, name: str) -> None:
    store = opened(tmp_path)
    store.join("Ann Lee")
    with pytest.raises(OptionError, match="name: found"):
        store.join(name)
    store.close()


def test_one_process_uses_the_labels_and_a_scale_does_not_change(tmp_path: Path) -> None:
    store = opened(tmp_path)
    with pytest.raises(OptionError, match="another process that uses these labels"):
        opened(tmp_path)
    store.close()
    with pytest.raises(
        OptionError, match=r"grades of the scale 0, 1, 2, expected 0, 1; use that scale"
    ):
        opened(tmp_path, scale=Scale.of("0,1"))
    (tmp_path / "labels.sqlite3").write_bytes(b"no database" * 1000)
    with pytest.raises(InputError, match="expected a file of labels"):
        opened(tmp_path)


def test_what_is_wrong_with_a_plan_is_named() -> None:
    with pytest.raises(
        OptionError,
        match=r"gold: query 'q0', document 'd0': found the grade 9, expected one of 0, 1, 2",
    ):
        LabelPlan(pairs=pairs(), scale=SCALE, gold={("q0", "d0"): 9.0})
    with pytest.raises(OptionError, match="double"):
        LabelPlan(pairs=pairs(), scale=SCALE, double=1.5)
    with pytest.raises(InputError, match=r"found document 'd\\udcff', expected an id in UTF-8"):
        LabelPlan(pairs=[JudgmentPair(query="q1", document="d\udcff")], scale=SCALE)
    with pytest.raises(OptionError, match="scale: found '0'"):
        LabelServing(pairs="a", output="b", state="c", scale="0")
    with pytest.raises(OptionError, match="expected a token"):
        LabelServing(pairs="a", output="b", state="c", host="0.0.0.0")


def test_judgments_that_came_from_elsewhere_are_never_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pairs.csv").write_text("query,document\nq1,d1\n")
    Path("old.qrels").write_text("q1 0 d1 3\n")
    write_judgments("model.qrels", [("q1", "tiny", "d1", 1.0)], {"kind": "model"})
    write_judgments("people.qrels", [("q1", "ann", "d1", 1.0)], {"kind": "people"})
    said = {
        "old.qrels": "without its origin",
        "model.qrels": "judgments by model",
        "people.qrels": "without their answers",
    }
    for output, words in said.items():
        before = Path(output).read_bytes()
        with pytest.raises(OptionError, match=words):
            serve_labels(
                LabelServing(pairs="pairs.csv", output=output, state="new.sqlite3", port=0), print
            )
        assert Path(output).read_bytes() == before


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("a.qrels.raters", "found a file without its origin"),
        ("a.qrels.labels.csv", "found a file that is no label table"),
        ("a.state", "found a database with the tables mine"),
    ],
)
def test_no_file_beside_the_judgments_is_replaced_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pairs.csv").write_text("query,document\nq1,d1\n")
    if name == "a.state":
        with sqlite3.connect(name) as database:
            database.execute("CREATE TABLE mine (a)")
        database.close()
    else:
        Path(name).write_text("mine\n")
    before = Path(name).read_bytes()
    with pytest.raises((OptionError, InputError), match=said):
        serve_labels(
            LabelServing(pairs="pairs.csv", output="a.qrels", state="a.state", port=0), print
        )
    assert Path(name).read_bytes() == before
    assert not Path("a.qrels").exists()


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("a.qrels", "found the file of -o"),
        ("./a.qrels.raters", "found the file of the judgments of each person"),
        ("a.qrels.labels.csv", "found the file of the label table"),
        ("pairs.csv", "found an input file"),
    ],
)
def test_each_file_has_a_place_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pairs.csv").write_text("query,document\nq1,d1\n")
    with pytest.raises(OptionError, match=said):
        serve_labels(LabelServing(pairs="pairs.csv", output="a.qrels", state=state, port=0), print)
    assert [path.name for path in tmp_path.iterdir()] == ["pairs.csv"]


def test_a_gold_question_that_the_list_lacks_is_asked_too(tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text("query,document\nq1,d1\n")
    (tmp_path / "gold.qrels").write_text("q2 0 d2 1\n")
    (tmp_path / "queries.tsv").write_text("q2\ta query\n")
    serving = LabelServing(
        pairs=str(tmp_path / "pairs.csv"),
        output="b",
        state="c",
        gold=str(tmp_path / "gold.qrels"),
        queries=str(tmp_path / "queries.tsv"),
    )
    assert [(pair.key, pair.query_text) for pair in serving.plan().pairs] == [
        (("q1", "d1"), "q1"),
        (("q2", "d2"), "a query"),
    ]


def test_words_of_the_query_are_marked_and_nothing_is_lost() -> None:
    text = "Dates: a DATE, dated; größe Größe"
    found = marked(text, frozenset({"date", "größe".casefold()}))
    assert "".join(piece for piece, _ in found) == text
    assert [piece for piece, is_hit in found if is_hit] == ["DATE", "größe", "Größe"]


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "//a.example",
        "ftp://a.example",
        "http://",
        "http://[",
        "",
    ],
)
def test_only_addresses_of_the_web_are_links(address: str) -> None:
    assert safe_link(address) == ""


def test_agreement_of_one_query_has_no_interval(tmp_path: Path) -> None:
    store = opened(
        tmp_path, [JudgmentPair(query="q1", document=f"d{place}") for place in range(4)], double=1.0
    )
    label_all(store, "ann", 2.0)
    label_all(store, "ben", 2.0)
    assert progress_report(store)["agreement"]["percent"] == "100 %"
    assert np.isnan(store.table()[2]).sum() == 0
    store.close()


def test_what_judge_next_writes_is_a_list(tmp_path: Path) -> None:
    pydocs = Path(__file__).resolve().parents[2] / "examples" / "pydocs"
    lines = (pydocs / "qrels.txt").read_text().splitlines()
    (tmp_path / "few.qrels").write_text("\n".join(lines[::9]) + "\n")
    runs = [str(pydocs / "bm25.run"), str(pydocs / "minilm.run")]
    command = [
        "judge",
        "next",
        str(tmp_path / "few.qrels"),
        *runs,
        "--budget",
        "8",
        "--format",
        "csv",
        "-o",
        str(tmp_path / "next.csv"),
    ]
    assert main.run(command) == 0
    listed = LabelServing(
        pairs=str(tmp_path / "next.csv"), output="b", state="c", queries=str(pydocs / "queries.tsv")
    ).plan()
    assert [pair.priority for pair in listed.ordered] == list(range(1, 9))
    assert all(" " in pair.query_text for pair in listed.pairs)
