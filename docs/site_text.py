"""Formulas that a page of the site shows as they are typed, in place of as mathematics."""

import re
from html import unescape

# What is not prose: code, formulas, scripts and styles
_OTHER = re.compile(
    r"<(code|pre|math|script|style|title)\b.*?</\1>|<[^>]+>|<!--.*?-->", re.DOTALL | re.IGNORECASE
)
_COMMAND = re.compile(
    r"\\(?:frac|sum|sqrt|mathrm|max|min|log|le|ge|cdot|hat|bar|left|right|text)(?![a-zA-Z])"
)
_DOLLAR = re.compile(r"\$")


def raw_formulas(html: str) -> list[str]:
    """Each place in the prose of a page that has a dollar or a command of LaTeX, with its
    surroundings.
    """
    prose = " ".join(unescape(_OTHER.sub(" ", html)).split())
    matches = (*_COMMAND.finditer(prose), *_DOLLAR.finditer(prose))
    return [
        prose[max(0, match.start() - 30) : match.end() + 30]
        for match in sorted(matches, key=lambda match: match.start())
    ]
