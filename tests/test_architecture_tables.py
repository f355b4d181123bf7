"""Tables are columns: what a cell shows stands beside its title, and nothing reads a table by
position. Formats stand in one registry.

Each rule is a function of source texts, so that a planted violation shows that it can fail.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import cast

import click
import pytest

from idealrank.cli.output import FormatOption, Formats, LimitedWriter
from idealrank.errors import OptionError
from idealrank.reports.table import formats
from idealrank.reports.table.formats import FIGURE_FORMATS, FORMATS, Format, formats_help
from idealrank.theory.commands.figures import _formats
from tests.contract.commands import commands
from tests.sources import module, walked

SOURCE = Path(__file__).resolve().parents[1] / "src" / "idealrank"
REPORTS, COMMANDS = SOURCE / "reports", SOURCE / "cli"
Sources = Mapping[str, str]
HOME = {"table/cells.py", "table/text.py"}
"""Where cells are put side by side, by the columns; and where long rows are laid as columns, each
headed by its first cell, its name.
"""


def reports() -> dict[str, str]:
    """The source of every module of the reports by its path there."""
    return sources_in(REPORTS)


def sources_in(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for path in sorted(folder.rglob("*.py"))
    }


# --- the rules ------------------------------------------------------------------------------------


def rows_by_hand(sources: Sources) -> list[str]:
    """Tables that are not made from columns, and cells listed beside each other: their titles stand
    somewhere else.

    A `Table` of rows, and a list of two cells or more, can be matched with titles by position
    alone. `Table.of` asks each column for its cell instead.
    """
    found = []
    for name, tree in _others(sources):
        for node in walked(tree):
            made = (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id == "Table"
            )
            listed = (
                isinstance(node, ast.List | ast.Tuple)
                and sum(map(_is_cell, node.elts)) > 1
                and isinstance(node.ctx, ast.Load)
            )
            if made or listed:
                found.append(f"{name}:{getattr(node, 'lineno', 0)}")
    return found


def _is_cell(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and (node.func.id == "Cell" or node.func.id.endswith("_cell"))
    )


def cells_by_position(sources: Sources) -> list[str]:
    """Subscripts of, and unpackings into places of, the rows, columns and cells of a table, and
    what loops over them.

    A table is known by how it is got: arguments and variables that are annotated as one, or as a
    list of columns or cells; what functions of the reports return that say so; `Table.of`; and the
    names that an assignment, loop or comprehension gives to these or to their parts. Whole rows may
    go on to `zip` and to loops, which read no place of their own; columns by the name of their
    measure are no list.
    """
    found = []
    made = {
        name: {node.name for node in _functions(tree) if _says(node.returns)}
        for name, tree in _others(sources)
    }
    public = {
        function
        for functions in made.values()
        for function in functions
        if not function.startswith("_")
    }
    for name, tree in _others(sources):
        makers = {"columnwise", *public, *made[name]}
        for scope in _functions(tree):
            known = _tabular_names(scope, makers)
            for node in walked(scope):
                read = isinstance(node, ast.Subscript) and _is_tabular(node.value, known, makers)
                unpacked = any(
                    _takes_places(target, source) and _is_tabular(source, known, makers)
                    for target, source in _given(node)
                )
                if read or unpacked:
                    found.append(f"{name}:{getattr(node, 'lineno', scope.lineno)}")
    return found


def _others(sources: Sources) -> Iterator[tuple[str, ast.Module]]:
    return ((name, module(source)) for name, source in sources.items() if name not in HOME)


def _functions(tree: ast.Module) -> list[ast.FunctionDef]:
    return [node for node in walked(tree) if isinstance(node, ast.FunctionDef)]


def _says(annotation: ast.expr | None) -> bool:
    """True if an annotation is of a table, or of a list of columns or cells."""
    text = "" if annotation is None else ast.unparse(annotation).strip("'")
    return text == "Table" or (
        text.startswith(("list[", "Sequence[", "tuple[", "Iterator["))
        and ("Column[" in text or "Cell]" in text)
    )


def _is_tabular(node: ast.expr, known: set[str], makers: set[str]) -> bool:
    """True if an expression is rows, columns or cells of a table."""
    if isinstance(node, ast.Name):
        return node.id in known
    if isinstance(node, ast.Attribute):
        return node.attr in {"rows", "columns"} and (
            _is_tabular(node.value, known, makers) or ast.unparse(node.value).endswith("table")
        )
    if isinstance(node, ast.Call):
        called = ast.unparse(node.func)
        passed_on = called in {"list", "tuple", "reversed", "sorted", "iter", "enumerate", "zip"}
        made = called == "Table.of" or called.split(".")[-1] in makers
        return made or (passed_on and any(_is_tabular(one, known, makers) for one in node.args))
    return isinstance(node, ast.Subscript) and _is_tabular(node.value, known, makers)


def _given(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Names that are assigned or looped over, each with its source."""
    if isinstance(node, ast.Assign):
        yield from ((target, node.value) for target in node.targets)
    elif isinstance(node, ast.For | ast.comprehension):
        yield node.target, node.iter


