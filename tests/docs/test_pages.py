"""Every code block of every page runs and prints what the page says."""

import re
import sys
from pathlib import Path

import pytest

from tests import in_process
from tests.docs.blocks import ROOT, complaints_of

FOLDERS = [ROOT.glob("*.md"), ROOT.glob("docs/**/*.md"), ROOT.glob("examples/*/*.md")]
# Several reports, simulations, repositories, whole searches or many users each.
LONG = {
    "choosing-discount-and-cutoff.md",
    "clicks.md",
    "from-gate-to-query.md",
    "history.md",
    "online.md",
    "recommender-shop.md",
    "report.md",
    "robust.md",
    "shop-clicks",
    "training-clicks.md",
    "training-recipes.md",
    "what-a-click-says.md",
    "what-ndcg-can-tell.md",
    "which-test.md",
    "your-own-measure.md",
}
# What a newcomer meets first runs in every run; the others in `make test-docs`.
FIRST_MET = {"README.md", "compare.md", "input.md", "tutorial.md"}
OF_PEERS = {"pytorch-losses.md"}  # they need what `make test-peers` installs
PAGES = sorted(
    path for folder in FOLDERS for path in folder if "site" not in path.relative_to(ROOT).parts
)


def _marks(page: Path) -> list[pytest.MarkDecorator]:
    if page.name in OF_PEERS:
        return [pytest.mark.peers]
    if {page.name, page.parent.name} & LONG:
        return [pytest.mark.slow]
    return [] if page.name in FIRST_MET else [pytest.mark.docs]


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=_marks(page)) for page in PAGES],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_every_block_of_the_page_runs(page: Path) -> None:
    complaints = complaints_of(page, in_process.shell)
    assert not complaints, "\n\n".join(complaints)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_page_shows_a_program_that_broke(page: Path) -> None:
    """Also of pages whose blocks run in other targets: refreshing one where something was missing
    writes the traceback into it.
    """
    broken = re.findall(
        r"(?m)^ *File \"/.*|^\w*ModuleNotFoundError: .*|^error: this is a fault of .*",
        page.read_text(encoding="utf-8"),
    )
    assert broken == []


def test_no_page_makes_a_file_that_hides_a_module_of_python() -> None:
    """`python -m` looks in the current folder first."""
    made = {
        (page.name, name)
        for page in PAGES
        for name in re.findall(r"> *(\w+)\.py\b", page.read_text())
    }
    assert ("judge-run.md", "word_judge") in made
    assert not {one for one in made if one[1] in sys.stdlib_module_names}


def test_the_index_of_guides_lists_every_page_of_its_trees_with_its_title() -> None:
    index = (ROOT / "docs" / "guides" / "index.md").read_text(encoding="utf-8")
    trees = re.findall(r"```\{toctree\}\n(?::.*\n)+\n((?:.+\n)+?)```", index)
    listed = re.findall(r"^\* \[(.+)\]\((.+)\.md\): [A-Z].+\.$", index, re.MULTILINE)

    assert [page for _, page in listed] == [page for tree in trees for page in tree.split()]
    for title, page in listed:
        text = (ROOT / "docs" / "guides" / f"{page}.md").read_text(encoding="utf-8")
        assert title == re.findall(r"^# (.+)$", text, re.MULTILINE)[0]
