"""Simulate a shop: a click log, decisions with rewards, two rankers, an interleaving test and an
A/B test, with known truth.

``python examples/shop-clicks/shop.py FOLDER`` writes the files; the same options give the same
bytes.
"""

import argparse
import csv
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from idealrank.clicks import Sessions, interleave, simulate

QUERIES, DOCUMENTS, RANKS = 40, 10, 6
EXAMINED = 1 / np.arange(1, RANKS + 1)  # probability that a user looks at each rank
TEMPERATURE = 0.7  # of the ranker that made the log: it shows better results first, but not always
# lists of a faulty log; of a program that clicks on everything in it; and logged twice
FAULTY, PROGRAM, TWICE = 500, 30, 12


@dataclass(frozen=True)
class Shop:
    """Truth that only a simulation has, and the scores of two rankers."""

    attractiveness: np.ndarray  # of each query and document: probability of a click when examined
    old: np.ndarray
    new: np.ndarray

    @classmethod
    def of(cls, seed: int) -> "Shop":
        """The new ranker makes half as large errors as the old one."""
        rng = np.random.default_rng(seed)
        truth = rng.beta(1, 3, (QUERIES, DOCUMENTS))
        noise = rng.standard_normal((2, QUERIES, DOCUMENTS))
        return cls(truth, 4 * truth + noise[0], 4 * truth + 0.5 * noise[1])

    def first_click_rate(self, scores: np.ndarray) -> float:
        """True rate of clicks on the first result, where each query is asked as often."""
        return float(
            np.take_along_axis(self.attractiveness, scores.argmax(axis=1)[:, None], axis=1).mean()
        )

    def rankings(self, scores: np.ndarray) -> list[list[str]]:
        return [[f"d{document}" for document in np.argsort(-row)] for row in scores]


