"""The house rules of ARCHITECTURE.md and CONTRIBUTING.md, as tests."""

import ast
import functools
import importlib
import inspect
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from types import FunctionType

import pytest

import idealrank
from tests.calls import calls_of
from tests.sources import OF_PEERS, nodes, walked

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "idealrank"
MODULES = sorted(path for path in SOURCE.rglob("*.py"))
# Python is counted in statements, so that nothing is gained by packing them; what the formatter
# wraps counts as one.
STATEMENTS_PER_FILE = 400
STATEMENTS_PER_FUNCTION = 40
LINES_PER_FILE = 450  # of C++
LINES_PER_FUNCTION = 50  # of C++
IMPORT_CALLS = 10_000  # of functions, after NumPy
MAY_USE_THE_KERNEL = ("data", "stats", "evaluation", "training", "io", "inputs")
# Loaded by those who need them, never by `import idealrank`.
LATE = {
    "click",
    "narwhals",
    "pandas",
    "polars",
    "pyarrow",
    "rich",
    "scipy",
    "vl_convert",
    "zstandard",
}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@functools.cache
def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def statements(node: ast.AST) -> int:
    """Statements below a node, without docstrings; the body of a function within counts for that
    function alone.
    """
    found = 0
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, ast.stmt):
            found += not (isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Constant))
        if not isinstance(inner, Function):
            found += statements(inner)
    return found


def run(code: str) -> str:
    """Run code in a fresh interpreter, and return its output."""
    return subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT / "tests"
    ).stdout


# --- layers ---------------------------------------------------------------------------------------


