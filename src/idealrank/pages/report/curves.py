"""A measure at many cutoffs: all of them in one evaluation of each run."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from idealrank.analysis.comparison import RunMean
from idealrank.errors import IdealrankError
from idealrank.measures.measure import Measure
from idealrank.reports.subject import CutoffCurve

CUTOFFS = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000)
_MOST = 3  # families of measures


def families(measures: Sequence[Measure]) -> dict[str, dict[int, Measure]]:
    """Measures at rising cutoffs, by the text of the measure without one: of the first three
    families that take a cutoff.

    Examples
    --------
    >>> from idealrank.measures.parse import parse_measures
    >>> found = families(parse_measures(["nDCG@7", "nDCG", "P@10", "NumRel"]))
    >>> list(found), [str(one) for one in found["nDCG"].values()][3:6]
    (['nDCG', 'P'], ['nDCG@5', 'nDCG@7', 'nDCG@10'])
    """
    found: dict[str, dict[int, Measure]] = {}
    for measure in measures:
        if (
            measure.cuts == "none"
            or measure.aggregate != "mean"
            or not isinstance(measure.cutoff, int | None)
        ):
            continue
        name = str(measure).removesuffix(f"@{measure.cutoff}")
        cutoffs = {
            *CUTOFFS,
            *([] if measure.cutoff is None else [measure.cutoff]),
            *found.get(name, ()),
        }
        try:
            at = {cutoff: replace(measure, cutoff=cutoff) for cutoff in sorted(cutoffs)}
        except (TypeError, IdealrankError):  # a user's measure with other arguments
            continue
        if name in found or len(found) < _MOST:
            found[name] = at
    return found


def curves(
    wanted: Mapping[str, Mapping[int, Measure]],
    means: Mapping[str, Mapping[str, RunMean]],
    depth: int,
) -> tuple[CutoffCurve, ...]:
    """The curves of every run, as deep as the longest list; curves of fewer than two cutoffs are
    left out.
    """
    found = []
    for name, at in wanted.items():
        cutoffs = tuple(cutoff for cutoff in at if cutoff <= depth)
        texts = [str(at[cutoff]) for cutoff in cutoffs]
        if len(cutoffs) > 1:
            found.append(
                CutoffCurve(
                    measure=name,
                    cutoffs=cutoffs,
                    means={run: tuple(of[text] for text in texts) for run, of in means.items()},
                )
            )
    return tuple(found)
