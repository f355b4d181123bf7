"""--figures DIR: every plot of a report as files for papers: SVG, PNG and PDF, one column wide and two, and a list of what they show."""

from collections.abc import Iterator
from pathlib import Path

from idealrank.errors import InputError
from idealrank.reports.figures import drawings
from idealrank.reports.figures.specifications import Figure, figures
from idealrank.reports.figures.theme import COLUMNS, POINTS_PER_PIXEL
from idealrank.reports.subject import Subject

_LIST = "figures.md"


def check_figures(folder: str | Path) -> None:
    """Refuse before anything is computed what cannot be written: no folder, or nothing that draws.

    Raises
    ------
    InputError
        There is a file of this name, or the folder cannot be made.
    MissingExtraError
        vl-convert-python is not installed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     check_figures(folder)
    """
    drawings.check_drawable("svg")
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = "it is a file" if Path(folder).is_file() else error.strerror or str(error)
        raise InputError(f"--figures {folder}: the folder does not exist and cannot be created: {why}; expected another name") from None


def write_figures(subject: Subject, folder: str | Path) -> list[Path]:
    """Write every figure of a subject, and ``figures.md``, which says in words what each shows.

    ``NAME.svg``, ``.png`` and ``.pdf`` are as wide as one column (3.33 inches), ``NAME-wide`` as two (7 inches). Text has 7 to 8 points
    at that size, pictures 300 dots to the inch, and PDF files have their fonts in them. Files of the same names are replaced.

    Parameters
    ----------
    subject : Subject
        What is to be shown.
    folder : Path
        Made where it is missing.

    Returns
    -------
    list of Path
        The files, the list last.

    Raises
    ------
    InputError
        A file cannot be written.
    MissingExtraError
        vl-convert-python is not installed.

    Examples
    --------
    >>> import tempfile
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}, "r": {"x": 1}}, {"q": ["x"], "r": ["y", "x"]}, "RR")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sorted(path.name for path in write_figures(Subject(evaluations=(one,), measures=one.measures), folder))[:3]
    ['distribution-RR-run-wide.pdf', 'distribution-RR-run-wide.png', 'distribution-RR-run-wide.svg']
    """
    check_figures(folder)
    written: list[Path] = []
    said = ["# Figures", "", "Each as SVG, PNG and PDF; `-wide` for two columns."]
    for name, figure in named(figures(subject)):
        drawn = {name + suffix: figure.spec(inches) for suffix, inches in COLUMNS.items()}
        for stem, spec in drawn.items():
            files = drawings.in_print(spec, POINTS_PER_PIXEL)
            written += [drawings.write_file(Path(folder) / f"{stem}.{kind}", content) for kind, content in files.items()]
        said += ["", f"## {name}", "", str(drawn[name]["description"])]
    return [*written, drawings.write_file(Path(folder) / _LIST, "\n".join(said) + "\n")]


def named(found: Iterator[Figure]) -> Iterator[tuple[str, Figure]]:
    """Figures with names that no other has: runs whose names differ only in signs that files cannot have get numbers.

    Examples
    --------
    >>> figure = Figure(name="means-RR", plot="means", template={}, rows=[], words={})
    >>> [name for name, _ in named(iter([figure, figure]))]
    ['means-RR', 'means-RR-2']
    """
    taken: dict[str, int] = {}
    for figure in found:
        key = figure.name.lower()  # file systems that do not tell cases apart
        taken[key] = taken.get(key, 0) + 1
        yield (figure.name if taken[key] == 1 else f"{figure.name}-{taken[key]}"), figure
