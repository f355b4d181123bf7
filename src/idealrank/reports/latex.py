"""Text as LaTeX prints it."""

from collections.abc import Iterable

_SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
}  # fmt: skip


def latex_row(cells: Iterable[str]) -> str:
    r"""A row of a table, from cells that are LaTeX already.

    Examples
    --------
    >>> latex_row(["a", "b"])
    'a & b \\\\\n'
    """
    return " & ".join(cells) + " \\\\\n"


def latex_text(text: str) -> str:
    r"""Text as it stands; a sign before a number is a minus, and brackets never follow the end of a row unprotected.

    Examples
    --------
    >>> latex_text("50%_a"), latex_text("-0.5"), latex_text("[0, 1]")
    ('50\\%\\_a', '$-0.5$', '{[0, 1]}')
    """
    escaped = "".join(_SPECIAL.get(letter, letter) for letter in text)
    if escaped.startswith(("+", "-")) and escaped[1:2].isdigit():
        return f"${escaped}$"
    return f"{{{escaped}}}" if escaped.startswith("[") else escaped
