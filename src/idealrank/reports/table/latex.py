"""Text as LaTeX prints it."""

import re
from collections.abc import Iterable

from idealrank.reports.table.layout import printable

_SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
}  # fmt: skip
_SIGNED = re.compile(r"[+-]\d[\d.,]*")
_INTERVAL = re.compile(r"\[[+-]?[\d.]+, [+-]?[\d.]+\]")


def latex_row(cells: Iterable[str]) -> str:
    r"""A row of a table, from cells that are LaTeX already.

    Examples
    --------
    >>> latex_row(["a", "b"])
    'a & b \\\\\n'
    """
    return " & ".join(cells) + " \\\\\n"


def latex_text(text: str) -> str:
    r"""Text as it stands; brackets never follow the end of a row unprotected, and hyphens do not become dashes.

    Examples
    --------
    >>> latex_text("50%_a"), latex_text("a--b"), latex_text("[x")
    ('50\\%\\_a', 'a-{}-b', '{[}x')
    """
    escaped = latex_escaped(text)
    return f"{{{escaped[0]}}}{escaped[1:]}" if escaped.startswith(("[", "*")) else escaped


def latex_escaped(text: str) -> str:
    r"""Text for a place where no command is just before it.

    Examples
    --------
    >>> latex_escaped("[50%]")
    '[50\\%]'
    """
    return "".join(_SPECIAL.get(letter, letter) for letter in printable(text)).replace("--", "-{}-").replace("--", "-{}-")


def latex_number(text: str, *, strong: bool = False) -> str:
    r"""A number; a sign before one is a minus or plus, and an interval is one formula.

    Examples
    --------
    >>> latex_number("-0.5"), latex_number("[-0.1, +0.2]"), latex_number("12.5%"), latex_number("-")
    ('$-0.5$', '$[-0.1, +0.2]$', '12.5\\%', '--')
    >>> latex_number("0.5", strong=True), latex_number("-0.5", strong=True)
    ('\\textbf{0.5}', '$\\mathbf{-0.5}$')
    """
    if text == "-":
        return "--"
    if _SIGNED.fullmatch(text) or _INTERVAL.fullmatch(text):
        formula = text.replace(",", "{,}") if text[0] != "[" else text
        return f"$\\mathbf{{{formula}}}$" if strong else f"${formula}$"
    return f"\\textbf{{{latex_text(text)}}}" if strong else latex_text(text)
