"""The policy of a gate in a project's pyproject.toml, the table ``[tool.idealrank.gate]``, and
files of contracts for single queries.
"""

import csv
import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from idealrank._keys import amount, choice, given_of, keys_of, share, text, texts, values_of
from idealrank._sections import Section
from idealrank.analysis.gate import Policy
from idealrank.analysis.gate.contracts import Contract
from idealrank.data.label_kinds import LABEL_KINDS, LabelKind
from idealrank.errors import FileFormatError, InputError, OptionError, shown
from idealrank.io.checked_cells import parse_number
from idealrank.io.complaints import Notes
from idealrank.io.configuration_files import labels_key
from idealrank.io.sources import AnyPath, Source, open_sources
from idealrank.io.table_columns import parse_columns
from idealrank.measures.parse import parse_measure

TABLE = "tool.idealrank.gate"
_IN_TABLE = f": [{TABLE}]"  # in messages, between the file and the key
PARTS = tuple(keys_of(Policy))
"""Parts of the rule of a gate."""
DEFAULT_MEASURE = "nDCG@10"  # of a gate: fewer tests see smaller drops


def _beside(section: Section, _name: str, path: str) -> str:
    """Path as it opens from here, of a path from the folder of the policy file."""
    file = Path(section.path.removesuffix(_IN_TABLE))
    return _shown_path(Path.cwd() / file.parent / path)


def _are_columns(columns: str) -> bool:
    try:
        parse_columns(columns)
    except OptionError:  # it speaks of an option; the reader of the table names the key
        return False
    return True


def _path(about: str) -> Any:
    return text(about, words="a path", made=_beside)


def _paths(about: str, **declared: Any) -> Any:
    words = "a path, or a list of paths"
    return texts(about, words=words, made=_beside, takes_none=False, **declared)


def _columns(about: str) -> Any:
    words = "query=NAME,document=NAME and grade=NAME, score=NAME or rank=NAME, each role once"
    return text(about, "", words=words, is_valid=_are_columns)


def _measures(about: str) -> Any:
    return texts(about, words="a measure, or a list of measures", takes_none=False)


@dataclass(frozen=True, kw_only=True)
class PolicyFile:
    """Policy of a project; None, or empty, without one. Relative paths are taken from the file's
    folder.
    """

    path: str = ""  # The file; empty where there is none
    qrels: tuple[str, ...] = _paths("Files of judgments.")  # Empty if every caller names its own
    run: str | None = _path("Run to test.")
    qrels_columns: str = _columns("Columns of judgments; guessed by default.")
    run_columns: str = _columns("Columns of runs; guessed by default.")
    labels: str = labels_key()
    queries: str | None = _path("File of the texts of queries, which the output then shows.")
    documents: str | None = _path("File of the texts of documents, for the page of `--report`.")
    baselines: tuple[str, ...] = _paths("Runs or baseline files to compare with.", name="baseline")
    measures: tuple[str, ...] = _measures("Measures; the first one decides.")
    also: tuple[str, ...] = _measures("Further measures that can fail the gate.")
    rule: Mapping[str, Any] = given_of(Policy)  # Parts of the policy
    holdout: float = share("Share of the queries that decide nothing.")
    contracts: str | None = _path("File of queries that must not drop.")
    weights: str | None = _path("File of the weights of queries.")
    cluster: str | None = _path("File of the clusters of queries.")
    convention: str | None = text("Convention of the values.", words="the name of a convention")
    labels_are: LabelKind | None = choice(LABEL_KINDS, "Kind of the labels.", None)
    sampled_negatives: float | None = amount(
        "Share of the non-relevant documents that were labelled.", most=1.0, is_above=True
    )
    labels_from: str | None = text("Run whose results were labelled.", words="the name of a run")

    @property
    def where(self) -> str:
        """File and table, for messages; empty where there is none."""
        return f"{self.path} [{TABLE}]" if self.path else ""

    def at(self, key: str) -> str:
        """File, table and key, for messages; empty where there is no file."""
        return f"{self.where}: {key}" if self.path else ""

    def require(self, *keys: str) -> None:
        """Refuse keys that name files which do not exist."""
        for key in keys:
            value = getattr(self, key)
            for path in (value,) if isinstance(value, str) else value or ():
                if not Path(path).exists():
                    raise InputError(
                        f"{self.at(key)}: found no file {path}, expected one that exists; paths "
                        f"start at the folder of {Path(self.path).name}"
                    )

    def policy(self, parts: Mapping[str, Any]) -> Policy:
        """Combine given parts with the policy file; a part that chooses the rule also drops the
        file's settings of the other rule.
        """
        of_file = dict(self.rule)
        if "strict" in parts:
            for name in ("tolerance",) if parts["strict"] else ("margin", "largest_loss"):
                of_file.pop(name, None)
        return Policy(**{**of_file, **parts})


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
    place = _shown_path(path)
    return PolicyFile(path=place, **values_of(PolicyFile, Section(table, place + _IN_TABLE, "")))


def _shown_path(path: Path) -> str:
    """Write a path as one would type it from here, if the file is below this folder."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


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
