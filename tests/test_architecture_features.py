"""A feature has one word: the noun in rooms that hold results, the verb of its command in rooms
that people enter.

Each rule is a function of what there is, so that a planted violation shows that it can fail.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.sources import library

ROOT = Path(__file__).resolve().parents[1]

# By the noun: the command, and the guide.
FEATURES = {
    "advice": ("advise", "choosing-a-measure"),
    "attribution": ("why", "why-did-it-change"),
    "comparison": ("compare", "compare"),
    "explanation": ("explain", "why-did-it-change"),
    "gate": ("gate", "gate"),
    "history": ("history", "history"),
    "recall": ("recall", "search"),
    "reconciliation": ("reconcile", "reconcile"),
    "robustness": ("robust", "robust"),
    "systems": ("seeds", "seeds"),
    "tuning": ("choose", "choosing-discount-and-cutoff"),
}

# Where the noun is not a room of its own, and why.
ELSEWHERE = {
    "idealrank.reports.views.reconciliation": "the result says itself in words: there is one form "
    "of it",
    "idealrank.api.history": "is asked of a store",
}

Modules = Mapping[str, str]


def without_a_word(modules: Modules) -> list[str]:
    """Modules of `analysis` that belong to no feature."""
    known = {name.split(".")[2] for name in modules if name.startswith("idealrank.analysis.")}
    return sorted(known ^ set(FEATURES))


def rooms_missing(modules: Modules) -> list[str]:
    """Rooms where a feature goes by another word, or by none; and reasons that are none any
    more.
    """
    wanted = {
        f"idealrank.{room}.{noun}"
        for noun in FEATURES
        for room in ("analysis", "reports.views", "api")
    }
    wanted |= {f"idealrank.cli.commands.{verb}" for verb, _ in FEATURES.values()}
    return sorted((wanted - set(modules) - set(ELSEWHERE)) | (set(ELSEWHERE) & set(modules)))


def pages_missing(root: Path) -> list[str]:
    """Guides and tests of a feature that nobody finds by its word."""
    guides = [f"docs/guides/{guide}.md" for _, guide in FEATURES.values()]
    commands = [f"tests/cli/test_{verb}.py" for verb, _ in FEATURES.values()]
    units = [f"tests/unit/test_{noun}*.py" for noun in FEATURES]
    return [path for path in (*guides, *commands, *units) if not any(root.glob(path))]


def test_every_feature_has_its_word_in_every_room() -> None:
    assert (without_a_word(library()), rooms_missing(library()), pages_missing(ROOT)) == (
        [],
        [],
        [],
    )


def _but(name: str) -> dict[str, str]:
    return {one: text for one, text in library().items() if one != name}


@pytest.mark.parametrize(
    ("rule", "planted"),
    [
        (without_a_word, {**library(), "idealrank.analysis.likeness": ""}),
        (
            without_a_word,
            {
                name: text
                for name, text in library().items()
                if not name.startswith("idealrank.analysis.tuning")
            },
        ),
        (rooms_missing, _but("idealrank.reports.views.tuning")),
        (rooms_missing, _but("idealrank.cli.commands.why")),
        (rooms_missing, {**library(), "idealrank.api.history": ""}),
    ],
)
def test_a_planted_violation_is_found(
    rule: Callable[[Modules], list[str]], planted: Modules
) -> None:
    assert rule(planted)


def test_a_missing_page_is_found(tmp_path: Path) -> None:
    assert len(pages_missing(tmp_path)) == 3 * len(FEATURES)
