"""Names of runs, shortened so that they still differ."""

from collections import Counter
from collections.abc import Sequence

from idealrank.reports.table.text import clipped

WIDE, NARROW, TITLE = 28, 16, 18
"""Letters of a name beside a wide panel, beside a narrow one, and in a title."""


def told_apart(names: Sequence[str], width: int) -> list[str]:
    """Shorten names to so many letters: long names lose their middle, or the beginning that they
    share with names that would look the same.
    """
    shortened = [clipped(name, width) for name in names]
    shared = {text for text, count in Counter(shortened).items() if count > 1}
    for text in shared:
        places = [place for place, short_name in enumerate(shortened) if short_name == text]
        common = len(_beginning([names[place] for place in places]))
        for place in places:
            shortened[place] = _cut("…" + names[place][max(common - 2, 0) :], width)
    counts = Counter(shortened)
    # Names that still look the same differ in places that are far apart: numbers distinguish them.
    for place, text in enumerate(shortened):
        if counts[text] > 1:
            shortened[place] = f"{_cut(text, width - 5)} ({place + 1})"
    return shortened


def _beginning(names: Sequence[str]) -> str:
    """Return the letters with which all names begin."""
    # In alphabetical order, names between two names begin with the letters that both begin with.
    least = min(names)
    greatest = max(names)
    for place, letter in enumerate(least):
        if letter != greatest[place : place + 1]:
            return least[:place]
    return least


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"
