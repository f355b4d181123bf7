"""Queries to label with the cost of their labels, documents to label next, and labels that
strategies needed, as tables, Markdown, JSON and CSV.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, TypeAlias

from idealrank.data.interchange import finite
from idealrank.judging import LabelBudget, LabelReplay, NextLabels, QuerySample, QueryStratum
from idealrank.judging.label_order import NextLabel
from idealrank.judging.label_replay import LabelCurve
from idealrank.judging.label_stops import LabelStop
from idealrank.judging.views.agreement import number_text
from idealrank.reports.table.cells import (
    Cell,
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
from idealrank.stats.sequential_betting import SequentialSign

_Result: TypeAlias = NextLabels | LabelReplay
_PLACES = 4
_SOME = 15  # queries listed
_TITLES = ("query", "stratum", "requests", "probability", "weight")
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
    report: list[Part] = [filled(opening(result, places=places))]
    if result.labels and sheet is None:
        report.append(_labels(result))
    elif result.labels:
        documents = counted(len(result.labels), "document")
        report.append(filled(f"{sheet} has the {documents} to label."))
    if result.test is not None:
        report.append(filled(_test_text(result, result.test)))
    if remark := _kind_text(result):
        report.append(filled(remark))
    if steps:
        report.append(list(steps))
    return [*report, _notes(result), paragraph(result.convention, [result.measure])]


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

    low = _signed(chosen.low, places)
    value = _signed(chosen.value, places)
    high = _signed(chosen.high, places)
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
        Column(title="priority", cell=lambda label: str(label.priority), rank=1),
        Column(title="query", cell=lambda label: label.query),
        Column(title="document", cell=lambda label: label.document),
        Column(
            title=f"rank in {chosen.a}",
            kind="number",
            cell=lambda label: count_cell(label.rank_a),
            rank=2,
        ),
        Column(
            title=f"rank in {chosen.b}",
            kind="number",
            cell=lambda label: count_cell(label.rank_b),
            rank=2,
        ),
        Column(title="reason", cell=lambda label: label.reason),
    ]
    return Table.of(columns, chosen.labels)


def _test_text(chosen: NextLabels, test: SequentialSign) -> str:
    judged = f"{test.n_drawn} of {test.n_items} queries in full"
    if test.sign:
        better = chosen.b if test.sign > 0 else chosen.a
        return (
            f"Sequential test: {better} has the higher mean after {test.stopped_at} queries (error "
            f"at most {test.alpha:g}); {judged}."
        )
    return f"Sequential test: open after {judged} (error at most {test.alpha:g})."


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
    return Table.of(columns, replay.curves, kept=3)


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


# --- queries --------------------------------------------------------------------------------------


def query_parts(sample: QuerySample, *, plans: Sequence[LabelBudget], sd: float) -> list[Part]:
    """Return a sentence, strata, costs and queries."""
    n = len(sample.query_ids)
    opening = (
        f"{n:,} quer{'ies' if n != 1 else 'y'} to label. Weights sum to the traffic of "
        f"{sample.traffic_total:,.10g} requests; they raise the variance of a mean by the factor "
        f"{sample.design_effect:.2f}."
    )
    costs = [_plans(sample, plans)] if plans else []  # one query has no precision
    return [
        filled(opening),
        _strata(sample),
        *costs,
        _queries(sample),
        _query_notes(sd if plans else None),
    ]


def _strata(sample: QuerySample) -> Table:
    columns: list[Column[QueryStratum]] = [
        Column(title="stratum", cell=lambda stratum: stratum.name),
        Column(title="queries", kind="number", cell=lambda stratum: count_cell(stratum.n_queries)),
        Column(
            title="traffic", kind="number", cell=lambda stratum: share_cell(stratum.traffic_share)
        ),
        Column(title="sampled", kind="number", cell=lambda stratum: count_cell(stratum.n_sampled)),
    ]
    return Table.of(columns, sample.strata)


def _plans(sample: QuerySample, plans: Sequence[LabelBudget]) -> Table:
    def size_cell(plan: LabelBudget) -> Cell:
        is_sample = plan.n_queries == len(sample.query_ids)
        return Cell(f"{plan.n_queries:,}", plan.n_queries, mark="*" if is_sample else "")

    def interval_cell(plan: LabelBudget) -> Cell:
        if plan.half_width == 0:  # nothing is left to chance
            return Cell("exact", 0.0)
        return number_cell(plan.half_width, 4)

    columns: list[Column[LabelBudget]] = [
        Column(title="queries", kind="number", cell=size_cell),
        Column(title="labels", kind="number", cell=lambda plan: count_cell(plan.labels)),
        Column(title="cost", kind="number", cell=lambda plan: number_cell(plan.cost, 2)),
        Column(title="weeks", kind="number", cell=lambda plan: number_cell(plan.weeks, 1)),
        Column(title="interval +-", kind="number", cell=interval_cell),
    ]
    return Table.of(columns, plans, title="Cost and precision (* is this sample):")


def _queries(sample: QuerySample) -> Table:
    rows = sample.rows()
    columns: list[Column[dict[str, Any]]] = [
        Column(title="query", cell=lambda row: str(row["query"])),
        Column(title="stratum", cell=lambda row: str(row["stratum"])),
        Column(
            title="requests",
            kind="number",
            cell=lambda row: Cell(f"{row['requests']:,.6g}", row["requests"]),
        ),
        Column(
            title="weight",
            kind="number",
            cell=lambda row: Cell(f"{row['weight']:,.6g}", row["weight"]),
        ),
    ]
    title = f"The first {_SOME} of {len(rows):,} queries:" if len(rows) > _SOME else "Queries:"
    return Table.of(columns, rows[:_SOME], title=title, kept=2)


def _query_notes(sd: float | None) -> list[str]:
    phrases = [
        "weight: requests over the inclusion probability; the weighted mean is unbiased for the "
        "mean over the traffic"
    ]
    if sd is None:
        return ["method", *wrapped(phrases[0])]
    phrases += [
        f"interval +-: half of the width of the 95 % interval at a standard deviation of {sd:g} "
        "over queries",
        "it is about the mean over this traffic, to which queries that are taken for certain add "
        "no error",
        "intervals of evaluate --weights do not know which are certain; they are wider, and "
        "contain the mean in 98 to 100 % of samples",
        "the power for a difference depends on how many queries change: compare states it from "
        "judgments of both runs",
    ]
    return ["method", *wrapped("; ".join(phrases))]


def query_json(sample: QuerySample, *, plans: Sequence[LabelBudget], sd: float) -> str:
    """Return JSON text."""
    record = {
        "sd": sd,
        "plans": [asdict(plan) for plan in plans],
    } | sample.as_dict()
    return result_json(record)


def query_rows(sample: QuerySample) -> Iterator[Row]:
    """Yield titles, and a row for each query, with its weight for ``--weights``."""
    yield list(_TITLES)
    for row in sample.rows():
        yield [
            row[name] if isinstance(row[name], str) else number_text(row[name]) for name in _TITLES
        ]