def _takes_places(target: ast.expr, source: ast.expr) -> bool:
    """True if parts are taken by their place, as `first, *others` does; `zip` and `enumerate` give
    things beside each other.
    """
    beside = isinstance(source, ast.Call) and ast.unparse(source.func) in {"zip", "enumerate"}
    starred = any(isinstance(one, ast.Starred) for one in ast.walk(target))
    return isinstance(target, ast.Tuple | ast.List) and (starred or not beside)


def _tabular_names(scope: ast.FunctionDef, makers: set[str]) -> set[str]:
    """Names of tables, of their rows and columns, and of what a loop takes from these."""
    arguments = [*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs]
    known = {one.arg for one in arguments if _says(one.annotation)}
    size = -1
    while size < len(known):
        size = len(known)
        for node in walked(scope):
            for target, source in _given(node):
                if _is_tabular(source, known, makers):
                    known |= {one.id for one in ast.walk(target) if isinstance(one, ast.Name)}
            if (
                isinstance(node, ast.AnnAssign)
                and isinstance(node.target, ast.Name)
                and _says(node.annotation)
            ):
                known.add(node.target.id)
    return known


# --- formats --------------------------------------------------------------------------------------


def format_faults(offered: Mapping[str, click.Option], registry: Mapping[str, Format]) -> list[str]:
    """Choices of `--format` that no registry has, options made without one, writers that cannot be
    found, formats that nothing offers.
    """
    found, used = [], set[str]()
    for command, option in offered.items():
        if not isinstance(option, FormatOption):
            found.append(f"{command}: --format is not made of Formats")
            continue
        choices = option.type.choices if isinstance(option.type, click.Choice) else ()
        used |= set(choices)
        found += [
            f"{command}: {choice} is not in the registry"
            for choice in choices
            if choice not in registry
        ]
        found += [
            f"{command}: nothing writes {choice}"
            for choice in choices
            if not _is_written(option.formats, choice)
        ]
    return found + [f"no command offers {name}" for name in registry if name not in used]


def formats_by_name(sources: Sources) -> list[str]:
    """Comparisons of a layout with the name of a format: what a format takes is declared beside its
    writer, or a field of the format.
    """
    found = []
    for name, tree in _others(sources):
        for node in walked(tree):
            if isinstance(node, ast.Compare):
                tested, values = node.left, [node.left, *node.comparators]
                layout = any(_is_layout(one) for one in values)
            elif isinstance(node, ast.Match):
                tested, values = node.subject, [case.pattern for case in node.cases]
                layout = _is_layout(tested)
            elif isinstance(node, ast.Subscript | ast.Call):
                tested = (
                    node.slice if isinstance(node, ast.Subscript) else next(iter(node.args), node)
                )
                values = [node.value if isinstance(node, ast.Subscript) else node.func]
                layout = _is_layout(tested) and any(
                    isinstance(one, ast.Dict) for value in values for one in ast.walk(value)
                )
            else:
                continue
            texts = {
                one.value
                for value in values
                for one in ast.walk(value)
                if isinstance(one, ast.Constant)
            }
            if layout and texts & FORMATS.keys():
                found.append(f"{name}:{node.lineno}")
    return found


def _is_layout(node: ast.expr) -> bool:
    """Whether an expression is a layout, or its name in the registry."""
    return "layout" in {
        one.id if isinstance(one, ast.Name) else one.attr
        for one in ast.walk(node)
        if isinstance(one, ast.Name | ast.Attribute)
    }


def rows_apart(offered: Mapping[str, click.Option]) -> list[str]:
    """Commands that offer some flat formats and lack others: they do not come from one writer of
    rows.
    """
    flat = {one.name for one in FORMATS.values() if one.delimiter}
    choices = {
        name: set(option.type.choices)
        for name, option in offered.items()
        if isinstance(option.type, click.Choice)
    }
    return [name for name, found in choices.items() if found & flat and not found >= flat]


def _is_written(formats: Formats, choice: str) -> bool:
    try:
        return callable(formats.writer(choice))
    except (KeyError, ImportError, AttributeError):
        return False


def offered() -> dict[str, click.Option]:
    """The option `--format` of every command that has one."""
    options = (
        (name, one)
        for name, command in commands()
        for one in command.params
        if isinstance(one, click.Option)
    )
    return {name: option for name, option in options if "--format" in option.opts and name != DRAWS}


DRAWS = "theory figures"
"""Takes several formats of figures at once, in one text, where the others take one format of
reports.
"""


