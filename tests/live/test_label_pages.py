"""Who may ask the labelling page, and what it answers."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from idealrank.io.judgment_files import read_labels_table
from idealrank.io.texts import DocumentText
from idealrank.judging.files.judgment_pairs import JudgmentPair
from idealrank.live.judges.judge_answers import Scale
from idealrank.live.judges.label_plan import LabelPlan
from idealrank.live.judges.label_store import LabelStore
from idealrank.live.web.label_pages import Labelling, label_application
from idealrank.store.web.guard import Guard

HOME = "http://127.0.0.1:8766"
OWN = {"origin": HOME}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LabelStore]:
    listed = [
        JudgmentPair(
            query="q1",
            document=f"d{place}",
            query_text="a query",
            content=DocumentText(f"<b>{place}", "text & more"),
        )
        for place in range(3)
    ]
    plan = LabelPlan(
        pairs=listed,
        scale=Scale.of("0=no,1=yes"),
        model={("q1", "d0"): 1.0, ("q1", "d1"): 1.0, ("q1", "d2"): 1.0},
        model_name="tiny",
    )
    found = LabelStore(str(tmp_path / "labels.sqlite3"), plan, str(tmp_path / "labels.qrels"))
    yield found
    found.close()


def client(store: LabelStore, guard: Guard | None = None) -> TestClient:
    app = label_application(Labelling(store, "Guide <i>lines</i>"), guard or Guard())
    return TestClient(app, HOME, raise_server_exceptions=False, follow_redirects=False)


def joined(store: LabelStore) -> TestClient:
    found = client(store)
    assert (
        found.post("/join", data={"name": " Ann  Lee "}, headers=OWN).headers["location"]
        == "/label"
    )
    return found


@pytest.mark.parametrize("path", ["/", "/label", "/progress", "/assets/label.js"])
def test_a_foreign_host_is_refused(store: LabelStore, path: str) -> None:
    assert client(store).get(path, headers={"host": "evil.example"}).status_code == 400


@pytest.mark.parametrize("path", ["/join", "/leave", "/label", "/sign-in"])
def test_a_request_of_a_foreign_page_changes_nothing(store: LabelStore, path: str) -> None:
    page = joined(store)
    for headers in (
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
    ):
        assert (
            page.post(
                path, data={"pair": "1", "grade": "1", "name": "eve"}, headers=headers
            ).status_code
            == 403
        )
    assert (store.raters, store.counts()) == (["Ann Lee"], (0, 3))


def test_with_a_token_nothing_is_shown_or_taken_without_it(store: LabelStore) -> None:
    page = client(store, Guard(token="secret"))
    for path in ("/", "/label", "/progress"):
        answer = page.get(path)
        assert answer.status_code == 401
        assert "d0" not in answer.text
    assert page.post("/join", data={"name": "ann"}, headers=OWN).status_code == 401
    assert page.post("/sign-in", data={"token": "wrong"}, headers=OWN).status_code == 401
    assert page.post("/sign-in", data={"token": "secret"}, headers=OWN).status_code == 303
    assert page.post("/join", data={"name": "ann"}, headers=OWN).status_code == 303
    assert page.get("/label").status_code == 200


def test_a_pair_is_shown_escaped_and_an_answer_gives_the_next(store: LabelStore) -> None:
    page = joined(store)
    first = page.get("/label")
    assert "<b>" not in first.text
    assert "text &amp; more" in first.text
    assert "Guide &lt;i&gt;lines" in first.text
    assert "tiny" not in first.text
    assert "default-src 'none'" in first.headers["content-security-policy"]
    answer = page.post(
        "/label", data={"pair": "1", "grade": "0", "seconds": "2.5", "nonce": "a"}, headers=OWN
    )
    assert (answer.status_code, answer.headers["location"]) == (303, "/label")
    part = page.post(
        "/label", data={"pair": "2", "action": "skip"}, headers={**OWN, "x-idealrank-part": "1"}
    )
    assert part.status_code == 200
    assert "<html" not in part.text
    assert "You skipped" in part.text
    assert "Ann Lee" in page.get("/progress").text
    assert [answer.seconds for answer in [store.answer_of(1, "Ann Lee")] if answer] == [2.5]


def test_the_model_is_shown_after_the_answer_alone(store: LabelStore) -> None:
    page = joined(store)
    number = store.next_pair("Ann Lee")
    for path in ("/", "/label", f"/label?pair={number}", "/progress"):
        assert "tiny" not in page.get(path).text
    part = page.post(
        "/label", data={"pair": str(number), "grade": "0"}, headers={**OWN, "x-idealrank-part": "1"}
    )
    assert "tiny gave <strong>1</strong>" in part.text


@pytest.mark.parametrize(
    ("data", "status"),
    [
        ({}, 404),
        ({"pair": "x", "grade": "1"}, 404),
        ({"pair": "99", "grade": "1"}, 404),
        ({"pair": "1"}, 400),
        ({"pair": "1", "grade": "nan"}, 400),
        ({"pair": "1", "grade": "5"}, 400),
        ({"pair": "1", "grade": "x"}, 400),
        ({"pair": "1", "grade": "1", "seconds": "x"}, 400),
        ({"pair": "1", "grade": "1", "note": "x" * 4001}, 400),
        ({"pair": "1", "grade": "1", "note": "x" * 70_000}, 413),
        ({"pair": "9" * 400, "grade": "1"}, 404),
    ],
)
def test_a_form_that_does_not_fit_is_refused_with_a_sentence(
    store: LabelStore, data: dict[str, str], status: int
) -> None:
    answer = joined(store).post("/label", data=data, headers=OWN)
    assert answer.status_code == status
    assert "expected" in answer.text
    assert store.counts() == (0, 3)


def test_without_a_name_nothing_is_taken(store: LabelStore) -> None:
    page = client(store)
    assert page.get("/label").headers["location"] == "/"
    assert page.post("/label", data={"pair": "1", "grade": "1"}, headers=OWN).status_code == 403
    page.cookies.set("idealrank-rater", quote("eve"))
    assert page.post("/label", data={"pair": "1", "grade": "1"}, headers=OWN).status_code == 403
    assert page.post("/join", data={"name": "\x1b[1m"}, headers=OWN).status_code == 400


def test_a_person_may_leave_and_another_go_on_in_the_same_browser(store: LabelStore) -> None:
    page = joined(store)
    page.post("/leave", headers=OWN)
    assert page.get("/label").headers["location"] == "/"
    assert 'value="Ann Lee"' in page.get("/").text


def test_an_answer_is_taken_if_the_files_cannot_be_written_and_progress_says_so(
    store: LabelStore, tmp_path: Path
) -> None:
    page = joined(store)
    Path(store.output).unlink()
    Path(store.output).mkdir()
    answer = page.post(
        "/label", data={"pair": "1", "grade": "1"}, headers={**OWN, "x-idealrank-part": "1"}
    )
    assert (answer.status_code, store.counts()) == (200, (1, 3))
    shown = page.get("/progress").text
    assert "All answers are kept, but the files are behind" in shown
    assert str(tmp_path) not in shown
    Path(store.output).rmdir()
    page.post("/label", data={"pair": "2", "grade": "1"}, headers=OWN)
    assert "the files are behind" not in page.get("/progress").text


def test_no_file_with_grades_is_sent_and_progress_names_them(store: LabelStore) -> None:
    page = joined(store)
    page.post("/label", data={"pair": "1", "grade": "1"}, headers=OWN)
    shown = page.get("/progress").text
    for name in ("labels.qrels", "labels.qrels.raters", "labels.qrels.labels.csv"):
        assert name in shown
        assert page.get(f"/files/{name}").status_code == 404
    assert "/files/" not in shown


def test_grades_of_the_model_are_written_for_pairs_that_a_person_has_graded(
    store: LabelStore,
) -> None:
    def models() -> list[str]:
        return [
            row["document"]
            for row in read_labels_table(f"{store.output}.labels.csv")
            if row["kind"] == "model"
        ]

    assert models() == []
    store.join("ann")
    number = store.next_pair("ann") or 0
    store.answer(number, "ann", None)
    assert models() == [], "a pair that was skipped may come again"
    store.answer(number, "ann", 1.0)
    assert models() == [store.key(number)[1]]
