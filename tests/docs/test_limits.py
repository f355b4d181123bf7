"""What pages say that idealrank lacks is lacking: each such line names the words that no command,
option or public name may have.
"""

import re
from functools import cache

import idealrank
from idealrank.cli.console import Options
from idealrank.measures import MEASURES, PAIR_MEASURES
from tests.contract.commands import commands
from tests.docs.blocks import ROOT
from tests.docs.test_reference import SUBPACKAGES

PAGE = ROOT / "docs" / "concepts" / "when-to-use-something-else.md"
LACKS = re.compile(r"<!-- lacks: (.+?) -->")
# A denial that the page once had, of a command that came later
LIMIT = re.compile(r"\b(has no|does not|cannot|runs on one machine)\b")


@cache
def names() -> frozenset[str]:
    """Commands, options, public names and measures: whole, and each of their words."""
    listed = [name for package in SUBPACKAGES for name in getattr(idealrank, package).__all__]
    listed += [*idealrank.__all__, *MEASURES, *PAIR_MEASURES]
    for name, command in commands():
        listed += [name, *Options.of(command).names]
    whole = {re.sub(r"[\s-]+", "_", name.strip("- ")).lower() for name in listed}
    parted = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", " ".join(listed))
    return frozenset(whole | {word.lower() for word in parted})


def untrue(page: str) -> list[str]:
    """Lines that deny something without naming its words, or whose words exist."""
    section = page.partition("## Limits of idealrank")[2]
    wrong = []
    for line in re.findall(r"^\* .+$", section, re.MULTILINE):
        lacks = LACKS.search(line)
        if lacks is None:
            wrong.append(line)
        elif existing := sorted(set(lacks[1].split()) & names()):
            wrong.append(f"{line}: {', '.join(existing)}")
    before = page.partition("## Limits of idealrank")[0]
    own = [line for line in before.splitlines() if "`idealrank`" in line and LIMIT.search(line)]
    return wrong + own


def test_the_page_of_other_tools_denies_nothing_that_exists() -> None:
    page = PAGE.read_text(encoding="utf-8")

    assert len(LACKS.findall(page)) >= 4
    assert untrue(page) == []


def test_the_page_names_the_commands_and_engines_for_labels_and_clusters() -> None:
    page = PAGE.read_text(encoding="utf-8")

    assert {"judge", "judge ui"} <= {name.removeprefix("idealrank ") for name, _ in commands()}
    assert "`idealrank judge ui`" in page
    assert "engines/cluster.md" in page


def test_a_denial_of_a_command_is_found() -> None:
    planted = (
        "`idealrank` has no report.\n## Limits of idealrank\n"
        "* It has no page for labels. <!-- lacks: judge_ui -->\n"
        "* It has no interleaving. <!-- lacks: interleave -->\n"
        "* It has no fusion.\n"
        "* It has no fusion. <!-- lacks: fuse -->\n"
    )

    assert untrue(planted) == [
        "* It has no page for labels. <!-- lacks: judge_ui -->: judge_ui",
        "* It has no interleaving. <!-- lacks: interleave -->: interleave",
        "* It has no fusion.",
        "`idealrank` has no report.",
    ]
