"""Documents to label next, and labels that strategies needed, as tables, Markdown, JSON and CSV."""

import json
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from idealrank.data.interchange import finite
from idealrank.judging import LabelReplay, NextLabels
from idealrank.judging.label_order import NextLabel
from idealrank.judging.label_replay import LabelCurve
from idealrank.judging.label_stops import LabelStop
from idealrank.judging.views.agreement import number_text
from idealrank.reports.table.cells import (
    Column,
    Table,
    count_cell,
    counted,
    number_cell,
    share_cell,
)
from idealrank.reports.table.forms import parts_markdown
from idealrank.reports.table.records import SCHEMA, Row
from idealrank.reports.table.text import Part, filled, wrapped
from idealrank.reports.views.conventions import paragraph
from idealrank.version import __version__

_Found: TypeAlias = NextLabels | LabelReplay
_PLACES = 4
_STOPS = {"bounds": "by bounds", "test": "by sequential test"}


def labels_parts(
    found: _Found,
    *,
    digits: int | None = None,
    steps: Sequence[str] = (),
    sheet: str | None = None,
) -> list[Part]:
    """Sentences and tables of the documents to label, or of a replay.

    `steps` are lines that say what to do next. With a `sheet`, the file that has the documents is
    named and they are not listed.
    """
    places = _PLACES if digits is None else digits
    if isinstance(found, LabelReplay):
        return [
            filled(_replay_opening(found, places)),
            _curves(found),
            _replay_notes(found),
            paragraph(found.convention, [found.measure]),
        ]
    parts: list[Part] = [filled(opening(found, places=places))]
    if found.labels:
        documents = counted(len(found.labels), "document")
        parts.append(
            _labels(found) if sheet is None else filled(f"{sheet} has the {documents} to label.")
        )
    if found.test is not None:
        parts.append(filled(_test_text(found)))
    if remark := _kind_text(found):
        parts.append(filled(remark))
    if steps:
        parts.append(list(steps))
    return [*parts, _notes(found), paragraph(found.convention, [found.measure])]


def _signed(value: float, places: int) -> str:
    return number_cell(finite(value), places, signed=True).text


def opening(found: NextLabels, *, places: int = _PLACES) -> str:
    """Sentence on how far the labels decide.

    Examples
    --------
    >>> from idealrank.judging import next_labels
    >>> opening(next_labels({"q": {"x": 1}}, {"q": ["x"]}, {"q": ["x"]}, "P@1"))
    'Settled: every document down to rank 1 has a label, and the mean difference B - A of P@1 is +0.0000.'
    """  # noqa: E501
    return _sign_text(found, places) if found.stop is None else _stop_text(found, found.stop)


def _stop_text(found: NextLabels, stop: LabelStop) -> str:
    result = f"{found.b} against {found.a} by {stop.measure}"
    if stop.verdict is None:
        return f"{stop.by} gives no verdict on {result}: the runs cannot be compared."
    if stop.decided:
        return f"Decided: {stop.by} finds enough judgments. Verdict on {result}: {stop.verdict}."
    start = f"Too few judgments for {stop.by} to give a verdict on {result}."
    if not found.n_open:
        return f"{start} Every document down to rank {found.depth} has a label."
    if stop.labels_needed is None:
        return f"{start} How many labels will decide cannot be estimated."
    return f"{start} About {counted(stop.labels_needed, 'label')} will decide, by an estimate."


def _kind_text(found: NextLabels) -> str:
    """Remark on labels that name relevant documents alone."""
    if found.label_kind != "positive-only" or not found.labels:
        return ""
    return (
        "The labels so far are positive-only. Label documents that are not relevant, too, "
        "with grade 0: "
        "once a tenth of the queries have such a label, the judgments count as pooled."
    )


def _sign_text(found: NextLabels, places: int) -> str:
    low, high, value = (_signed(one, places) for one in (found.low, found.high, found.value))
    name = f"the mean difference {found.b} - {found.a} of {found.measure}"
    if not found.n_open:
        return (
            f"Settled: every document down to rank {found.depth} has a label, and {name} is "
            f"{value}."
        )
    documents = f"the {found.n_open:,} unjudged document{'s get' if found.n_open > 1 else ' gets'}"
    if found.settled:
        better = found.b if found.low > 0 else found.a
        return (
            f"Settled: {better} has the higher mean, whatever grades from 0 to "
            f"{found.max_grade:g} {documents} ({low} to {high})."
        )
    return (
        f"Open: whatever grades from 0 to {found.max_grade:g} {documents}, {name} is between "
        f"{low} and {high}."
    )


def _labels(found: NextLabels) -> Table:
    columns: list[Column[NextLabel]] = [
        Column(title="priority", cell=lambda one: str(one.priority)),
        Column(title="query", cell=lambda one: one.query),
        Column(title="document", cell=lambda one: one.document),
        Column(title=f"rank in {found.a}", kind="number", cell=lambda one: count_cell(one.rank_a)),
        Column(title=f"rank in {found.b}", kind="number", cell=lambda one: count_cell(one.rank_b)),
        Column(title="reason", cell=lambda one: one.reason),
    ]
    return Table.of(columns, found.labels)


