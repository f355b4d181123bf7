"""A measure says itself what is asked of it: no module outside `measures` asks for its class or
compares its name.

The rule is a function of source texts, so that a planted violation shows that it can fail.
"""

import ast
from collections import Counter

import pytest

import idealrank as ir
from idealrank._lazy import stub_names
from idealrank.measures import MEASURES, PAIR_MEASURES
from idealrank.measures.measure import Measure
from tests.sources import library, module, nodes

# Named classes, and the classes that families share; `Measure` and `PairMeasure` themselves tell a
# measure from a text.
CLASSES = {
    parent.__name__
    for cls in (*MEASURES.values(), *PAIR_MEASURES.values())
    for parent in cls.__mro__
} - {
    "Measure",
    "PairMeasure",
    "object",
}
NAMES = {*MEASURES, *PAIR_MEASURES}

# Uses that ask a question no method of a measure answers yet; the counts may only fall.
KNOWN = {
    # Judged, Unjudged and NumRet have no companions
    "idealrank.analysis.comparison.query_table": 1,
    # Judged and Unjudged count without a relevant document
    "idealrank.analysis.comparison.requirements": 1,
    # the base of the logarithm cancels in nDCG
    "idealrank.analysis.reconciliation.convention_search": 1,
    "idealrank.analysis.tuning.measurement": 1,  # measures with a discount to choose
    "idealrank.evaluation.coverage": 1,  # measures with a threshold for relevance
    # DCG and nDCG alone are sums over documents with an ideal that counts estimate
    "idealrank.judging.document_correction": 1,
    "idealrank.reports.table.records": 1,  # NumQ is printed once
    "idealrank.reports.views.trec": 2,  # NumQ is printed once; YAAP of an empty list
    "idealrank.theory.growth": 1,  # nDCG alone has limits
}


def outside() -> dict[str, str]:
    """Every module outside `measures`."""
    return {
        name: source
        for name, source in library().items()
        if not name.startswith("idealrank.measures")
    }


def uses_of_class(source: str) -> list[str]:
    """Lines that ask for the class of a measure (`isinstance`, `issubclass`, `type(...) is`) or
    compare its name.
    """
    found = []
    for node in nodes(source):
        is_question = (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("isinstance", "issubclass")
        )
        if (
            isinstance(node, ast.Call)
            and is_question
            and _classes_in(node.args[1], module(source)) & CLASSES
        ):
            found.append(f"{node.lineno}: {ast.unparse(node)}")
        if isinstance(node, ast.Compare) and (_is_of_type(node) or _is_of_name(node)):
            found.append(f"{node.lineno}: {ast.unparse(node)}")
        if isinstance(node, ast.MatchClass) and _names_in(node.cls) & CLASSES:
            found.append(f"{node.lineno}: case {ast.unparse(node.cls)}")
    return found


def _classes_in(node: ast.expr, tree: ast.Module) -> set[str]:
    """Names in the second argument, and in what they are set to at the top of the module."""
    names = _names_in(node)
    tables = {
        target.id: _names_in(one.value)
        for one in tree.body
        if isinstance(one, ast.Assign)
        for target in one.targets
        if isinstance(target, ast.Name)
    }
    return names.union(*(tables.get(name, set()) for name in names))


def _names_in(node: ast.AST) -> set[str]:
    parts = list(ast.walk(node))
    return {one.id for one in parts if isinstance(one, ast.Name)} | {
        one.attr for one in parts if isinstance(one, ast.Attribute)
    }


def _is_of_type(node: ast.Compare) -> bool:
    sides = [node.left, *node.comparators]
    asks = any(
        isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id == "type"
        for one in sides
    )
    return asks and any(_names_in(one) & CLASSES for one in sides)


def _is_of_name(node: ast.Compare) -> bool:
    sides = [node.left, *node.comparators]
    is_name = any(isinstance(one, ast.Attribute) and one.attr == "name" for one in sides)
    texts = {
        one.value
        for side in sides
        for one in ast.walk(side)
        if isinstance(one, ast.Constant) and isinstance(one.value, str)
    }
    return is_name and bool(texts & NAMES)


PLANTED = {
    "one class": "isinstance(measure, NDCG)",
    "several classes": "isinstance(measure, (DCG, P))",
    "a union": "isinstance(one, P | R)",
    "through the package": "isinstance(one, ir.RBP)",
    "a class that a family shares": "isinstance(one, BinaryMeasure)",
    "through a table": "EXPLAINED = (NDCG, AP)\nisinstance(one, EXPLAINED)",
    "a subclass": "issubclass(cls, AP)",
    "a type": "type(measure) is ERR",
    "types": "type(measure) in (ERR, RBP)",
    "a name": "measure.name == 'nDCG'",
    "names": "one.name in ('AP', 'RR')",
    "a case": "match measure:\n    case NDCG(cutoff=10):\n        pass",
}


@pytest.mark.parametrize("source", PLANTED.values(), ids=PLANTED)
def test_a_planted_question_for_the_class_is_found(source: str) -> None:
    assert len(uses_of_class(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "isinstance(one, Measure)",
        "isinstance(one.cutoff, int)",
        "one.name == other.name",
        "os.name == 'nt'",
    ],
)
def test_what_does_not_know_a_measure_is_allowed(source: str) -> None:
    assert uses_of_class(source) == []


def test_no_module_outside_measures_knows_a_measure_by_its_class() -> None:
    found = {name: uses for name, source in outside().items() if (uses := uses_of_class(source))}

    assert {name: uses for name, uses in found.items() if len(uses) > KNOWN.get(name, 0)} == {}


def test_the_known_uses_are_still_there() -> None:
    found = Counter({name: len(uses_of_class(source)) for name, source in outside().items()})

    assert {name: found[name] for name in KNOWN} == KNOWN


def test_the_list_of_measures_has_every_public_one_with_its_name_in_texts() -> None:
    listed = {(home, name, text) for home, name, text in stub_names() if text}
    public = [
        value
        for name in ir.__all__
        if isinstance(value := getattr(ir, name), type) and issubclass(value, Measure)
    ]

    assert listed == {
        (cls.__module__, cls.__name__, cls.name) for cls in public if hasattr(cls, "name")
    }
    assert [cls.name for cls in (*MEASURES.values(), *PAIR_MEASURES.values())] == [
        *MEASURES,
        *PAIR_MEASURES,
    ]
    assert {cls.kind == "pair of runs" for cls in MEASURES.values()} == {False}
    assert {cls.kind == "pair of runs" for cls in PAIR_MEASURES.values()} == {True}


def test_the_checked_classes_are_those_of_measures() -> None:
    assert {"NDCG", "AP", "BinaryMeasure", "NeedsRelevant"} <= CLASSES
    assert all(issubclass(cls, Measure) for cls in MEASURES.values())
