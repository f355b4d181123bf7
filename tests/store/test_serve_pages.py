"""Served pages: what they show, and that nothing of a store can break them."""

import re
import sqlite3
from html import unescape
from pathlib import Path
from urllib.parse import urldefrag, urljoin, urlsplit

import pytest

from idealrank.store import Store
from tests.store.serve_samples import HOSTILE, client, example_store
from tests.store.test_serve_canaries import watched


def test_without_a_store_the_overview_is_empty() -> None:
    answer = client().get("/")

    assert answer.status_code == 200
    assert "No store is shown." in answer.text


@pytest.mark.parametrize("is_made", [True, False])
def test_a_store_without_an_evaluation_says_how_to_add_one(tmp_path: Path, is_made: bool) -> None:
    folder = tmp_path / "results"
    if is_made:
        Store.open(folder).close()

    answer = client(folder).get("/")

    assert answer.status_code == 200
    assert "idealrank evaluate qrels.txt bm25.run --store" in answer.text
    assert folder.exists() == is_made


def test_the_overview_shows_runs_over_time(tmp_path: Path) -> None:
    ids = example_store(tmp_path)

    text = client(tmp_path).get("/").text

    assert "neural is at nDCG@10" in text
    assert all(f'href="/runs/{one}"' in text for one in (*ids["bm25"], *ids["neural"]))
    assert text.count('class="band"') == 2
    assert f'href="/verdicts/{ids["gate"][0]}"' in text


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        ("?measure=RR&run=bm25", 200, "bm25 is at RR"),
        ("?measure=recip_rank", 200, "neural is at RR"),
        ("?measure=AP", 404, "found no evaluation of measure AP"),
        ("?run=nobody", 404, "found no evaluation of run nobody"),
        ("?tag=main&show=2", 200, "The newest" if False else "All that are shown above"),
        ("?show=x", 200, "neural is at nDCG@10"),
    ],
)
def test_the_overview_is_narrowed(tmp_path: Path, query: str, status: int, said: str) -> None:
    example_store(tmp_path)

    answer = client(tmp_path).get(f"/{query}")

    assert (answer.status_code, said in answer.text) == (status, True)


def test_an_evaluation_has_its_numbers_coverage_and_origin(tmp_path: Path) -> None:
    ids = example_store(tmp_path)

    text = client(tmp_path).get(f"/runs/{ids['neural'][1][:6]}").text

    with Store.open(tmp_path) as store:
        mean = store.entry(ids["neural"][1]).means["nDCG@10"]
    assert f"neural reaches nDCG@10 {mean:.4f}" in text
    assert 'id="coverage"' in text
    assert "idealrank evaluate qrels.txt neural.run" in text
    assert f"/compare?a={ids['neural'][0]}&amp;b={ids['neural'][1]}" in text


def test_two_evaluations_are_compared(tmp_path: Path) -> None:
    ids = example_store(tmp_path)
    asking = client(tmp_path)
    older, newer = ids["bm25"][0], ids["neural"][-1]

    ticked = asking.get("/compare", params=[("id", newer), ("id", older)], follow_redirects=False)
    answer = asking.get(ticked.headers["location"])

    assert ticked.headers["location"] == f"/compare?a={older}&b={newer}"
    assert "Largest regressions" in answer.text
    assert asking.get("/compare").text.count(f'<option value="{older}"') == 2


@pytest.mark.parametrize(
    ("asked", "status", "said"),
    [
        ("?id=SAME", 400, "expected two different ones"),
        ("?a=SAME&b=SAME", 400, "expected two"),
        ("?a=SAME&b=ffffffffffff", 404, "found none"),
    ],
)
def test_what_cannot_be_compared_says_why(
    tmp_path: Path, asked: str, status: int, said: str
) -> None:
    one = example_store(tmp_path)["bm25"][0]

    answer = client(tmp_path).get(f"/compare{asked.replace('SAME', one)}")

    assert (answer.status_code, said in answer.text) == (status, True)


