"""The labelling page in a real browser: graded by keys, by several people at once, and past a kill
of its server.
"""

import os
import pydoc
import re
import signal
import socket
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import idealrank as ir
from idealrank.io.formats.preferences import read_assessors
from idealrank.io.judgment_files import origin_of, read_labels_table
from idealrank.io.texts import DocumentText, read_texts
from idealrank.judging.files.judgment_pairs import JudgmentPair
from idealrank.live.judges.judge_answers import Scale
from idealrank.live.judges.label_plan import LabelPlan
from idealrank.live.judges.label_store import LabelStore
from idealrank.live.web.label_pages import Labelling, label_application
from idealrank.store.web.guard import Guard
from tests.store.serve_samples import HOSTILE
from tests.web.browsing import PATIENCE, PHONE, axe, expect, shot, sideways
from tests.web.serving import Served, serving, window

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PYDOCS = Path(__file__).resolve().parents[2] / "examples" / "pydocs"
SCALE = Scale.of("0=Not relevant,1=Related,2=Relevant,3=Exactly right")
WORDS = (
    "Return the exact value of the query, and nothing else.\n\n"
    + "A sentence that explains the rest of it. " * 30
)


def plan(number: int = 6, **options: Any) -> LabelPlan:
    texts = [
        DocumentText(f"Title {place}", WORDS, f"https://docs.example/{place}")
        for place in range(number)
    ]
    return LabelPlan(
        pairs=[
            JudgmentPair(
                query=f"q{place % 2}",
                document=f"d{place}",
                query_text=f"exact query {place % 2}",
                content=texts[place],
            )
            for place in range(number)
        ],
        scale=SCALE,
        **options,
    )


@contextmanager
def labelling(
    folder: Path, chosen: LabelPlan, guidelines: str = ""
) -> Iterator[tuple[str, LabelStore]]:
    store = LabelStore(str(folder / "labels.sqlite3"), chosen, str(folder / "labels.qrels"))
    try:
        with serving(label_application(Labelling(store, guidelines), Guard())) as home:
            yield home, store
    finally:
        store.close()


def join(pages: Served, name: str, **options: Any) -> "Page":
    page = pages.page("/", **options)
    page.get_by_label("Your name").fill(name)
    page.get_by_label("Your name").press("Enter")
    page.locator("#answer, h1:has-text('All done')").first.wait_for()
    page.wait_for_load_state()  # keys are heard once the script has run
    return page


def shown(page: "Page") -> str:
    return str(page.locator("article").get_attribute("data-pair"))


def press(page: "Page", key: str) -> None:
    """Press a key, and wait for another pair."""
    before = shown(page)
    page.keyboard.press(key)
    page.locator(f'article:not([data-pair="{before}"])').wait_for()


def documentation(document: str) -> str:
    """What this Python says of one of its names; some modules that the collection has are gone, or
    warn.
    """
    with warnings.catch_warnings(action="ignore"):
        try:
            text = str(pydoc.locate(document).__doc__ or "none")
        except pydoc.ErrorDuringImport:
            text = "none"
    return text.replace('"', '""')


class Pydocs:
    """Sixty judged pairs of pydocs, and a page in a process of its own on which to label them."""

    def __init__(self, folder: Path) -> None:
        judged = [line.split() for line in (PYDOCS / "qrels.txt").read_text().splitlines()][3:243:4]
        self.folder, queries = folder, read_texts(PYDOCS / "queries.tsv")
        self.grades = {(query, document): grade for query, _, document, grade in judged}
        self._shown = {
            (queries[query], document): grade for (query, document), grade in self.grades.items()
        }
        rows = [
            f'{query},{document},"{documentation(document)}"' for query, document in self.grades
        ]
        (folder / "pairs.csv").write_text("\n".join(["query,document,text", *rows]) + "\n")
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.home = f"http://127.0.0.1:{self.port}"

    def grade(self, page: "Page") -> str:
        """The grade that the collection has for what is shown."""
        return self._shown[
            page.locator("#query").inner_text(), page.locator("#document").inner_text()
        ]

    @contextmanager
    def running(self) -> Iterator[None]:
        """Serve the page, and kill its process at the end."""
        command = [
            sys.executable,
            "-m",
            "idealrank",
            "judge",
            "ui",
            "pairs.csv",
            "-o",
            "labels.qrels",
            "--port",
            str(self.port),
        ]
        command += ["--queries", str(PYDOCS / "queries.tsv")]
        with subprocess.Popen(
            command,
            cwd=self.folder,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "COLUMNS": "80"},
        ) as process:
            assert process.stderr is not None
            try:
                said = process.stderr.readline()
                assert f"{self.home}/" in said, said
                yield
            finally:
                process.send_signal(signal.SIGKILL)

    def check(self) -> None:
        """All grades are in the files, once each."""
        path = str(self.folder / "labels.qrels")
        found = ir.read_qrels(path)
        assert {pair: found[pair[0]][pair[1]] for pair in self.grades} == {
            pair: float(grade) for pair, grade in self.grades.items()
        }
        assert len(found.grades) == 60
        assert read_assessors(path).assessors == ("Ann_Lee",)
        table = read_labels_table(f"{path}.labels.csv")
        assert (len(table), {row["kind"] for row in table}, {row["status"] for row in table}) == (
            60,
            {"people"},
            {"graded"},
        )
        assert all(0 < float(row["seconds"]) < 60 for row in table)