def test_every_format_of_a_command_is_in_the_registry_and_every_registered_one_is_offered() -> None:
    found = offered()
    assert len(found) > 20
    assert format_faults(found, FORMATS) == []


def option_of(formats: Formats, choices: list[str]) -> click.Option:
    return FormatOption(["--format"], formats=formats, type=click.Choice(choices))


def test_figures_are_drawn_in_every_format_of_the_registry_and_in_no_other() -> None:
    (option,) = (
        one
        for name, command in commands()
        if name == DRAWS
        for one in command.params
        if "--format" in one.opts
    )
    assert isinstance(option, click.Option)
    assert option.help is not None
    named = set(re.findall(r"svg|png|pdf|html|json", option.help.partition("[")[0]))
    assert named == set(FIGURE_FORMATS) == set(_formats((",".join(FIGURE_FORMATS),)))
    with pytest.raises(OptionError, match="gif"):
        _formats(("gif",))


@pytest.mark.parametrize(
    ("planted", "fault"),
    [
        (
            click.Option(["--format"], type=click.Choice(["table"])),
            "--format is not made of Formats",
        ),
        (option_of(Formats("Text;", table=str), ["table", "xml"]), "xml is not in the registry"),
        (option_of(Formats("Text;", table=str), ["table", "json"]), "nothing writes json"),
        (
            option_of(
                Formats("Text;", table=str, views=lambda: formats, rows="no_such_writer"),
                ["table", "csv"],
            ),
            "nothing writes csv",
        ),
    ],
)
def test_a_planted_fault_of_a_format_is_found(planted: click.Option, fault: str) -> None:
    assert f"a: {fault}" in format_faults({"a": planted}, FORMATS)


def test_a_format_that_nothing_offers_is_found() -> None:
    registry = {**FORMATS, "yaml": Format("yaml", "YAML", "programs")}
    assert format_faults(offered(), registry) == ["no command offers yaml"]


def test_every_command_that_writes_rows_has_every_flat_format_of_the_registry(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert rows_apart(offered()) == []
    monkeypatch.setitem(FORMATS, "psv", Format("psv", "PSV", "programs", "|"))
    apart = rows_apart(offered())
    assert len(apart) > 10
    assert "evaluate" in apart

    new = Formats(
        "Text;",
        {"json": "with everything", "rows": "with queries"},
        table=str,
        json=str,
        rows=lambda: [["a", "b|c"], ["=1", ""]],
    )

    assert {"csv", "psv"} < set(new.writers)
    assert new.help.startswith("Text; JSON with everything, or CSV")
    assert new.help.endswith(" or PSV with queries, for programs.")
    assert "".join(cast("Iterable[str]", new.made("csv"))) == "a,b|c\n'=1,\n"
    assert "".join(cast("Iterable[str]", new.made("psv"))) == 'a|"b|c"\n\'=1|\n'


def test_the_help_says_nothing_of_what_a_format_holds_that_it_was_not_told() -> None:
    assert (
        formats_help("Text;", ["table", "json", "csv"], {"json": "with everything"})
        == "Text; JSON with everything, or CSV, for programs."
    )


def test_no_command_compares_a_layout_with_the_name_of_a_format() -> None:
    assert formats_by_name(sources_in(COMMANDS)) == []


@pytest.mark.parametrize(
    "planted",
    [
        'shown = 10 if layout == "table" else None',
        'if "csv" != layout:\n    pass',
        'if layout in ("json", "csv") and asked:\n    pass',
        'if FORMATS[layout].name == "trec":\n    pass',
        'match layout:\n    case "latex":\n        pass',
        'writer = {"json": str, "csv": repr}[layout]',
        'writer = {"json": str, "csv": repr}.get(layout)',
    ],
)
def test_a_planted_comparison_with_the_name_of_a_format_is_found(planted: str) -> None:
    assert formats_by_name({"a.py": planted})


def test_properties_of_a_format_and_other_texts_are_no_names_of_formats() -> None:
    innocent = (
        'if FORMATS[layout].is_data or aggregate == "text" or layout == path:\n    write(layout, '
        '{"table": 1}["table"])'
    )
    assert formats_by_name({"a.py": innocent}) == []


def test_a_writer_is_given_the_options_that_it_takes() -> None:
    formats = Formats("Text;", table=lambda *, a_b, c: [a_b, c], json=lambda *, c: [c])

    assert formats.made("table", a_b=2, c=3) == [2, 3]
    assert formats.made("json", a_b=2, c=3) == [3]
    assert formats.takes("table", "a_b")
    assert not formats.takes("json", "a_b")


def test_parts_are_written_as_markdown() -> None:
    formats = Formats("Text;", table=lambda: [["*a*"]], markdown=lambda: [["*a*"]])
    assert formats.made("table") == [["*a*"]]
    assert formats.made("markdown") == "\\*a\\*\n"


def test_an_option_that_no_writer_takes_is_a_mistake() -> None:
    formats = Formats("Text;", table=lambda *, digits: [digits], json=lambda record: [record])
    with pytest.raises(TypeError, match="digit: found no writer"):
        formats.made("json", 1, digit=3)


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (["--format", "json", "--a-b", "0"], "--a-b: no JSON"),
        (["--format", "json", "-c", "3", "-d"], "-c: found both"),
        (["--format", "json", "-c", "3"], ""),
        (["--a-b", "0", "-c", "3", "-d"], ""),
        (["--format", "json", "--digits", "0"], "--digits: found --format json, .* --format table"),
        (["--digits", "0"], ""),
        (["--format", "json", "--rankings"], "--rankings: found --format json, which it does not"),
        (["--format", "json", "--no-rankings"], ""),
        (["--format", "json", "--rankings", "--report", "page.html"], ""),
    ],
)
def test_a_format_refuses_what_it_has_no_place_for(typed: list[str], message: str) -> None:
    formats = Formats(
        "Text;",
        only={"rankings": ["table"]},
        elsewhere={"rankings": ["report"]},
        table=lambda *, digits: [digits],
        json=LimitedWriter(_json_list, refuses={"--a-b": "no {title}", "-c + -d": "found both"}),
    )
    names = ["--a-b", "-c", "--digits", "--report"]
    switches = [click.Option([name], is_flag=True) for name in ("-d", "--rankings/--no-rankings")]
    command = click.command(params=[*map(_option, names), *switches])(
        formats.option(lambda **given: given)
    )
    with pytest.raises(OptionError, match=message) if message else nullcontext():
        command.main(typed, standalone_mode=False)