def test_stored_verdicts_have_pages(tmp_path: Path) -> None:
    ids = example_store(tmp_path)
    asking = client(tmp_path)

    compared, gated = (asking.get(f"/verdicts/{ids[kind][0]}") for kind in ("comparison", "gate"))

    assert (compared.status_code, gated.status_code) == (200, 200)
    assert "The gate is" in gated.text
    assert (
        asking.get(f"/verdicts/{ids['bm25'][0]}", follow_redirects=False).headers["location"]
        == f"/runs/{ids['bm25'][0]}"
    )


def test_nothing_from_a_store_is_markup(tmp_path: Path) -> None:
    ids = example_store(tmp_path, names=(HOSTILE, f'"{HOSTILE}'))
    asking = client(tmp_path)
    pages = [
        "/",
        f"/runs/{ids[HOSTILE][-1]}",
        f"/verdicts/{ids['gate'][0]}",
        "/compare",
        f"/?run={HOSTILE}",
        f"/?measure={HOSTILE}",
    ]
    pages.append(f"/compare?a={ids[HOSTILE][0]}&b={ids[HOSTILE][-1]}")

    for path in pages:
        text = asking.get(path).text
        assert HOSTILE not in text, path
        assert len(re.findall(r"<script\b", text)) == 1, path
        assert 'src="/assets/page.js' in text


@pytest.mark.parametrize(
    "path", ["/nothing", "/runs/ffffffffffff", "/runs/x", "/verdicts/ffff", "/assets/other.css"]
)
def test_what_is_not_there_is_a_page_that_says_so(tmp_path: Path, path: str) -> None:
    example_store(tmp_path, days=1)

    answer = client(tmp_path).get(path)

    assert answer.status_code == 404
    assert "Not found" in answer.text


def test_a_damaged_store_is_a_page_that_says_so(tmp_path: Path) -> None:
    example_store(tmp_path, days=1)
    tmp_path.joinpath("store.sqlite3").write_bytes(b"no database at all" * 100)

    for path in ("/", "/metrics", "/compare", "/runs/ffff"):
        answer = client(tmp_path).get(path)
        assert (answer.status_code, "damaged" in answer.text) == (503, True), path


def test_a_store_that_is_damaged_further_down_is_no_missing_page(tmp_path: Path) -> None:
    ids = example_store(tmp_path)
    place = tmp_path / "store.sqlite3"
    with sqlite3.connect(place) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = connection.execute("PRAGMA page_size").fetchone()[0]
    connection.close()
    content = place.read_bytes()
    place.write_bytes(content[:size] + b"\xff" * (len(content) - size))
    asking, run = client(tmp_path), ids["bm25"][0]

    paths = [
        "/",
        f"/runs/{run}",
        f"/verdicts/{ids['gate'][0]}",
        f"/compare?a={run}&b={ids['neural'][0]}",
        f"/queries?run={run}",
        "/metrics",
        f"/query?run={run}&query=q1",
        f"/conventions?run={run}",
        "/canaries",
        "/canaries/shop",
        "/api/history",
        f"/api/evaluations/{run}",
    ]
    assert {path: asking.get(path).status_code for path in paths} == dict.fromkeys(paths, 503)


def test_a_record_that_is_not_that_of_its_hash_is_no_missing_page(tmp_path: Path) -> None:
    run = example_store(tmp_path)["bm25"][0]
    with sqlite3.connect(tmp_path / "store.sqlite3") as connection:
        connection.execute(
            "UPDATE entry SET record = replace(record, '\"bm25\"', '\"best\"') WHERE id = ?", [run]
        )
    connection.close()
    asking = client(tmp_path)

    for path in ("/", "/?run=bm25", f"/runs/{run}", "/api/history", f"/api/evaluations/{run}"):
        answer = asking.get(path)
        assert (answer.status_code, "damaged" in answer.text) == (503, True), path
    assert asking.get("/?run=nothing").status_code == 404


