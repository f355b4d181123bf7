"""Things that the library has once: a direction of imports, a writer of files, a way to optional
packages, each module and class by name.

Each rule is a function of source texts, so that a planted violation shows that it can fail.
"""

import ast
from collections.abc import Callable, Iterator, Mapping

import pytest

from tests.sources import library, module, nodes

Sources = Mapping[str, str]


# --- the rules ------------------------------------------------------------------------------------


def circles(sources: Sources) -> list[str]:
    """Modules that import each other, directly or not, where a module is loaded or its types are
    checked.

    Imports inside functions are left out: that is how a result finds who shows it.
    """
    imports = {name: set(_imported(name, source, sources)) for name, source in sources.items()}
    reached = {name: _closure(name, imports) for name in imports}
    return sorted(
        f"{name} and {other}"
        for name in imports
        for other in reached[name]
        if name < other and name in reached[other]
    )


def _imported(name: str, source: str, known: Sources) -> Iterator[str]:
    waiting: list[ast.stmt] = list(module(source).body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If | ast.Try):
            waiting += [*node.body, *node.orelse]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield from ({whole if whole in known else node.module} - {name}) & set(known)
        elif isinstance(node, ast.Import):
            yield from {alias.name for alias in node.names} & set(known)


def _closure(name: str, imports: Mapping[str, set[str]]) -> set[str]:
    found, waiting = set[str](), list(imports[name])
    while waiting:
        if (one := waiting.pop()) not in found:
            found.add(one)
            waiting += imports[one]
    return found


# `store.value_files` has several files in place at once, below the lock of the store's database: it
# renames what it wrote before.
WRITERS = {"idealrank._files", "idealrank.store.value_files"}


def renaming(sources: Sources) -> list[str]:
    """Files that are given their name elsewhere than in the one writer: `os.replace`, or a method
    `replace` or `rename` of one argument.
    """
    return [
        f"{name}:{call.lineno}"
        for name, source in sources.items()
        if name not in WRITERS
        for call in _calls(source)
        if isinstance(call.func, ast.Attribute)
        and (
            (call.func.attr in ("replace", "rename") and len(call.args) == 1)
            or _is_of_os(call.func)
        )
    ]


def _is_of_os(function: ast.Attribute) -> bool:
    return (
        isinstance(function.value, ast.Name)
        and function.value.id == "os"
        and function.attr in ("replace", "rename", "link")
    )


# `resource` comes with Python, but not on Windows; narwhals says in this way that it lacks the
# dataframe library that is asked for.
OPTIONAL = {"idealrank._lazy", "idealrank.pages.figures.drawings", "idealrank.data.interchange"}


def optional_imports(sources: Sources) -> list[str]:
    """Packages that are tried or looked for elsewhere than in `_lazy`."""
    found = []
    for name, source in sources.items():
        if name in OPTIONAL:
            continue
        for node in nodes(source):
            caught = (
                ast.unparse(node.type)
                if isinstance(node, ast.ExceptHandler) and node.type is not None
                else ""
            )
            looked = isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node).endswith(
                "find_spec"
            )
            if "ImportError" in caught or "ModuleNotFoundError" in caught or looked:
                found.append(f"{name}:{getattr(node, 'lineno', 0)}")
    return found


FRONTS = {"idealrank.integrations.torch"}  # hands on the lazy names of `idealrank.training.torch`


def lazy_names(sources: Sources) -> list[str]:
    """Modules with a `__getattr__` that is not that of `_lazy.public_names`."""
    found = []
    for name, source in sources.items():
        for node in module(source).body:
            own = isinstance(node, ast.FunctionDef) and node.name == "__getattr__"
            assigned = isinstance(node, ast.Assign) and "__getattr__" in ast.unparse(
                node.targets[0]
            )
            if name not in FRONTS and (
                own
                or (assigned and not ast.unparse(node).endswith("public_names(__name__, __file__)"))
            ):
                found.append(f"{name}:{node.lineno}")
    return found