def _option(name: str) -> click.Option:
    return click.Option([name], default="" if name == "--report" else "0")


def _json_list() -> list[str]:
    return []


def test_a_command_cannot_declare_a_format_that_the_registry_lacks() -> None:
    with pytest.raises(KeyError, match="yaml"):
        Formats("Text for people;", table=str, yaml=str)


# --- they hold, and can fail ----------------------------------------------------------------------

MAKER = "def made(shown) -> 'list[Column[Line]]':\n    return [name(shown)]\n"
PLANTED: list[tuple[Callable[[Sources], list[str]], str]] = [
    (rows_by_hand, "def f(a):\n    return Table([Column('run')], [[Cell(a)]])"),
    (rows_by_hand, "def f(a):\n    return [Cell(a.name), number_cell(a.mean)]"),
    (rows_by_hand, "def f(a):\n    return [Cell(a.name), *others(a), Cell(a.verdict)]"),
    (cells_by_position, "def f(table: Table):\n    return [row[1] for row in table.rows]"),
    (cells_by_position, "def f(table: Table):\n    return table.columns[0].title"),
    (
        cells_by_position,
        "def f(table: Table):\n    for first, *others in table.rows:\n        print(first)",
    ),
    (cells_by_position, f"{MAKER}def f(shown):\n    mean_a, mean_b, p = made(shown)\n    return p"),
    (cells_by_position, "def f(row: Sequence[Cell]):\n    return row[:6]"),
    (
        cells_by_position,
        f"{MAKER}def f(shown):\n    *most, verdict = made(shown)\n    return verdict",
    ),
    (
        cells_by_position,
        f"{MAKER}def f(shown):\n    columns = made(shown)\n    return columns[:8] + columns[9:]",
    ),
    (
        cells_by_position,
        "def f(a):\n    table = Table.of(columns, a)\n    rows = list(table.rows)\n    return "
        "rows[0]",
    ),
    (
        cells_by_position,
        "def f(a: Sequence[Column[str]]):\n    kept: list[Column[str]] = []\n    return kept[3]",
    ),
]


@pytest.mark.parametrize("rule", [rows_by_hand, cells_by_position], ids=lambda rule: rule.__name__)
def test_the_reports_keep_to_it(rule: Callable[[Sources], list[str]]) -> None:
    assert rule(reports()) == []


@pytest.mark.parametrize(("rule", "planted"), PLANTED)
def test_a_planted_violation_is_found(rule: Callable[[Sources], list[str]], planted: str) -> None:
    assert rule({"a.py": planted})


def test_what_only_looks_like_a_violation_is_none() -> None:
    innocent = (
        "def f(table: Table, evaluations, found):\n"
        "    names = [evaluation.name for evaluation in evaluations][:3]\n"
        "    lines = [f(row, column) for row, column in zip(table.rows, table.columns, "
        "strict=True)]\n"
        "    first, *others = evaluations\n"
        "    return found.rows[0], [Cell(first.name)], {'run': Cell('a'), 'AP': Cell('b')}"
    )
    assert [rule({"a.py": innocent}) for rule in (rows_by_hand, cells_by_position)] == [[], []]
