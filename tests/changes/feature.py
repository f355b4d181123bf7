"""A feature: the number of judged documents of each query."""

import tomllib
from pathlib import Path

import idealrank
from tests.changes.checks import files, output, run_tests
from tests.changes.copies import ROOT, Change, Edit

_FOLDER = "src/idealrank/lengths"
_PROJECT = "pyproject.toml"
_PAGE = "ARCHITECTURE.md"
_LINE = "Count the judged documents of each query."

_BUDGET = (ROOT / "budget.toml").read_text("utf-8")
_ALL = next(line for line in _BUDGET.splitlines() if line.startswith("all = "))
_MODULES = tomllib.loads(_BUDGET)["source"]["all"]["modules"]
_ROW = "lengths = { modules = 4, tokens = 200, docstring_lines = 30 }\n"

_PACKAGE = '''\
"""Lengths of lists: how many documents are judged for each query."""

from idealrank._lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
'''

_STUB = """\
# The one list of public names: type checkers read it, and `_lazy.public_names` loads a name when it
# is first asked for.

from idealrank.lengths.list_lengths import list_lengths as list_lengths
"""

_MODULE = '''\
"""Number of documents by query."""

from collections.abc import Mapping

from idealrank.data.qrels import Qrels


def list_lengths(qrels: Qrels) -> Mapping[str, int]:
    """Count the judged documents of each query.

    Parameters
    ----------
    qrels : Qrels
        Judgments.

    Returns
    -------
    dict
        Number of documents by query.

    Examples
    --------
    >>> list_lengths(Qrels({"q": {"a": 1.0}}))
    {'q': 1}
    """
    return {query: len(qrels[query]) for query in qrels.queries}
'''

_COMMANDS = '"""The command `idealrank lengths`."""\n'

_COMMAND = f'''\
"""`idealrank lengths`: the number of documents of each query."""

import click

from idealrank.io.read import read_qrels
from idealrank.lengths import list_lengths


@click.command(short_help="{_LINE}")
@click.argument("qrels", metavar="QRELS")
def lengths(qrels: str) -> None:
    """Count the judged documents of each query."""
    for query, count in list_lengths(read_qrels(qrels)).items():
        click.echo(f"{{query}} {{count}}")
'''

_TEST = '''\
"""Lengths of lists."""

from idealrank import Qrels
from idealrank.lengths import list_lengths


def test_the_documents_of_each_query_are_counted() -> None:
    assert list_lengths(Qrels({"q": {"a": 2.0, "b": 1.0}})) == {"q": 2}
'''

CHANGE = Change(
    row="a feature",
    edits=(
        Edit.file(f"{_FOLDER}/__init__.py", _PACKAGE),
        Edit.file(f"{_FOLDER}/__init__.pyi", _STUB),
        Edit.file(f"{_FOLDER}/list_lengths.py", _MODULE),
        Edit.file(f"{_FOLDER}/commands/__init__.py", _COMMANDS),
        Edit.file(f"{_FOLDER}/commands/lengths.py", _COMMAND),
        Edit.file("tests/lengths/test_list_lengths.py", _TEST),
        Edit.before(
            "src/idealrank/_features.py",
            '    "live": Feature(\n',
            '    "lengths": Feature({"lengths": "commands.lengths"}, extras=("lengths",)),\n',
        ),
        Edit.before(
            "src/idealrank/cli/main.py", '        "reconcile": ', f'        "lengths": "{_LINE}",\n'
        ),
        Edit.before(_PROJECT, 'lightgbm = ["lightgbm', 'lengths = ["zstandard>=0.22"]\n'),
        Edit(_PROJECT, "lancedb,lightgbm,", "lancedb,lengths,lightgbm,"),
        Edit(_PROJECT, "| engines | judging | store", "| engines | judging | lengths | store"),
        Edit.after(
            _PROJECT,
            '  "idealrank.engines",\n  "idealrank.judging",\n',
            '  "idealrank.lengths",\n',
        ),
        Edit.before(_PROJECT, '  "idealrank.stats",\n', '  "idealrank.lengths",\n'),
        Edit.before(
            _PROJECT, '  "idealrank.live",\n  "idealrank.pages",\n', '  "idealrank.lengths",\n'
        ),
        Edit.before("budget.toml", '"tests/live" = ', '"tests/lengths" = 1\n'),
        Edit.before("budget.toml", "live = { ", _ROW),
        Edit("budget.toml", _ALL, _ALL.replace(f"= {_MODULES},", f"= {_MODULES + 4},")),
        Edit.before(
            "src/idealrank/__init__.pyi",
            "from idealrank import stats as stats\n",
            "from idealrank import lengths as lengths\n",
        ),
        Edit.file(
            "docs/lengths/lengths.md", "# Lengths of lists\n\n`idealrank lengths QRELS` counts.\n"
        ),
        Edit.after("docs/guides/index.md", "../trackers/trackers\n", "../lengths/lengths\n"),
        Edit.before(
            "docs/guides/index.md",
            "* [A measure of your own]",
            "* [Lengths of lists](../lengths/lengths.md): Count the documents of each query.\n",
        ),
        Edit.before(_PAGE, "| `store/` | stored results", "| `lengths/` | lengths of lists |\n"),
        Edit(_PAGE, "| engines | judging | store", "| engines | judging | lengths | store"),
    ),
)


def check(folder: Path) -> None:
    """Call the feature from the command line and from Python, and run the tests of features."""
    qrels, *_ = files(folder)
    assert output("lengths", qrels) == "q1 3\nq2 3\n"
    assert _LINE in output("--help")
    assert idealrank.lengths.list_lengths(idealrank.read_qrels(qrels)) == {"q1": 3, "q2": 3}
    architecture = ("", "_features", "_budget", "_doors", "_docstrings")
    run_tests("tests/lengths", *(f"tests/test_architecture{name}.py" for name in architecture))
    run_tests("tests/test_package.py", "-k", "extra")