# Words of features: the same in every room that has to do with one; and rooms that features have.
FEATURES = {
    "figures",
    "inputs",
    "tables",
    "advice",
    "agreement",
    "attribution",
    "bounds",
    "check",
    "clicks",
    "comparison",
    "conventions",
    "correction",
    "diff",
    "distinguishability",
    "evaluate",
    "evaluation",
    "explanation",
    "feasible",
    "gate",
    "history",
    "judge",
    "limits",
    "measures",
    "no_answer",
    "notebook",
    "nuggets",
    "online",
    "overlap",
    "parquet",
    "progress",
    "recall",
    "report",
    "reuse",
    "robustness",
    "search",
    "seeds",
    "sql",
    "store",
    "systems",
    "theory",
    "trec",
    "tuning",
    "validate",
}


def names_twice(sources: Sources) -> list[str]:
    """Return modules that share a name: a reader cannot tell which one to open. Words of features
    may be shared.

    The fronts of `integrations` hand on what they are named after.
    """
    homes: dict[str, list[str]] = {}
    for name in sources:
        if not name.startswith("idealrank.integrations."):
            homes.setdefault(name.rpartition(".")[2], []).append(name)
    packages = {name.rpartition(".")[0] for name in sources}
    return sorted(
        ", ".join(names)
        for word, names in homes.items()
        if word not in FEATURES and len([one for one in names if one not in packages]) > 1
    )


def classes_twice(sources: Sources) -> list[str]:
    """Classes of one name in two modules, but for private ones."""
    homes: dict[str, list[str]] = {}
    for name, source in sources.items():
        for node in module(source).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(name)
    return sorted(f"{word}: {', '.join(names)}" for word, names in homes.items() if len(names) > 1)


def choices_twice(sources: Sources) -> list[str]:
    """Choices of an option in the words of a `Literal` or of a list of words that the library has:
    the option takes them from there.
    """
    declared: dict[frozenset[str], str] = {}
    choices: list[tuple[str, frozenset[str]]] = []
    for name, source in sources.items():
        for statement in module(source).body:
            if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
                declared.setdefault(_words(statement.value), name)
        for node in nodes(source):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "click.Choice":
                words = _words(node.args[0])
                choices += [(f"{name}:{node.lineno}", words)] if words else []
            elif isinstance(node, ast.Subscript) and ast.unparse(node.value) == "Literal":
                declared.setdefault(_words(node.slice), name)
    return [
        f"{place}: {', '.join(sorted(words))} of {declared[words]}"
        for place, words in choices
        if words in declared
    ]


def _words(node: ast.expr) -> frozenset[str]:
    """Words of a list, or keys of a mapping; none if anything else is in it."""
    if isinstance(node, ast.Dict):
        parts = [part for part in node.keys if part is not None]
    else:
        parts = node.elts if isinstance(node, ast.List | ast.Tuple | ast.Set) else []
    values = [part.value if isinstance(part, ast.Constant) else None for part in parts]
    are_words = len(values) > 1 and all(isinstance(value, str) for value in values)
    return frozenset(map(str, values)) if are_words else frozenset()


SMALL = 100  # lines of code, from which a module with one user stands for itself
SMALL_VIEW = 60  # a command has its view beside those of the other commands
# Doors and commands are one a feature, however small.
DOORS = (
    "idealrank.inputs.",
    "idealrank.cli.commands.",
    "idealrank.integrations.",
    "idealrank.conventions.",
)
ROOMS = (".inputs",)
ALONE = {
    "measures.other_forms": "names the classes of measures, which no module outside measures may",
    "pages.report.saved_page": "the class that users hold, apart from what makes it",
    "store.read_only": "a database that may not be written, apart from one that may",
    "store.web.application": "the addresses of the pages of a store",
    "cli.colours": "the only module that knows rich, loaded for terminals alone",
    "cli.completion": "loaded when a shell completes words",
    "data.cuts": "the cut of lists, apart from the only sort and the only join",
    "io.formats.assessor_tables": "loaded for tables alone, since most assessors come with lines",
    "judging.files.pool_files": "one module a format",
    "measures.rank_dcg": "one module a family of measures",
    "theory.estimation.rising": "the test of a rising curve, apart from the bounds under one",
}


