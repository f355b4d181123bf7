"""Every format that a report or a figure is written in: one registry, from which each ``--format``
takes its choices and its help.
"""

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple, TypeAlias, get_args

FigureFormat: TypeAlias = Literal["svg", "png", "pdf", "html", "json"]
"""Formats of figures; a file of one ends in its name."""

FIGURE_FORMATS: Mapping[str, FigureFormat] = {name: name for name in get_args(FigureFormat)}

Use: TypeAlias = Literal["people", "programs", "pasting"]


class Format(NamedTuple):
    """A format."""

    name: str  # As ``--format`` takes it
    title: str  # In sentences
    use: Use  # For people to read, for programs to read, or to be pasted into a document
    delimiter: str = ""  # Delimiter of the cells of a row in a flat format; empty for others

    @property
    def is_data(self) -> bool:
        """True for machine-readable formats, with every byte of an id and all digits."""
        return self.use == "programs"


FORMATS: Mapping[str, Format] = {
    known.name: known
    for known in (
        Format("table", "table", "people"),
        Format("json", "JSON", "programs"),
        Format("csv", "CSV", "programs", delimiter=","),
        Format("trec", "trec_eval's layout", "programs"),
        Format("markdown", "Markdown", "pasting"),
        Format("latex", "LaTeX (booktabs)", "pasting"),
    )
}
"""By name, in the order in which help lists them. A new format is one more row, and a writer in
each command that offers it; a flat format is one more row, and every command that writes rows has
it.
"""


def formats_help(opening: str, names: Iterable[str], told: Mapping[str, str] | None = None) -> str:
    """Write the help of an option ``--format``; `told` describes the content of formats."""
    offered = [FORMATS[name] for name in names]
    by_content: dict[str, list[str]] = {}
    for file_format in offered:
        if file_format.is_data:
            by_content.setdefault((told or {}).get(file_format.name, ""), []).append(
                file_format.title
            )
    data = ", or ".join(
        f"{either(titles)} {content}".rstrip() for content, titles in by_content.items()
    )
    pasted = either(known.title for known in offered if known.use == "pasting")
    to_paste = f"; {pasted} to paste" if pasted else ""
    return f"{opening} {data}{',' if told else ''} for programs{to_paste}."


def either(titles: Iterable[str]) -> str:
    """Join names by commas and a last "or"."""
    *others, last = list(titles) or [""]
    return f"{', '.join(others)} or {last}" if others else last
