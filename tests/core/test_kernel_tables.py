"""Tables from Python's containers and from columns, progress, and lists too long for the slow
twin.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from idealrank._kernel import (
    ColumnTable,
    ParseError,
    Progress,
    Table,
    Text,
    align,
    from_columns,
    from_mapping,
    lint_text,
    rank_query,
    read_text,
)
from tests.conftest import examples


def content(table: Table) -> dict[bytes, list[tuple[bytes, float]]]:
    """The table as plain Python."""
    rows = list(
        zip(table.document_ids(np.arange(table.n_rows)), table.values.tolist(), strict=True)
    )
    return {
        table.query_id(i): rows[table.offsets[i] : table.offsets[i + 1]]
        for i in range(table.n_queries)
    }


class Lazy(Mapping[str, Any]):
    """A mapping that is no dict."""

    def __init__(self, items: dict[str, Any]) -> None:
        self._items = items

    def __getitem__(self, key: str) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)


def test_a_mapping_of_any_ids_and_numbers_is_read_in_its_order() -> None:
    table = from_mapping(
        {
            "q2": {
                "b": 1,
                "a": 2.5,
                "é": True,
                b"raw\xff": np.float32(0.1),
                7: Decimal("0.1"),
                np.int64(8): Fraction(1, 3),
            },
            1: OrderedDict(x=-1),
            b"q3": {},
            "q4": Lazy({"y": np.int8(3)}),
        }
    )
    first = [
        (b"b", 1.0),
        (b"a", 2.5),
        ("é".encode(), 1.0),
        (b"raw\xff", float(np.float32(0.1))),
        (b"7", 0.1),
        (b"8", 1 / 3),
    ]
    assert content(table) == {b"q2": first, b"1": [(b"x", -1.0)], b"q3": [], b"q4": [(b"y", 3.0)]}
    assert content(from_mapping(Lazy({"q": {"a": 1}}))) == {b"q": [(b"a", 1.0)]}
    assert from_mapping({}).n_queries == 0


def test_a_list_of_documents_is_ranked_as_it_stands() -> None:
    table = from_mapping({"q": ["b", "a", "c"], "r": ("x",), "s": []})
    assert content(table) == {
        b"q": [(b"b", 0.0), (b"a", -1.0), (b"c", -2.0)],
        b"r": [(b"x", 0.0)],
        b"s": [],
    }
    assert rank_query(table, 0, ties="descending")[0] == [b"b", b"a", b"c"]


def test_a_query_without_documents_is_in_the_run() -> None:
    aligned = align(
        from_mapping({"q": {"a": 1}, "r": {}}), from_mapping({"q": {}, "z": []}), ties="input"
    )
    assert (aligned.in_run.tolist(), aligned.length.tolist(), aligned.run_only_ids()) == (
        [True, False, True],
        [0, 0, 0],
        [b"z"],
    )


@pytest.mark.parametrize(
    ("mapping", "expected"),
    [
        ({"q": {"a": 1, "": 2}}, ("empty-id", 0, 0, b"q ", b"")),
        ({"": {"a": 1}}, ("empty-id", 0, 0, b" ", b"")),
        ({"q": {"a": float("nan")}}, ("nan", 0, 0, b"q a", b"")),
        ({"q": {1: 1, "1": 2}}, ("duplicate", 0, 0, b"q 1", b"")),
        ({"q": {"a": 1}, b"q": {"a": 2}}, ("duplicate", 0, 0, b"q a", b"")),
        ({"q": ["a", "b", "a"]}, ("duplicate", 0, 0, b"q a", b"")),
        ({"q": {"a\ud800": 1}}, ("utf8", 0, 0, b"a\\ud800", b"")),
    ],
)
def test_what_is_wrong_in_a_mapping_is_told(mapping: Any, expected: tuple[Any, ...]) -> None:
    with pytest.raises(ParseError) as error:
        from_mapping(mapping)
    assert error.value.args == expected


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"q": {"a": "1"}}, "query q, document a: expected a number, found str"),
        ({"q": {"a": None}}, "query q, document a: expected a number, found NoneType"),
        ({"q": "abc"}, "mapping or a list of ids"),
        ({"q": {1.5: 1}}, "an id must be str, bytes or int, not float"),
    ],
)
def test_a_mapping_of_the_wrong_types_is_refused(mapping: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        from_mapping(mapping)


def test_duplicates_of_a_mapping_follow_the_policy() -> None:
    mapping: dict[str, Any] = {"q": ["a", "b", "a"], "r": {1: 1, "1": 3, b"1": 2}}
    assert content(from_mapping(mapping, duplicates="keep"))[b"r"] == [
        (b"1", 1.0),
        (b"1", 3.0),
        (b"1", 2.0),
    ]
    assert content(from_mapping(mapping, duplicates="first")) == {
        b"q": [(b"a", 0.0), (b"b", -1.0)],
        b"r": [(b"1", 1.0)],
    }
    assert content(from_mapping(mapping, duplicates="last")) == {
        b"q": [(b"b", -1.0), (b"a", -2.0)],
        b"r": [(b"1", 2.0)],
    }
    assert content(from_mapping(mapping, duplicates="best")) == {
        b"q": [(b"a", 0.0), (b"b", -1.0)],
        b"r": [(b"1", 3.0)],
    }


def test_ids_come_as_codes_of_a_dictionary_too() -> None:
    offsets, codes = np.array([0, 1, 3], np.int64), np.array([1, 0, 1, 1], np.int32)
    table = from_columns((offsets, b"abc", codes), ["x", "y", "z", "w"], np.arange(4.0))
    assert content(table) == {b"bc": [(b"x", 0.0), (b"z", 2.0), (b"w", 3.0)], b"a": [(b"y", 1.0)]}


@pytest.mark.parametrize("code", [-1, 2])
def test_a_code_outside_its_dictionary_is_refused(code: int) -> None:
    ids = (np.array([0, 1, 3], np.int64), b"abc", np.array([0, code], np.int32))
    with pytest.raises(ValueError, match="id codes must be places of the ids"):
        from_columns(ids, ["x", "y"], np.zeros(2))


@pytest.mark.parametrize("width", [np.int32, np.int64])
def test_many_codes_of_ids_of_any_length_give_the_ids_themselves(width: Any) -> None:
    rng = np.random.default_rng(8)
    ids = [
        b"%d" % number + b"x" * int(size) for number, size in enumerate(rng.integers(0, 40, 300))
    ]
    # the last ids of the bytes, too
    codes = np.concatenate([rng.integers(0, 300, 2000), np.full(300, 299)]).astype(np.int32)
    queries = ["q1"] * 700 + ["q2"] * 900 + ["q1"] * 700
    offsets, data = arrow(ids)
    values = rng.normal(size=2300)
    table = from_columns(queries, (offsets.astype(width), data, codes), values, duplicates="keep")
    coded_queries = (
        *arrow([b"q1", b"q2"]),
        np.array([query == "q2" for query in queries], np.int32),
    )
    in_stretches = from_columns(
        coded_queries, (offsets.astype(width), data, codes), values, duplicates="keep"
    )
    expected = from_columns(
        queries, [ids[code].decode() for code in codes], values, duplicates="keep"
    )
    assert content(table) == content(in_stretches) == content(expected)


@pytest.mark.parametrize(("wrong", "said"), [("nan", "nan"), ("empty", "empty-id")])
def test_the_first_wrong_row_among_many_codes_is_named(wrong: str, said: str) -> None:
    codes, values = np.arange(2000, dtype=np.int32) % 1000, np.zeros(2000)
    ids = [b"d%d" % number for number in range(1000)]
    if wrong == "nan":
        values[1700] = np.nan
    else:
        ids[700] = b""
    queries = (*arrow([b"q"]), np.zeros(2000, np.int32))
    with pytest.raises(ParseError) as error:
        from_columns(queries, (*arrow(ids), codes), values, duplicates="keep")
    assert error.value.args[0] == said
    assert error.value.args[2] == {"nan": 1701, "empty-id": 701}[said]


def arrow(ids: list[bytes]) -> tuple[Any, bytes]:
    """Offsets and data, as Arrow keeps strings."""
    return np.concatenate([[0], np.cumsum([len(name) for name in ids])]).astype(np.int64), b"".join(
        ids
    )


@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from("qrs"),
            st.text(st.characters(codec="utf-8"), min_size=1, max_size=3),
            st.floats(allow_nan=False),
        ),
        max_size=30,
    )
)
@settings(max_examples=examples(100), deadline=None)
def test_every_form_of_columns_gives_the_same_table(rows: list[tuple[str, str, float]]) -> None:
    queries, documents = [row[0] for row in rows], [row[1] for row in rows]
    values = np.array([row[2] for row in rows], np.float64)
    expected: dict[bytes, list[tuple[bytes, float]]] = {}
    for query, document, value in rows:
        expected.setdefault(query.encode(), []).append((document.encode(), value))
    raw = [query.encode() for query in queries], [document.encode() for document in documents]
    packed = arrow(raw[0]), arrow(raw[1])
    narrow = [(offsets.astype(np.int32), data) for offsets, data in packed]
    coded = (
        *arrow([b"s", b"r", b"q"]),
        np.array([b"srq".index(query) for query in raw[0]], np.int32),
    )
    forms: list[tuple[Any, Any]] = [
        (queries, documents),
        (tuple(queries), raw[1]),
        (raw[0], packed[1]),
        packed,
        tuple(narrow),
    ]
    for columns in (
        *forms,
        (coded, narrow[1]),
        (coded, (*packed[1], np.arange(len(rows), dtype=np.int32))),
    ):
        assert content(from_columns(*columns, values, duplicates="keep")) == expected


@pytest.mark.parametrize("whole", [True, False])
def test_pieces_of_columns_give_the_table_of_the_whole(whole: bool) -> None:
    queries, documents, values = (
        ["q", "q", "r", "r", "q"],
        ["a", "bc", "a", "d", "e"],
        np.arange(5.0),
    )
    columns = ColumnTable()
    for first, end in ((0, 1), (1, 1), (1, 3), (3, 5)):
        # Offsets of a slice begin where the slice does, as in Arrow.
        ids = [arrow([name.encode() for name in names]) for names in (queries, documents)]
        pieces: list[Any] = (
            [(offsets[first : end + 1], data) for offsets, data in ids]
            if whole
            else [queries[first:end], documents[first:end]]
        )
        columns.add(*pieces, values[first:end])
    assert content(columns.finish()) == content(from_columns(queries, documents, values))


@pytest.mark.parametrize(
    ("document", "value", "expected"),
    [
        (b"a", 1.0, ("duplicate", 0, 3, b"q a", b"0:1")),
        (b"", 1.0, ("empty-id", 0, 3, b"q ", b"")),
        (b"c", np.nan, ("nan", 0, 3, b"q c", b"")),
    ],
)
def test_rows_of_pieces_count_over_all_pieces(
    document: bytes, value: float, expected: tuple[Any, ...]
) -> None:
    columns = ColumnTable()
    columns.add(arrow([b"q", b"q"]), arrow([b"a", b"b"]), np.zeros(2))

    def rest() -> None:
        columns.add(arrow([b"q"]), arrow([document]), np.array([value]))
        columns.finish()

    with pytest.raises(ParseError) as error:
        rest()
    assert error.value.args == expected


def test_a_finished_table_takes_no_rows() -> None:
    columns = ColumnTable()
    columns.add(["q"], ["a"], np.zeros(1))
    assert columns.finish().n_rows == 1
    for late in (lambda: columns.add(["q"], ["b"], np.zeros(1)), columns.finish):
        with pytest.raises(ValueError, match="the table is finished"):
            late()


def test_two_ids_in_a_tuple_are_two_rows() -> None:
    for ids in [("q", "r"), (b"q", b"r"), (np.int64(1), np.int64(2))]:
        assert from_columns(ids, ids, np.zeros(2)).n_rows == 2  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("queries", "documents", "values", "expected"),
    [
        (["q", "r", "q"], ["a", "a", "a"], [1, 2, 3], ("duplicate", 0, 3, b"q a", b"0:1")),
        (["q", "q"], ["a", ""], [1, 2], ("empty-id", 0, 2, b"q ", b"")),
        (["q", "q"], ["a", "b"], [1, np.nan], ("nan", 0, 2, b"q b", b"")),
        (["q", "\udfff"], ["a", "b"], [1, 1], ("utf8", 0, 2, b"\\udfff", b"")),
    ],
)
def test_what_is_wrong_in_columns_is_told_with_its_row(
    queries: Any, documents: Any, values: list[float], expected: tuple[Any, ...]
) -> None:
    with pytest.raises(ParseError) as error:
        from_columns(queries, documents, np.array(values, np.float64))
    assert error.value.args == expected


@pytest.mark.parametrize(
    ("queries", "documents", "message"),
    [
        (["q"], ["a", "b"], "columns differ in length: 1 queries, 2 documents, 2 values"),
        (arrow([b"q"]), ["a", "b"], "columns differ in length"),
        ((np.array([0, 1, 9]), b"qq"), ["a", "b"], "offsets must rise"),
        ((np.array([0, 2, 1]), b"qq"), ["a", "b"], "offsets must rise"),
        ((np.array([], np.int64), b""), ["a", "b"], "one entry more"),
    ],
)
def test_columns_that_do_not_fit_are_refused(queries: Any, documents: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        from_columns(queries, documents, np.zeros(2))


def test_a_table_answers_for_single_ids() -> None:
    table = from_columns(["q", "r", "q"], ["a", "b", "c"], np.array([1.0, 2.0, 3.0]))
    assert (table.find_query(b"r"), table.find_query(b"x"), table.query_ids()) == (
        1,
        -1,
        [b"q", b"r"],
    )
    assert (table.find_document(0, b"c"), table.find_document(0, b"b"), table.document_id(2)) == (
        1,
        -1,
        b"b",
    )
    with pytest.raises(IndexError):
        table.query_id(2)
    with pytest.raises(IndexError):
        table.document_id(-1)
    with pytest.raises(IndexError):
        rank_query(table, 2, ties="input")


def test_arrays_are_views_that_outlive_their_owner_and_cannot_be_written() -> None:
    values = from_mapping({"q": {"a": 1.0, "b": 2.0}}).values
    assert values.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        values[0] = 3.0


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"ties": "random"}, "ties must be one of descending, ascending, input; found random"),
        (
            {"duplicates": "keep"},
            "duplicates must be one of error, first, last, best, twice; found keep",
        ),
        ({"removed": np.zeros(5, np.uint8)}, "one entry per row"),
        ({"depth": -1}, "depth must not be negative"),
        ({"threads": -1}, "threads must not be negative"),
    ],
)
def test_an_option_of_align_that_cannot_be_is_refused(option: dict[str, Any], message: str) -> None:
    table = from_mapping({"q": {"a": 1}})
    with pytest.raises(ValueError, match=message):
        align(table, table, **{"ties": "input", **option})


def test_an_unknown_word_names_the_choices() -> None:
    word: Any = "twice"
    with pytest.raises(
        ValueError, match="duplicates must be one of error, first, last, best, keep; found twice"
    ):
        from_mapping({}, duplicates=word)
    with pytest.raises(ValueError, match="kind must be one of qrels, run; found twice"):
        Text([], word)


def big_run(
    rng: np.random.Generator, n_queries: int, n_documents: int
) -> tuple[bytes, dict[int, Any]]:
    """Lists in no order, with ties, and their scores."""
    scores = {query: rng.integers(0, 4000, n_documents) / 64 for query in range(n_queries)}
    lines = [
        f"{query} Q0 d{i} 1 {score!r} tag\n"
        for query, column in scores.items()
        for i, score in enumerate(column.tolist())
    ]
    return "".join(lines).encode(), scores


@pytest.mark.parametrize("ties", ["input", "ascending", "descending"])
@pytest.mark.parametrize(
    ("n_queries", "n_documents"),
    [(300, 100), (1, 40_000), pytest.param(20_000, 1, marks=pytest.mark.slow)],
)
def test_long_lists_agree_with_numpy_for_any_number_of_threads(
    n_queries: int, n_documents: int, ties: Any
) -> None:
    run, scores = big_run(np.random.default_rng(7), n_queries, n_documents)
    ids = np.array([f"d{i}" for i in range(n_documents)])
    by_id = (
        np.arange(n_documents)
        if ties == "input"
        else np.argsort(ids, kind="stable")[:: -1 if ties == "descending" else 1]
    )
    qrels = from_mapping({str(query): {f"d{i}": i for i in range(n_documents)} for query in scores})
    rows = [
        by_id[np.argsort(-column[by_id], kind="stable")] + query * n_documents
        for query, column in scores.items()
    ]
    for threads in (1, 2, 5):
        aligned = align(qrels, Text([run], "run"), ties=ties, threads=threads)
        np.testing.assert_array_equal(aligned.hit_row, np.concatenate(rows))
        np.testing.assert_array_equal(
            aligned.hit_rank, np.tile(np.arange(1, n_documents + 1), n_queries)
        )


def test_lines_scattered_all_over_give_the_same_alignment() -> None:
    run, _ = big_run(np.random.default_rng(8), 200, 50)
    lines = run.splitlines(keepends=True)
    round_robin = b"".join(lines[query * 50 + i] for i in range(50) for query in range(200))
    qrels = from_mapping(
        {str(query): {f"d{i}": 1 for i in range(0, 50, 3)} for query in range(150)}
    )
    together, scattered = (
        align(qrels, Text([text], "run"), ties="input", threads=3) for text in (run, round_robin)
    )
    for name in (
        "hit_offsets",
        "hit_row",
        "hit_rank",
        "tie_first",
        "tie_last",
        "length",
        "tied",
        "first_unjudged",
        "in_run",
    ):
        np.testing.assert_array_equal(getattr(scattered, name), getattr(together, name))
    assert scattered.run_only_ids() == together.run_only_ids()
    assert (together.counters["scattered_queries"], scattered.counters["scattered_queries"]) == (
        0,
        200,
    )


def test_progress_counts_to_its_total_and_can_stop_the_work() -> None:
    run, _ = big_run(np.random.default_rng(9), 50, 50)
    text, qrels = Text([run], "run"), from_mapping({"1": {"d1": 1}})
    table = read_text(text, duplicates="keep")
    jobs: list[tuple[Callable[[Progress], object], int]] = [
        (
            lambda progress: align(qrels, text, ties="input", progress=progress, chunk_bytes=1000),
            len(run),
        ),
        (lambda progress: align(qrels, table, ties="input", progress=progress), 50),
        (
            lambda progress: read_text(
                text, duplicates="keep", progress=progress, chunk_bytes=1000
            ),
            len(run),
        ),
    ]
    for job, total in jobs:
        progress = Progress()
        assert (progress.done, progress.total) == (0, 0)
        job(progress)
        assert (progress.done, progress.total) == (total, total)
        stopped = Progress()
        stopped.stop()
        with pytest.raises(ParseError) as error:
            job(stopped)
        assert error.value.args == ("stopped", 0, 0, b"", b"")
    stopped = Progress()
    stopped.stop()
    with pytest.raises(ParseError, match="stopped"):
        lint_text(text, progress=stopped)


def test_other_threads_run_meanwhile() -> None:
    run, _ = big_run(np.random.default_rng(10), 20, 5_000)
    text, qrels = Text([run], "run"), from_mapping({"1": {"d1": 1}})
    results: list[int] = []
    threads = [
        threading.Thread(target=lambda: results.append(align(qrels, text, ties="input").n_queries))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [20] * 4


@pytest.mark.parametrize("pieces", [1, 7])
def test_a_table_of_megabytes_holds_the_same_rows_however_it_grew(pieces: int) -> None:
    # offsets of 2.8 MB, ids and values of more than 4 MB, from where arrays are mapped
    n_queries, depth = 700, 1000
    documents = np.arange(10_000_000, 10_000_000 + n_queries * depth).astype("S8")
    offsets, values = (
        np.arange(documents.size + 1, dtype=np.int32) * 8,
        np.arange(documents.size, dtype=np.float64),
    )
    queries = [f"q{number}".encode() for number in range(n_queries)]
    starts = np.cumsum([0, *map(len, queries)]).astype(np.int32)
    table = ColumnTable()
    for part in np.array_split(np.arange(documents.size), pieces):
        codes = (part // depth).astype(np.int32)
        table.add(
            (starts, b"".join(queries), codes),
            (offsets[part[0] : part[-1] + 2].copy(), documents.tobytes()),
            values[part],
        )

    found = table.finish(duplicates="keep")

    assert found.n_queries == n_queries
    assert np.array_equal(found.offsets, np.arange(n_queries + 1) * depth)
    assert np.array_equal(found.values, values)
    assert found.document_ids(np.arange(0, values.size, 997)) == documents[::997].tolist()
