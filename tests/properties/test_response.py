"""How values respond to grades, with any options; bounds of values rest on it
(`idealrank.judging.bounds`).
"""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import settings

from idealrank.conventions import Convention
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.evaluation.evaluate import evaluate
from idealrank.measures import MEASURES
from idealrank.measures.measure import Measure
from idealrank.testing.strategies import option_values
from tests.golden.harness import quietly
from tests.properties.refusals import within_offer

STATED = [name for name, cls in MEASURES.items() if cls.response != "unknown"]
LISTS = settings().max_examples


def instances(name: str, rng: np.random.Generator) -> list[Measure]:
    """Some choices of options that keep the response of the class."""
    cls = MEASURES[name]
    values = {
        option: given for option, given in option_values(cls).items() if option != "judged_only"
    }
    found = []
    for _ in range(4):
        try:
            one = cls(
                **{option: given[int(rng.integers(len(given)))] for option, given in values.items()}
            )
        except ValueError:  # not every option goes with every other
            continue
        plain = getattr(one, "rounding", None) in (None, "none") and getattr(
            one, "no_relevant", None
        ) in (None, "zero", "quotient")
        if plain and one.response != "unknown" and getattr(one, "ideal", None) != "returned":
            found.append(one)
    return found


@pytest.mark.parametrize("name", STATED)
def test_values_respond_to_grades_as_their_class_says(name: str) -> None:
    rng = np.random.default_rng([*name.encode()])
    for measure in instances(name, rng):
        for ties in ("docid", "expected", "best", "worst"):
            convention = within_offer(
                measure, Convention.of("standard", ties=ties), instead="worst"
            )
            qrels: dict[str, dict[str, float]] = {}
            run: dict[str, dict[str, float]] = {}
            # the value of the first is at most that of the second
            least: list[tuple[str, str]] = []
            for number in range(LISTS):
                _add_list(rng, str(number), measure.response, convention, qrels, run, least)
            values = quietly(evaluate, Qrels(qrels), Run(run), measure, convention).per_query()
            of = {query: float(next(iter(row.values()))) for query, row in values.items()}
            for lower, higher in least:
                assert of[lower] <= of[higher] + 1e-11, (
                    str(measure),
                    ties,
                    qrels[lower],
                    qrels[higher],
                    run[lower],
                )


def _add_list(
    rng: np.random.Generator,
    name: str,
    response: str,
    convention: Convention,
    qrels: dict[str, dict[str, float]],
    run: dict[str, dict[str, float]],
    least: list[tuple[str, str]],
) -> None:
    """A list with judged and unjudged documents, judged ones outside it, and each change that must
    not lower the value.
    """
    size = int(rng.integers(1, 8))
    scores = dict(
        zip(
            (f"d{place}" for place in range(size)),
            np.sort(rng.integers(0, 4, size))[::-1].astype(float).tolist(),
            strict=True,
        )
    )
    grades = {
        document: float(rng.integers(0, 4) * (rng.random() < 0.7))
        for document in scores
        if rng.random() < 0.75
    }
    grades |= {
        f"o{place}": float(rng.integers(0, 4)) for place in range(int(rng.integers(0, 3)))
    } | {"z": 0.0}
    ranking = Run({"q": scores}).ranking("q", convention.alignment)
    ranks = (
        ranking.first.tolist()
        if convention.alignment.ties in ("expected", "best", "worst")
        else range(1, size + 1)
    )
    place = dict(zip(ranking.documents, ranks, strict=True))

    def add(changed: dict[str, float]) -> str:
        query = f"{name}:{len(qrels)}"
        qrels[query], run[query] = changed, scores
        return query

    base = add(grades)
    if response in ("upward", "first", "precision"):
        for low, high in permutations(grades, 2):
            if (
                high in place
                and place[high] < place.get(low, size + 1)
                and grades[high] < grades[low]
            ):
                least.append((base, add({**grades, high: grades[low], low: grades[high]})))
    if response in ("rising", "first"):
        for document, grade in grades.items():
            if grade < 3:
                changed = add({**grades, document: grade + 1})
                least.append((base, changed))
                if document not in place:  # and nothing else changes
                    least.append((changed, base))
