"""The policy of a gate in a project's pyproject.toml, the table ``[tool.idealrank.gate]``, and
files of contracts for single queries.
"""

import csv
import math
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, get_args

from idealrank.analysis.gate import Policy
from idealrank.analysis.gate.outcome import Contract, WhenUnjudged
from idealrank.data.label_kinds import LABEL_KINDS, LabelKind
from idealrank.errors import FileFormatError, InputError, OptionError, near_ids, shown
from idealrank.io.checked_cells import parse_number
from idealrank.io.complaints import Notes
from idealrank.io.sources import AnyPath, Source, open_sources
from idealrank.io.table_columns import parse_columns
from idealrank.measures.parse import parse_measure

TABLE = "tool.idealrank.gate"
# Parts of a policy, in the order in which `PolicyFile.policy` takes them.
PARTS = ("tolerance", "strict", "margin", "alpha", "when_unjudged", "horizon", "largest_loss")
_COLUMNS = "query=NAME,document=NAME and grade=NAME, score=NAME or rank=NAME, each role once"
DEFAULT_MEASURE = "nDCG@10"  # of a gate: fewer tests see smaller drops


@dataclass(frozen=True, kw_only=True)
class PolicyFile:
    """Policy of a project; None, or empty, without one."""

    path: str = ""  # The file; empty where there is none
    baselines: tuple[str, ...] = ()  # Paths, relative ones taken from the file's folder
    measures: tuple[str, ...] = ()  # Texts of measures, the primary one first
    also: tuple[str, ...] = ()  # Texts of companions that may close the gate, too
    # tolerance, margin, largest_loss, alpha: Parts of the policy
    tolerance: float | None = None
    strict: bool | None = None  # Likewise
    margin: float | None = None
    alpha: float | None = None
    when_unjudged: WhenUnjudged | None = None  # Likewise
    largest_loss: float | None = None
    horizon: int | None = None  # Likewise
    holdout: float | None = None  # Share of the queries that are held out
    contracts: str | None = None  # Path of the file of contracts
    # weights, cluster: Paths of the files of weights and clusters of queries
    weights: str | None = None
    cluster: str | None = None
    convention: str | None = None  # Text of the convention
    labels_are: LabelKind | None = None
    sampled_negatives: float | None = None
    labels_from: str | None = None
    qrels: tuple[str, ...] = ()  # Paths of the judgments; empty if every caller names its own
    run: str | None = None  # Path of the run to test
    # qrels_columns, run_columns: Columns of judgments and of runs, as the options of these names
    # take them; empty to guess
    qrels_columns: str = ""
    run_columns: str = ""
    # queries, documents: Paths of the texts of queries and of documents
    queries: str | None = None
    documents: str | None = None

    @property
    def where(self) -> str:
        """File and table, for messages; empty where there is none."""
        return f"{self.path} [{TABLE}]" if self.path else ""

    def policy(
        self,
        *,
        tolerance: float | None = None,
        strict: bool | None = None,
        margin: float | None = None,
        alpha: float | None = None,
        when_unjudged: WhenUnjudged | None = None,
        horizon: int | None = None,
        largest_loss: float | None = None,
    ) -> Policy:
        """Combine options with the policy file; an option that chooses the rule also drops the
        file's settings of the other rule.
        """
        of_file: dict[str, Any] = {name: getattr(self, name) for name in PARTS}
        if strict is not None:
            of_file |= dict.fromkeys(("tolerance",) if strict else ("margin", "largest_loss"))
        parts = (tolerance, strict, margin, alpha, when_unjudged, horizon, largest_loss)
        options: dict[str, Any] = dict(zip(PARTS, parts, strict=True))
        values = of_file | {name: value for name, value in options.items() if value is not None}
        return Policy(**{name: value for name, value in values.items() if value is not None})


def find_policy(folder: Path) -> PolicyFile:
    r"""Read the table of the nearest pyproject.toml that has one, from this folder upwards; an
    empty policy if none has.
    """
    start = folder.resolve()
    for place in (start, *start.parents):
        path = place / "pyproject.toml"
        if path.is_file() and (table := policy_table(path)) is not None:
            return _policy(path, table)
    return PolicyFile()


def policy_table(path: Path) -> dict[str, Any] | None:
    """Read the table of a file of TOML; None if the file has no such table."""
    try:
        table: Any = tomllib.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        problem = (
            f"found a file that is not TOML ({error}), expected TOML, since the file may contain "
            f"[{TABLE}]"
        )
        raise InputError(f"{_shown_path(path)}: {problem}") from None
    except OSError as error:
        raise InputError(
            f"{_shown_path(path)}: cannot be read: {error.strerror or error}"
        ) from None
    for name in TABLE.split("."):
        table = table.get(name) if isinstance(table, dict) else None
    if table is not None and not isinstance(table, dict):
        raise InputError(
            f"{_shown_path(path)}: {TABLE}: found {shown(repr(table))}, expected a table"
        )
    return table


