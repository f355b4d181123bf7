"""Names made short enough for their place, each still told apart from the others."""

from collections import Counter
from collections.abc import Sequence

from idealrank.reports.table.text import clipped

WIDE, NARROW, TITLE = 28, 16, 18
"""Letters of a name beside a wide panel, beside a narrow one, and in a title."""


def told_apart(names: Sequence[str], width: int) -> list[str]:
    """Names with at most so many letters: too long ones lose their middle, or what they share with
    those that would look the same.
    """
    found = [clipped(name, width) for name in names]
    shared = {text for text, count in Counter(found).items() if count > 1}
    for text in shared:
        places = [place for place, one in enumerate(found) if one == text]
        common = len(_beginning([names[place] for place in places]))
        for place in places:
            found[place] = _cut("…" + names[place][max(common - 2, 0) :], width)
    if len(set(found)) < len(found):  # they differ in places that are far apart
        found = [
            f"{_cut(text, width - 5)} ({place})" if found.count(text) > 1 else text
            for place, text in enumerate(found, 1)
        ]
    return found


def _beginning(names: Sequence[str]) -> str:
    """The letters with which all begin."""
    first, last = min(names), max(names)
    return next(
        (first[:at] for at, letter in enumerate(first) if letter != last[at : at + 1]), first
    )


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"
