"""How results show themselves in a notebook: by name, since who makes the HTML lives far above them.

A result knows nothing of reports, and imports point down. So a result that a notebook asks for its HTML looks up here who makes it,
and only then is that module loaded, as the public names are in ``idealrank/__init__.py``.
"""

from importlib import import_module
from typing import Any

SHOWN_BY = {
    "Comparison": "idealrank.reports.notebook:comparison_html",
    "Coverage": "idealrank.reports.notebook:coverage_html",
    "Evaluation": "idealrank.reports.notebook:evaluation_html",
    "Explanation": "idealrank.reports.notebook:explanation_html",
    "Gated": "idealrank.reports.notebook:gated_html",
    "Overlap": "idealrank.reports.notebook:overlap_html",
    "Robustness": "idealrank.reports.notebook:robustness_html",
    "Slices": "idealrank.reports.notebook:slices_html",
    "SystemComparison": "idealrank.reports.notebook:systems_html",
}
"""By name of a class: the module and the function of one argument that makes its HTML."""


def repr_html(result: Any) -> str:
    """HTML of a result, for notebooks; a class takes it over as its method ``_repr_html_``.

    Parameters
    ----------
    result : object
        Of a class that `SHOWN_BY` names.

    Returns
    -------
    str
        An element with sentences and tables, complete in itself.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")._repr_html_()[:23]
    '<div class="idealrank">'
    """
    module, _, name = SHOWN_BY[type(result).__name__].partition(":")
    text: str = getattr(import_module(module), name)(result)
    return text
