"""Pictures of the report: those that pages show are those that are there, and those that the script
takes.
"""

import re
import struct
from pathlib import Path

import pytest

from docs import gallery_store
from idealrank.store import Store
from tests.docs.blocks import ROOT

FOLDER = ROOT / "docs" / "figures" / "gallery"
PAGES = [
    ROOT / "docs" / "gallery.md",
    *(
        ROOT / "docs" / f"{name}.md"
        for name in ("guides/from-gate-to-query", "live/judge-ui", "store/serve")
    ),
]
KEPT = sorted(path.stem for path in FOLDER.glob("*"))


def shown(page: Path) -> list[str]:
    """Names of the pictures of a page, each with a text for those who do not see it."""
    found = re.findall(
        r"!\[([^\]]*)\]\((?:\.\./)?figures/gallery/([\w-]+)\.png\)",
        page.read_text(encoding="utf-8"),
    )
    assert all(len(text) > 15 for text, _ in found)
    return [name for _, name in found]


def test_the_gallery_shows_each_picture_once_and_the_script_takes_no_other() -> None:
    script = (ROOT / "docs" / "gallery.py").read_text(encoding="utf-8")
    table = script[script.index("PICTURES") : script.index("\n}", script.index("PICTURES"))]
    assert sorted(shown(PAGES[0])) == KEPT
    assert sorted(re.findall(r'^    "([\w-]+)":', table, re.MULTILINE)) == KEPT


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_every_picture_of_a_page_exists(page: Path) -> None:
    names = shown(page)
    assert names
    assert set(names) <= set(KEPT)
    assert page.read_text(encoding="utf-8").count("![") == len(names)


def test_pictures_are_small_and_have_a_palette() -> None:
    sizes = {path.name: path.stat().st_size for path in FOLDER.iterdir()}
    assert max(sizes.values()) < 150_000, sizes
    assert sum(sizes.values()) < 1_250_000
    for name in sizes:
        head = (FOLDER / name).read_bytes()[:26]
        assert head.startswith(b"\x89PNG\r\n\x1a\n")
        assert struct.unpack(">BB", head[24:26]) == (8, 3), (
            f"{name}: expected 8 bits a pixel and a palette"
        )


def test_pictures_do_not_show_data_that_tests_made_up() -> None:
    for name in ("gallery.py", "gallery_store.py"):
        script = (ROOT / "docs" / name).read_text(encoding="utf-8")
        assert not re.search(r"^from tests\.(?!web import)", script, re.MULTILINE), name


@pytest.mark.slow
def test_the_served_pages_show_commits_of_the_project_and_alarms_of_a_monitor(
    tmp_path: Path,
) -> None:
    newest = gallery_store.written(tmp_path)

    commits = [commit for commit, _ in gallery_store.commits_of(tmp_path)]
    with Store.open(gallery_store.store_of(tmp_path), create=False) as store:
        entries = store.entries(kind="evaluation")
        stored = {entry.record.commit for entry in entries if entry.name == "search"}
        rounds = store.monitoring("shop").rounds()
    assert len(commits) == 20
    assert stored == set(commits)
    assert set(newest) == {"search", "bm25", "minilm"}
    assert len(rounds) == 8
