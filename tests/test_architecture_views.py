"""Views share what they have in common: one function makes the envelope of JSON.

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


RULES = [envelopes_by_hand]
PLANTED: list[tuple[Callable[[Sources], list[str]], str]] = [
    (envelopes_by_hand, "record = {'version': __version__, 'schema': SCHEMA, 'rows': []}"),
    (envelopes_by_hand, "text = json.dumps(record, indent=2)"),
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_library_keeps_to_it(rule: Callable[[Sources], list[str]]) -> None:
    assert rule(library()) == []


@pytest.mark.parametrize(("rule", "planted"), PLANTED)
def test_a_planted_violation_is_found(rule: Callable[[Sources], list[str]], planted: str) -> None:
    assert rule({"idealrank.reports.views.planted": planted})
