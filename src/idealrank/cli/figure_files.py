"""--figures DIR: every plot of a report as files for papers: SVG, PNG and PDF, one column wide and
two, and a list of what they show.
"""

from collections.abc import Iterator
from pathlib import Path

from idealrank.errors import InputError
from idealrank.pages.figures import drawings
from idealrank.pages.figures.specifications import Figure, figures
from idealrank.pages.figures.theme import COLUMNS, POINTS_PER_PIXEL
from idealrank.reports.subject import Subject

_LIST = "figures.md"


def check_figures(folder: str | Path) -> None:
    """Refuse figures that cannot be drawn or written, before anything is computed."""
    drawings.check_drawable("svg")
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = "it is a file" if Path(folder).is_file() else error.strerror or str(error)
        raise InputError(
            f"--figures {folder}: the folder does not exist and cannot be created: {why}; expected "
            "another name"
        ) from None


def write_figures(subject: Subject, folder: str | Path) -> list[Path]:
    """Write every figure of a subject, and ``figures.md``, which says in words what each shows.

    ``NAME.svg``, ``.png`` and ``.pdf`` are as wide as one column (3.33 inches), ``NAME-wide`` as
    two (7 inches).
    """
    check_figures(folder)
    written: list[Path] = []
    list_lines = ["# Figures", "", "Each as SVG, PNG and PDF; `-wide` for two columns."]
    for name, figure in named(figures(subject)):
        drawn = {name + suffix: figure.spec(inches) for suffix, inches in COLUMNS.items()}
        for stem, spec in drawn.items():
            files = drawings.in_print(spec, POINTS_PER_PIXEL)
            written += [
                drawings.write_file(Path(folder) / f"{stem}.{kind}", content)
                for kind, content in files.items()
            ]
        list_lines += ["", f"## {name}", "", str(drawn[name]["description"])]
    return [*written, drawings.write_file(Path(folder) / _LIST, "\n".join(list_lines) + "\n")]


def named(drawn: Iterator[Figure]) -> Iterator[tuple[str, Figure]]:
    """Yield figures with distinct names: a number tells runs apart whose names differ only in
    characters that file names cannot have.
    """
    taken: dict[str, int] = {}
    for figure in drawn:
        key = figure.name.lower()  # file systems that do not tell cases apart
        taken[key] = taken.get(key, 0) + 1
        name = figure.name if taken[key] == 1 else f"{figure.name}-{taken[key]}"
        yield name, figure