@pytest.mark.slow
def test_sixty_documents_of_pydocs_are_labelled_past_a_kill_and_read_back(
    browser: "Browser", tmp_path: Path
) -> None:
    pydocs = Pydocs(tmp_path)
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    pages = Served(context, pydocs.home)
    try:
        with pydocs.running():
            page = join(pages, "Ann Lee")
            for _ in range(25):
                press(page, pydocs.grade(page))
        assert len(ir.read_qrels(str(tmp_path / "labels.qrels")).grades) == 25, (
            "every grade was on the disk before the kill"
        )
        before = shown(page)
        page.keyboard.press(pydocs.grade(page))
        expect(page.locator("#unsaved")).to_contain_text("Not saved")
        with pydocs.running():  # the page sends the grade by itself
            page.locator(f'article:not([data-pair="{before}"])').wait_for()
            expect(page.locator("#unsaved")).to_be_hidden()
            for _ in range(33):
                press(page, pydocs.grade(page))
            page.reload()
            page.keyboard.press(pydocs.grade(page))
            expect(page.locator("h1")).to_have_text("All done")
    finally:
        context.close()
    assert [fault for fault in pages.faults if "ERR_CONNECTION_REFUSED" not in fault] == []
    pydocs.check()


@pytest.mark.slow
def test_two_people_get_different_pairs_unless_both_shall_grade_them(
    browser: "Browser", tmp_path: Path
) -> None:
    with (
        labelling(tmp_path, plan(6, double=1 / 3)) as (home, store),
        window(browser, home) as one,
        window(browser, home) as two,
    ):
        ann, ben = join(one, "ann"), join(two, "ben")
        seen: dict[str, list[str]] = {"ann": [], "ben": []}
        for place in range(4):
            for name, page in (("ann", ann), ("ben", ben)):
                seen[name].append(shown(page))
                before = shown(page)
                page.keyboard.press(str(place % 4 if name == "ann" else 1))
                page.locator(f'article:not([data-pair="{before}"])').first.wait_for()
        expect(ann.locator("h1")).to_have_text("All done")
        expect(ben.locator("h1")).to_have_text("All done")
        both = set(seen["ann"]) & set(seen["ben"])
        assert len(both) == 2
        assert {store.key(int(number)) for number in both} == {
            pair.key for pair in store.plan.pairs if store.plan.n_raters(pair) == 2
        }
        ann.get_by_role("link", name="Progress of all").click()
        assert "2 pairs graded by two people or more" in ann.locator(".verdict").inner_text()
        assert ann.locator("tbody tr").first.inner_text().startswith("ann")
    assert set(read_assessors(str(tmp_path / "labels.qrels")).assessors) >= {"ann+ben"}
    assert len(read_assessors(str(tmp_path / "labels.qrels.raters")).grades) == 8


def test_the_grade_of_a_model_is_nowhere_in_the_page_before_the_answer(
    browser: "Browser", tmp_path: Path
) -> None:
    known = {(f"q{place % 2}", f"d{place}"): 2.0 for place in range(4)}
    with (
        labelling(tmp_path, plan(4, model=known, model_name="tiny-model")) as (home, _),
        window(browser, home) as pages,
    ):
        page = join(pages, "ann")
        assert "tiny-model" not in page.content()
        press(page, "1")
        assert page.locator(".last").inner_text().startswith("You gave 1 (Related) to d")
        assert page.locator(".last").inner_text().endswith("; tiny-model gave 2.")
        page.keyboard.press("u")
        page.locator("[aria-pressed=true]").wait_for()
        page.wait_for_load_state()
        assert page.locator("[aria-pressed=true]").inner_text().split() == ["1", "Related"]
        press(page, "2")
    rows = [
        row
        for row in read_labels_table(tmp_path / "labels.qrels.labels.csv")
        if row["kind"] == "people"
    ]
    assert [(row["grade"], row["status"]) for row in rows] == [
        ("1", "revised"),
        ("2", "after-model"),
    ]
    origin = origin_of(tmp_path / "labels.qrels")
    assert origin is not None
    assert (origin["after_model"], origin["model_shown_after"]) == (1, "tiny-model")


