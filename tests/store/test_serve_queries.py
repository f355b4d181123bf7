"""Queries of served pages: sorted lists, rankings side by side, and the account of a value."""

import re
from pathlib import Path

import pytest

import idealrank as ir
from idealrank.conventions import PRESETS
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.evaluation.judged_hits import judged_hits
from idealrank.inputs.evaluation import read_qrels, read_run
from idealrank.inputs.text_sources import TextSources
from idealrank.store import Store
from idealrank.store.web.application import application
from idealrank.store.web.convention_pages import rebuilt
from idealrank.store.web.guard import Guard
from idealrank.store.web.originals import Originals
from idealrank.store.web.served_texts import ServedTexts
from idealrank.store.web.site import StoreFolder
from tests.store.serve_samples import HOME, client, example_store

DATA = Path(__file__).resolve().parents[1] / "cli" / "data"


def with_files(folder: Path, *data: Path):
    from starlette.testclient import TestClient

    return TestClient(
        application(StoreFolder(folder), Guard(), Originals([str(one) for one in data])),
        base_url=HOME,
    )


def stored_files(folder: Path) -> list[str]:
    """Two evaluations of files."""
    with Store.open(folder) as store:
        return [
            store.add(
                ir.evaluate(DATA / "qrels.txt", DATA / f"{run}.run", ["nDCG@10", "RR"]),
                hits=judged_hits(read_qrels(DATA / "qrels.txt"), read_run(DATA / f"{run}.run")),
            )
            for run in ("bm25", "neural")
        ]


def test_queries_are_sorted_by_loss_and_found_by_their_id(tmp_path: Path) -> None:
    ids = example_store(tmp_path)
    asking = client(tmp_path)
    both = f"/queries?run={ids['neural'][-1]}&against={ids['bm25'][0]}"

    text = asking.get(both).text
    found = [
        float(value.replace("\u2212", "-"))
        for value in re.findall(r'<td(?: class="\w+")?>([\u2212+][\d.]+)</td>', text)
    ]

    assert (len(found), found) == (12, sorted(found))
    assert "3 queries by nDCG@10" in asking.get(f"{both}&find=Q1").text
    assert "No query has an id" in asking.get(f"{both}&find=zzz").text
    assert "1 query" in asking.get(f"/queries?run={ids['bm25'][0]}&find=q11&sort=id").text


@pytest.mark.parametrize("query", ["", "?run=ffff", "?run=RUN&measure=AP", "?run=RUN&against=ffff"])
def test_queries_of_nothing_say_so(tmp_path: Path, query: str) -> None:
    run = example_store(tmp_path, days=1)["bm25"][0]

    assert client(tmp_path).get(f"/queries{query.replace('RUN', run)}").status_code in {400, 404}


def test_without_files_a_query_shows_judged_documents(tmp_path: Path) -> None:
    ids = example_store(tmp_path)

    text = (
        client(tmp_path)
        .get(f"/query?run={ids['neural'][-1]}&against={ids['bm25'][0]}&query=q3")
        .text
    )

    assert text.count("Ranking of ") >= 2
    assert ">d33<" in text
    assert "--data DIR" in text


def test_with_files_a_query_is_explained(tmp_path: Path) -> None:
    old, new = stored_files(tmp_path / "store")
    value = ir.explain(DATA / "qrels.txt", DATA / "neural.run", "q1", "nDCG@10").value

    text = with_files(tmp_path / "store", DATA).get(f"/query?run={new}&against={old}&query=q1").text

    assert f"{value:.4f}" in text
    assert "ideal DCG" in text
    assert "--data DIR" not in text


def test_files_that_changed_are_not_taken_for_the_evaluated_ones(tmp_path: Path) -> None:
    _, new = stored_files(tmp_path / "store")
    changed = tmp_path / "data"
    changed.mkdir()
    changed.joinpath("neural.run").write_bytes(DATA.joinpath("neural.run").read_bytes())
    qrels = DATA.joinpath("qrels.txt").read_bytes()
    changed.joinpath("qrels.txt").write_bytes(qrels.replace(b"1\n", b"2\n", 1))

    text = with_files(tmp_path / "store", changed).get(f"/query?run={new}&query=q1").text

    assert "ideal DCG" not in text
    assert "have changed since" in text


def test_with_files_every_convention_is_computed(tmp_path: Path) -> None:
    _, new = stored_files(tmp_path / "store")
    expected = ir.evaluate(DATA / "qrels.txt", DATA / "neural.run", "nDCG@10", "lightgbm").mean()[
        "nDCG@10"
    ]

    answer = with_files(tmp_path / "store", DATA).get(f"/conventions?run={new}&convention=lightgbm")

    assert f"lightgbm says nDCG@10 {expected:.4f}, not" in answer.text
    assert all(f">{name}</" in answer.text for name in PRESETS)


