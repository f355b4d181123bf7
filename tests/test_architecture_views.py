"""Views share what they have in common: one function makes the envelope of JSON, and none takes an
option only to ignore it.

Each rule is a function of source texts, so that a planted violation shows that it can fail.
"""

import ast
from collections.abc import Callable, Mapping

import pytest

from tests.sources import library, nodes

Sources = Mapping[str, str]

HOME = "idealrank.reports.table.records"  # makes the envelope
# Has its versions last, among other fields of the report.
ENVELOPES = {"idealrank.reports.views.gate.gate"}


def envelopes_by_hand(sources: Sources) -> list[str]:
    """Records with both versions, and JSON indented by two blanks, that `HOME` did not make."""
    return [
        f"{name}:{node.lineno}"
        for name, source in sources.items()
        if name != HOME
        for node in nodes(source)
        if (isinstance(node, ast.Dict) and _has_versions(node) and name not in ENVELOPES)
        or (isinstance(node, ast.Call) and _indents(node))
    ]


def _has_versions(node: ast.Dict) -> bool:
    keys = {key.value for key in node.keys if isinstance(key, ast.Constant)}
    given = {value.id for value in node.values if isinstance(value, ast.Name)}
    return {"version", "schema"} <= keys and "__version__" in given


def _indents(call: ast.Call) -> bool:
    return ast.unparse(call.func).endswith("dumps") and any(
        keyword.arg == "indent" and ast.unparse(keyword.value) == "2" for keyword in call.keywords
    )


def ignored_options(sources: Sources) -> list[str]:
    """Parameters of reports and views that nothing reads: `Formats` hands an option only to writers
    that take it. A cell has the parameters of all cells of its columns: one that it ignores is
    called ``_``.
    """
    return [
        f"{name}:{node.lineno}: {parameter}"
        for name, source in sources.items()
        if name.startswith("idealrank.reports.") or ".views." in name
        for node in nodes(source)
        if isinstance(node, ast.FunctionDef)
        for parameter in _parameters(node) - _read(node)
    ]


def _parameters(node: ast.FunctionDef) -> set[str]:
    if ast.unparse(node.body[-1]) == "...":
        return set()  # the method of a protocol
    parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return {parameter.arg for parameter in parameters} - {"self", "cls", "_"}


def _read(node: ast.FunctionDef) -> set[str]:
    return {
        name.id
        for statement in node.body
        for name in ast.walk(statement)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load)
    }


RULES = [envelopes_by_hand, ignored_options]
PLANTED: list[tuple[Callable[[Sources], list[str]], str]] = [
    (envelopes_by_hand, "record = {'version': __version__, 'schema': SCHEMA, 'rows': []}"),
    (envelopes_by_hand, "text = json.dumps(record, indent=2)"),
    (ignored_options, "def rows(result, *, digits=None):\n    return [result.name]"),
    (ignored_options, "def rows(result, _sizes):\n    return [result.name]"),
    (ignored_options, "def rows(result, where):\n    del where\n    return [result.name]"),
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_library_keeps_to_it(rule: Callable[[Sources], list[str]]) -> None:
    assert rule(library()) == []


@pytest.mark.parametrize(("rule", "planted"), PLANTED)
def test_a_planted_violation_is_found(rule: Callable[[Sources], list[str]], planted: str) -> None:
    assert rule({"idealrank.reports.views.planted": planted})