def test_keys_skip_note_mark_and_never_grade_while_a_note_is_written(
    browser: "Browser", tmp_path: Path
) -> None:
    with labelling(tmp_path, plan(4)) as (home, store), window(browser, home) as pages:
        page = join(pages, "ann")
        first = shown(page)
        press(page, "s")
        assert store.skipped_by("ann") == [int(first)]
        page.keyboard.press("n")
        page.keyboard.type("3 of them s")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.name") != "note"
        second = shown(page)
        press(page, "3")
        answer = store.answer_of(int(second), "ann")
        assert answer is not None
        assert (answer.grade, answer.note) == (3, "3 of them s")
        assert (
            page.locator("mark").first.evaluate("one => getComputedStyle(one).textDecorationLine")
            == "underline"
        )
        page.keyboard.press("h")
        assert (
            page.locator("mark").first.evaluate("one => getComputedStyle(one).textDecorationLine")
            == "none"
        )
        page.get_by_role("link", name="1 skipped").click()
        page.locator(f'article[data-pair="{first}"]').wait_for()
        page.wait_for_load_state()
        assert shown(page) == first
        page.keyboard.press("Control+3")
        assert shown(page) == first
        press(page, "0")
        assert store.skipped_by("ann") == []


def test_hostile_texts_are_texts(browser: "Browser", tmp_path: Path) -> None:
    pairs = [
        JudgmentPair(
            query="q1",
            document="d1",
            query_text=HOSTILE,
            content=DocumentText(HOSTILE, f"{HOSTILE}\n{HOSTILE}", "javascript:alert(1)"),
        ),
        JudgmentPair(
            query="q1",
            document="d2",
            query_text=HOSTILE,
            content=DocumentText("", HOSTILE, 'https://a.example/"onclick="alert(1)'),
        ),
    ]
    known = {pair.key: 1.0 for pair in pairs}
    chosen = LabelPlan(
        pairs=pairs,
        scale=Scale.of(f"0=no,1={HOSTILE.replace(',', ' ').replace('=', ' ')}"),
        model=known,
        model_name=HOSTILE,
    )
    with labelling(tmp_path, chosen, HOSTILE) as (home, _), window(browser, home) as pages:
        page = join(pages, HOSTILE.replace("\n", " ")[:40].strip())
        for _ in range(2):
            assert page.locator("a[href^=javascript], img, script:not([src])").count() == 0
            page.keyboard.press("1")
            page.locator(".last, h1:has-text('All done')").first.wait_for()
        page.goto(f"{home}/progress")
        page.goto(home)


@pytest.mark.slow
def test_everything_works_without_scripts(browser: "Browser", tmp_path: Path) -> None:
    with (
        labelling(tmp_path, plan(2)) as (home, store),
        window(browser, home, java_script_enabled=False) as pages,
    ):
        page = join(pages, "ann")
        page.get_by_label("Note").fill("a note")
        page.get_by_role("button", name=re.compile("Exactly right")).click()
        page.get_by_role("button", name=re.compile("Skip")).click()
        assert "All done but 1 skipped" in page.locator("h1").inner_text()
        assert store.counts() == (1, 2)
        assert "a note" in (tmp_path / "labels.qrels.labels.csv").read_text()


@pytest.mark.parametrize(
    ("where", "scheme", "size"),
    [
        ("/label", "dark", PHONE),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (
                ("/", "light", None),
                ("/", "dark", PHONE),
                ("/progress", "light", PHONE),
                ("/progress", "dark", None),
                ("/label", "light", None),
                ("/label", "dark", None),
            )
        ),
    ],
)
def test_everybody_can_use_the_page(
    browser: "Browser", tmp_path: Path, where: str, scheme: Any, size: tuple[int, int] | None
) -> None:
    known = {("q0", "d0"): 3.0}
    options: dict[str, Any] = {"scheme": scheme} | ({} if size is None else {"size": size})
    with labelling(
        tmp_path, plan(6, gold=known, model={("q1", "d1"): 1.0}, double=1.0), "Guidelines"
    ) as (home, store):
        store.join("ben")
        for number in range(1, 6):
            store.answer(number, "ben", 1.0, seconds=2.5)
        with window(browser, home) as pages:
            page = join(pages, "ann", **options)
            press(page, "2")
            press(page, "3")
            if where != "/label":
                page.goto(home + where)
            shot(
                page,
                f"label{where.replace('/', '-')}-{scheme}-{'desk' if size is None else 'phone'}",
                full_page=where != "/label",
            )
            assert axe(page) == ""
            assert sideways(page) == 0
