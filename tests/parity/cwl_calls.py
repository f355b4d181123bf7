"""cwl-eval called as a library: its numbers of lists of gains, for each measure of ours that it has
too.
"""

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

Gains = Sequence[float | None]
"""Gains by rank, None for a document that nobody judged."""

NUMBERS = ("EU", "ETU", "EC", "ETC", "ED")
# Our text, and how cwl-eval's class of the measure is made. TBG's second entry has documents that
# cost 8 seconds, or 20 where relevant.
MEASURES_OF_BOTH: dict[str, Callable[[Any], Any]] = {
    "RBP(p=0.8,max_rel=3)": lambda cwl: cwl.RBPCWLMetric(0.8),
    "RBP(p=0.95,max_rel=3)": lambda cwl: cwl.RBPCWLMetric(0.95),
    "GP(max_rel=3)@1": lambda cwl: cwl.PrecisionCWLMetric(1),
    "GP(max_rel=3)@10": lambda cwl: cwl.PrecisionCWLMetric(10),
    "SDCG(max_rel=3)@5": lambda cwl: cwl.NDCGCWLMetric(5),
    "SDCG(max_rel=3)@20": lambda cwl: cwl.NDCGCWLMetric(20),
    "INSQ(max_rel=3)": lambda cwl: cwl.INSQCWLMetric(1.0),
    "INSQ(T=2.5,max_rel=3)": lambda cwl: cwl.INSQCWLMetric(2.5),
    "INST(max_rel=3)": lambda cwl: cwl.INSTCWLMetric(1.0),
    "INST(T=2.5,max_rel=3)": lambda cwl: cwl.INSTCWLMetric(2.5),
    "INST(T=0.5,max_rel=3)": lambda cwl: cwl.INSTCWLMetric(0.5),
    "BPM(max_rel=3)@10": lambda cwl: cwl.BPMCWLMetric(1.0, 10),
    "BPM(T=2.5,max_rel=3)@20": lambda cwl: cwl.BPMCWLMetric(2.5, 20),
    "NERR8(max_rel=3)@10": lambda cwl: cwl.NERReq8CWLMetric(10),
    "NERR9(max_rel=3)@10": lambda cwl: cwl.NERReq9CWLMetric(10),
    "NERR9(max_rel=3)@1000": lambda cwl: cwl.NERReq9CWLMetric(1000),
    "NERR10(max_rel=3)": lambda cwl: cwl.NERReq10CWLMetric(0.9),
    "NERR10(p=0.5,max_rel=3)": lambda cwl: cwl.NERReq10CWLMetric(0.5),
    "NERR11(max_rel=3)": lambda cwl: cwl.NERReq11CWLMetric(1.0),
    "NERR11(T=2.5,max_rel=3)": lambda cwl: cwl.NERReq11CWLMetric(2.5),
    "TBG(max_rel=3)": lambda cwl: cwl.TBGCWLMetric(224),
    "TBG(max_rel=3,halflife=60,cost=8,cost_relevant=20)": lambda cwl: cwl.TBGCWLMetric(60),
}


def numbers(text: str, grades: Gains) -> dict[str, float]:
    """cwl-eval's five numbers of a list of grades from 0 to 3, and their residuals."""
    from cwl.ruler import cwl_ruler
    from cwl.ruler.ranking import Ranking

    unequal = "cost" in text
    cheap, dear = (8.0, 20.0) if unequal else (1.0, 1.0)
    gains = [math.nan if grade is None else grade / 3 for grade in grades]
    costs = [math.nan if math.isnan(gain) else cheap + (dear - cheap) * gain for gain in gains]
    # An unjudged document costs what an irrelevant one does, and in the best case what a relevant
    # one does.
    ranking = Ranking("q", gains, costs, max_gain=1.0, min_gain=0.0, max_cost=cheap, min_cost=dear)
    metric = MEASURES_OF_BOTH[text](cwl_ruler)
    metric.residuals = True
    metric.measure(ranking)
    values = metric.get_scores()
    found = dict(zip(("EU", "ETU", "EC", "ETC", "ED"), values, strict=True))
    residuals = (
        metric.residual_expected_utility,
        metric.residual_expected_total_utility,
        metric.residual_expected_cost,
        metric.residual_expected_total_cost,
        metric.residual_expected_items,
    )
    found |= {f"residual-{name}": value for name, value in zip(NUMBERS, residuals, strict=True)}
    return {name: float(value) for name, value in found.items()}


def lists(seed: int, count: int) -> dict[str, Gains]:
    """Lists of all lengths, some deeper than cwl-eval looks; with many, some and no relevant or
    judged documents.
    """
    draw = random.Random(seed)
    found: dict[str, Gains] = {
        "none": [],
        "unjudged": [None],
        "one": [3.0],
        "satisfied": [1.0, 2.0, 3.0, 3.0, None, 3.0],
    }
    for number in range(count - len(found)):
        length = draw.choice((2, 5, 12, 40, 200, 1200))
        kinds = draw.choice(
            ((0, 0, 0, 1), (0, 1, 2, 3), (None, None, 0, 1, 2, 3), (None,) * 20 + (0, 0, 1, 2))
        )
        found[f"{number}"] = [
            None if grade is None else float(grade) for grade in draw.choices(kinds, k=length)
        ]
    return found