def test_imports_keep_to_the_layers() -> None:
    command = [Path(sys.executable).with_name("lint-imports"), "--no-logo", "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@functools.cache
def facts_of(path: Path) -> tuple[list[tuple[str, str]], dict[str, int]]:
    """Every import as (module, name), the name empty for a plain import; and the statements of
    every function and of the file's rest.
    """
    imports, functions = [], {}
    for node in nodes(read(path)) if path.is_relative_to(SOURCE) else walked(ast.parse(read(path))):
        if isinstance(node, ast.Import):
            imports += [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            imports += [(node.module or "", alias.name) for alias in node.names]
        elif isinstance(node, Function):
            functions[f"{named(path)}:{node.lineno} {node.name}"] = statements(node)
        elif isinstance(node, ast.Module):
            functions[f"{named(path)}: outside functions"] = statements(node)
    return imports, functions


def imports_of(path: Path) -> list[tuple[str, str]]:
    return facts_of(path)[0]


def test_the_kernel_is_used_where_it_may_be() -> None:
    # import-linter sees Python files alone, and the kernel is none.
    users = {
        path.relative_to(SOURCE).parts[0]
        for path in MODULES
        for imported in imports_of(path)
        if imported[0] == "idealrank._kernel" or imported == ("idealrank", "_kernel")
    }
    assert users <= set(MAY_USE_THE_KERNEL)


def test_no_module_imports_the_public_names_from_above() -> None:
    # `import idealrank` inside the library would go round the layers.
    public = set(idealrank.__all__)
    above = [
        f"{named(path)}: {module} {name}"
        for path in MODULES
        for module, name in imports_of(path)
        if module == "idealrank"
        and (not name or name in public - {"inputs"})
        and path.name != "__init__.py"
    ]
    assert not above


# --- sizes ----------------------------------------------------------------------------------------

WRITTEN = sorted(
    path
    for folder in ("src", "tests", "benchmarks", "examples", "experiments", "fuzz", "docs")
    for pattern in ("*.py", "*.pyi", "*.hpp", "*.cpp")
    for path in (ROOT / folder).rglob(pattern)
    if not any(part.startswith(".") or part == "site" for part in path.relative_to(ROOT).parts)
)


def test_no_file_is_longer_than_one_can_read_at_a_sitting() -> None:
    python = {
        named(path): sum(facts_of(path)[1].values())
        for path in WRITTEN
        if path.suffix in {".py", ".pyi"}
    }
    assert {name: size for name, size in python.items() if size > STATEMENTS_PER_FILE} == {}
    others = {
        named(path): len(read(path).splitlines())
        for path in WRITTEN
        if path.suffix not in {".py", ".pyi"}
    }
    assert {name: size for name, size in others.items() if size > LINES_PER_FILE} == {}


def test_no_function_is_longer_than_a_screen() -> None:
    sizes = {
        name: size
        for path in WRITTEN
        if path.suffix == ".py"
        for name, size in facts_of(path)[1].items()
    }
    of_functions = {
        name: size for name, size in sizes.items() if not name.endswith(": outside functions")
    }
    assert {
        name: size for name, size in of_functions.items() if size > STATEMENTS_PER_FUNCTION
    } == {}


def test_no_kernel_function_is_longer_than_a_screen() -> None:
    # A body starts on a line that ends in `{` after a parameter list (not after a constructor's
    # initialisers, which stand alone), and ends at the closing brace of the same indentation.
    opening = re.compile(
        r"^(?P<indent> "
        r"*)(?!.*\b(if|for|while|switch|struct|class|namespace|else|catch|return)\b)[^\s:].*\).*\{$"
    )
    long = {}
    for path in (path for path in WRITTEN if path.suffix in {".hpp", ".cpp"}):
        lines = read(path).splitlines()
        for number, line in enumerate(lines):
            start = opening.match(line)
            if start:
                end = next(
                    (
                        n
                        for n in range(number + 1, len(lines))
                        if re.match(rf"{start['indent']}\}}", lines[n])
                    ),
                    number,
                )
                if end - number + 1 > LINES_PER_FUNCTION:
                    long[f"{named(path)}:{number + 1}"] = end - number + 1
    assert long == {}


# --- public names ---------------------------------------------------------------------------------

PUBLIC = [name for name in idealrank.__all__ if not name.startswith("__")]


@pytest.mark.parametrize(
    "package",
    [
        "idealrank",
        "idealrank.clicks",
        "idealrank.training.torch",
        "idealrank.judging",
        "idealrank.stats",
        "idealrank.store",
        "idealrank.theory",
    ],
)
def test_the_stub_of_a_package_lists_its_public_names_and_nothing_else(package: str) -> None:
    """Read here as Python reads it; `_lazy` reads it line by line."""
    module = importlib.import_module(package)
    tree = ast.parse(read(Path(str(module.__file__)).with_suffix(".pyi")))
    imported = [
        alias for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
    ]

    assert {type(node) for node in tree.body} == {ast.ImportFrom}
    assert all(alias.name == alias.asname for alias in imported)
    assert module.__all__ == dir(module) == sorted(alias.name for alias in imported)


@pytest.mark.parametrize("name", idealrank.__all__)
def test_a_public_name_can_be_imported(name: str) -> None:
    assert getattr(idealrank, name) is not None


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'NDGC'"):
        _ = idealrank.NDGC


@pytest.mark.parametrize("name", [name for name in PUBLIC if callable(getattr(idealrank, name))])
def test_a_public_name_has_a_docstring_with_an_example(name: str) -> None:
    text = getattr(idealrank, name).__doc__ or ""
    assert ">>> " in text, f"idealrank.{name} has no example in its docstring"


def test_every_function_and_class_has_a_docstring_and_so_have_the_methods_of_public_classes() -> (
    None
):
    bare = []
    for path in MODULES:
        dotted = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(
            ".__init__"
        )
        # test_docstrings_of_losses.py in tests/torch asks the same of them
        if dotted.endswith("__main__") or dotted.startswith(OF_PEERS):
            continue
        module = importlib.import_module(dotted)
        for name, value in vars(module).items():
            here = getattr(value, "__module__", "") == dotted and isinstance(
                value, FunctionType | type
            )
            if here and not name.startswith("_"):
                bare += [f"{dotted}.{documented}" for documented in undocumented(name, value)]
    assert bare == []


def undocumented(name: str, value: FunctionType | type) -> Iterator[str]:
    """The name itself, and the public methods of a public class; getdoc also finds the docstring of
    what is overridden.
    """
    if not inspect.getdoc(value):
        yield name
    methods = vars(value) if name in PUBLIC and isinstance(value, type) else {}
    for method, member in methods.items():
        if (
            isinstance(member, FunctionType | property)
            and not method.startswith("_")
            and not inspect.getdoc(getattr(value, method))
        ):
            yield f"{name}.{method}"


# --- cost and version -----------------------------------------------------------------------------


def test_importing_loads_nothing_that_is_not_needed() -> None:
    loaded = run(
        "import sys, idealrank; print(*{name.partition('.')[0] for name in sys.modules})"
    ).split()
    assert set(loaded) & LATE == set()


def test_evaluating_loads_neither_scipy_nor_a_dataframe_library() -> None:
    code = (
        "import sys, idealrank; idealrank.evaluate({'q': {'d': 1}}, {'q': {'d': 1.0}}, 'nDCG'); "
        "print(*sys.modules)"
    )
    assert {name.partition(".")[0] for name in run(code).split()} & LATE == set()


def test_importing_costs_little_more_than_numpy() -> None:
    # 3,327 on Python 3.11, which take 3 ms.
    assert calls_of("import idealrank", after="import numpy", cwd=ROOT / "tests") <= IMPORT_CALLS


def test_the_version_is_stated_once() -> None:
    stated = re.search(
        r'^__version__ = "(.+)"$', (SOURCE / "version.py").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert stated
    assert idealrank.__version__ == stated[1] == metadata.version("idealrank")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "version" not in project
    assert "version" in project["dynamic"]
