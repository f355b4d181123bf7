"""Documents that may not count vanish from a list before its ranks are given: the kernel against
lists that were cleaned line by line beforehand.
"""

import random
from typing import Any

import numpy as np
import pytest

from idealrank import _kernel

Lists = dict[str, list[str]]
COLUMNS = ("hit_row", "hit_rank", "length", "judged", "first_unjudged", "tied")


def table(documents: Lists) -> _kernel.Table:
    return _kernel.from_mapping(documents)


def text(lists: dict[str, dict[str, float]]) -> _kernel.Text:
    """A run as text, whose lines of a query do not stand together."""
    lines = [
        f"{query} Q0 {document} 1 {score!r} tag"
        for query, scores in lists.items()
        for document, score in scores.items()
    ]
    return _kernel.Text(["\n".join(sorted(lines, key=len)).encode()], "run")


def random_case(seed: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]], Lists]:
    """Judgments, a run with ties, and sets of documents that overlap both."""
    dice = random.Random(seed)
    queries = [f"q{number}" for number in range(6)]
    names = [*(f"d{number}" for number in range(12)), *queries]
    judged = {query: dict.fromkeys(dice.sample(names, 6), 1) for query in queries[:5]}
    run = {
        query: {document: float(dice.randrange(5)) for document in dice.sample(names, 9)}
        for query in queries[1:]
    }
    sets = {query: dice.sample(names, dice.randrange(1, 9)) for query in dice.sample(queries, 4)}
    return judged, run, sets


def without(
    run: dict[str, dict[str, float]], sets: Lists, *, keeps_members: bool
) -> dict[str, dict[str, float]]:
    """The run with only the members of its sets, or with only the others."""
    return {
        query: {
            document: score
            for document, score in scores.items()
            if (document in sets.get(query, ())) == keeps_members
        }
        for query, scores in run.items()
    }


def assert_same(screened: _kernel.Aligned, cleaned: _kernel.Aligned) -> None:
    for column in COLUMNS:
        assert getattr(screened, column).tolist() == getattr(cleaned, column).tolist(), column


@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize("option", ["excluded", "permitted"])
def test_a_list_is_ranked_as_if_it_never_held_them(*, option: str, as_text: bool) -> None:
    for seed in range(60):
        judged, run, sets = random_case(seed)
        qrels = _kernel.from_mapping(judged)
        source: Any = text(run) if as_text else _kernel.from_mapping(run)
        cleaned = without(run, sets, keeps_members=option == "permitted")
        cleaned_source: Any = text(cleaned) if as_text else _kernel.from_mapping(cleaned)
        if as_text and not all(cleaned.values()):
            continue  # a text cannot hold a query without lines

        options: Any = {option: _kernel.DocumentSets(table(sets))}
        screened = _kernel.align(qrels, source, ties="descending", **options)

        assert_same(screened, _kernel.align(qrels, cleaned_source, ties="descending"))
        lost = sum(map(len, run.values())) - sum(map(len, cleaned.values()))
        counted = screened.excluded if option == "excluded" else screened.breaches
        assert counted.sum() == lost


def test_one_set_for_all_is_that_set_for_each() -> None:
    for seed in range(30):
        judged, run, sets = random_case(seed)
        shared = next(iter(sets.values()))
        for option in ("excluded", "permitted"):
            one, each = (
                _kernel.align(
                    _kernel.from_mapping(judged),
                    _kernel.from_mapping(run),
                    ties="descending",
                    **{option: documents},  # type: ignore[arg-type]
                )
                for documents in (
                    _kernel.DocumentSets(table({"*": shared}), for_all=True),
                    _kernel.DocumentSets(table(dict.fromkeys(run, shared))),
                )
            )
            assert_same(one, each)
            assert one.breaches.tolist() == each.breaches.tolist()


def test_a_query_may_be_in_several_groups() -> None:
    sets = _kernel.DocumentSets(
        table({"staff": ["a", "b"], "sales": ["b", "c"]}),
        table({"q1": ["staff", "sales"], "q2": ["staff"]}),
    )
    run = table({"q1": ["a", "b", "c", "d"], "q2": ["a", "b", "c"], "q3": ["a"]})

    aligned = _kernel.align(
        table({"q1": ["d"], "q2": ["b"], "q3": ["a"]}), run, ties="input", permitted=sets
    )

    assert aligned.length.tolist() == [3, 2, 0]
    assert aligned.breaches.tolist() == [1, 1, 1]


@pytest.mark.parametrize("duplicates", ["first", "twice"])
def test_a_document_with_the_id_of_its_query(duplicates: Any) -> None:
    run = _kernel.from_columns(
        ["q", "q", "q", "q"], ["a", "q", "b", "q"], scores_falling(4), duplicates="keep"
    )

    kept, dropped = (
        _kernel.align(
            table({"q": ["b"]}), run, ties="input", duplicates=duplicates, drop_identical=drops
        )
        for drops in (False, True)
    )

    times = 2 if duplicates == "twice" else 1
    assert kept.identical.tolist() == dropped.identical.tolist() == [times]
    assert kept.length.tolist() == [2 + times]
    assert dropped.length.tolist() == [2]
    assert dropped.hit_rank.tolist() == [2]


def test_what_is_excluded_is_no_breach() -> None:
    aligned = _kernel.align(
        table({"q": ["a"]}),
        table({"q": ["x", "a", "y"]}),
        ties="input",
        excluded=_kernel.DocumentSets(table({"q": ["x"]})),
        permitted=_kernel.DocumentSets(table({"q": ["a"]})),
    )

    assert (aligned.excluded.tolist(), aligned.breaches.tolist()) == ([1], [1])


def test_sets_for_all_have_one_query() -> None:
    with pytest.raises(ValueError, match="a table of one query"):
        _kernel.DocumentSets(table({"p": ["a"], "q": ["a"]}), for_all=True)


def scores_falling(n: int) -> Any:
    """Scores n, n - 1, ..., 1."""

    return np.arange(n, 0, -1, dtype=np.float64)