def log_of(shop: Shop, lists: int, seed: int) -> Sessions:
    """Lists of the old ranker, in an order drawn by its scores."""
    return simulate(
        shop.attractiveness,
        lists,
        ranks=RANKS,
        propensity=EXAMINED,
        policy="plackett-luce",
        scores=shop.old,
        temperature=TEMPERATURE,
        users=max(lists // 5, 1),
        rng=seed,
    )


def log_rows(log: Sessions) -> Iterable[Sequence[object]]:
    """A row for each result shown."""
    for row in range(len(log)):
        query = log.queries[log.query[row]]
        for rank, (pair, click) in enumerate(zip(log.pair[row], log.clicks[row], strict=True), 1):
            yield (
                f"s{row}",
                f"q{query}",
                f"d{log.documents[pair][1]}",
                rank,
                int(click),
                f"u{log.user[row]}",
            )


def faulty_rows(log: Sessions) -> Iterable[Sequence[object]]:
    """Make the rows as untidy as real logs: some lists are logged twice, and a program clicks on
    everything.
    """
    rows = list(log_rows(log))
    yield from rows
    yield from rows[: TWICE * RANKS]
    yield from ((f"p{row[0]}", *row[1:4], 1, "program") for row in rows[: PROGRAM * RANKS])


def decisions(shop: Shop, log: Sessions) -> Iterable[Sequence[object]]:
    """The first result of each list: its click, the probability with which it was shown there, and
    whether either ranker would.
    """
    best = [scores.argmax(axis=1) for scores in (shop.old, shop.new)]
    for row in range(len(log)):
        query, document = int(log.queries[log.query[row]]), int(log.documents[log.pair[row, 0]][1])
        same = [int(document == one[query]) for one in best]
        yield int(log.clicks[row, 0]), f"{log.propensity[row, 0]:.9g}", *same, f"u{log.user[row]}"


def predictions(shop: Shop, log: Sessions) -> Iterable[Sequence[float]]:
    """Of each list, a model's click rates of its first result, of that of the old ranker and of
    that of the new one: smoothed rates of the other half of the lists, so that no list predicts
    itself.
    """
    first = np.array([int(log.documents[pair][1]) for pair in log.pair[:, 0]])
    query = np.array([int(log.queries[number]) for number in log.query])
    half = np.arange(len(log)) % 2
    rates = np.zeros((2, QUERIES, DOCUMENTS))
    for side in (0, 1):
        shown, clicked = np.zeros((2, QUERIES, DOCUMENTS))
        np.add.at(shown, (query[half != side], first[half != side]), 1)
        np.add.at(clicked, (query[half != side], first[half != side]), log.clicks[half != side, 0])
        rates[side] = (clicked + 0.3 * 5) / (shown + 5)  # five lists with the usual rate
    for side, asked, shown_first in zip(half.tolist(), query.tolist(), first.tolist(), strict=True):
        old, new = (int(scores[asked].argmax()) for scores in (shop.old, shop.new))
        yield tuple(
            round(float(rates[side, asked, document]), 6) for document in (shown_first, old, new)
        )


def places(shop: Shop, log: Sessions, length: int = 3) -> Iterable[Sequence[object]]:
    """The first places of each list, with the probability of each document there, given those
    above, by both rankers in drawn order.
    """
    for row in range(len(log)):
        query = int(log.queries[log.query[row]])
        odds = np.exp(shop.new[query] / TEMPERATURE)
        left = odds.sum()
        for rank in range(length):
            document = int(log.documents[log.pair[row, rank]][1])
            yield (
                f"s{row}",
                rank + 1,
                int(log.clicks[row, rank]),
                f"{log.propensity[row, rank]:.9g}",
                f"{odds[document] / left:.9g}",
                f"u{log.user[row]}",
            )
            left -= odds[document]


def ubi(log: Sessions) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """The log as User Behavior Insights has it: queries with their results, and events; one click
    in five ends in a purchase.
    """
    queries, events = [], []
    for row in range(len(log)):
        documents = [f"d{log.documents[pair][1]}" for pair in log.pair[row]]
        queries.append(
            {
                "query_id": f"s{row}",
                "client_id": f"u{log.user[row]}",
                "user_query": f"q{log.queries[log.query[row]]}",
                "query_response_hit_ids": documents,
            }
        )
        for rank in np.flatnonzero(log.clicks[row]).tolist():
            actions = ["click", *(["purchase"] if (row + rank) % 5 == 0 else [])]
            events += [
                {
                    "action_name": name,
                    "query_id": f"s{row}",
                    "client_id": f"u{log.user[row]}",
                    "event_attributes": {
                        "object": {"object_id": documents[rank]},
                        "position": {"ordinal": rank + 1},
                    },
                }
                for name in actions
            ]
    return queries, events


def clicks_on(
    shop: Shop, query: int, documents: Sequence[str], rng: np.random.Generator
) -> np.ndarray:
    attracted = shop.attractiveness[query, [int(document[1:]) for document in documents]]
    return rng.random(len(documents)) < attracted * EXAMINED[: len(documents)]


def outcomes(shop: Shop, lists: int, seed: int) -> Iterable[Sequence[object]]:
    """Team-draft lists of both rankers, and what users of them preferred: 1 for the new ranker, -1
    for the old one.
    """
    rng = np.random.default_rng([seed, 1])
    old, new = shop.rankings(shop.old), shop.rankings(shop.new)
    for number in range(lists):
        query = int(rng.integers(QUERIES))
        mixed = interleave(old[query], new[query], length=RANKS, rng=rng)
        yield mixed.preference(clicks_on(shop, query, mixed.documents, rng)), f"u{number}"


def experiment(
    shop: Shop, users: int, seed: int
) -> Iterable[tuple[str, str, int, int, list[str], np.ndarray]]:
    """Users of either ranker, each with a few lists: cohort, user, visit, query, documents and
    their clicks.
    """
    rng = np.random.default_rng([seed, 2])
    rankings = {"A": shop.rankings(shop.old), "B": shop.rankings(shop.new)}
    for user in range(users):
        cohort = "AB"[int(rng.integers(2))]
        for visit in range(1, int(rng.integers(1, 4)) + 1):
            query = int(rng.integers(QUERIES))
            shown = rankings[cohort][query][:RANKS]
            yield cohort, f"u{user}", visit, query, shown, clicks_on(shop, query, shown, rng)


def write(path: Path, titles: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(titles)
        writer.writerows(rows)


def write_run(path: Path, scores: np.ndarray) -> None:
    with path.open("w", encoding="utf-8") as file:
        for query, row in enumerate(scores):
            for rank, document in enumerate(np.argsort(-row), 1):
                file.write(f"q{query} Q0 d{document} {rank} {row[document]:.6f} {path.stem}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--lists", type=int, default=6000, help="lists in the log, and in the interleaving test"
    )
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    shop = Shop.of(asked.seed)
    log = log_of(shop, asked.lists, asked.seed)
    asked.folder.mkdir(parents=True, exist_ok=True)
    shown = ["session", "query", "document", "rank", "click", "user"]
    write(asked.folder / "log.csv", shown, log_rows(log))
    write(
        asked.folder / "faulty.csv",
        shown,
        faulty_rows(log.select(np.arange(min(asked.lists, FAULTY)))),
    )
    decided = ["click", "logged_probability", "target", "target_b", "user"]
    write(asked.folder / "rewards.csv", decided, decisions(shop, log))
    predicted = ["predicted_logged", "predicted_target", "predicted_target_b"]
    joined = (
        [*row, *own] for row, own in zip(decisions(shop, log), predictions(shop, log), strict=True)
    )
    write(asked.folder / "predicted.csv", [*decided, *predicted], joined)
    write(
        asked.folder / "places.csv",
        ["list", "rank", "click", "logged_probability", "target_probability", "user"],
        places(shop, log),
    )
    for name, records in zip(("ubi_queries", "ubi_events"), ubi(log), strict=True):
        (asked.folder / f"{name}.jsonl").write_text(
            "".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8"
        )
    write(
        asked.folder / "outcomes.csv",
        ["preference", "user"],
        outcomes(shop, asked.lists, asked.seed),
    )
    visits = list(experiment(shop, asked.lists // 2, asked.seed))
    rows = (
        (cohort, user, int(clicks.sum()), visit) for cohort, user, visit, _, _, clicks in visits
    )
    write(asked.folder / "experiment.csv", ["cohort", "user", "clicks", "visit"], rows)
    lists = (
        (f"s{number}", f"q{query}", document, rank, int(click), user, cohort, visit)
        for number, (cohort, user, visit, query, documents, clicks) in enumerate(visits)
        for rank, (document, click) in enumerate(zip(documents, clicks, strict=True), 1)
    )
    write(asked.folder / "experiment_log.csv", [*shown, "cohort", "visit"], lists)
    write_run(asked.folder / "old.run", shop.old)
    write_run(asked.folder / "new.run", shop.new)
    rates = [shop.first_click_rate(scores) for scores in (shop.old, shop.new)]
    print(
        f"true click rate of the first result: old {rates[0]:.4f}, new {rates[1]:.4f}, "
        f"difference {rates[1] - rates[0]:+.4f}"
    )


if __name__ == "__main__":
    main()