def _test_text(found: NextLabels) -> str:
    test = found.test
    assert test is not None  # noqa: S101  (for the type checker: looked at before)
    seen = f"{test.n_drawn} of {test.n_items} queries in full"
    if test.sign:
        better = found.b if test.sign > 0 else found.a
        return (
            f"Sequential test: {better} has the higher mean after {test.stopped_at} queries "
            f"(error at most {test.alpha:g}); {seen}."
        )
    return f"Sequential test: open after {seen} (error at most {test.alpha:g})."


def _notes(found: NextLabels) -> list[str]:
    documents = counted(found.n_pooled, "document")
    queries = counted(found.n_queries, "query", "queries")
    phrases = [
        f"strategy {found.strategy}: {documents} of {queries} in the first {found.depth:,} "
        f"ranks, {found.n_open:,} of them unjudged"
    ]
    if found.stop is None:
        phrases.append(
            "bounds hold for all grades of these documents; deeper ones stay unjudged, as grade 0"
        )
    else:
        phrases.append(f"labels decide once {found.stop.by} no longer finds too few judgments")
    if found.stop is None or not found.stop.decided:
        phrases.append("label these, add them to the judgments, and choose again")
    return ["method", *wrapped("; ".join(phrases))]


def _replay_opening(found: LabelReplay, places: int) -> str:
    unjudged = (
        f"; {found.n_unjudged:,} of them are unjudged and count as grade 0"
        if found.n_unjudged
        else ""
    )
    return (
        f"Labels until the sign of {found.b} - {found.a} ({_signed(found.difference, places)} "
        f"{found.measure} with all labels) is settled, "
        f"of {found.n_pooled:,} in the first {found.depth:,} ranks of "
        f"{counted(found.n_queries, 'query', 'queries')}{unjudged}."
    )


def _curves(found: LabelReplay) -> Table:
    columns: list[Column[LabelCurve]] = [
        Column(title="strategy", cell=lambda one: one.strategy),
        Column(title="stop", cell=lambda one: _STOPS[one.stop]),
        Column(title="labels", kind="number", cell=lambda one: number_cell(one.median, 0)),
        Column(
            title="of all", kind="number", cell=lambda one: share_cell(one.median / found.n_pooled)
        ),
        Column(
            title="to depth",
            kind="number",
            cell=lambda one: number_cell(finite(found.ratio(one, "depth")), 2),
        ),
        Column(
            title="to random",
            kind="number",
            cell=lambda one: number_cell(finite(found.ratio(one, "random")), 2),
        ),
        Column(title="orders", kind="number", cell=lambda one: count_cell(int(one.needed.size))),
        Column(
            title="right sign", kind="number", cell=lambda one: share_cell(float(one.right.mean()))
        ),
    ]
    return Table.of(columns, found.curves)


def _replay_notes(found: LabelReplay) -> list[str]:
    phrases = [
        "labels: of random orders, the median",
        "to depth, to random: ratio to the labels of these orders with the stop by bounds",
        "by bounds: no grades of the hidden documents can change the sign",
        f"by sequential test: whole queries in random order, error at most {found.alpha:g}",
        "oracle: greedy by bounds with the true grades, which no strategy knows",
    ]
    return ["method", *wrapped("; ".join(phrases))]


def labels_markdown(found: _Found, *, digits: int | None = None) -> str:
    """The report as Markdown."""
    return parts_markdown(labels_parts(found, digits=digits))


def labels_json(found: _Found, *, digits: int | None = None) -> str:  # noqa: ARG001  (all of it)
    """JSON text with every document, or every strategy of a replay."""
    convention = {"name": found.convention.name, "fingerprint": found.convention.fingerprint}
    return (
        json.dumps(
            {"version": __version__, "schema": SCHEMA, "convention": convention} | found.as_dict(),
            indent=2,
        )
        + "\n"
    )


def labels_rows(found: _Found, *, digits: int | None = None) -> Iterator[Row]:  # noqa: ARG001  (all of it)
    """Titles, and a row for each document to label with an empty grade, or for each label of a
    replay with the bounds after it.
    """
    if isinstance(found, LabelReplay):
        yield ["strategy", "stop", "order", "labels", "right"]
        for one in found.curves:
            for order, (needed, right) in enumerate(
                zip(one.needed.tolist(), one.right.tolist(), strict=True), 1
            ):
                yield [
                    one.strategy,
                    one.stop,
                    str(order),
                    str(needed),
                    "true" if right else "false",
                ]
        return
    yield ["priority", "query", "document", "rank_a", "rank_b", "worth", "reason", "grade"]
    for label in found.labels:
        ranks = ["" if rank is None else str(rank) for rank in (label.rank_a, label.rank_b)]
        yield [
            str(label.priority),
            label.query,
            label.document,
            *ranks,
            number_text(label.worth),
            label.reason,
            "",
        ]
