"""The extras of pyproject.toml, the commands that test them, and the tables that describe them."""

import re
import subprocess

import pytest

from tests.docs.blocks import ROOT
from tests.extras.environments import HEADLINES, documented, extras

BY_USER = {"ltr", "paper", "rag", "search-team"}


def test_every_extra_has_a_headline_command_and_nothing_else_has_one() -> None:
    assert {path.stem for path in HEADLINES.glob("*.sh")} == set(extras())


def test_the_documentation_lists_every_extra_with_its_size() -> None:
    rows = documented()

    assert set(rows) == set(extras())
    for cells in rows.values():
        assert re.fullmatch(r"\d[\d,]*", cells[-1])


@pytest.mark.parametrize("extra", sorted(BY_USER | {"all"}))
def test_an_extra_for_a_user_is_made_of_others(extra: str) -> None:
    (own,) = extras()[extra]

    names = re.fullmatch(r"idealrank\[([a-z,-]+)\]", own)[1].split(",")  # type: ignore[index]

    assert names == sorted(names)
    assert set(names) <= set(extras()) - BY_USER - {"all"}


@pytest.mark.parametrize("extra", sorted(extras()))
def test_a_headline_command_is_valid_and_says_what_it_does(extra: str) -> None:
    script = HEADLINES / f"{extra}.sh"

    assert script.read_text(encoding="utf-8").startswith("# ")
    checked = subprocess.run(["bash", "-n", script], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


def test_what_spark_needs_for_arrow_and_figures_for_captions_is_in_their_extras() -> None:
    assert "pandas>=2.2" in extras()["spark"]
    assert "jinja2>=3.1" in extras()["plots"]


def test_the_guide_to_figures_names_the_packages_of_its_extra() -> None:
    page = (ROOT / "docs" / "guides" / "figures.md").read_text(encoding="utf-8")
    opening = page.partition("```")[0]
    packages = [name.partition(">")[0] for name in extras()["plots"]]

    assert all(name in opening.lower() for name in packages)
    assert ("installs the same packages" in opening) == (extras()["plots"] == extras()["report"])


def test_no_extra_takes_the_xgboost_that_brings_gigabytes_for_gpus() -> None:
    on_linux = [name for name in extras()["xgboost"] if "!= 'darwin'" in name]

    assert [name.partition(">")[0] for name in on_linux] == ["xgboost-cpu"]
