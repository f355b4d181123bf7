"""pyNTCIREVAL by the texts of our measures, and random topics for it."""

import random
from collections.abc import Callable, Sequence
from typing import Any, TypedDict

Metric = Callable[[list[int], list[float]], Any]
"""A metric from the number of judged documents of each level and the gains of the levels from 1
on.
"""

GAINS = {"linear": [1, 2, 3], "exp2": [1, 3, 7]}


class Topic(TypedDict):
    """Levels of the judged documents, and what was returned, best first."""

    judged: dict[str, int]
    ranked: list[str]


def topics(seed: int, count: int) -> list[Topic]:
    """Random topics with unjudged documents, judged ones that were not returned, and one relevant
    document at least.
    """
    rng = random.Random(seed)
    found: list[Topic] = []
    while len(found) < count:
        documents = [f"d{number}" for number in range(rng.randint(3, 40))]
        judged = {
            document: rng.choice([0, 0, 1, 1, 2, 3]) for document in documents if rng.random() < 0.7
        }
        ranked = rng.sample(documents, rng.randint(1, len(documents)))
        if any(judged.values()) and judged.keys() & set(ranked):
            found.append({"judged": judged, "ranked": ranked})
    return found


def metrics(gain: str) -> dict[str, Metric]:
    """What the peer computes with these gains, by the text of our measure."""
    from pyNTCIREVAL import metrics as peer

    option = "" if gain == "linear" else f"gain={gain}"

    def text(name: str, *options: str, cutoff: int | None = None) -> str:
        return (
            name
            + (f"({','.join(filter(None, options))})" if any(options) else "")
            + (f"@{cutoff}" if cutoff else "")
        )

    calls: dict[str, Metric] = {}
    for beta in (0, 1, 10):
        weight = "" if beta == 1 else f"beta={beta}"
        calls[text("O", weight, option)] = lambda levels, gains, beta=beta: peer.OMeasure(
            levels, gains, beta
        )
        calls[text("P+", weight, option)] = lambda levels, gains, beta=beta: peer.PPlusMeasure(
            levels, gains, beta
        )
        calls[text("NCU", weight, option)] = lambda levels, gains, beta=beta: peer.NCUguBR(
            levels, gains, gains, beta
        )
        for gamma in (0.5, 0.95):
            calls[text("NCU", weight, option, f"gamma={gamma}", "stop=rank-biased")] = (
                lambda levels, gains, beta=beta, gamma=gamma: peer.NCUrbBR(
                    levels, gains, gamma, beta
                )
            )
        for cutoff in (None, 1, 5, 10):
            calls[text("Q", weight, option, cutoff=cutoff)] = (
                lambda levels, gains, beta=beta, cutoff=cutoff: peer.QMeasure(
                    levels, gains, beta, cutoff
                )
            )
    calls[text("NCUguP", option)] = lambda levels, gains: peer.NCUguP(levels, gains, gains)
    calls[text("NCU", option, "stops={0:0,1:1,2:5,3:6}")] = lambda levels, gains: peer.NCUguBR(
        levels, gains, [1, 5, 6], 1
    )
    calls[text("NCUrbP", option)] = lambda levels, gains: peer.NCUrbP(levels, gains, 0.95)
    for cutoff in (None, 1, 5, 10):
        calls[text("nERR", option, "max_rel=3", cutoff=cutoff)] = (
            lambda levels, gains, cutoff=cutoff: peer.nERR(levels, gains, cutoff)
        )
        calls[text("MSnDCG", option, cutoff=cutoff)] = lambda levels, gains, cutoff=cutoff: (
            peer.MSnDCG(levels, gains, cutoff)
        )
    return calls


def peer_values(topic: Topic) -> dict[str, float]:
    """Every metric of a topic, by the text of our measure."""
    levels = [sum(level == wanted for level in topic["judged"].values()) for wanted in range(4)]
    ranked: Sequence[tuple[str, int | None]] = [
        (document, topic["judged"].get(document)) for document in topic["ranked"]
    ]
    return {
        text: float(make(levels, gains).compute(ranked))
        for gain, gains in GAINS.items()
        for text, make in metrics(gain).items()
    }
