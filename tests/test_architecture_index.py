"""Files that ARCHITECTURE.md, CONTRIBUTING.md and the indexes of packages name exist.

Each rule is a function of texts and of the modules, so that a planted violation shows that it can
fail.
"""

import ast
import re
import tomllib
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import pytest

from tests.sources import library, module

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "idealrank"
PAGES = (
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    *sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/project/**/*.md")),
)
_PATH = re.compile(r"`((?:[\w.]+/)+|[\w./]+/[\w.]+\.(?:py|pyi|hpp|cpp|js))`")


def paths_missing(pages: Mapping[str, str]) -> list[str]:
    """Files and folders that a page names, from the root or from the package, and that are not
    there.

    In the tree of ARCHITECTURE.md a folder stands in the row of its package: it may be anywhere in
    the library.
    """
    folders = {path.name for path in SOURCE.rglob("*") if path.is_dir()}
    return [
        f"{page}: {path}"
        for page, text in pages.items()
        for path in _PATH.findall(text)
        if not any((root / path).exists() for root in (ROOT, SOURCE))
        and path.rstrip("/") not in folders
    ]


def modules_missing(sources: Mapping[str, str]) -> list[str]:
    """Names in the list of a package's docstring that are no module in it."""
    return [
        f"{package}: {name}"
        for package in _packages(sources)
        for entry in re.findall(
            r"^\* .*(?:\n  .*)*", ast.get_docstring(module(sources[package])) or "", re.MULTILINE
        )
        for name in re.findall(r"`([a-z_]+)`", entry)
        if not any(one.startswith(f"{package}.") and one.endswith(f".{name}") for one in sources)
    ]


def _packages(sources: Mapping[str, str]) -> Collection[str]:
    return {name.rpartition(".")[0] for name in sources} & set(sources)


def test_the_pages_name_what_is_there() -> None:
    assert paths_missing({page: (ROOT / page).read_text("utf-8") for page in PAGES}) == []


def test_the_drawing_of_the_layers_is_the_contract() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    drawing = page.split("## Import rule")[1].split("```text\n")[1].split("```")[0]
    drawn = [re.split(r"\s{2,}", line)[0] for line in drawing.splitlines()]
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    layers = next(rules["layers"] for rules in contracts["contracts"] if rules["id"] == "layers")

    assert drawn == layers


def test_the_indexes_of_packages_name_what_is_there() -> None:
    assert modules_missing(library()) == []


@pytest.mark.parametrize(
    ("rule", "planted"),
    [
        (
            paths_missing,
            {"ARCHITECTURE.md": "a switch has its row in `conventions/table_of_switches.py`"},
        ),
        (paths_missing, {"ARCHITECTURE.md": "| `reports/` | `tapestry/` |"}),
        (
            modules_missing,
            {
                "idealrank.a": '"""Head.\n\n* closed: `limits`, which\n  `gone` says\n"""',
                "idealrank.a.limits": "",
            },
        ),
    ],
)
def test_a_planted_violation_is_found(
    rule: Callable[[Mapping[str, str]], list[str]], planted: Mapping[str, str]
) -> None:
    assert len(rule(planted)) == 1
