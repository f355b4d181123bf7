"""Every format that a report or a figure is written in: one registry, from which each ``--format`` takes its choices and its help."""

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple, TypeAlias, get_args

FigureFormat: TypeAlias = Literal["svg", "png", "pdf", "html", "json"]
"""Formats of figures; a file of one ends in its name."""

FIGURE_FORMATS: Mapping[str, FigureFormat] = {name: name for name in get_args(FigureFormat)}

Use: TypeAlias = Literal["people", "programs", "pasting"]


class Format(NamedTuple):
    """A format.

    Attributes
    ----------
    name : str
        As ``--format`` takes it.
    title : str
        In sentences.
    use : {"people", "programs", "pasting"}
        For people to read, for programs to read, or to be pasted into a document.
    delimiter : str
        Of the cells of a row, for a flat format; empty for others. A command that writes rows has every flat format.

    Examples
    --------
    >>> Format("json", "JSON", "programs").is_data
    True
    """

    name: str
    title: str
    use: Use
    delimiter: str = ""

    @property
    def is_data(self) -> bool:
        """True for machine-readable formats, with every byte of an id and all digits."""
        return self.use == "programs"


FORMATS: Mapping[str, Format] = {
    one.name: one
    for one in (
        Format("table", "table", "people"),
        Format("text", "text", "people"),
        Format("json", "JSON", "programs"),
        Format("csv", "CSV", "programs", ","),
        Format("trec", "trec_eval's layout", "programs"),
        Format("markdown", "Markdown", "pasting"),
        Format("latex", "LaTeX (booktabs)", "pasting"),
    )
}
"""By name, in the order in which help lists them. A new format is one more row, and a writer in each command that offers it; a flat format
is one more row, and every command that writes rows has it."""


def formats_help(opening: str, names: Iterable[str], told: Mapping[str, str] | None = None) -> str:
    """The help of an option ``--format``.

    Parameters
    ----------
    opening : str
        What people get, up to the comma or semicolon.
    names : iterable of str
        The formats offered.
    told : mapping of str to str, optional
        By format what it holds, where that is not the same in all; nothing is said of a format that it lacks.

    Examples
    --------
    >>> formats_help("A table for people;", ["table", "json", "csv", "trec", "markdown", "latex"])
    "A table for people; JSON, CSV or trec_eval's layout for programs; Markdown or LaTeX (booktabs) to paste."
    >>> formats_help("Text for people;", ["table", "json", "csv"], {"json": "with everything", "csv": "with queries"})
    'Text for people; JSON with everything, or CSV with queries, for programs.'
    """
    offered = [FORMATS[name] for name in names]
    by_content: dict[str, list[str]] = {}
    for one in offered:
        if one.is_data:
            by_content.setdefault((told or {}).get(one.name, ""), []).append(one.title)
    data = ", or ".join(f"{_either(titles)} {content}".rstrip() for content, titles in by_content.items())
    pasted = _either(one.title for one in offered if one.use == "pasting")
    return f"{opening} {data}{',' if told else ''} for programs{f'; {pasted} to paste' if pasted else ''}."


def _either(titles: Iterable[str]) -> str:
    *others, last = list(titles) or [""]
    return f"{', '.join(others)} or {last}" if others else last
