"""The property suite for one measure: what its class facts promise, tried on small hostile input, and every broken promise in words."""

import inspect
from dataclasses import fields, replace
from random import Random

from idealrank.errors import OptionError
from idealrank.measures import MEASURES
from idealrank.measures.facts import example_of
from idealrank.measures.measure import Measure
from idealrank.measures.parse import parse_measure
from idealrank.measures.spellings import SPELLINGS
from idealrank.testing import promises
from idealrank.testing.strategies import missing_facts, option_values


def check_measure(measure: "Measure | type[Measure]", *, max_examples: int = 100) -> None:
    """Check every promise of a measure's class facts.

    Facts, text, bounds, the ideal order, other document names, other queries beside it, ties as the class says, arrays, parts that are
    merged, every output, and that what documents add (`terms`, `group_terms`) sums to the value. Measures that need other tables than
    judgments and a run are held to their facts and their text alone.

    Parameters
    ----------
    measure : Measure
        Of a function or of a class; one with options is tried with these. A class is tried with no more options than it must have.
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
        raise AssertionError("\n".join([f"measure {measure} does not hold what it promises:", *(f"* {fault}" for fault in faults)]))


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
        raise OptionError(f"check_measure: found {measure!r}, expected a measure, as idealrank.NDCG(cutoff=10)")
    cls = type(measure)
    stated = [f"class fact {fault}" for fault in missing_facts(cls)] + _undeclared(cls)
    faults = stated or [*_text_faults(measure), *_two_with_one_text(measure)]
    if stated or cls.needs or cls.kind != "per query" or cls.aggregate == "text":
        return faults
    measure = promises.unrounded(measure)
    crash = _broken(promises.ANY_INPUT, measure, max_examples)
    if crash:
        return [*faults, *crash]
    for promise in promises.PROMISES:
        if promise.applies(measure):
            faults += _broken(promise, measure, max_examples)
    return faults


def _undeclared(cls: type[Measure]) -> list[str]:
    """Options that are annotated but are no fields, since the class was not made a dataclass; names that are taken."""
    known = {field.name for field in fields(cls)}
    annotated = {name for name, hint in inspect.get_annotations(cls).items() if not str(hint).startswith(("ClassVar", "typing.ClassVar"))}
    faults = [
        f"option {name} is no part of the measure; put @dataclass(frozen=True, kw_only=True) above the class, "
        "or ClassVar in its annotation if it is a fact"
        for name in sorted(annotated - known - set(dir(Measure)))
    ]
    listed = cls.name if cls.name in MEASURES else SPELLINGS.get(cls.name.lower(), "")
    if listed and MEASURES[listed] is not cls:
        faults.append(f"the name {cls.name} is that of the listed measure {listed}")
    return faults


def _text_faults(measure: Measure) -> list[str]:
    text, twin = str(measure), replace(measure)
    faults = []
    if twin != measure or hash(twin) != hash(measure) or str(twin) != text:
        faults.append("a copy of it is not equal to it, or has another hash or text")
    if not text.startswith(measure.name) or any(letter.isspace() for letter in text + measure.trec_name):
        faults.append(f"its text {text!r} or trec name {measure.trec_name!r} has blanks, or does not begin with its name {measure.name!r}")
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


def _broken(promise: promises.Promise, measure: Measure, max_examples: int) -> list[str]:
    """The promise and the smallest input on which it does not hold; nothing when it holds."""

    def complaint(case: promises.Case) -> str:
        try:
            return promise.fault(measure, case)
        except Exception as error:  # noqa: BLE001  (whatever a user's measure raises is what it is told)
            return str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"

    rng = Random(0)  # noqa: S311  (the same input each time)
    case = next((case for case in (promises.drawn(rng, measure, promise) for _ in range(max_examples)) if complaint(case)), None)
    smaller = case
    while smaller is not None:
        case = smaller
        smaller = next((less for less in case.smaller() if complaint(less)), None)
    return [] if case is None else [f"{promise.broken}: {complaint(case)}; {case}"]
