"""Legibility that finds bugs: what a reader could confuse, and no type checker would notice.

Each rule is a function of a tree, so that a planted violation shows that it can fail.
"""

import ast
import re

import pytest

from tests.sources import library, nodes, walked

# --- calls ----------------------------------------------------------------------------------------

# They take any number of values of one kind, or files in the order of the command line.
TAKES_ANY_NUMBER = {
    "JudgeFiles.of",
    "_answer",
    "_call",
    "_in",
    "_row",
    "_texts",
    "partial",
    "refuse_standard_input_twice",
    "refuse_unknown",
    "warn_explicit",
    "write",
    "zip",
}
MOST_BY_PLACE = 5


def calls_by_place(tree: list[ast.AST]) -> list[tuple[int, str]]:
    """Lines and names of calls with more arguments by place than a reader can tell apart."""
    calls = [node for node in tree if isinstance(node, ast.Call) and len(node.args) > MOST_BY_PLACE]
    named_calls = [(call.lineno, ast.unparse(call.func).removeprefix("self.")) for call in calls]
    return sorted(
        (line, name)
        for line, name in named_calls
        if not {name, name.rpartition(".")[2]} & TAKES_ANY_NUMBER
    )


def test_no_call_has_six_arguments_by_place() -> None:
    # Two numbers that change places pass every other check.
    assert [
        f"{module}:{line} {name}"
        for module, source in library().items()
        for line, name in calls_by_place(nodes(source))
    ] == []


def test_a_call_with_six_arguments_by_place_is_found() -> None:
    assert calls_by_place(
        walked(ast.parse("g(1, 2, 3, 4, 5)\nf(1, 2, 3, 4, 5, 6, x=7)\nzip(1, 2, 3, 4, 5, 6, 7)"))
    ) == [(2, "f")]


# --- expressions ----------------------------------------------------------------------------------


def nested_conditions(tree: list[ast.AST]) -> list[int]:
    """Lines of the conditional expressions that another conditional expression contains, at
    whatever depth.
    """
    return sorted(
        {
            inner.lineno
            for outer in tree
            if isinstance(outer, ast.IfExp)
            for inner in walked(outer)[1:]
            if isinstance(inner, ast.IfExp)
        }
    )


def test_no_conditional_expression_holds_another() -> None:
    # Read in one go, a choice within a choice hides which condition belongs to which value: `if`
    # statements or a name say it.
    assert [
        f"{module}:{line}"
        for module, source in library().items()
        for line in nested_conditions(nodes(source))
    ] == []


@pytest.mark.parametrize(
    "source",
    [
        "1 if a else 2 if b else 3",
        "f(1 if a else 2) if b else 3",
        'f"{1 if a else 2}" if b else ""',
    ],
)
def test_a_conditional_expression_within_another_is_found(source: str) -> None:
    assert nested_conditions(walked(ast.parse(source))) == [1]
    assert nested_conditions(walked(ast.parse("x = 1 if a else 2\ny = x if b else 3"))) == []


# --- assignments ----------------------------------------------------------------------------------

_PLAIN = (ast.Attribute, ast.Constant, ast.Name, ast.Subscript)
_LONGEST_PLAIN = 60
_LONGEST_PAIR = 48


def packed_assignments(tree: list[ast.AST]) -> list[int]:
    """Lines that set several names to values of their own, which a line each would tell apart.

    Values that read what the same statement sets, as in an exchange, belong together. So do plain
    values and values of one form in a short line, as in ``low, high = bound(0.1), bound(0.9)``.
    """
    return sorted(
        node.lineno
        for node in tree
        if isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and isinstance(node.targets[0], ast.Tuple)
        and isinstance(node.value, ast.Tuple)
        and _are_apart(node.targets[0].elts, node.value.elts)
        and not _are_read_at_once(node.value.elts, len(ast.unparse(node)))
    )


def _are_apart(targets: list[ast.expr], values: list[ast.expr]) -> bool:
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    if len(names) < len(targets) or any(isinstance(value, ast.Starred) for value in values):
        return False
    reads = [{n.id for n in walked(value) if isinstance(n, ast.Name)} for value in values]
    return not any(reads[place] & set(names[:place]) for place in range(len(values)))


def _are_read_at_once(values: list[ast.expr], width: int) -> bool:
    if len(values) > 3:
        return False
    if all(isinstance(value, _PLAIN) for value in values):
        return width <= _LONGEST_PLAIN
    return len({_form(value) for value in values}) == 1 and width <= _LONGEST_PAIR


def _form(value: ast.expr) -> str:
    if isinstance(value, ast.Call):
        return f"{ast.unparse(value.func).rpartition('.')[2]} of {len(value.args)}"
    return type(value).__name__


