"""The reference covers everything that is public."""

import re

import idealrank
from docs.command_pages import FOLDER as COMMAND_PAGES
from docs.extensions.site_view import on_site
from docs.reference_entries import FOLDER, entries_of
from idealrank.cli.main import COMMANDS

PAGES = [path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")]
SUBPACKAGES = {"clicks", "judging", "stats", "theory", "training"}
ENTRIES = [entry for page in PAGES for entry in entries_of(page)]


def test_every_public_name_has_an_entry() -> None:
    entries = {entry.word for entry in ENTRIES} | set(
        re.findall(r"^\.\. py:data:: (\w+)$", "\n".join(PAGES), re.MULTILINE)
    )
    public = {
        name for name in idealrank.__all__ if not name.startswith("__") and name not in SUBPACKAGES
    }
    assert public - entries == set()
    assert {
        name for package in SUBPACKAGES for name in getattr(idealrank, package).__all__
    } - entries == set()


def test_every_entry_has_a_page_of_its_own_also_where_letters_have_no_case() -> None:
    pages = [entry.page.lower() for entry in ENTRIES]

    assert len(pages) > 450
    assert sorted({page for page in pages if pages.count(page) > 1}) == []


def test_every_entry_links_to_the_file_that_defines_it() -> None:
    wrong = [
        entry.path
        for entry in ENTRIES
        if entry.word not in (FOLDER / entry.source).resolve().read_text(encoding="utf-8")
    ]

    assert wrong == []


def test_on_the_site_names_link_to_their_pages() -> None:
    page = on_site((FOLDER / "errors.md").read_text(encoding="utf-8"))

    assert "| [`InputError`](api/errors/InputError.rst) |" in page
    assert "../../src/" not in page


def test_every_command_has_a_page_with_its_help() -> None:
    shown = {
        name
        for path in COMMAND_PAGES.glob("*.md")
        for name in re.findall(r"^\$ idealrank ([\w-]+) --help$", path.read_text(), re.MULTILINE)
    }
    assert shown == set(COMMANDS)
    assert {path.stem for path in COMMAND_PAGES.glob("*.md")} == set(COMMANDS)
