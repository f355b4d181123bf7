"""Figures that a notebook shows beside tables: small drawings, in colours that hold on light and dark; none without the extra `plots`."""

from collections.abc import Iterable
from itertools import islice

from idealrank.analysis.comparison import Comparison
from idealrank.analysis.robustness import Robustness
from idealrank.errors import MissingExtraError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.reports.figures import drawings, specifications
from idealrank.reports.figures.theme import NOTEBOOK
from idealrank.reports.subject import Subject

_INCHES = 4.6  # as figures in print are measured: 534 pixels
_MOST_SLICES = 40  # of more, a table says it better


def evaluation_figures(found: Evaluation) -> str:
    """Draw the distribution of the first measure's values as HTML; empty without the drawing library.

    Examples
    --------
    >>> import idealrank as ir
    >>> evaluation_figures(ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR"))[:7]
    '<figure'
    """
    subject = Subject(evaluations=(found,), measures=found.measures[:1])
    return drawn(islice(specifications.figures(subject), 1))


def comparison_figures(found: Comparison) -> str:
    """Means by the first measure, and differences on slices where there are any, as HTML.

    Examples
    --------
    >>> import idealrank as ir
    >>> pair = (ir.evaluate({"p": {"x": 1}, "q": {"x": 1}}, {"q": ranking}, "RR") for ranking in (["x"], ["y", "x"]))
    >>> comparison_figures(ir.compare(*pair)).count("<figure")
    1
    """
    return drawn(specifications.comparison_figures(found, most_slices=_MOST_SLICES))


def robustness_figures(found: Robustness) -> str:
    """The difference in every variant, as HTML.

    Examples
    --------
    >>> import idealrank as ir
    >>> found = ir.robust({"q": {"x": 1}}, {"q": ["y", "x"]}, {"q": ["x"]}, "RR", variants=["cutoff=1"])
    >>> robustness_figures(found).count("<figure")
    1
    """
    return drawn([specifications.robustness_figure(found)])


def drawn(figures: Iterable[specifications.Figure]) -> str:
    """Figures as HTML with drawings in it; empty where vl-convert-python is not installed.

    Examples
    --------
    >>> drawn([])
    ''
    """
    try:
        pictures = [drawings.svg(figure.spec(_INCHES, NOTEBOOK)) for figure in figures]
    except MissingExtraError:
        return ""
    # Where another font is wider than ours, what stands out at the sides is shown.
    shown = (picture.replace("<svg ", '<svg style="overflow: visible" ', 1) for picture in pictures)
    return "".join(f'<figure style="margin: .8em 1.5em .8em .5em">{picture}</figure>\n' for picture in shown)