def test_a_statement_sets_one_name_or_a_short_pair() -> None:
    assert [
        f"{module}:{line}"
        for module, source in library().items()
        for line in packed_assignments(nodes(source))
    ] == []


def test_a_statement_that_sets_unlike_names_is_found() -> None:
    packed = "share, query_ids = hits / judged, sorted(queries)"
    pair = "low, high = bound(0.1), bound(0.9)"
    exchange = "first, second = second, first"
    assert packed_assignments(walked(ast.parse(f"{pair}\n{packed}\n{exchange}"))) == [2]


# --- layout ---------------------------------------------------------------------------------------


def laid_out_by_hand(source: str) -> list[int]:
    """Lines that keep the formatter away: packed lines are hard to review."""
    lines = enumerate(source.splitlines(), start=1)
    return [number for number, line in lines if re.search(r"#\s*fmt:\s*(skip|off)\b", line)]


def test_the_formatter_alone_decides_how_code_is_laid_out() -> None:
    assert [
        f"{module}:{line}"
        for module, source in library().items()
        for line in laid_out_by_hand(source)
    ] == []


def test_a_line_that_the_formatter_leaves_is_found() -> None:
    assert laid_out_by_hand("x = [\n]  # fmt: skip\n# fmt: off\ny = 1  # format: skip") == [2, 3]


# --- records --------------------------------------------------------------------------------------

# Its words come out of tables as one tuple, next to the place where the problem is.
BY_PLACE = {"Complaint"}
MOST_FIELDS_BY_PLACE = 3


def records_by_place(tree: list[ast.AST]) -> list[tuple[int, str]]:
    """Lines and names of data classes whose fields are more than a reader can tell apart, and may
    be given by place.
    """
    return sorted(
        (node.lineno, node.name)
        for node in tree
        if isinstance(node, ast.ClassDef)
        and node.name not in BY_PLACE
        and len(_fields(node)) > MOST_FIELDS_BY_PLACE
        if any(_is_by_place(decorator) for decorator in node.decorator_list)
    )


def _fields(node: ast.ClassDef) -> list[ast.AnnAssign]:
    return [
        part
        for part in node.body
        if isinstance(part, ast.AnnAssign) and "ClassVar" not in ast.unparse(part.annotation)
    ]


def _is_by_place(decorator: ast.expr) -> bool:
    text = ast.unparse(decorator)
    return (
        text.split("(")[0] in {"dataclass", "dataclasses.dataclass"} and "kw_only=True" not in text
    )


def test_the_fields_of_records_are_given_by_name() -> None:
    assert [
        f"{module}:{line} {name}"
        for module, source in library().items()
        for line, name in records_by_place(nodes(source))
    ] == []


def test_a_record_whose_fields_are_given_by_place_is_found() -> None:
    fields = "\n    ".join(f"{name}: float" for name in "abcd")
    planted = (
        f"@dataclass(frozen=True)\nclass Found:\n    {fields}\n@dataclass(kw_only=True)\nclass "
        f"Named:\n    {fields}"
    )
    assert records_by_place(walked(ast.parse(planted))) == [(2, "Found")]


def tuples_by_place(tree: list[ast.AST], fields: dict[str, int]) -> list[tuple[int, str]]:
    """Lines and names of named tuples of `fields` that are made of more values by place than a
    reader can tell apart.
    """
    return sorted(
        (node.lineno, node.func.id)
        for node in tree
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id not in BY_PLACE
        and fields.get(node.func.id, 0) > MOST_FIELDS_BY_PLACE
        and len(node.args) > MOST_FIELDS_BY_PLACE
    )


def named_tuples(tree: list[ast.AST]) -> dict[str, int]:
    """Names of the named tuples, and how many fields each has."""
    return {
        node.name: len(_fields(node))
        for node in tree
        if isinstance(node, ast.ClassDef)
        and any(ast.unparse(base) == "NamedTuple" for base in node.bases)
    }


def test_the_fields_of_named_tuples_are_given_by_name() -> None:
    fields: dict[str, int] = {}
    for source in library().values():
        fields |= named_tuples(nodes(source))
    assert [
        f"{module}:{line} {name}"
        for module, source in library().items()
        for line, name in tuples_by_place(nodes(source), fields)
    ] == []


def test_a_named_tuple_whose_fields_are_given_by_place_is_found() -> None:
    planted = "class Hit(NamedTuple):\n    query: int\n    rank: int\n    row: int\n    key: int\n"
    tree = walked(ast.parse(planted + "Hit(1, 2, 3, 4)\nHit(query=1, rank=2, row=3, key=4)"))
    assert tuples_by_place(tree, named_tuples(tree)) == [(6, "Hit")]