def _policy(path: Path, table: dict[str, Any]) -> PolicyFile:
    values: dict[str, Any] = {"path": _shown_path(path)}
    for key, value in table.items():
        if key not in _KEYS:
            near = near_ids(key, _KEYS, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise InputError(
                f"{values['path']}: [{TABLE}]: found the key {shown(key)}, expected one of "
                f"{', '.join(_KEYS)}{hint}"
            )
        kind, read = _KEYS[key]
        try:
            made = read(value)
        except TypeError:
            raise InputError(
                f"{values['path']}: [{TABLE}]: {key}: found {shown(repr(value))}, expected {kind}"
            ) from None
        values["baselines" if key == "baseline" else key] = made
    folder = path.parent
    for key in ("baselines", "qrels"):
        values[key] = tuple(_shown_path(folder / path_text) for path_text in values.get(key, ()))
    for key in ("run", "contracts", "weights", "cluster", "queries", "documents"):
        if values.get(key) is not None:
            values[key] = _shown_path(folder / values[key])
    return PolicyFile(**values)


def _shown_path(path: Path) -> str:
    """Write a path as one would type it from here, if the file is below this folder."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError
    return value


def _texts(value: Any) -> tuple[str, ...]:
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not listed:
        raise TypeError
    return tuple(_text(text) for text in listed)


def _word(value: Any) -> str:
    if value not in get_args(WhenUnjudged):
        raise TypeError
    return str(value)


def _kind(value: Any) -> str:
    if value not in LABEL_KINDS:
        raise TypeError
    return str(value)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    return float(value)


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError
    return value


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _columns(value: Any) -> str:
    text = _text(value)
    try:
        parse_columns(text)
    except OptionError:  # it speaks of an option; the reader of the table names the key
        raise TypeError from None
    return text


# Key -> what it holds, in words, and how it is read.
_KEYS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "baseline": ("a path, or a list of paths", _texts),
    "measures": ("a measure, or a list of measures", _texts),
    "also": ("a measure, or a list of measures", _texts),
    "tolerance": ("a number", _number),
    "strict": ("true or false", _truth),
    "margin": ("a number", _number),
    "largest_loss": ("a number", _number),
    "alpha": ("a number", _number),
    "when_unjudged": (" or ".join(get_args(WhenUnjudged)), _word),
    "horizon": ("a whole number", _whole),
    "holdout": ("a number", _number),
    "contracts": ("a path", _text),
    "weights": ("a path", _text),
    "cluster": ("a path", _text),
    "convention": ("the name of a convention", _text),
    "labels_are": (" or ".join(LABEL_KINDS), _kind),
    "sampled_negatives": ("a number", _number),
    "labels_from": ("the name of a run", _text),
    "qrels": ("a path, or a list of paths", _texts),
    "run": ("a path", _text),
    "qrels_columns": (_COLUMNS, _columns),
    "run_columns": (_COLUMNS, _columns),
    "queries": ("a path", _text),
    "documents": ("a path", _text),
}


_CONTRACT_COLUMNS = ("query", "measure", "at_least")


def read_contracts(path: AnyPath, notes: Notes) -> tuple[Contract, ...]:
    r"""Read contracts from CSV with the header ``query``, ``query,measure``, ``query,at_least`` or
    ``query,measure,at_least``.
    """
    (source,) = open_sources(path, notes)
    rows = _rows(source)
    number, head = next(rows, (0, []))
    names = [name.strip().lower() for name in head]
    are_known = len(set(names)) == len(names) and set(names) <= set(_CONTRACT_COLUMNS)
    if "query" not in names or not are_known:
        raise FileFormatError(
            source.path,
            number,
            f"the header {','.join(head) or 'of an empty file'}",
            "query[,measure][,at_least]",
        )
    contracts: dict[tuple[str, str | None, float | None], Contract] = {}
    for number, row in rows:
        contract = _contract(source.path, number, names, row)
        key = (contract.query, contract.measure, contract.at_least)
        if key in contracts:
            problem = f"the contract of {contracts[key].place} a second time"
            raise FileFormatError(source.path, number, problem, "each once")
        contracts[key] = contract
    if not contracts:
        raise FileFormatError(
            source.path,
            0,
            "no contract",
            "one line per contract below the header",
            "omit --contracts if there are none",
        )
    return tuple(contracts.values())


def _rows(source: Source) -> Iterator[tuple[int, list[str]]]:
    # ids may hold what Unicode calls line ends
    lines = StringIO(source.read().decode("utf-8-sig", "surrogateescape"), newline="")
    reader = csv.reader(("\n" if line.startswith("#") else line for line in lines), strict=True)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield reader.line_num, row
    except csv.Error as error:
        raise FileFormatError(
            source.path,
            reader.line_num,
            f"a line that is not CSV ({error})",
            "query[,measure][,at_least]",
        ) from None


def _contract(path: str, number: int, names: list[str], row: list[str]) -> Contract:
    if len(row) != len(names):
        raise FileFormatError(
            path,
            number,
            f"{len(row)} fields",
            f"{len(names)}: {','.join(names)}",
            "quote a measure that contains commas",
        )
    cells = dict(zip(names, (cell.strip() for cell in row), strict=True))
    if not cells["query"]:
        raise FileFormatError(path, number, "no query", "the id of one")
    return Contract(
        query=cells["query"],
        measure=_measure(path, number, cells.get("measure", "")),
        at_least=_contract_number(path, number, cells.get("at_least", "")),
        place=f"{path}:{number}",
    )


def _measure(path: str, number: int, text: str) -> str | None:
    if not text:
        return None
    try:
        measure = parse_measure(text)
    except OptionError as error:
        raise FileFormatError(
            path, number, f"no valid measure ({error})", "one such as nDCG@10, or an empty field"
        ) from None
    if not measure.direction or measure.aggregate == "text":
        raise FileFormatError(
            path,
            number,
            f"{measure}, for which neither more nor less is better",
            "a measure of quality such as nDCG@10",
        )
    return str(measure)


def _contract_number(path: str, number: int, text: str) -> float | None:
    value = parse_number(text) if text else None
    if text and (value is None or not math.isfinite(value)):
        raise FileFormatError(
            path,
            number,
            f"at_least {text}",
            "a finite number, or an empty field for the value in each baseline",
        )
    return value
