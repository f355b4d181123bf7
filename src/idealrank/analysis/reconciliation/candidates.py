"""Which conventions may stand behind a number: the presets, and changes of one or two switches."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from idealrank.analysis.reconciliation.trials import Candidate, Trials
from idealrank.conventions import PRESETS, SWITCHES, Convention
from idealrank.conventions.switches import ROWS
from idealrank.errors import OptionError
from idealrank.measures.cutoffs import Cutoff
from idealrank.measures.dcg import NDCG
from idealrank.measures.measure import Measure

CUTOFFS: tuple[Cutoff | None, ...] = (None, 1, 3, 5, 10, 20, 50, 100, 1000)


def named_candidates(trials: Trials, measure: Measure, current: Convention) -> list[tuple[Candidate, tuple[str, ...]]]:
    """The current convention and every preset, those that are one for this measure under all their names.

    Examples
    --------
    >>> from idealrank.data.lists import Lists
    >>> from idealrank.measures.parse import parse_measure
    >>> trials = Trials.of_lists(Lists.from_arrays([1, 0], [0.2, 0.1]))
    >>> [names for _, names in named_candidates(trials, parse_measure("RR"), Convention.of("lightgbm"))][3:5]
    [('trec_eval-10,ties=expected', 'trec_eval,ties=expected'), ('ranx', 'ranx-burges')]
    """
    groups: dict[tuple[tuple[str, str], ...], tuple[Candidate, list[str]]] = {}
    for convention in (current, *PRESETS.values()):
        candidate = Candidate(trials.adapt(convention))
        _, names = groups.setdefault(trials.signature(candidate, measure), (candidate, []))
        if candidate.base.name not in names:
            names.append(candidate.base.name)
    return [(candidate, tuple(names)) for candidate, names in groups.values()]


def switch_values(trials: Trials, measure: Measure) -> dict[str, tuple[str, ...]]:
    """The values worth trying of each switch that can matter to this measure on data of this kind.

    Examples
    --------
    >>> from idealrank.data.lists import Lists
    >>> from idealrank.measures.parse import parse_measure
    >>> switch_values(Trials.of_lists(Lists.from_arrays([1, 0], [0.2, 0.1])), parse_measure("RR"))["ties"]
    ('input', 'expected', 'best', 'worst')
    """
    values = {switch: ROWS[switch].tried for switch in trials.relevant(measure)}
    if isinstance(measure, NDCG) and "discount" in values:
        values["discount"] = tuple(discount for discount in values["discount"] if not discount.startswith("log("))
    if trials.arrays:
        values["ties"] = tuple(ties for ties in values["ties"] if not ties.startswith("docid"))
    return values


def switch_changes(bases: Iterable[Candidate], values: Mapping[str, Sequence[str]], count: int) -> Iterator[Candidate]:
    """Every base with `count` of the switches changed, base after base, the rules before the alignment.

    Examples
    --------
    >>> base, values = Candidate(Convention.of("standard")), {"score": ["float64", "float32"], "gain": ["linear", "exp2"]}
    >>> [changed.convention.name for changed in switch_changes([base], values, 1)]
    ['standard,gain=exp2', 'standard,score=float32']
    """
    ordered = sorted(values, key=SWITCHES.index, reverse=True)
    for base in bases:
        for chosen in combinations(ordered, count):
            yield from _assignments(base, chosen, values)


def _assignments(base: Candidate, switches: Sequence[str], values: Mapping[str, Sequence[str]]) -> Iterator[Candidate]:
    if not switches:
        yield base
        return
    first, *rest = switches
    for value in values[first]:
        if value not in ("error", base.switches[first]):
            yield from _assignments(base.changed((first, value)), rest, values)


def other_cutoffs(measure: Measure) -> list[Measure]:
    """The measure at the other usual cutoffs, those nearest to its own first, the whole list last.

    Examples
    --------
    >>> from idealrank.measures.parse import parse_measure
    >>> [str(measure) for measure in other_cutoffs(parse_measure("P@10"))][:3]
    ['P@5', 'P@20', 'P@3']
    """
    own = measure.cutoff if isinstance(measure.cutoff, int) else max(cutoff for cutoff in CUTOFFS if isinstance(cutoff, int))
    others = [cutoff for cutoff in CUTOFFS if cutoff != measure.cutoff]
    others.sort(key=lambda cutoff: max(cutoff / own, own / cutoff) if isinstance(cutoff, int) else float("inf"))
    return [changed for cutoff in others if (changed := _with_cutoff(measure, cutoff)) is not None]


def _with_cutoff(measure: Measure, cutoff: Cutoff | None) -> Measure | None:
    try:
        return replace(measure, cutoff=cutoff)
    except OptionError:  # P must have a cutoff, counts have none
        return None
