"""Documents to label next, and labels that strategies needed, as tables, Markdown, JSON and CSV."""

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
from idealrank.reports.table.records import Row, result_json
from idealrank.reports.table.text import Part, filled, wrapped
from idealrank.reports.views.conventions import paragraph

_Result: TypeAlias = NextLabels | LabelReplay
_PLACES = 4
_STOPS = {"bounds": "by bounds", "test": "by sequential test"}


def labels_parts(
    result: _Result,
    *,
    digits: int | None = None,
    steps: Sequence[str] = (),
    sheet: str | None = None,
) -> list[Part]:
    """Return sentences and tables of the documents to label, or of a replay.

    `steps` are lines that say what to do next. With a `sheet`, the file that has the documents is
    named and they are not listed.
    """
    places = _PLACES if digits is None else digits
    if isinstance(result, LabelReplay):
        return [
            filled(_replay_opening(result, places)),
            _curves(result),
            _replay_notes(result),
            paragraph(result.convention, [result.measure]),
        ]
    parts: list[Part] = [filled(opening(result, places=places))]
    if result.labels:
        documents = counted(len(result.labels), "document")
        parts.append(
            _labels(result) if sheet is None else filled(f"{sheet} has the {documents} to label.")
        )
    if result.test is not None:
        parts.append(filled(_test_text(result)))
    if remark := _kind_text(result):
        parts.append(filled(remark))
    if steps:
        parts.append(list(steps))
    return [*parts, _notes(result), paragraph(result.convention, [result.measure])]


def _signed(value: float, places: int) -> str:
    return number_cell(finite(value), places, signed=True).text


def opening(chosen: NextLabels, *, places: int = _PLACES) -> str:
    """Return the sentence on how far the labels decide.

    Examples
    --------
    >>> from idealrank.judging import next_labels
    >>> opening(next_labels({"q": {"x": 1}}, {"q": ["x"]}, {"q": ["x"]}, "P@1"))
    'Settled: every document down to rank 1 has a label, and the mean difference B - A of P@1 is +0.0000.'
    """  # noqa: E501
    return _sign_text(chosen, places) if chosen.stop is None else _stop_text(chosen, chosen.stop)


def _stop_text(chosen: NextLabels, stop: LabelStop) -> str:
    comparison = f"{chosen.b} against {chosen.a} by {stop.measure}"
    if stop.verdict is None:
        return f"{stop.by} gives no verdict on {comparison}: the runs cannot be compared."
    if stop.decided:
        return (
            f"Decided: {stop.by} finds enough judgments. Verdict on {comparison}: {stop.verdict}."
        )
    start = f"Too few judgments for {stop.by} to give a verdict on {comparison}."
    if not chosen.n_open:
        return f"{start} Every document down to rank {chosen.depth} has a label."
    if stop.labels_needed is None:
        return f"{start} How many labels will decide cannot be estimated."
    return f"{start} About {counted(stop.labels_needed, 'label')} will decide, by an estimate."


def _kind_text(chosen: NextLabels) -> str:
    """Return a remark on labels that name relevant documents alone; else empty."""
    if chosen.label_kind != "positive-only" or not chosen.labels:
        return ""
    return (
        "The labels so far are positive-only. Label documents that are not relevant, too, with "
        "grade 0: once a tenth of the queries have such a label, the judgments count as pooled."
    )


def _sign_text(chosen: NextLabels, places: int) -> str:
    low, high, value = (
        _signed(difference, places) for difference in (chosen.low, chosen.high, chosen.value)
    )
    name = f"the mean difference {chosen.b} - {chosen.a} of {chosen.measure}"
    if not chosen.n_open:
        return (
            f"Settled: every document down to rank {chosen.depth} has a label, and {name} is "
            f"{value}."
        )
    get = "s get" if chosen.n_open > 1 else " gets"
    documents = f"the {chosen.n_open:,} unjudged document{get}"
    if chosen.settled:
        better = chosen.b if chosen.low > 0 else chosen.a
        return (
            f"Settled: {better} has the higher mean, whatever grades from 0 to "
            f"{chosen.max_grade:g} {documents} ({low} to {high})."
        )
    return (
        f"Open: whatever grades from 0 to {chosen.max_grade:g} {documents}, {name} is between "
        f"{low} and {high}."
    )


def _labels(chosen: NextLabels) -> Table:
    columns: list[Column[NextLabel]] = [
        Column(title="priority", cell=lambda label: str(label.priority)),
        Column(title="query", cell=lambda label: label.query),
        Column(title="document", cell=lambda label: label.document),
        Column(
            title=f"rank in {chosen.a}", kind="number", cell=lambda label: count_cell(label.rank_a)
        ),
        Column(
            title=f"rank in {chosen.b}", kind="number", cell=lambda label: count_cell(label.rank_b)
        ),
        Column(title="reason", cell=lambda label: label.reason),
    ]
    return Table.of(columns, chosen.labels)


