"""Columns of a table: query, document and value, as named or guessed from usual names."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from idealrank.errors import InputError, OptionError
from idealrank.io.notes import Notes
from idealrank.io.row_parts import Table

Columns: TypeAlias = Mapping[str, str] | Sequence[str] | None

# Names without case and punctuation, most usual first. The second group holds names that often mean something else beside those of
# the first (the text of a query, a score beside a grade), so it is looked at only when the first finds nothing.
Names: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]
_QUERY: Names = (
    ("queryid", "qid", "topicid", "queryno", "topicno", "userid", "sessionid", "searchid", "requestid", "groupid"),
    ("query", "topic", "user", "session", "group", "q"),
)
_DOCUMENT: Names = (
    (
        "documentid", "docid", "docno", "corpusid", "passageid", "itemid", "productid", "movieid", "articleid", "candidateid", "chunkid",
        "did", "pid",
    ),
    ("document", "doc", "item", "passage", "product"),
)  # fmt: skip
_GRADE: Names = (
    ("grade", "relevance", "rel", "label", "relevancelabel", "relevancegrade", "judgment", "judgement", "rating", "qrel"),
    ("gain", "target", "score"),
)
_SCORE: Names = (
    ("score", "scores", "prediction", "predictions", "pred", "predicted", "predictedscore", "similarity", "sim", "relevancescore"),
    ("probability",),
)
_RANK: Names = (("rank", "ranking", "position"), ())
_ROLES = ("query", "document", "grade", "score", "rank")


@dataclass(frozen=True)
class Chosen:
    """The columns of one table.

    Attributes
    ----------
    query, document, value : str
        Names as the table spells them.
    by_rank : bool
        The value is a rank, 1 at the top: the score is its negative.
    """

    query: str
    document: str
    value: str
    by_rank: bool = False


def parse_columns(text: str) -> dict[str, str]:
    """Column names as the command line takes them.

    Parameters
    ----------
    text : str
        ``query=NAME,document=NAME,grade=NAME`` (or ``score=``, ``rank=``); what is left out is guessed.

    Examples
    --------
    >>> parse_columns("query=topic,document=docno")
    {'query': 'topic', 'document': 'docno'}
    """
    pairs = [part.partition("=") for part in text.split(",")]
    if any(not (role and name) for role, _, name in pairs):
        raise OptionError(f"columns={text}: expected query=NAME,document=NAME and grade=NAME, score=NAME or rank=NAME")
    return {role.strip(): name.strip() for role, _, name in pairs}


def choose_columns(names: Sequence[str], table: Table, given: Columns, where: str, notes: Notes) -> Chosen:
    """Find the three columns of a table.

    Parameters
    ----------
    names : sequence of str
        The table's columns.
    table : {"qrels", "run"}
        What is wanted.
    given : mapping or sequence, optional
        ``{"query": ..., "document": ..., "grade" | "score" | "rank": ...}``, or the three names in that order.
    where : str
        The table's name for messages.
    notes : Notes
        Told what was guessed.

    Raises
    ------
    InputError
        A column is missing, or a name stands twice.

    Examples
    --------
    >>> choose_columns(["qid", "docno", "sim"], "run", None, "a.csv", Notes()).value
    'sim'
    """
    spelled = {role: _known(name, names, where) for role, name in _roles(given, table).items()}
    doubtful: list[str] = []

    def find(role: str, usual: Names) -> str:
        if role in spelled:
            return spelled[role]
        usually = _candidates(names, usual[0]) or _candidates(names, usual[1])
        if len(usually) > 1:
            doubtful.append(f"{', '.join(usually[1:])} could be the {role} too")
        return usually[0] if usually else ""

    value_role, usual_values = ("grade", _GRADE) if table == "qrels" else ("score", _SCORE)
    query, document = find("query", _QUERY), find("document", _DOCUMENT)
    value = "" if "rank" in spelled else find(value_role, usual_values)
    by_rank = not value and table == "run"
    if by_rank:
        value = find("rank", _RANK)
    found = (("query", query, _QUERY), ("document", document, _DOCUMENT), (value_role, value, usual_values))
    for role, name, usual in found:
        if not name:
            raise _missing(role, usual, names, where)
        _known(name, names, where)
    chosen = Chosen(query, document, value, by_rank)
    if len(spelled) < 3:
        _tell(chosen, doubtful, "rank" if by_rank else value_role, where, notes)
    return chosen


def _roles(given: Columns, table: Table) -> dict[str, str]:
    """Names by role; those that this table has no use for are left out, so that one mapping can serve qrels and runs."""
    useful = ("query", "document", "grade") if table == "qrels" else ("query", "document", "score", "rank")
    if given is None:
        return {}
    if isinstance(given, Mapping):
        unknown = [role for role in given if role not in _ROLES]
        if unknown:
            raise OptionError(f"columns: found {', '.join(map(repr, unknown))}, expected {', '.join(_ROLES)}")
        return {role: str(given[role]) for role in useful if role in given}
    if isinstance(given, str) or len(given) != 3:
        raise OptionError(f"columns: found {given!r}, expected a mapping such as {{'query': 'qid', 'document': 'docno'}}, or three names")
    return dict(zip(useful[:3], map(str, given), strict=True))


def _known(name: str, names: Sequence[str], where: str) -> str:
    if names.count(name) != 1:
        times = "no such column" if name not in names else "it more than once"
        raise InputError(f"{where}: expected one column {name!r}, found {times} among {_listed(names)}")
    return name


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.lower())


def _candidates(names: Sequence[str], usual: Sequence[str]) -> list[str]:
    """Columns with usual names, the most usual first."""
    plain = [_plain(name) for name in names]
    return [names[place] for word in usual for place, name in enumerate(plain) if name == word]


def _listed(names: Sequence[str]) -> str:
    return (", ".join(map(repr, names[:20])) or "none") + (", ..." if len(names) > 20 else "")


def _missing(role: str, usual: Names, names: Sequence[str], where: str) -> InputError:
    return InputError(
        f"{where}: found columns {_listed(names)}, expected one for the {role} ({', '.join(usual[0][:5] + usual[1][:2])}, ...)",
        hint=f"name it with columns={{'{role}': ...}}",
        command_hint=f"name it with --columns {role}=NAME",
    )


def _tell(chosen: Chosen, doubtful: Sequence[str], role: str, where: str, notes: Notes) -> None:
    message = f"{where}: columns guessed: query={chosen.query}, document={chosen.document}, {role}={chosen.value}"
    if doubtful:
        notes.warn(f"{message}; {'; '.join(doubtful)}; name them with columns= (--columns)")
    else:
        notes.inform(message)
