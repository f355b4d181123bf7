"""The doors between the layers: commands, trackers and what is live compute by `inputs` and public
functions, and read no prose of errors.

Each rule is a function of source texts, so that a planted violation shows that it can fail.
"""

import ast
from collections.abc import Callable, Iterator, Mapping

import pytest

from tests.sources import SOURCE, library, nodes

Sources = Mapping[str, str]

OUTSIDE = (
    "idealrank.cli.",
    "idealrank.live.",
    "idealrank.pytest_plugin",
    "idealrank.trackers.",
)
ROOMS = {"commands", "files", "inputs", "views"}  # of a feature: nothing is computed there
DOORS = {
    "idealrank.bounds",
    "idealrank.clicks",
    "idealrank.judging",
    "idealrank.theory",
    "idealrank.training",
}
COMPUTING = (
    "analysis",
    "bounds",
    "clicks",
    "conventions",
    "data",
    "evaluation",
    "judging",
    "measures",
    "stats",
    "theory",
    "training",
    "_kernel",
)

# The functions below the public ones that may be called from outside, each for its reason. Types
# and constants need none.
ALLOWED = {
    # texts of options become values
    "idealrank.measures.parse": {
        "default_measures",
        "parse_measure",
        "parse_measures",
        "parse_pair_measures",
    },
    "idealrank.measures.measure_texts": {"split_outside_brackets"},
    # keys of configurations are declared: no value is computed
    "idealrank.conventions.configuration_keys": {"convention_key", "measures_key"},
    "idealrank.measures.cutoffs": {"make_cutoff", "cutoff_text"},
    "idealrank.measures.discounts": {"make_discount"},
    "idealrank.theory.expressions": {"parse_model"},
    "idealrank.analysis.tuning.measurement": {"grid_of", "measures_of"},
    "idealrank.data.run": {"name_of"},
    # what there is to choose from
    "idealrank.measures.facts": {"classes_of", "facts_of", "families", "family_title"},
    # what a command begins to load before it reads files: no value is computed
    "idealrank.stats.special": {"load_special"},
    # the labels of a ranked list, which `theory` asks of files: no value is computed
    "idealrank.data.align": {"align"},
    # the test of a round whose values a store holds: no run is evaluated
    "idealrank.stats.multiple_tests": {"simultaneous"},
    # whether several runs of a system are copies or folds, by their queries
    "idealrank.analysis.systems": {"relation_of"},
}


def _public() -> set[tuple[str, str]]:
    """Where `idealrank` takes its public names from."""
    stub = ast.parse((SOURCE / "idealrank" / "__init__.pyi").read_text("utf-8"))
    return {
        (node.module or "", alias.name)
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


PUBLIC = _public()


# --- the rules ------------------------------------------------------------------------------------


def side_doors(sources: Sources) -> list[str]:
    """Functions that a command, a tracker or a part of `live` takes from below the public ones.

    The doors are the functions that `idealrank` offers, from where it takes them, the public names
    of the packages in `DOORS`, all of `inputs`, and the rooms of features where nothing is
    computed.
    """
    return [
        f"{name}:{line}: {module}.{taken}"
        for name, source in sources.items()
        if _is_outside(name)
        for module, taken, line in _taken(source)
        if _is_below(module)
        and not taken[:1].isupper()
        and (module, taken) not in PUBLIC
        and taken not in ALLOWED.get(module, ())
    ]


def _taken(source: str) -> Iterator[tuple[str, str, int]]:
    for node in nodes(source):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from (
                (node.module, alias.name.lstrip("_") or "_", node.lineno) for alias in node.names
            )
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "", node.lineno) for alias in node.names)


def _is_outside(name: str) -> bool:
    return (name.startswith(OUTSIDE) or ".commands." in name) and ".views." not in name


def _is_below(module: str) -> bool:
    root, *rooms = module.split(".")
    return (
        root == "idealrank"
        and rooms[:1] != []
        and rooms[0] in COMPUTING
        and not ROOMS & set(rooms)
        and module not in DOORS
    )


def idle_permits(sources: Sources) -> list[str]:
    """Functions of `ALLOWED` that nothing outside takes."""
    used = {
        (module, taken)
        for name, source in sources.items()
        if _is_outside(name)
        for module, taken, _ in _taken(source)
    }
    return sorted(
        f"{module}.{name}"
        for module, names in ALLOWED.items()
        for name in names
        if (module, name) not in used
    )


