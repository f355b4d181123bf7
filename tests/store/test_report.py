"""`--report` of evaluate, compare and gate: a page beside what is printed, which stays as it is;
the same input, the same bytes.
"""

import hashlib
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import idealrank as ir
from idealrank.errors import install_command
from idealrank.pages.page import html
from idealrank.reports.subject import Subject
from tests.cli.terminal import DATA, Said

Say = Callable[..., Said]
COMMANDS = {
    "evaluate": "evaluate qrels.txt bm25.run neural.run",
    "compare": "compare qrels.txt bm25.run neural.run --slices slices.csv",
    "gate": "gate qrels.txt bm25.run --baseline neural.run",
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the example files, where the time stands still."""
    for path in DATA.iterdir():
        shutil.copy(path, tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    monkeypatch.delenv("IDEALRANK_STORE", raising=False)
    monkeypatch.setattr(html, "bundle", lambda *_: "0")  # plots have tests of their own
    return tmp_path


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[Subject]:
    """What pages were made of."""
    subjects: list[Subject] = []
    page = html.page_html

    def kept(subject: Subject) -> str:
        subjects.append(subject)
        return page(subject)

    monkeypatch.setattr(html, "page_html", kept)
    return subjects


@pytest.mark.parametrize("name", COMMANDS)
def test_a_page_stands_beside_what_is_printed_and_the_same_input_gives_the_same_bytes(
    name: str, say: Say, here: Path
) -> None:
    plain = say(*COMMANDS[name].split(), cwd=here)

    said = say(*COMMANDS[name].split(), "--report", "out.html", cwd=here)
    page = (here / "out.html").read_bytes()
    say(*COMMANDS[name].split(), "--report", "out.html", cwd=here)

    assert (said.code, said.out) == (plain.code, plain.out)
    assert said.err == plain.err + f"note: wrote out.html, {-(-len(page) // 1000)} kB\n"
    assert (here / "out.html").read_bytes() == page
    assert not list(here.glob(".*unfinished"))


def test_a_page_says_how_it_was_made(say: Say, here: Path, shown: list[Subject]) -> None:
    typed = ["compare", str(here / "qrels.txt"), "bm25.run", "neural.run", "--weights=/dev/null"]
    assert say(*typed, "--report", "out.html", cwd=here).code == 2
    say(*typed[:-1], "-m", "nDCG@10, AP", "--report", str(here / "out.html"), cwd=here)

    made = shown[0].made
    assert (
        made.command
        == "idealrank compare qrels.txt bm25.run neural.run -m 'nDCG@10, AP' --report out.html"
    )
    assert made.when == "2023-11-14T22:13:20Z"
    digests = {
        name: hashlib.sha256((DATA / name).read_bytes()).hexdigest()
        for name in ("qrels.txt", "bm25.run", "neural.run")
    }
    assert dict(made.inputs) == digests
    assert str(here) not in (here / "out.html").read_text(encoding="utf-8")


def test_what_the_page_has_is_what_the_functions_say(
    say: Say, here: Path, shown: list[Subject]
) -> None:
    say(*COMMANDS["compare"].split(), "-m", "nDCG@10", "--report", "out.html", cwd=here)

    subject = shown[0]
    both = [
        ir.evaluate(here / "qrels.txt", here / f"{name}.run", ir.with_companions("nDCG@10"))
        for name in ("bm25", "neural")
    ]
    assert subject.comparison is not None
    assert subject.comparison.pairs[0].measures["nDCG@10"].p == ir.compare(*both)["nDCG@10"].p
    assert subject.comparison["nDCG@10"].slices is not None
    assert set(subject.categories) == set(ir.read_categories(here / "slices.csv"))
    assert subject.robustness is not None
    assert (
        subject.robustness.asked.p
        == ir.robust(here / "qrels.txt", here / "bm25.run", here / "neural.run").asked.p
    )
    assert [str(measure) for measure in subject.measures] == ["nDCG@10"]


def test_the_robust_verdict_can_be_left_out(say: Say, here: Path, shown: list[Subject]) -> None:
    say(*COMMANDS["compare"].split(), "--no-robust", "--report", "out.html", cwd=here)

    assert shown[0].robustness is None


def test_texts_stand_on_the_page(say: Say, here: Path, shown: list[Subject]) -> None:
    qrels = ir.read_qrels(here / "qrels.txt")
    (here / "queries.tsv").write_text(
        "".join(f"{query}\twhat is {query}?\n" for query in list(qrels)[:-1]), encoding="utf-8"
    )
    (here / "documents.csv").write_text("docid,text\nd1,the first\nnobody,else\n", encoding="utf-8")

    said = say(
        *COMMANDS["evaluate"].split(),
        *["--report", "out.html", "--queries", "queries.tsv", "--documents", "documents.csv"],
        cwd=here,
    )

    assert shown[0].query_texts == {query: f"what is {query}?" for query in list(qrels)[:-1]}
    assert (
        f"note: queries.tsv: found texts of {len(qrels) - 1} of the {len(qrels)} queries shown\n"
        in said.err
    )
    assert re.search(
        r"note: documents.csv: found (texts of 1|the text of none) of the \d+ documents shown",
        said.err,
    )


def test_a_gate_names_the_queries_that_closed_it_and_links_each(
    say: Say, here: Path, shown: list[Subject]
) -> None:
    queries = [f"q{number}" for number in range(12)]
    (here / "many.qrels").write_text(
        "".join(f"{query} 0 x 1\n{query} 0 y 0\n" for query in queries), encoding="utf-8"
    )
    (here / "good.run").write_text(
        "".join(f"{query} Q0 x 1 9.0 t\n" for query in queries), encoding="utf-8"
    )
    lower = (
        f"{query} Q0 {name} 1 {score} t\n"
        for query in queries
        for name, score in (("x", 8.0), ("y", 9.0 - 2 * (query == "q3")))
    )
    (here / "bad.run").write_text("".join(lower), encoding="utf-8")

    said = say(
        *["gate", "many.qrels", "bad.run", "--baseline", "good.run", "--report", "gate.html"],
        cwd=here,
    )

    assert said.code == 1
    page = (here / "gate.html").read_text(encoding="utf-8")
    gated = shown[0].gated
    assert gated is not None
    assert len(gated.closing_queries) == 10
    behind = page.partition("Queries behind the failure")[2].partition("</p>")[0]
    assert re.findall(r'href="#query=(\w+)"', behind) == list(gated.closing_queries)
    assert list(shown[0].lists)[:10] == list(gated.closing_queries)
    assert shown[0].names == ("good", "bad")
    assert shown[0].comparison is not None
    assert shown[0].comparison["nDCG@10"].difference < 0


def test_a_gate_whose_baseline_is_replaced_shows_the_old_one(
    say: Say, here: Path, shown: list[Subject]
) -> None:
    say("gate", "qrels.txt", "bm25.run", "--baseline", "best.run.gz", "--update-baseline", cwd=here)
    command = (
        "gate qrels.txt neural.run --baseline best.run.gz --update-baseline --tolerance 0.9 "
        "--report out.html"
    )
    before = hashlib.sha256((here / "best.run.gz").read_bytes()).hexdigest()

    say(*command.split(), cwd=here)

    assert dict(shown[0].made.inputs)["best.run.gz"] == before
    assert shown[0].comparison is not None
    assert shown[0].comparison.names == ("best", "neural")


REFUSED = {
    "evaluate qrels.txt bm25.run --report out.txt": "error: --report out.txt: expected a file "
    "that ends in .html\n",
    "evaluate qrels.txt bm25.run --report -": "error: --report -: expected a file that ends in "
    ".html\n",
    "compare qrels.txt bm25.run neural.run --report none/out.html": "error: --report none/out.html: found no folder none, expected an",  # noqa: E501
    "compare qrels.txt bm25.run neural.run -o a.html --report ./a.html": "error: --report ./a.html: found the file that -o writes",  # noqa: E501
    "gate qrels.txt bm25.run --baseline neural.run --junit a.html --report a.html": "error: --report a.html: found the file that --junit",  # noqa: E501
    "evaluate qrels.html bm25.run --report qrels.html": "error: --report qrels.html: found an "
    "input file of this command",
    "evaluate qrels.txt bm25.run --report out.html --queries out.html": "error: --report out.html: found an input file of this",  # noqa: E501
    "evaluate qrels.txt bm25.run --queries queries.tsv": "error: --queries queries.tsv: found "
    "neither --report nor --figures",
    "evaluate qrels.txt - --report out.html --queries -": "error: found - (standard input) more "
    "than once",
    "evaluate qrels.txt bm25.run --tag x": "error: --tag x: found no store, expected --store DIR, "
    "or",
}


@pytest.mark.parametrize("command", REFUSED)
def test_what_cannot_be_made_is_refused_before_anything_is_computed(
    command: str, say: Say, here: Path
) -> None:
    shutil.copy(here / "qrels.txt", here / "qrels.html")
    (here / "out.html").write_text("", encoding="utf-8")
    (here / "bm25.run").write_text("nothing that could be read", encoding="utf-8")

    said = say(*command.split(), cwd=here)

    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(REFUSED[command])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_to_is_refused(say: Say, here: Path) -> None:
    (here / "closed").mkdir(mode=0o500)

    assert (
        "cannot be written"
        in say(*["evaluate", "qrels.txt", "bm25.run", "--report", "closed/out.html"], cwd=here).err
    )


@pytest.mark.parametrize(
    ("options", "what", "extra"),
    [
        (["--report", "out.html"], "a page of results", "report"),
        (["--report", "out.html", "--figures", "drawn"], "a page of results", "report"),
        (["--figures", "drawn"], "--figures", "plots"),
    ],
)
def test_without_the_extra_the_message_says_what_to_install(
    say: Say,
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    what: str,
    extra: str,
) -> None:
    monkeypatch.setattr("idealrank.cli.result_options.is_installed", lambda name: name != "jinja2")

    said = say("evaluate", "qrels.txt", "bm25.run", *options, cwd=here)

    assert said.err == f"error: {what} needs Jinja2; {install_command(extra)}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_results_go_into_the_store_and_the_page_names_them(
    name: str, say: Say, here: Path, shown: list[Subject]
) -> None:
    said = say(
        *COMMANDS[name].split(),
        *["--store", "kept", "--tag", "nightly", "--note", "why", "--report", "out.html"],
        cwd=here,
    )

    with ir.Store.open(here / "kept") as store:
        entries = store.entries(tag="nightly")
        assert {entry.id for entry in entries} == set(shown[0].made.store_ids)
        assert [entry.record.notes for entry in entries] == [("why",)] * len(entries)
        assert len(entries) == 2 + (name != "evaluate")
    assert "note: stored as " in said.err


def test_the_store_of_the_environment_is_used(
    say: Say, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDEALRANK_STORE", str(here / "kept"))

    plain = say(*COMMANDS["evaluate"].split(), cwd=here)

    assert plain.code == 0
    with ir.Store.open(here / "kept") as store:
        assert [entry.kind for entry in store.entries()] == ["evaluation"] * 2


def ids_in(said: Said) -> list[str]:
    """What `--store` said: the id of the verdict or of the first evaluation, then the others."""
    return re.findall(r"\b[0-9a-f]{12}\b", said.err)


def test_a_stored_comparison_becomes_the_same_page_but_for_what_needs_runs(
    say: Say, here: Path, shown: list[Subject]
) -> None:
    kept = say(*COMMANDS["compare"].split(), "--store", "kept", "--report", "out.html", cwd=here)

    said = say("report", ids_in(kept)[0][:8], "--store", "kept", "-o", "again.html", cwd=here)

    assert (said.code, said.out) == (0, "")
    assert said.err.startswith("note: wrote again.html, ")
    live, again = shown
    assert live.comparison is not None
    assert again.comparison is not None
    assert [row.as_dict() for row in again.comparison.pairs[0].measures.values()] == [
        row.as_dict() for row in live.comparison.pairs[0].measures.values()
    ]
    assert again.measures == live.measures
    assert again.made.inputs == live.made.inputs[:3]
    assert {query: tuple(names) for query, names in again.categories.items()} == dict(
        live.categories
    )
    for query, lists in again.lists.items():
        for mine, theirs in zip(lists.runs, live.lists[query].runs, strict=True):
            if mine is None or theirs is None:
                assert mine is theirs
                continue
            judged = [
                name if grade is not None else None
                for name, grade in zip(theirs.documents, theirs.grades, strict=True)
            ]
            assert list(mine.documents) == judged[: len(mine.documents)]
            assert (mine.length, mine.grades) == (theirs.length, theirs.grades[: len(mine.grades)])


def test_stored_evaluations_are_compared(say: Say, here: Path, shown: list[Subject]) -> None:
    ids = ids_in(say(*COMMANDS["evaluate"].split(), "--store", "kept", cwd=here))

    assert say("report", *ids, "--store", "kept", "-o", "out.html", "-m", "AP", cwd=here).code == 0

    assert shown[0].comparison is not None
    both = [
        ir.evaluate(here / "qrels.txt", here / f"{name}.run", "AP") for name in ("bm25", "neural")
    ]
    assert shown[0].comparison["AP"].p == ir.compare(*both)["AP"].p
    assert set(shown[0].made.store_ids) == set(ids)


def test_a_stored_gate_is_a_gate_again(say: Say, here: Path, shown: list[Subject]) -> None:
    key = ids_in(
        say(*COMMANDS["gate"].split(), "--store", "kept", "--report", "out.html", cwd=here)
    )[0]

    assert say("report", key, "--store", "kept", "-o", "again.html", cwd=here).code == 0

    live, again = shown
    assert live.gated is not None
    assert again.gated is not None
    assert again.gated.as_dict() == live.gated.as_dict()
    assert again.names == live.names


def test_what_a_store_cannot_show_is_said(say: Say, here: Path) -> None:
    ids = ids_in(say(*COMMANDS["compare"].split(), "--store", "kept", cwd=here))

    assert (
        "found no output, expected -o FILE or --figures DIR"
        in say("report", ids[0], "--store", "kept", cwd=here).err
    )
    assert (
        "found a comparison among 2 results"
        in say("report", *ids[:2], "--store", "kept", "-o", "x.html", cwd=here).err
    )
    assert (
        "-m ERR: found no values of it"
        in say("report", ids[1], "--store", "kept", "-m", "ERR", "-o", "x.html", cwd=here).err
    )
    assert say("report", ids[1], "-o", "x.html", cwd=here).err.startswith(
        "error: found no store, expected --store DIR"
    )
    assert (
        say("report", ids[1], "--store", "kept", "-o", "x.pdf", cwd=here).err
        == "error: -o x.pdf: expected a file that ends in .html\n"
    )


@pytest.mark.parametrize(
    "option", ["--queries", "--documents", "--weights", "--cluster", "--slices"]
)
@pytest.mark.parametrize("text", [None, "only one field\n"], ids=["missing", "bad"])
def test_a_file_of_an_option_that_cannot_be_used_is_refused_before_the_work(
    option: str, text: str | None, say: Say, tmp_path: Path
) -> None:
    path = tmp_path / "wrong.tsv"
    if text is not None:
        path.write_text(text, encoding="utf-8")

    said = say(
        "compare",
        "qrels.txt",
        "bm25.run",
        "neural.run",
        "--report",
        str(tmp_path / "page.html"),
        option,
        str(path),
    )

    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(f"error: {path}:"), said.err
    assert not (tmp_path / "page.html").exists()
