"""The option `--figure` of `idealrank judge`: one figure as a file."""

from collections.abc import Callable, Sequence
from pathlib import Path

from idealrank.cli import options
from idealrank.errors import OptionError
from idealrank.pages.figures import drawings
from idealrank.pages.figures.theme import Spec
from idealrank.reports.table.formats import FIGURE_FORMATS


def figure_kind(path: str | None, inputs: Sequence[str]) -> "drawings.Format | None":
    """Return the format of the figure, refused before anything is computed if it cannot be
    drawn.
    """
    if path is None:
        return None
    ending = Path(path).suffix.removeprefix(".").lower()
    if ending not in FIGURE_FORMATS:
        raise OptionError(
            f"--figure {path}: expected a file that ends in "
            f"{', '.join(f'.{kind}' for kind in FIGURE_FORMATS)}"
        )
    drawings.check_drawable(FIGURE_FORMATS[ending])
    options.refuse_to_replace(path, inputs, option="--figure")
    return FIGURE_FORMATS[ending]


def write_figure(path: str, kind: "drawings.Format", title: str, spec: Callable[..., Spec]) -> None:
    """Draw a specification and write it; `spec` takes `interactive`."""
    if kind == "html":
        drawings.write_file(Path(path), drawings.page({"figure": spec(interactive=True)}, title))
    else:
        drawings.write_file(Path(path), drawings.drawn(spec(interactive=False), kind))