# Errors of DuckDB, LightGBM, XGBoost and CatBoost have nothing but their text, with the query again
# or a path of their source.
FOREIGN_ERRORS = {"idealrank.store.sql", "idealrank.training.trainers"}
_PATTERN_METHODS = {"search", "match", "fullmatch", "findall", "finditer", "sub", "subn"}


def parsed_prose(sources: Sources) -> list[str]:
    """Regular expressions over the text of an error of the library: what is to be known of an error
    is a field of it.
    """
    found = []
    for name, source in sources.items():
        if name in FOREIGN_ERRORS:
            continue
        errors = set(_error_names(source)) | {"message"}
        for call in (node for node in nodes(source) if isinstance(node, ast.Call)):
            subjects = {
                node.id
                for value in call.args
                for node in ast.walk(value)
                if isinstance(node, ast.Name)
            }
            if _is_of_patterns(call.func) and subjects & errors:
                found.append(f"{name}:{call.lineno}")
    return found


def _error_names(source: str) -> Iterator[str]:
    for node in nodes(source):
        if isinstance(node, ast.ExceptHandler) and node.name is not None:
            yield node.name
        elif (
            isinstance(node, ast.arg)
            and node.annotation is not None
            and ast.unparse(node.annotation).endswith(("Error", "Exception"))
        ):
            yield node.arg


def _is_of_patterns(function: ast.expr) -> bool:
    if not isinstance(function, ast.Attribute):
        return False
    of_module = isinstance(function.value, ast.Name) and function.value.id == "re"
    return function.attr in _PATTERN_METHODS or (of_module and function.attr == "split")


# --- they hold, and can fail ----------------------------------------------------------------------

PLANTED: list[tuple[Callable[[Sources], list[str]], dict[str, str]]] = [
    (
        side_doors,
        {
            "idealrank.cli.commands.new": "from idealrank.evaluation.evaluate import Evaluation, "
            "evaluate"
        },
    ),
    (
        side_doors,
        {
            "idealrank.trackers.new": "def later():\n    from "
            "idealrank.analysis.comparison.procedure import compared"
        },
    ),
    (
        side_doors,
        {"idealrank.pytest_plugin.new": "from idealrank.analysis.gate.checks import _policy"},
    ),
    (side_doors, {"idealrank.cli.new": "import idealrank.stats.paired_tests"}),
    (side_doors, {"idealrank.theory.commands.new": "from idealrank.theory.limits import limit"}),
    (
        parsed_prose,
        {
            "a": "import re\ntry:\n    work()\nexcept ValueError as error:\n    "
            "re.search('x=([a-z]+)', str(error))"
        },
    ),
    (parsed_prose, {"a": "def hint(refused: InputError):\n    return _SWITCH.match(f'{refused}')"}),
    (parsed_prose, {"a": "def hint(message):\n    return re.sub('x', '', message)"}),
]


@pytest.mark.parametrize(
    "rule", [side_doors, idle_permits, parsed_prose], ids=lambda rule: rule.__name__
)
def test_the_library_keeps_to_it(rule: Callable[[Sources], list[str]]) -> None:
    assert rule(library()) == []


@pytest.mark.parametrize(("rule", "planted"), PLANTED)
def test_a_planted_violation_is_found(
    rule: Callable[[Sources], list[str]], planted: dict[str, str]
) -> None:
    assert rule(planted)


@pytest.mark.parametrize("name", COMPUTING)
def test_what_computes_is_there(name: str) -> None:
    assert any((SOURCE / "idealrank").glob(f"{name}/__init__.py")) or any(
        (SOURCE / "idealrank").glob(f"{name}.pyi")
    )


def test_a_permit_that_nothing_needs_is_found() -> None:
    assert "idealrank.data.align.align" in idle_permits(
        {"idealrank.cli.new": "from idealrank.data.run import name_of"}
    )


def test_what_only_looks_like_a_violation_is_none() -> None:
    innocent = {
        "idealrank.cli.new": "from idealrank.inputs.comparison import compare\nfrom "
        "idealrank.inputs.evaluation import "
        "evaluate_read\n"
        "from idealrank.theory import limit\nfrom idealrank.conventions import SWITCHES, "
        "Convention",
        "idealrank.inputs.evaluation": "from idealrank.evaluation.evaluate import evaluate",
        "idealrank.io.new": "import re\nre.search('x', text)\nstr(error).splitlines()",
    }
    assert [rule(innocent) for rule in (side_doors, parsed_prose)] == [[], []]