@pytest.mark.parametrize(
    "convention", ["lightgbm", "sklearn", "trec_eval-9", "elasticsearch", "quepid"]
)
def test_a_rebuilt_ranking_gives_what_the_files_would(convention: str) -> None:
    qrels = Qrels({f"q{place}": {f"d{grade}": grade for grade in range(4)} for place in range(6)})
    lists = {
        f"q{place}": [
            f"d{(place + step) % 4}" if step % 2 else f"x{step}" for step in (1, 2, 3, 4, 5)
        ]
        for place in range(5)
    }
    run = Run(
        {
            query: dict.fromkeys(docs, 0.0) | {doc: -rank for rank, doc in enumerate(docs)}
            for query, docs in lists.items()
        }
    )
    measures = ["nDCG@10", "RR", "P@3", "AP"]

    found = rebuilt(ir.evaluate(qrels, run, measures), judged_hits(qrels, run))

    assert not isinstance(found, str)
    assert {"RR", "P@3"} <= set(map(str, found.measures))
    again, direct = (
        ir.evaluate(*data, found.measures, convention).mean()
        for data in ((found.qrels, found.run), (qrels, run))
    )
    assert again == pytest.approx(direct, abs=1e-12)


def test_what_the_store_does_not_keep_is_not_made_up() -> None:
    qrels, tied = (
        Qrels({"q": {"a": 1, "b": 0}, "r": {"c": 1}}),
        Run({"q": {"a": 1.0, "b": 1.0}, "r": {"c": 1.0}}),
    )
    some = Qrels({"q": {"a": 0, "b": 0}, "r": {"c": 1}, "s": {"d": 1}})
    plain = Run({"q": ["a", "b"], "r": ["c"], "s": ["x"]})

    assert "equal scores" in str(rebuilt(ir.evaluate(qrels, tied, "RR"), judged_hits(qrels, tied)))
    assert "does not keep which" in str(
        rebuilt(ir.evaluate(some, plain, "RR"), judged_hits(some, plain))
    )
    assert "no documents" in str(rebuilt(ir.evaluate(some, plain, "RR"), None))


def test_slices_of_one_run_and_of_two(tmp_path: Path) -> None:
    from starlette.testclient import TestClient

    ids = example_store(tmp_path)
    categories = {f"q{place}": ("<b>even" if place % 2 == 0 else "odd",) for place in range(12)}
    asking = TestClient(
        application(StoreFolder(tmp_path), Guard(), None, categories), base_url=HOME
    )
    old, new = ids["bm25"][0], ids["neural"][-1]

    alone, both = (
        asking.get(path).text
        for path in (f"/slices?run={new}", f"/slices?run={new}&against={old}&measure=RR")
    )

    with Store.open(tmp_path) as store:
        mean = store.evaluation(new).evaluation.by(categories).slices["odd"]["nDCG@10"].mean
    assert f"{mean:.2f}"[:4] in alone
    assert "&lt;b&gt;even" in both
    assert "neural</bdi> against <bdi>bm25" in both
    assert "Start the page with <code>--slices FILE" in client(tmp_path).get("/slices").text


def with_texts(folder: Path, texts: TextSources, *data: str):
    from starlette.testclient import TestClient

    served = application(StoreFolder(folder), Guard(), Originals(data), texts=texts)
    return TestClient(served, base_url=HOME)


def test_pages_of_queries_show_texts_beside_ids(tmp_path: Path) -> None:
    bm25, neural = stored_files(tmp_path)
    texts = TextSources(queries=DATA / "queries.tsv", documents=DATA / "documents.jsonl")
    asking = with_texts(tmp_path, texts, str(DATA))
    both = f"run={neural}&against={bm25}"

    queries = asking.get(f"/queries?{both}").text
    found = asking.get(f"/queries?{both}&find=LIST").text
    query = asking.get(f"/query?{both}&query=q1").text
    judged = with_texts(tmp_path, texts).get(f"/query?{both}&query=q1").text

    assert "sort a list" in queries
    assert "1 query by" in found
    assert "sort a list" in query
    for page in (query, judged):
        assert page.count("Sorting Techniques: ") >= 2
        assert ">d1<" in page


def test_texts_are_looked_up_once_and_few_are_kept(tmp_path: Path) -> None:
    read: list[list[str]] = []

    class Counting(TextSources):
        def of_documents(self, ids, tell=None):
            read.append(list(ids))
            return super().of_documents(ids, tell)

    served = ServedTexts(Counting(documents={"a": "A", "b": "B", "c": "C"}), most=2)

    assert served.of_documents(["a", "x"]) == {"a": "A"}
    assert served.of_documents(["a", "x"]) == {"a": "A"}
    assert served.of_documents(["b", "c"]) == {"b": "B", "c": "C"}
    assert served.of_documents(["a"]) == {"a": "A"}
    assert read == [["a", "x"], ["b", "c"], ["a"]]
