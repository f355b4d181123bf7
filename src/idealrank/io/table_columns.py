"""Columns of a table: query, document and value, as named by the caller or guessed from the usual
names below.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from numbers import Integral, Real
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from idealrank.errors import Advised, InputError, OptionError, near_ids
from idealrank.io.complaints import Notes
from idealrank.io.json_paths import EACH
from idealrank.io.row_parts import Table

# Names without case and punctuation, most usual first. Names of the second group often mean
# something else next to a name of the first (the text of a query, a score next to a grade), so they
# are used only if no column has a name of the first.
Names: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]
QUERY: Names = (
    (
        "queryid",
        "qid",
        "topicid",
        "queryno",
        "topicno",
        "userid",
        "sessionid",
        "searchid",
        "requestid",
        "groupid",
    ),
    ("query", "topic", "user", "session", "group", "q", "uid", "customerid"),
)
DOCUMENT: Names = (
    (
        "documentid",
        "docid",
        "docno",
        "corpusid",
        "passageid",
        "itemid",
        "productid",
        "movieid",
        "articleid",
        "candidateid",
        "chunkid",
        "did",
        "pid",
    ),
    ("document", "doc", "item", "passage", "product", "sku", "asin", "iid"),
)
GRADE: Names = (
    (
        "grade",
        "relevance",
        "rel",
        "label",
        "relevancelabel",
        "relevancegrade",
        "judgment",
        "judgement",
        "rating",
        "qrel",
    ),
    ("gain", "target", "score"),
)
SCORE: Names = (
    (
        "score",
        "scores",
        "prediction",
        "predictions",
        "pred",
        "predicted",
        "predictedscore",
        "similarity",
        "sim",
        "relevancescore",
    ),
    ("probability",),
)
RANK: Names = (("rank", "ranking", "position"), ())
ASSESSOR = ("assessor", "rater", "judge", "annotator", "user", "useremail", "username", "email")
"""Usual names of the column of assessors."""
# Columns beside query and document that hold no grade: times, and the nameless index that
# dataframes write. With no others, a table of judgments is a list of interactions.
NO_GRADE = frozenset(
    (
        "timestamp",
        "time",
        "date",
        "datetime",
        "ts",
        "unixtime",
        "eventtime",
        "createdat",
        "index",
        "unnamed0",
        "",
    )
)


_EVERY_ROLE = (QUERY, DOCUMENT, GRADE, SCORE, RANK)
# Words in the names of columns about the work of an engine: times, and counts of rows.
_OF_WORK = frozenset(
    (
        "ms",
        "sec",
        "secs",
        "seconds",
        "millis",
        "took",
        "time",
        "timestamp",
        "date",
        "datetime",
        "latency",
        "duration",
        "elapsed",
        "count",
        "total",
        "num",
        "size",
        "length",
        "status",
        "version",
    )
)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_FRACTION = re.compile(r"[+-]?(\d*\.\d*([eE][+-]?\d+)?|\d+[eE][+-]?\d+)")
_NO_SAMPLE: Mapping[str, Any] = MappingProxyType({})


def plain(name: str) -> str:
    """Return the name without case and punctuation."""
    return re.sub(r"[\W_]+", "", name.lower())


def candidates(names: Sequence[str], usual: Sequence[str]) -> list[str]:
    """Return the columns with usual names, the most usual first."""
    simple = [(name, plain(name)) for name in names]
    fitting: list[str] = []
    for word in usual:
        fitting += [name for name, simple_name in simple if simple_name == word]
    return fitting


def is_usual(name: str, *roles: Names) -> bool:
    """Return whether a name says what its column holds; of these roles, or of any."""
    usual = chain.from_iterable(roles or (*_EVERY_ROLE, (tuple(NO_GRADE), ())))
    return plain(name) in set(chain.from_iterable(usual))


_NO_LABELS: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class LabelledColumns:
    """Names of columns, with the grades of labels that are words."""

    names: Mapping[str, str] | Sequence[str] | None = None
    grades: Mapping[str, float] = field(default_factory=dict)  # By label


Columns: TypeAlias = Mapping[str, str] | Sequence[str] | LabelledColumns | None

_ROLES = ("query", "document", "grade", "score", "rank")
# The words of recommenders for the same roles.
_OTHER_ROLES = {"user": "query", "item": "document", "rating": "grade"}
# Names of columns that make it the word of messages
_NAMED_FOR = {"query": ("user", ("user", "userid")), "document": ("item", ("item", "itemid"))}
_VALUES: Mapping[Table, tuple[str, Names]] = {"qrels": ("grade", GRADE), "run": ("score", SCORE)}
_EVERY_ROW = "1"  # as the name of the grade's column: grade 1 for every row


class Chosen(NamedTuple):
    """The columns of one table."""

    # query, document, value: Names as the table spells them; `value` is empty if every row has the
    # grade 1
    query: str
    document: str
    value: str
    by_rank: bool = False  # The value is a rank, 1 at the top: the score is its negative
    labels: Mapping[str, float] = _NO_LABELS  # Grades of labels that are words

    @property
    def names(self) -> list[str]:
        """The names, each once."""
        return list(dict.fromkeys(filter(None, (self.query, self.document, self.value))))


def role_word(role: str, column: str) -> str:
    """Return the word for a role: user and item where the column has this name.

    Examples
    --------
    >>> role_word("query", "user_id"), role_word("query", "qid"), role_word("document", "Item")
    ('user', 'query', 'item')
    """
    word, names = _NAMED_FOR.get(role, (role, ()))
    return word if plain(column) in names else role


def with_labels(columns: Columns, grades: Mapping[str, float]) -> Columns:
    """Return names of columns with the grades of labels that are words, if there are any."""
    return LabelledColumns(names=plain_columns(columns), grades=grades) if grades else columns


def plain_columns(columns: Columns) -> Mapping[str, str] | Sequence[str] | None:
    """Return names of columns without grades of labels."""
    return columns.names if isinstance(columns, LabelledColumns) else columns


def label_grades(columns: Columns) -> Mapping[str, float]:
    """Return the grades of labels that come with names of columns."""
    return columns.grades if isinstance(columns, LabelledColumns) else _NO_LABELS


def parse_columns(text: str, option: str = "--columns") -> dict[str, str]:
    """Parse column names as the command line takes them."""
    expected = "query=NAME,document=NAME and grade=NAME, score=NAME or rank=NAME"
    pairs = _named_pairs(text, option, expected)
    columns = {_OTHER_ROLES.get(role, role): name for role, name in pairs}
    if len(columns) < len(pairs):
        raise OptionError(
            f"{option} {text}: found a role twice, expected each once; user is query, item is "
            f"document, rating is grade"
        )
    return columns


def parse_roles(text: str, roles: Sequence[str], option: str = "--columns") -> dict[str, str]:
    """Parse column names by role, for a table with its own roles: the user of a click log is not
    its query.
    """
    pairs = _named_pairs(text, option, f"ROLE=NAME,... with roles among {', '.join(roles)}")
    unknown = next((role for role, _ in pairs if role not in roles), None)
    if unknown is not None:
        raise OptionError(
            f"{option} {text}: found the role {unknown!r}, expected some of {', '.join(roles)}"
        )
    columns = dict(pairs)
    if len(columns) < len(pairs):
        raise OptionError(f"{option} {text}: found a role twice, expected each once")
    return columns


def _named_pairs(text: str, option: str, expected: str) -> list[tuple[str, str]]:
    """Roles and names of ``ROLE=NAME,...``, in their order."""
    partitions = [pair.partition("=") for pair in text.split(",")]
    pairs = [(role.strip(), name.strip()) for role, _, name in partitions]
    if not all(role and name for role, name in pairs):
        raise OptionError(f"{option} {text}: expected {expected}")
    return pairs


def choose_columns(
    names: Sequence[str],
    table: Table,
    columns: Columns,
    where: str,
    notes: Notes,
    *,
    sample: Mapping[str, Any] = _NO_SAMPLE,
) -> Chosen:
    """Find the three columns of a table; `sample` has a cell of each column, by which a message
    tells ids from numbers.
    """
    spelled = named_columns(columns, table)
    doubtful: list[str] = []

    def find(role: str, usual: Names) -> str:
        if role in spelled:
            return spelled[role]
        most_usual, less_usual = usual
        fitting = candidates(names, most_usual) or candidates(names, less_usual)
        if len(fitting) > 1:
            doubtful.append(f"{', '.join(fitting[1:])} could be the {role} too")
        return fitting[0] if fitting else ""

    value_role, usual_values = _VALUES[table]
    query = find("query", QUERY)
    document = find("document", DOCUMENT)
    value = "" if "rank" in spelled else find(value_role, usual_values)
    by_rank = not value and table == "run"
    if by_rank:
        value = find("rank", RANK)
    if "rank" in spelled:
        value_role = "rank"
    # Rows of interactions have no grade: each counts as grade 1, as the caller says, or as guessed
    # from the other columns.
    others = {plain(name) for name in names} - {plain(query), plain(document)}
    is_without_grades = (
        table == "qrels" and not value and bool(query and document) and others <= NO_GRADE
    )
    says_every_row = value_role == "grade" and value == _EVERY_ROW and value not in names
    by_role = {"query": (query, QUERY), "document": (document, DOCUMENT)}
    if not (is_without_grades or says_every_row):
        by_role[value_role] = (value, usual_values)

    # A role without a name has no column, even where a column has no name, as the index of a
    # dataframe.
    if any(not name or names.count(name) != 1 for name, _ in by_role.values()):
        examples = example_columns(by_role, spelled, names, sample)
        raise _refusal(by_role, spelled, names, examples=examples, table=table, where=where)
    chosen = Chosen(
        query=query,
        document=document,
        value="" if says_every_row else value,
        by_rank=by_rank,
        labels=label_grades(columns) if table == "qrels" else _NO_LABELS,
    )
    notes.query_word = role_word("query", query)
    if is_without_grades:
        named = {
            role_word("query", query): query,
            role_word("document", document): document,
        }
        message = (
            f"{where}: found no column of grades next to {_pairs(named, ', ')}; "
            f"every row counts as grade 1"
        )
        in_python = {**named, "grade": "1"}
        text = "; ".join([message, *doubtful])
        command = f"{_option(table)} {_pairs(in_python, ',')}"
        notes.warn(
            Advised(
                text,
                f"to set the columns, use columns={in_python} (in evaluate, qrels_columns=)",
                f"to set the columns, use {command}",
            )
        )
    elif len(spelled) < 3:
        _tell_of_guesses(
            chosen=chosen,
            doubtful=doubtful,
            role="rank" if by_rank else value_role,
            where=where,
            notes=notes,
            table=table,
        )
        _tell_of_ranks(chosen, value_role, names, where, notes)
    return chosen


def query_column(names: Sequence[str], columns: Columns) -> str:
    """Return the column or field of the query, as named or guessed; empty without any."""
    spelled = named_columns(columns, "run").get("query", "")
    if spelled:
        return spelled if spelled in names else ""
    most_usual, less_usual = QUERY
    return next(iter(candidates(names, most_usual) or candidates(names, less_usual)), "")


def named_columns(columns: Columns, table: Table) -> dict[str, str]:
    """Return the names by role. Roles that this table does not use are left out, so that one
    mapping can serve qrels and runs.
    """
    value_roles = ["grade"] if table == "qrels" else ["score", "rank"]
    useful = ["query", "document", *value_roles]
    columns = plain_columns(columns)
    if columns is None:
        return {}
    if isinstance(columns, Mapping):
        unknown = [role for role in columns if role not in _ROLES and role not in _OTHER_ROLES]
        if unknown:
            raise OptionError(
                f"columns: found {', '.join(map(repr, unknown))}, expected {', '.join(_ROLES)}"
            )
        roles = {_OTHER_ROLES.get(role, role): str(name) for role, name in columns.items()}
        if len(roles) < len(columns):
            raise OptionError(
                f"columns: found a role twice in {', '.join(columns)}, expected each once: user "
                f"is query, item is document"
            )
        return {role: roles[role] for role in useful if role in roles}
    if isinstance(columns, str) or len(columns) != 3:
        raise OptionError(
            f"columns: found {columns!r}, expected a mapping such as {{'query': 'qid', "
            f"'document': 'docno'}}, or three names"
        )
    return dict(zip(useful[:3], map(str, columns), strict=True))


def names_lists(columns: Columns, table: Table) -> bool:
    """Return whether a name goes through a list, as ``hits[].id`` does."""
    return any(EACH in name for name in named_columns(columns, table).values())


def _listed(names: Sequence[str]) -> str:
    return (", ".join(map(repr, names[:20])) or "none") + (", ..." if len(names) > 20 else "")


def _option(table: Table) -> str:
    return "--qrels-columns" if table == "qrels" else "--run-columns"


def _refusal(
    by_role: Mapping[str, tuple[str, Names]],
    spelled: Mapping[str, str],
    names: Sequence[str],
    *,
    examples: Mapping[str, str],
    table: Table,
    where: str,
) -> InputError:
    """Name everything that is wrong at once, with an option that names every column."""
    for name, _ in by_role.values():
        if name and names.count(name) > 1:
            return InputError(
                f"{where}: expected one column {name!r}, found it more than once among "
                f"{_listed(names)}; rename or drop the others"
            )
    expected = []
    found = {}
    for role, (name, (most_usual, less_usual)) in by_role.items():
        if name and name in names:
            found[role] = name
        elif name:
            expected.append(f"{name!r} for the {role}")
        else:
            usual = ", ".join(most_usual[:5] + less_usual[:2])
            expected.append(f"one for the {role} ({usual}, ...)")
    lacking = set(by_role) - set(found)
    # interactions have no scores, and runs no grades
    has_scores = bool(candidates(names, (*SCORE[0], *RANK[0])))
    looks_swapped = lacking == {"score"} or (lacking == {"grade"} and has_scores)
    swapped = not spelled and looks_swapped

    order = "judgments come first, then runs; or " if swapped else ""
    every_row = ""
    if "grade" in by_role:
        grade, _ = by_role["grade"]
        if not grade and examples["grade"] != _EVERY_ROW:
            every_row = "; grade=1 if every row is relevant"
    in_python, in_shell = naming_hints(examples, table)
    return InputError(
        f"{where}: found columns {_listed(names)}, expected {' and '.join(expected)}",
        hint=f"{order}{in_python}{every_row}",
        command_hint=f"{order}{in_shell}{every_row}",
    )


def naming_hints(examples: Mapping[str, str], table: Table) -> tuple[str, str]:
    """Return an argument and an option that name these columns."""
    option = shlex.quote(",".join(f"{role}={name}" for role, name in examples.items()))
    argument = "qrels_columns=" if table == "qrels" else "run_columns="
    return (
        f"name them, for example with columns={dict(examples)} (in evaluate, {argument})",
        f"name them, for example with {_option(table)} {option}",
    )


def example_columns(
    by_role: Mapping[str, tuple[str, Names]],
    spelled: Mapping[str, str],
    names: Sequence[str],
    sample: Mapping[str, Any] = _NO_SAMPLE,
) -> dict[str, str]:
    """A column for each role: the right one; or a name near the misspelled one, or else the next
    column without a role that could have it.
    """
    right = {role: name for role, (name, _) in by_role.items() if name and name in names}
    example = {}
    free = [name for name in dict.fromkeys(names) if name and name not in right.values()]
    for role, (name, _) in by_role.items():
        hold_no_grade = {plain(column) for column in free} <= NO_GRADE
        near = near_ids(name, free, 1) if name and role in spelled else []
        if role in right:
            example[role] = right[role]
        elif role == "grade" and not name and hold_no_grade:
            example[role] = _EVERY_ROW
        else:
            fits = could_be_id if role in ("query", "document") else could_be_number
            likely = [column for column in free if fits(column, sample.get(column))]
            example[role] = (near or likely or ["NAME"])[0]
        free = [column for column in free if column != example[role]]
    return example


def could_be_id(name: str, value: Any = None) -> bool:
    """Return whether a column could hold ids, by its name and a cell; None is an unknown cell.

    Examples
    --------
    >>> could_be_id("film", "alien"), could_be_id("took_ms", 12), could_be_id("film", 0.5)
    (True, False, False)
    """
    if _is_of_work(name) or is_usual(name, GRADE, SCORE, RANK):
        return False
    if isinstance(value, str):
        return not _FRACTION.fullmatch(value.strip())
    return value is None or (isinstance(value, Integral) and not isinstance(value, bool))


def could_be_number(name: str, value: Any = None) -> bool:
    """Return whether a column could hold grades or scores, by its name and a cell."""
    if _is_of_work(name):
        return False
    if isinstance(value, str):
        return _NUMBER.fullmatch(value.strip()) is not None
    return value is None or (isinstance(value, Real) and not isinstance(value, bool))


def _is_of_work(name: str) -> bool:
    """Return whether a name is of a time or a count, which are neither ids nor grades."""
    words = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
    return bool(_OF_WORK & set(re.split(r"[\W_]+", words.lower()))) or plain(name) in NO_GRADE


def _tell_of_ranks(
    chosen: Chosen, role: str, names: Sequence[str], where: str, notes: Notes
) -> None:
    """Say that a column of ranks beside the scores orders nothing."""
    if role != "score" or chosen.by_rank:
        return
    for rank in candidates(names, RANK[0])[:1]:
        equal = f"rows of equal {chosen.value} by the convention"
        notes.inform(
            f"{where}: rows are ordered by {chosen.value}, and {equal}; --run-columns "
            f"rank={rank} orders them by {rank}"
        )


def _pairs(named: Mapping[str, str], delimiter: str) -> str:
    return delimiter.join(f"{role}={name}" for role, name in named.items())


def _tell_of_guesses(
    chosen: Chosen, doubtful: Sequence[str], role: str, where: str, notes: Notes, table: Table
) -> None:
    named = {
        role_word("query", chosen.query): chosen.query,
        role_word("document", chosen.document): chosen.document,
        role: chosen.value or _EVERY_ROW,
    }
    message = f"{where}: columns guessed: {_pairs(named, ', ')}"
    if doubtful:
        notes.warn(
            Advised(
                f"{message}; {'; '.join(doubtful)}",
                "name them with columns=",
                f"name them with {_option(table)}",
            )
        )
    else:
        notes.inform(message)
