"""The property suite for one measure: what its class facts promise, tried on small hostile input.

A promise names the measures, the input and the violation.
"""

import inspect
import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from itertools import chain, groupby, permutations, product
from random import Random
from typing import Any

import numpy as np

from idealrank.analysis.attribution.document_contributions import added, seen_by
from idealrank.conventions import Convention
from idealrank.data.align import align
from idealrank.data.lists import Lists
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.errors import IdealrankWarning, OptionError
from idealrank.evaluation.evaluate import Evaluation, evaluate, evaluate_lists
from idealrank.inputs.explanation import explain
from idealrank.measures import MEASURES
from idealrank.measures.counts import NumRelRet
from idealrank.measures.facts import example_of
from idealrank.measures.measure import Measure
from idealrank.measures.parse import parse_measure
from idealrank.measures.spellings import SPELLINGS
from idealrank.reports.table.records import delimited, evaluation_rows, json_report, trec_report
from idealrank.reports.views.evaluation import table_report
from idealrank.testing.strategies import (
    DOCUMENTS,
    QUERIES,
    SCORES,
    Grades,
    Scores,
    missing_facts,
    option_values,
)

TOLERANCE = 1e-9
Values = dict[str, dict[str, float | None]]  # by query and measure; None if the query is left out


def evaluated(
    measures: "Measure | Iterable[Measure]",
    qrels: Grades,
    run: Scores,
    convention: Convention,
) -> Evaluation:
    """The evaluation, without warnings about what the convention does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdealrankWarning)
        return evaluate(Qrels(qrels), Run(run), measures, convention, threads=1)


def evaluated_as_arrays(
    measure: Measure,
    qrels: Grades,
    run: Scores,
    convention: Convention,
) -> Values:
    """Return the values by query of arrays, with a label for each document of the run."""
    labels: list[float] = []
    scores: list[float] = []
    for query, ranking in run.items():
        labels.extend(qrels[query][document] for document in ranking)
        scores.extend(ranking.values())
    sizes = [len(ranking) for ranking in run.values()]
    lists = Lists.from_arrays(np.array(labels), np.array(scores), group=sizes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdealrankWarning)
        values = evaluate_lists(lists, measure, convention).per_query()
    return dict(zip(run, values.values(), strict=True))


def expected_of_arrays(
    measure: Measure,
    qrels: Grades,
    run: Scores,
    convention: Convention,
) -> Values:
    """Return the values that arrays must have: values of tables, with one documented exception.

    If a measure compares relevant documents with others, tables leave out a query whose documents
    are all relevant. Arrays keep the value of `no_relevant`, as for a list without any of them.
    """
    values = evaluated(measure, qrels, run, convention).per_query()
    if measure.compares != "relevance":
        return values
    without_relevant = {query: dict.fromkeys(grades, 0.0) for query, grades in qrels.items()}
    undefined = evaluated_as_arrays(measure, without_relevant, run, convention)
    for query, grades in qrels.items():
        is_left_out = None in values[query].values()
        worth = measure.worth(np.array(list(grades.values())))
        if is_left_out and worth is not None and (worth > 0).all():
            values[query] = undefined[query]
    return values


def first_difference(
    usual: Mapping[str, Mapping[str, Any]],
    others: Mapping[str, Mapping[str, Any]],
    when: str,
) -> str:
    """Name the first query whose value differs; empty if none does."""
    for query, values in usual.items():
        (value, *_), (other, *_) = values.values(), others[query].values()
        if not _are_same(value, other):
            return f"query {query!r} has {value}, and {other} {when}"
    return ""


def _are_same(value: float | None, other: float | None) -> bool:
    if value is None or other is None:
        return value is other
    # The texts are compared for NaN and infinities.
    return abs(value - other) <= TOLERANCE or repr(value) == repr(other)


GRADES = (0.0, 0.0, 1.0, 2.0, 3.0)
# Policies that no measure is to blame for: refusals, queries that vanish, rounding.
_POLICIES = {
    "duplicates": "error",
    "unjudged": "not-relevant",
    "missing": "zero",
    "negative": "zero",
    "rounding": "none",
}
_NO_RELEVANT = ("zero", "one", "nan", "left-out")
_OTHER_SWITCHES = (
    "",
    ",score=float32",
    ",ideal=returned",
    ",ideal=hits",
    ",without_judgments=evaluated",
    ",grades=minimum",
)


@dataclass(frozen=True)
class Case:
    """Judgments, a run, and the convention they are joined under."""

    qrels: Grades
    run: Scores
    convention: Convention

    def smaller(self) -> "Iterator[Case]":
        """Return a smaller case: a plainer convention, one query less, or one document less."""
        plain = _convention(self.convention.alignment.ties, "zero", "")
        if self.convention.name != plain.name:
            yield replace(self, convention=plain)
        for query in {**self.qrels, **self.run}:
            if len(self.qrels) > 1 or query not in self.qrels:
                yield replace(
                    self, qrels=_without(self.qrels, query), run=_without(self.run, query)
                )
            for document in {**self.qrels.get(query, {}), **self.run.get(query, {})}:
                qrels = _without_document(self.qrels, query, document)
                run = _without_document(self.run, query, document)
                if query not in qrels or qrels[query]:
                    yield replace(self, qrels=qrels, run=run)

    def __str__(self) -> str:
        return f"judgments {self.qrels}, run {self.run}, convention {self.convention.name}"


def _without(table: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in table.items() if name != key}


def _without_document(table: Grades, query: str, document: str) -> Grades:
    if query not in table:
        return table
    return {**table, query: _without(table[query], document)}


def _always(_: Measure) -> bool:
    return True


def _is_cut_function(measure: Measure) -> bool:
    """Return whether the documents that a function sees depend on the order of ties at the
    cutoff.
    """
    return measure.cutoff is not None and hasattr(measure, "extras")


def _orders_offered(measure: Measure) -> tuple[str, ...]:
    """The tie policies whose values do not depend on how tied documents came in."""
    return ("best", "worst") if measure.ties == "not offered" else ("expected", "best", "worst")


def _all_orders(measure: Measure) -> tuple[str, ...]:
    return ("docid", "input", *(() if _is_cut_function(measure) else _orders_offered(measure)))


@dataclass(frozen=True, kw_only=True)
class Promise:
    """One promise."""

    broken: str  # Message when it is broken
    # Measure and case -> the sentence that tells what broke it; empty when it holds
    fault: Callable[[Measure, Case], str]
    applies: Callable[[Measure], bool] = _always  # Whether a measure makes it
    ties: Callable[[Measure], tuple[str, ...]] = _all_orders  # The tie policies it is tried under
    scores: tuple[float, ...] = SCORES  # Scores to draw from
    # alone, judged: One answered query, with every returned document judged
    alone: bool = False
    judged: bool = False


def drawn(rng: Random, measure: Measure, promise: "Promise") -> Case:
    """Draw a small input with many ties, unjudged documents, unanswered queries and queries without
    a relevant document.
    """
    queries = QUERIES[: 1 if promise.alone else 3]
    while True:
        qrels = {
            query: _drawn_row(rng, GRADES, 1, len(DOCUMENTS))
            for query in queries
            if rng.random() < 0.9
        }
        run = {
            query: _drawn_row(rng, promise.scores, 0, 5) for query in queries if rng.random() < 0.9
        }
        if promise.judged:  # each measure has its own value of an unjudged document
            for query, ranking in run.items():
                grades = qrels.get(query, {})
                run[query] = {
                    document: score for document, score in ranking.items() if document in grades
                }
        if qrels and not (promise.alone and not run.get("q1")):
            break
    ties = rng.choice(promise.ties(measure))
    no_relevant = rng.choice(_NO_RELEVANT)
    return Case(qrels, run, _convention(ties, no_relevant, rng.choice(_OTHER_SWITCHES)))


def _drawn_row(rng: Random, values: tuple[float, ...], least: int, most: int) -> dict[str, float]:
    documents = rng.sample(DOCUMENTS, rng.randint(least, most))
    return {document: rng.choice(values) for document in documents}


@lru_cache(maxsize=256)
def _convention(ties: str, no_relevant: str, others: str) -> Convention:
    return Convention.of(f"standard,no_relevant={no_relevant}{others}", ties=ties, **_POLICIES)


# --- what breaks each promise ---------------------------------------------------------------------


def _any_input(measure: Measure, case: Case) -> str:
    evaluation = evaluated(measure, case.qrels, case.run, case.convention)
    shape = evaluation.values.shape
    expected = (len(evaluation.queries), 1)
    return "" if shape == expected else f"gave {shape[0]} values for {expected[0]} queries"


def _outside(measure: Measure, case: Case) -> str:
    evaluation = evaluated(measure, case.qrels, case.run, case.convention)
    low, high = measure.bounds
    for query, value, scored in zip(
        evaluation.queries, evaluation.values[:, 0], evaluation.scored[:, 0], strict=True
    ):
        if scored and (value < low - TOLERANCE or value > high + TOLERANCE):
            return f"query {query!r} has {value:g}, bounds say {low:g} to {high:g}"
    return ""


def _beaten_ideal(measure: Measure, case: Case) -> str:
    gain = getattr(measure.under(case.convention), "gain", None)
    grades = case.qrels["q1"]
    worth = {document: grades[document] for document in case.run["q1"]}
    if callable(gain):
        for document, grade in worth.items():
            worth[document] = float(np.asarray(gain(np.array([grade])))[0])
    best_first = sorted(worth, key=lambda document: -worth[document])
    ideal = {"q1": _ranked(best_first)}
    best = evaluated(measure, case.qrels, ideal, case.convention).values[0, 0]
    value = evaluated(measure, case.qrels, case.run, case.convention).values[0, 0]
    is_no_better = measure.direction * value <= measure.direction * best + TOLERANCE
    if is_no_better or np.isnan(best) or np.isnan(value):
        return ""
    return (
        f"this order has {value:g}, the documents sorted by grade have {best:g}, though "
        f"direction={measure.direction}"
    )


def _ranked(documents: Sequence[str]) -> dict[str, float]:
    """Scores that rank documents in this order."""
    return {document: -float(place) for place, document in enumerate(documents)}


def _sees_names(measure: Measure, case: Case) -> str:
    def renamed(table: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        renamed_table = {}
        for query, documents in table.items():
            names = (f"x{document[::-1]}" for document in documents)
            renamed_table[query] = dict(zip(names, documents.values(), strict=True))
        return renamed_table

    with_other_names = evaluated(
        measure, renamed(case.qrels), renamed(case.run), case.convention
    ).per_query()
    return first_difference(
        evaluated(measure, case.qrels, case.run, case.convention).per_query(),
        with_other_names,
        "with other document ids",
    )


def _sees_order(measure: Measure, case: Case) -> str:
    turned = {query: dict(reversed(documents.items())) for query, documents in case.run.items()}
    with_other_order = evaluated(measure, case.qrels, turned, case.convention).per_query()
    return first_difference(
        evaluated(measure, case.qrels, case.run, case.convention).per_query(),
        with_other_order,
        "when tied documents come in another order",
    )


def _is_affected(measure: Measure, case: Case) -> str:
    def values(ties: str) -> dict[str, dict[str, float | None]]:
        return evaluated(
            measure, case.qrels, case.run, Convention.of(case.convention, ties=ties)
        ).per_query()

    usual = values("docid")
    complaints = (
        first_difference(usual, values(ties), f"under ties={ties}")
        for ties in ("docid-ascending", "expected", "best", "worst")
    )
    return next(filter(None, complaints), "")


def _is_no_mean(measure: Measure, case: Case) -> str:
    scores = case.run.get("q1", {})
    if not scores or "q1" not in case.qrels:
        return ""
    grades = case.qrels["q1"]
    by_score = sorted(scores, key=lambda document: -scores[document])
    groups = [list(tied) for _, tied in groupby(by_score, key=lambda document: scores[document])]
    # Every order of the tied documents is a query of its own, with the same judgments.
    orders = [list(chain(*choice)) for choice in product(*map(permutations, groups))]
    qrels = {str(number): grades for number in range(len(orders))}
    run = {str(number): _ranked(order) for number, order in enumerate(orders)}
    by_input = Convention.of(case.convention, ties="input")
    mean = float(np.mean(evaluated(measure, qrels, run, by_input).values[:, 0]))
    expected = evaluated(measure, {"q1": grades}, {"q1": scores}, case.convention)
    value = float(expected.values[0, 0])
    if abs(value - mean) <= TOLERANCE or (np.isnan(value) and np.isnan(mean)):
        return ""
    return f"ties=expected gives {value:g}, the mean over all {len(orders)} orders is {mean:g}"


def _is_not_refused(measure: Measure, case: Case) -> str:
    try:
        evaluated(
            measure, {"q1": {"a": 1.0, "b": 0.0}}, {"q1": {"a": 1.0, "b": 1.0}}, case.convention
        )
    except OptionError:
        return ""
    return "two documents of different grades tie, and a value was given"


def _sees_others(measure: Measure, case: Case) -> str:
    values_of_all = evaluated(measure, case.qrels, case.run, case.convention).per_query()
    again = evaluated(measure, case.qrels, case.run, case.convention).per_query()
    if repr(again) != repr(values_of_all):
        return f"the same call again gives {again}, first {values_of_all}"
    for query, values in values_of_all.items():
        # A query without judgments is evaluated with another query that has some.
        qrels = {query: case.qrels[query]} if query in case.qrels else {"other": {"d": 0.0}}
        run = {query: case.run[query]} if query in case.run else {}
        alone = evaluated(measure, qrels, run, case.convention).per_query()
        difference = first_difference({query: values}, {query: alone[query]}, "alone")
        if difference:
            return difference
    return ""


def _needs_more_hits(measure: Measure, case: Case) -> str:
    alone = evaluated(measure, case.qrels, case.run, case.convention).per_query()
    # NumRelRet looks at whole lists, so that all hits are there.
    both = evaluated([measure, NumRelRet()], case.qrels, case.run, case.convention).per_query()
    with_all_hits = {query: {str(measure): values[str(measure)]} for query, values in both.items()}
    return first_difference(
        with_all_hits,
        alone,
        "without a measure beside it that looks deeper; does its depth() say how deep it looks?",
    )


def _does_not_merge(measure: Measure, case: Case) -> str:
    convention = Convention.of(case.convention, without_judgments="left-out")
    first, *others = case.qrels
    if not others:
        return ""
    first_part = evaluated(measure, {first: case.qrels[first]}, case.run, convention)
    second_part = evaluated(measure, _without(case.qrels, first), case.run, convention)
    whole = evaluated(measure, case.qrels, case.run, convention)
    merged = first_part.merge(second_part)
    return first_difference(whole.per_query(), merged.per_query(), "in parts that are merged")


def _differs_on_arrays(measure: Measure, case: Case) -> str:
    ties = "input" if measure.ties == "not offered" else "expected"
    convention = Convention.of("standard", ties=ties)
    run = {query: ranking for query, ranking in case.run.items() if ranking} or {"q1": {"d1": 0.0}}
    qrels = {}
    for query, ranking in run.items():
        grades = case.qrels.get(query, {})
        qrels[query] = {document: grades.get(document, 0.0) for document in ranking}
    expected = expected_of_arrays(measure, qrels, run, convention)
    values = evaluated_as_arrays(measure, qrels, run, convention)
    return first_difference(expected, values, "as arrays of labels and scores")


def _is_not_shown(measure: Measure, case: Case) -> str:
    evaluation = evaluated(measure, case.qrels, case.run, case.convention)
    text = str(measure)
    (run,) = json.loads("".join(json_report([evaluation])))["runs"]
    outputs = {
        "table": table_report([evaluation]),
        "CSV": "".join(delimited(evaluation_rows([evaluation]))),
        "JSON": " ".join(run["mean"]),
    }
    # CSV doubles quotes.
    written = text.replace('"', '""')
    missing = [name for name, output in outputs.items() if written not in output]
    if measure.trec_name not in "".join(trec_report([evaluation])):
        missing.append("trec")
    return f"{text} does not appear in {', '.join(missing)}" if missing else ""


def _does_not_add_up(measure: Measure, case: Case) -> str:
    qrels = Qrels(case.qrels)
    run = Run(case.run)
    resolved = measure.under(case.convention)
    judged = seen_by(resolved, align(qrels, run, case.convention.alignment, threads=1))
    sums = judged.sum_by_query(judged.hits.query, added(resolved, judged))
    for query, sum_of_hits in zip(judged.queries, sums.tolist(), strict=True):
        explanation = explain(qrels, run, query, measure, case.convention)
        if explanation.value is None or explanation.note:
            continue
        sum_of_rows = sum(row.contribution for row in explanation.rows)
        for total, where in (
            (sum_of_rows, "explained"),
            (sum_of_hits, "measured with the others"),
        ):
            if not abs(total - explanation.value) <= TOLERANCE:  # of NaN, too
                return (
                    f"query {query!r} has {explanation.value:g}, its documents add {total:g} when "
                    f"{where}"
                )
    return ""


def _responds_otherwise(measure: Measure, case: Case) -> str:
    # The response of a measure is promised for queries with relevant documents.
    convention = Convention.of(case.convention, no_relevant="zero")
    for query in [query for query in case.qrels if case.run.get(query)]:
        grades, run = case.qrels[query], case.run[query]
        ranking = Run({query: run}).ranking(query, convention.alignment)
        # Tied documents share the first of their places, unless the policy puts them in order.
        places = list(range(len(run)))
        if convention.alignment.ties in ("expected", "best", "worst"):
            places = ranking.first.tolist()
        place = dict(zip(ranking.documents, places, strict=True))
        raised = (
            {**grades, document: 3.0}
            for document, grade in grades.items()
            if grade < 3 and document in place
        )
        moved = _swapped_up(grades, place, returned_ideal=convention.rules.ideal == "returned")
        changes: list[dict[str, float]] = []
        if measure.response != "rising":
            changes += moved
        if measure.response in ("rising", "first"):
            changes += raised
        table = {str(number): changed for number, changed in enumerate((grades, *changes))}
        evaluation = evaluated(measure, table, dict.fromkeys(table, run), convention)
        value, *changed_values = evaluation.values[:, 0].tolist()
        for changed, changed_value in zip(changes, changed_values, strict=True):
            if changed_value < value - TOLERANCE:
                return (
                    f"query {query!r} has {value:g}, and {changed_value:g} with {changed}, though "
                    f"response={measure.response}"
                )
    return ""


def _swapped_up(
    grades: Mapping[str, float], place: Mapping[str, int], *, returned_ideal: bool
) -> Iterator[dict[str, float]]:
    """Grades with two swapped, so that the higher grade is at a higher rank, or in the list."""
    outside = len(place) + len(grades)  # below every rank
    for lower, higher in permutations(grades, 2):
        moves_up = (
            higher in place
            and place[higher] < place.get(lower, outside)
            and grades[higher] < grades[lower]
        )
        if moves_up and (lower in place or not returned_ideal):
            yield {**grades, higher: grades[lower], lower: grades[higher]}


_TIED = (1.0, 2.0)
ANY_INPUT = Promise(broken="fails on some input", fault=_any_input)
PROMISES = (
    Promise(broken="bounds", fault=_outside),
    Promise(
        broken="the ideal order is not the best",
        fault=_beaten_ideal,
        applies=lambda measure: measure.direction != 0 and measure.ideal_is_best,
        alone=True,
        judged=True,
    ),
    Promise(broken="names of documents matter", fault=_sees_names, ties=lambda _: ("input",)),
    Promise(
        broken="the order of tied documents matters, where it must not",
        fault=_sees_order,
        applies=lambda measure: not _is_cut_function(measure),
        ties=_orders_offered,
        scores=_TIED,
    ),
    Promise(
        broken="ties are said not to affect it, and do",
        fault=_is_affected,
        applies=lambda measure: measure.ties == "not affected" and not _is_cut_function(measure),
        ties=lambda _: ("docid",),
        scores=_TIED,
    ),
    Promise(
        broken="the expected value is not the mean over the orders of ties",
        fault=_is_no_mean,
        applies=lambda measure: measure.ties == "closed form",
        ties=lambda _: ("expected",),
        scores=_TIED,
        alone=True,
    ),
    Promise(
        broken="expected values are said not to be offered, and are given",
        fault=_is_not_refused,
        applies=lambda measure: measure.ties == "not offered",
        ties=lambda _: ("expected",),
    ),
    Promise(broken="queries are not independent", fault=_sees_others),
    Promise(broken="it needs hits that it does not ask for", fault=_needs_more_hits),
    Promise(broken="parts do not merge to the whole", fault=_does_not_merge),
    Promise(
        broken="arrays and tables disagree",
        fault=_differs_on_arrays,
        applies=lambda measure: not _is_cut_function(measure),
    ),
    Promise(broken="it is missing in an output", fault=_is_not_shown),
    Promise(
        broken="grades do not move it as it says",
        fault=_responds_otherwise,
        applies=lambda measure: measure.response != "unknown" and not _is_cut_function(measure),
    ),
    Promise(
        broken="what its documents add does not sum to the value",
        fault=_does_not_add_up,
        # a geometric mean lifts values of 0
        applies=lambda measure: measure.is_explained and measure.aggregate != "geometric",
        ties=_orders_offered,
    ),
)


def unrounded(measure: Measure) -> Measure:
    """Return the measure without rounding: rounded values may rank the ideal order a hundredth
    below another order.
    """
    rounding = getattr(measure, "rounding", None)
    return measure if rounding is None else replace(measure, rounding="none")  # type: ignore[call-arg]


def check_measure(measure: "Measure | type[Measure]", *, max_examples: int = 100) -> None:
    """Check every promise of a measure's class facts.

    Facts, text, bounds, the ideal order, other document names, other queries beside it, ties as the
    class says, arrays, parts that are merged, every output, and that what documents add (`terms`,
    `group_terms`) sums to the value. Measures that need other tables than judgments and a run are
    held to their facts and their text alone.

    Parameters
    ----------
    measure : Measure
        Of a function or of a class; one with options is tried with these. A class is tried with no
        more options than it must have.
    max_examples : int
        How many inputs each promise is tried on; they are the same each time.

    Raises
    ------
    AssertionError
        With a sentence for each promise that does not hold, and the smallest input that shows it.

    Examples
    --------
    >>> import idealrank as ir
    >>> @ir.measure(bounds=(0, 1))
    ... def found(grades):
    ...     return float((grades > 0).any())
    >>> check_measure(found)
    """
    faults = faults_of(measure, max_examples=max_examples)
    if faults:
        raise AssertionError(
            "\n".join(
                [f"measure {measure} violates its own claims:", *(f"* {fault}" for fault in faults)]
            )
        )


def faults_of(measure: "Measure | type[Measure]", *, max_examples: int = 100) -> list[str]:
    """List the complaints of `check_measure`, one sentence each; empty without any.

    Examples
    --------
    >>> import idealrank as ir
    >>> @ir.measure(bounds=(0, 1))
    ... def top(grades):
    ...     return grades[:1].sum()
    >>> [fault.partition(":")[0] for fault in faults_of(top)]
    ['fails on some input']
    """
    if isinstance(measure, type) and issubclass(measure, Measure):
        measure = example_of(measure)
    if not isinstance(measure, Measure):
        raise OptionError(
            f"check_measure: found {measure!r}, expected a measure, as idealrank.NDCG(cutoff=10)"
        )
    cls = type(measure)
    stated = [f"class fact {fault}" for fault in missing_facts(cls)] + _undeclared(cls)
    faults = stated or [*_text_faults(measure), *_two_with_one_text(measure)]
    if stated or cls.needs or cls.kind != "per query" or cls.aggregate == "text":
        return faults
    measure = unrounded(measure)
    crash = _broken(ANY_INPUT, measure, max_examples)
    if crash:
        return [*faults, *crash]
    for promise in PROMISES:
        if promise.applies(measure):
            faults += _broken(promise, measure, max_examples)
    return faults


def _undeclared(cls: type[Measure]) -> list[str]:
    """Options that are annotated but are no fields, since the class was not made a dataclass; names
    that are taken.
    """
    field_names = {field.name for field in fields(cls)}
    annotated = {
        name
        for name, hint in inspect.get_annotations(cls).items()
        if not str(hint).startswith(("ClassVar", "typing.ClassVar"))
    }
    faults = [
        f"option {name} is no part of the measure; put @dataclass(frozen=True, kw_only=True) above "
        "the class, or ClassVar in its annotation if it is a fact"
        for name in sorted(annotated - field_names - set(dir(Measure)))
    ]
    listed = cls.name if cls.name in MEASURES else SPELLINGS.get(cls.name.lower(), "")
    if listed and MEASURES[listed] is not cls:
        faults.append(f"the name {cls.name} is that of the listed measure {listed}")
    return faults


def _text_faults(measure: Measure) -> list[str]:
    text = str(measure)
    twin = replace(measure)
    faults = []
    if twin != measure or hash(twin) != hash(measure) or str(twin) != text:
        faults.append("a copy of it is not equal to it, or has another hash or text")
    if not text.startswith(measure.name) or any(
        letter.isspace() for letter in text + measure.trec_name
    ):
        faults.append(
            f"its text {text!r} or trec name {measure.trec_name!r} has blanks, or does not begin "
            f"with its name {measure.name!r}"
        )
    if type(measure) in MEASURES.values() and parse_measure(text) != measure:
        faults.append(f"its text {text!r} reads back as {parse_measure(text)}")
    return faults


def _two_with_one_text(measure: Measure) -> list[str]:
    """Different options must show in the text."""
    by_text: dict[str, Measure] = {}
    for name, values in option_values(type(measure)).items():
        for value in values:
            try:
                other = replace(measure, **{name: value})
            except OptionError:  # not every option goes with every other
                continue
            twin = by_text.setdefault(str(other), other)
            if twin != other:
                return [f"two different measures have the text {other}: {twin!r} and {other!r}"]
    return []


def _broken(promise: Promise, measure: Measure, max_examples: int) -> list[str]:
    """The promise and the smallest input on which it does not hold; nothing when it holds."""

    def complaint(case: Case) -> str:
        try:
            return promise.fault(measure, case)
        except Exception as error:  # noqa: BLE001  (whatever a user's measure raises is what it is told)
            name = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
            return f"{name}{error}"

    rng = Random(0)  # noqa: S311  (the same input each time)
    cases = (drawn(rng, measure, promise) for _ in range(max_examples))
    case = next((case for case in cases if complaint(case)), None)
    # Take smaller cases as long as they break the promise, too.
    candidate = case
    while candidate is not None:
        case = candidate
        candidate = next((smaller for smaller in case.smaller() if complaint(smaller)), None)
    return [] if case is None else [f"{promise.broken}: {complaint(case)}; {case}"]