def test_thousands_of_ids_are_refused_before_any_is_looked_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = example_store(tmp_path, days=1)["bm25"][0]
    asked: list[str] = []
    monkeypatch.setattr(Store, "resolve", lambda _store, beginning, **_: asked.append(beginning))

    answer = client(tmp_path).get(
        "/compare?" + "&".join(f"id={run[:4]}{place:04x}" for place in range(3000))
    )

    assert (answer.status_code, "expected two different ones" in answer.text, asked) == (
        400,
        True,
        [],
    )


def test_an_id_that_is_ticked_again_counts_once(tmp_path: Path) -> None:
    ids = example_store(tmp_path, days=1)
    a, b = ids["bm25"][0], ids["neural"][0]

    answer = client(tmp_path).get(
        "/compare", params=[("id", a)] * 40 + [("id", b)], follow_redirects=False
    )

    assert answer.headers["location"] == f"/compare?a={a}&b={b}"


def test_every_address_of_every_page_is_answered(tmp_path: Path) -> None:
    name = 'né/ural "a&b</script><script>alert(2)// bell \x07, escape \x1b[2J, \u202eright to left'
    example_store(tmp_path, ("bm25", name), days=2, n_queries=1)
    watched(tmp_path, name)
    asking = client(tmp_path)
    waiting, seen, wrong = (
        ["/", "/compare", "/slices", "/conventions", "/canaries"],
        set[str](),
        list[str](),
    )

    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        answer = asking.get(path)
        if answer.status_code >= 400:
            wrong.append(f"{answer.status_code} {path}")
        if answer.headers["content-type"].startswith("text/html"):
            assert len(re.findall(r"<script\b", answer.text)) == 1, path
            assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", answer.text), path
            found = re.findall(r'\b(?:href|src)="([^"]*)"', answer.text)
            waiting += [
                urldefrag(urljoin(path, unescape(one)))[0]
                for one in found
                if not one.startswith(("#", "data:"))
            ]

    assert wrong == []
    assert {urlsplit(path).path.split("/")[1] for path in seen} >= {
        "runs",
        "verdicts",
        "compare",
        "queries",
        "query",
        "canaries",
        "metrics",
    }
    assert all(path.startswith("/") for path in seen)


def test_a_missing_value_file_does_not_hide_the_others(tmp_path: Path) -> None:
    ids = example_store(tmp_path)
    with Store.open(tmp_path) as store:
        name = store.evaluation(ids["bm25"][0]).fields["files"]["values"]
        store.files.path(name).unlink()
    asking = client(tmp_path)

    assert asking.get("/").status_code == 200
    gone = asking.get(f"/runs/{ids['bm25'][0]}")
    assert (gone.status_code, name in gone.text or "missing" in gone.text) == (503, True)


@pytest.mark.parametrize("schema", [1, 99])
def test_a_store_of_another_schema_is_refused_and_left_as_it_is(
    tmp_path: Path, schema: int
) -> None:
    example_store(tmp_path, days=1)
    place = tmp_path / "store.sqlite3"
    with sqlite3.connect(place) as connection:
        connection.execute(f"PRAGMA user_version={schema}")
    connection.close()

    answer = client(tmp_path).get("/")

    assert (answer.status_code, f"found a store of schema {schema}" in answer.text) == (503, True)
    with sqlite3.connect(place) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (schema,)
    connection.close()


def test_a_store_is_shown_while_another_process_writes(tmp_path: Path) -> None:
    example_store(tmp_path, days=1)
    asking = client(tmp_path)
    with Store.open(tmp_path) as store, store.database.writing() as connection:
        connection.execute("DELETE FROM tag")

        assert asking.get("/").status_code == 200


def test_styles_are_kept_by_browsers_and_pages_are_not(tmp_path: Path) -> None:
    asking = client(tmp_path)
    page = asking.get("/")
    style = re.search(r'href="(/assets/style\.css[^"]*)"', page.text)
    assert style is not None

    assert page.headers["cache-control"] == "no-store"
    assert "immutable" in asking.get(style[1]).headers["cache-control"]
