"""Checked click logs, as tables and JSON; judgments from clicks, as lines and CSV."""

from collections.abc import Iterator, Mapping, Sequence

from idealrank.clicks import LogCheck, LogProblem
from idealrank.data.qrels import Qrels
from idealrank.errors import InputError, shown
from idealrank.io.judgment_files import grade_text
from idealrank.io.judgment_layouts import is_word
from idealrank.reports.table.cells import Column, Table, count_cell, counted, number_cell
from idealrank.reports.table.records import Row, result_json
from idealrank.reports.table.text import Part


def log_parts(check: LogCheck) -> list[Part]:
    """Return counts, problems, and the rate of clicks at each rank."""
    log = check.sessions
    verb = "makes" if check.n_kept == 1 else "make"
    kept = f"{check.n_kept:,} of them {verb} sense"
    counts = [
        f"{counted(check.n_rows, 'row')}, {counted(check.n_lists, 'list')}, {kept}: "
        f"{counted(len(log.queries), 'query', 'queries')}, {counted(len(log.documents), 'pair')} "
        f"of query and document, {counted(int(log.clicks.sum()), 'click')}"
    ]
    problems: list[Column[LogProblem]] = [
        Column(title="left out", cell=lambda problem: problem.text),
        Column(title="lists", kind="number", cell=lambda problem: count_cell(problem.n_lists)),
        Column(title="first", cell=lambda problem: problem.example),
    ]
    rates = log.click_rates()
    n_shown = (log.pair >= 0).sum(axis=0)
    ranks: list[Column[int]] = [
        Column(title="rank", kind="number", cell=lambda rank: count_cell(rank + 1)),
        Column(title="lists", kind="number", cell=lambda rank: count_cell(int(n_shown[rank]))),
        Column(
            title="click rate", kind="number", cell=lambda rank: number_cell(float(rates[rank]))
        ),
    ]
    notes = ["ranks are counted from 0 in the log, from 1 here"] if check.from_zero else []
    parts: list[Part] = [counts]
    if check.problems:
        parts.append(Table.of(problems, check.problems))
    return [*parts, Table.of(ranks, range(log.n_ranks), notes=notes)]


def log_json(check: LogCheck) -> str:
    """Write the result as JSON text."""
    return result_json(check.as_dict())


def provenance_json(
    checked: LogCheck,
    settings: Mapping[str, object],
    inputs: Sequence[tuple[str, str]],
    n_graded: int,
    bias: float,
) -> str:
    """Origin of judgments made from a log: options, hashes of the files, counts, and the size of
    the position bias.
    """
    log = checked.sessions
    record = {
        **settings,
        "inputs": [{"name": name, "sha256": digest} for name, digest in inputs],
        "lists": checked.n_lists,
        "lists_kept": checked.n_kept,
        "impressions": int((log.pair >= 0).sum()),
        "clicks": int(log.clicks.sum()),
        "pairs_graded": n_graded,
        "pairs_unjudged": len(log.documents) - n_graded,
        "position_bias": bias,
        "problems": {problem.kind: problem.n_lists for problem in checked.problems},
    }
    return result_json(record)


def qrels_lines(qrels: Qrels, source: str = "0") -> Iterator[str]:
    r"""Judgments as TREC lines, with their source in the second field, which evaluation ignores."""
    for query in qrels.queries:
        for document, grade in qrels[query].items():
            _refuse_unreadable("query", query)
            _refuse_unreadable("document", document)
            yield f"{query} {source} {document} {_grade_text(grade)}\n"


def _grade_text(grade: float) -> str:
    """Write a grade: a share with six digits, a whole number with all of its digits."""
    return grade_text(grade) if float(grade).is_integer() else f"{grade:g}"


def _refuse_unreadable(kind: str, name: str) -> None:
    """Refuse an id that a line of TREC judgments cannot hold."""
    if is_word(name):
        return
    if not name:
        problem = "found an empty id, expected one"
    elif name.startswith("#"):
        problem = "found # at the start, which readers take for a comment, expected an id without"
    else:
        problem = "found a blank or a control character, expected an id without"
    raise InputError(
        f"{kind} {shown(repr(name))}: {problem}; write CSV, which takes every id: --format csv"
    )


def qrels_rows(qrels: Qrels, source: str = "0") -> Iterator[Row]:
    """Yield titles, and a row for each judgment."""
    yield ["query", "document", "grade", "source"]
    for query in qrels.queries:
        yield from (
            [query, document, _grade_text(grade), source]
            for document, grade in qrels[query].items()
        )
