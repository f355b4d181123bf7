"""Lazy loading of public names, optional packages and the notebook view of results."""

import re
from collections.abc import Callable
from functools import cache, update_wrapper
from importlib import import_module
from types import FunctionType
from typing import Any, ForwardRef, TypeVar, cast

SHOWN_BY = {
    "Comparison": "idealrank.pages.notebook:comparison_html",
    "Coverage": "idealrank.pages.notebook:coverage_html",
    "Evaluation": "idealrank.pages.notebook:evaluation_html",
    "Explanation": "idealrank.pages.notebook:explanation_html",
    "Gated": "idealrank.pages.notebook:gated_html",
    "Overlap": "idealrank.pages.notebook:overlap_html",
    "OverlapMatrix": "idealrank.pages.notebook:overlap_matrix_html",
    "Robustness": "idealrank.pages.notebook:robustness_html",
    "Slices": "idealrank.pages.notebook:slices_html",
    "SystemComparison": "idealrank.pages.notebook:systems_html",
}
"""By name of a class: the module and the function of one argument that makes its HTML."""

PRINTED_BY = {
    "Advice": "idealrank.reports.views.advice:advice_report",
    "Attribution": "idealrank.reports.views.attribution:attribution_report",
    "Chance": "idealrank.reports.views.chance_levels:chance_parts",
    "DifferenceSplit": "idealrank.reports.views.stated_numbers:split_text",
    "Evaluation": "idealrank.reports.views.evaluation:evaluation_parts",
    "Explanation": "idealrank.reports.views.explanation:explanation_parts",
    "Lift": "idealrank.reports.views.chance_levels:lift_parts",
    "Overlap": "idealrank.reports.views.overlap:overlap_parts",
    "OverlapMatrix": "idealrank.reports.views.overlap:matrix_parts",
    "Reconciliation": "idealrank.reports.views.stated_numbers:reconciliation_text",
    "SliceMeans": "idealrank.reports.views.evaluation:slice_parts",
    "SystemComparison": "idealrank.reports.views.systems:systems_parts",
}
"""By name of a class: the module and the function that writes what the command prints, as text or
as parts of one.
"""

COMPUTED_BY = {
    "Comparison.paper_table": "idealrank.reports.views.comparison.markup:paper_text",
    "Evaluation.by": "idealrank.inputs.per_query:slice_means",
    "Evaluation.chance": "idealrank.bounds.random_orders:chance_of_evaluation",
    "Evaluation.lift": "idealrank.bounds.lift:lift_of",
}
"""By name of a method: the module and the function that computes it, in a layer above the class."""

# The only statements in a stub of public names. The line of a measure ends with its name in texts.
_NAME = re.compile(r"^from (\S+) import (\S+) as \2(?:  # (\S+))?$", re.MULTILINE)

_TOP = __file__.removesuffix("_lazy.py") + "__init__.py"


@cache
def stub_names(file: str = _TOP) -> list[tuple[str, str, str]]:
    """Lines of a package's stub, in order: the module, the name that it has, and the comment after
    it or nothing.
    """
    with open(f"{file}i", encoding="utf-8") as stub:  # noqa: PTH123  (pathlib costs ten times as much to load as all of this)
        return _NAME.findall(stub.read())


def annotation(home: str, name: str) -> Any:
    """A name for annotations alone: `typing.get_type_hints` loads its module, and nothing else
    does.

    Type checkers read the import under ``TYPE_CHECKING``, of which this is the other branch.

    Examples
    --------
    >>> from typing import get_type_hints
    >>> Exact = annotation("fractions", "Fraction")
    >>> def half(value: Exact) -> "Exact | None": ...
    >>> get_type_hints(half, localns={"Exact": Exact})["value"]
    <class 'fractions.Fraction'>
    """
    return ForwardRef(f"__import__({home!r}, fromlist=['']).{name}")


def public_names(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """The names of a package's stub, each loaded when it is first asked for.

    The stub ``__init__.pyi`` beside the package's file is the one list of its public names: type
    checkers read it, and so does this.

    Examples
    --------
    >>> import idealrank.theory
    >>> get, listed, names = public_names("idealrank.theory", idealrank.theory.__file__)
    >>> get("limit").__module__, names[:2]
    ('idealrank.theory.limits', ['DefinitionGap', 'Distinguishability'])
    """
    homes = {name: home for home, name, _ in stub_names(file)}

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if homes[name] == package:  # a package of its own inside this one
            return import_module(f"{package}.{name}")
        value = getattr(import_module(homes[name]), name)
        vars(import_module(package))[name] = value
        return value

    return get, lambda: sorted(homes), sorted(homes)


def load_extra(module: str, what: str, extra: str, package: str = "") -> Any:
    """A module of a package that idealrank does not come with."""
    try:
        return import_module(module)
    except ImportError:
        from idealrank.errors import MissingExtraError  # noqa: PLC0415  (it loads threading, a tenth of the import of idealrank)

        raise MissingExtraError(what, package or module, extra) from None


def is_installed(module: str) -> bool:
    """Return whether a package is installed, without loading it."""
    from importlib.util import find_spec  # noqa: PLC0415  (`import idealrank` needs it not)

    return find_spec(module) is not None


def computed(method: str, *arguments: Any, **options: Any) -> Any:
    """Result of a method whose function is in a layer above its class."""
    module, _, name = COMPUTED_BY[method].partition(":")
    return getattr(import_module(module), name)(*arguments, **options)


def repr_html(result: Any) -> str:
    """HTML of a result, for notebooks; a class takes it over as its method ``_repr_html_``.

    A result knows nothing of reports, and imports point down: this table names the function that
    makes its HTML, by the name of its class.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")._repr_html_()[:23]
    '<div class="idealrank">'
    """
    module, _, name = SHOWN_BY[type(result).__name__].partition(":")
    text: str = getattr(import_module(module), name)(result)
    return text


def printed(self: Any) -> str:
    """Text of a result, as its command prints it; a class takes it over as its method
    ``__str__``.
    """
    module, _, name = PRINTED_BY[type(self).__name__].partition(":")
    written = getattr(import_module(module), name)(self)
    if not isinstance(written, str):
        written = import_module("idealrank.reports.table.text").parts_text(written)
    return str(written).rstrip("\n")


FunctionOf = TypeVar("FunctionOf", bound="Callable[..., Any]")


def under_name(function: FunctionOf, name: str) -> FunctionOf:
    """Return a function under another name, which Python's errors about its arguments show."""
    renamed = FunctionType(
        function.__code__, function.__globals__, name, function.__defaults__, function.__closure__
    )
    update_wrapper(renamed, function)
    renamed.__kwdefaults__ = function.__kwdefaults__
    renamed.__name__ = renamed.__qualname__ = name
    del renamed.__dict__["__wrapped__"]
    return cast(FunctionOf, renamed)