def fragments(sources: Sources) -> list[str]:
    """Small modules with one user and without a reason in `ALONE`, and reasons for modules that
    have grown or gone.
    """
    users: dict[str, set[str]] = {}
    for name, source in sources.items():
        for node in nodes(source):
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    whole = f"{node.module}.{alias.name}"
                    users.setdefault(whole if whole in sources else node.module, set()).add(name)
    packages = {name.rpartition(".")[0] for name in sources}
    found = {
        name.removeprefix("idealrank.")
        for name, source in sources.items()
        if name not in packages
        and not name.startswith(DOORS)
        and ".commands." not in name
        and not name.endswith(ROOMS)
        and len(users.get(name, set()) - {name}) == 1
        and _lines_of_code(source) < (SMALL_VIEW if ".views." in name else SMALL)
    }
    return sorted(found ^ (set(ALONE) if sources is library() else set()))


def _lines_of_code(source: str) -> int:
    documented = {
        line
        for node in nodes(source)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and ast.get_docstring(node, clean=False)
        for line in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)
    }
    return sum(
        1
        for number, line in enumerate(source.splitlines(), 1)
        if line.strip() and number not in documented
    )


def _calls(source: str) -> Iterator[ast.Call]:
    return (node for node in nodes(source) if isinstance(node, ast.Call))


# --- they hold, and can fail ----------------------------------------------------------------------

RULES = [
    circles,
    renaming,
    optional_imports,
    lazy_names,
    names_twice,
    classes_twice,
    choices_twice,
    fragments,
]
PLANTED: list[tuple[Callable[[Sources], list[str]], dict[str, str]]] = [
    (
        circles,
        {
            "a": "from b import x",
            "b": "import c",
            "c": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from a import y",
        },
    ),
    (renaming, {"a": "unfinished.replace(target)"}),
    (renaming, {"a": "import os\nos.rename(one, other)"}),
    (optional_imports, {"a": "try:\n    import polars\nexcept ImportError:\n    polars = None"}),
    (optional_imports, {"a": "from importlib import util\nhas = util.find_spec('polars')"}),
    (lazy_names, {"a": "def __getattr__(name):\n    return 1"}),
    (lazy_names, {"a": "__getattr__ = made_otherwise()"}),
    (names_twice, {"idealrank.io.columns": "", "idealrank.stats.columns": ""}),
    (classes_twice, {"a": "class Table: ...", "b": "class Table: ..."}),
    (choices_twice, {"a": 'x = click.Choice(["t", "sign"])', "b": 'Test = Literal["sign", "t"]'}),
    (choices_twice, {"a": 'x = click.Choice(("t", "sign"))', "b": 'WORDS = {"sign": 1, "t": 2}'}),
    (fragments, {"idealrank.a": "from idealrank.b import x", "idealrank.b": "x = 1"}),
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_library_keeps_to_it(rule: Callable[[Sources], list[str]]) -> None:
    assert rule(library()) == []


@pytest.mark.parametrize(("rule", "planted"), PLANTED)
def test_a_planted_violation_is_found(
    rule: Callable[[Sources], list[str]], planted: dict[str, str]
) -> None:
    assert rule(planted)


def test_what_only_looks_like_a_violation_is_none() -> None:
    innocent = {
        "a": "def later():\n    from b import x\ntext.replace('a', 'b')\nreplace(self, name='x')",
        "b": "import a",
    }
    assert [rule(innocent) for rule in RULES if rule is not fragments] == [[]] * (len(RULES) - 1)