def _test_text(chosen: NextLabels) -> str:
    test = chosen.test
    assert test is not None  # noqa: S101  (for the type checker: looked at before)
    seen = f"{test.n_drawn} of {test.n_items} queries in full"
    if test.sign:
        better = chosen.b if test.sign > 0 else chosen.a
        return (
            f"Sequential test: {better} has the higher mean after {test.stopped_at} queries (error "
            f"at most {test.alpha:g}); {seen}."
        )
    return f"Sequential test: open after {seen} (error at most {test.alpha:g})."


def _notes(chosen: NextLabels) -> list[str]:
    documents = counted(chosen.n_pooled, "document")
    queries = counted(chosen.n_queries, "query", "queries")
    phrases = [
        f"strategy {chosen.strategy}: {documents} of {queries} in the first {chosen.depth:,} "
        f"ranks, {chosen.n_open:,} of them unjudged"
    ]
    if chosen.stop is None:
        phrases.append(
            "bounds hold for all grades of these documents; deeper ones stay unjudged, as grade 0"
        )
    else:
        phrases.append(f"labels decide once {chosen.stop.by} no longer finds too few judgments")
    if chosen.stop is None or not chosen.stop.decided:
        phrases.append("label these, add them to the judgments, and choose again")
    return ["method", *wrapped("; ".join(phrases))]


def _replay_opening(replay: LabelReplay, places: int) -> str:
    unjudged = ""
    if replay.n_unjudged:
        unjudged = f"; {replay.n_unjudged:,} of them are unjudged and count as grade 0"
    return (
        f"Labels until the sign of {replay.b} - {replay.a} ({_signed(replay.difference, places)} "
        f"{replay.measure} with all labels) is settled, of {replay.n_pooled:,} in the first "
        f"{replay.depth:,} ranks of {counted(replay.n_queries, 'query', 'queries')}{unjudged}."
    )


def _curves(replay: LabelReplay) -> Table:
    columns: list[Column[LabelCurve]] = [
        Column(title="strategy", cell=lambda curve: curve.strategy),
        Column(title="stop", cell=lambda curve: _STOPS[curve.stop]),
        Column(title="labels", kind="number", cell=lambda curve: number_cell(curve.median, 0)),
        Column(
            title="of all",
            kind="number",
            cell=lambda curve: share_cell(curve.median / replay.n_pooled),
        ),
        Column(
            title="to depth",
            kind="number",
            cell=lambda curve: number_cell(finite(replay.ratio(curve, "depth")), 2),
        ),
        Column(
            title="to random",
            kind="number",
            cell=lambda curve: number_cell(finite(replay.ratio(curve, "random")), 2),
        ),
        Column(
            title="orders", kind="number", cell=lambda curve: count_cell(int(curve.needed.size))
        ),
        Column(
            title="right sign",
            kind="number",
            cell=lambda curve: share_cell(float(curve.right.mean())),
        ),
    ]
    return Table.of(columns, replay.curves)


def _replay_notes(replay: LabelReplay) -> list[str]:
    phrases = [
        "labels: of random orders, the median",
        "to depth, to random: ratio to the labels of these orders with the stop by bounds",
        "by bounds: no grades of the hidden documents can change the sign",
        f"by sequential test: whole queries in random order, error at most {replay.alpha:g}",
        "oracle: greedy by bounds with the true grades, which no strategy knows",
    ]
    return ["method", *wrapped("; ".join(phrases))]


def labels_json(result: _Result) -> str:
    """Return JSON text with every document, or every strategy of a replay."""
    convention = {"name": result.convention.name, "fingerprint": result.convention.fingerprint}
    return result_json({"convention": convention} | result.as_dict())


def labels_rows(result: _Result) -> Iterator[Row]:
    """Yield titles, and a row for each document to label with an empty grade, or for each random
    order of each strategy of a replay.
    """
    if isinstance(result, LabelReplay):
        yield ["strategy", "stop", "order", "labels", "right"]
        for curve in result.curves:
            orders = zip(curve.needed.tolist(), curve.right.tolist(), strict=True)
            for order, (needed, right) in enumerate(orders, 1):
                text = "true" if right else "false"
                yield [curve.strategy, curve.stop, str(order), str(needed), text]
        return
    yield ["priority", "query", "document", "rank_a", "rank_b", "worth", "reason", "grade"]
    for label in result.labels:
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
