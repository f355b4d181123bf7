"""The kernel against its slow twin on messy text, for several numbers of threads and sizes of
chunks.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from idealrank import _kernel as kernel
from tests.conftest import examples
from tests.twins import kernel_twin as twin

Kind = Literal["qrels", "run"]
THREADS = (1, 2, 5)

queries = st.sampled_from([b"1", b"2", b"q", b"q1", b"topic-number-9", b"\xc3\xa9", b"\xff"])
documents = st.sampled_from(
    [
        b"a",
        b"b",
        b"ab",
        b"d1",
        b"d10",
        b"document-7",
        b"document-77",
        b"doc/of/many/bytes/1",
        b"doc/of/many/bytes/2",
        b"\xe6\x96\x87",
    ]
)
scores = st.sampled_from(
    [
        b"1",
        b"1.0",
        b"0.5",
        b"2.25",
        b"-0.0",
        b"0",
        b"-1.5",
        b"1e3",
        b"1.00000001",
        b"1.00000002",
        b"inf",
        b"-inf",
        b"3",
        b"17.123456",
    ]
)
gaps = st.sampled_from([b" ", b" ", b" ", b" ", b"  ", b"\t", b" \t"])
ends = st.sampled_from([b"\n", b"\n", b"\n", b"\r\n"])
ranks = st.sampled_from([b"1", b"2", b"10", b"-1", b"+3", b"x", b"0", b"1.5"])
tags = st.sampled_from(
    [
        b"t",
        b"bm25",
        b"a b",
        b"t\tu",
        b"a-tag-that-makes-the-line-longer-than-a-block-of-sixty-four-bytes",
    ]
)


def join(fields: tuple[bytes, ...], gap: bytes, end: bytes) -> bytes:
    return gap.join(fields) + end


# Kept, for a strategy is checked when it is first drawn from: new ones at every draw would cost
# more than what is tested.
@cache
def good_lines(kind: Kind) -> st.SearchStrategy[bytes]:
    """Data lines that no rule refuses."""
    fields = (
        st.tuples(queries, st.just(b"Q0"), documents, ranks, scores, tags)
        if kind == "run"
        else st.tuples(queries, st.just(b"0"), documents, scores)
    )
    return st.builds(join, fields, gaps, ends)


@cache
def odd_lines(kind: Kind) -> st.SearchStrategy[bytes]:
    """Lines that are passed over."""
    return st.one_of(
        st.sampled_from([b"\n", b" \t\n", b"\r\n", b"# comment\n", b"#\n"]),
        good_lines(kind).map(lambda line: b"#" + line),
    )


@cache
def junk() -> st.SearchStrategy[bytes]:
    """Anything, often nearly a line."""
    piece = st.sampled_from(
        [
            b" ",
            b"\t",
            b"\n",
            b"\r",
            b"#",
            b"q1",
            b"Q0",
            b"0",
            b"nan",
            b"1",
            b"-",
            b"e5",
            b".",
            b"\x00",
            b"\xef\xbb\xbf",
            b"d d",
        ]
    )
    return st.one_of(st.binary(max_size=30), st.lists(piece, max_size=14).map(b"".join))


@cache
def texts(kind: Kind, *, dirty: bool) -> st.SearchStrategy[list[bytes]]:
    """One to three buffers; the last line of each may lack its end."""
    line = st.one_of(
        good_lines(kind),
        good_lines(kind),
        good_lines(kind),
        odd_lines(kind),
        *([junk()] if dirty else []),
    )
    buffer = st.builds(
        lambda lines, cut: b"".join(lines).removesuffix(b"\n" if cut else b""),
        st.lists(line, max_size=40),
        st.booleans(),
    )
    return st.lists(buffer, min_size=1, max_size=3)


def outcome(call: Any, *arguments: Any, **options: Any) -> Any:
    """The result, or the arguments of the error."""
    try:
        return call(*arguments, **options)
    except kernel.ParseError as error:
        return ("error", *error.args)
    except twin.TwinError as error:
        return ("error", *error.args)


def as_rows(table: kernel.Table) -> dict[bytes, list[tuple[bytes, float]]]:
    """A table as plain Python, in order."""
    ids = table.document_ids(np.arange(table.n_rows))
    ends = table.offsets.tolist()
    pairs = list(zip(ids, table.values.tolist(), strict=True))
    return {
        query: pairs[first:end]
        for query, first, end in zip(table.query_ids(), ends, ends[1:], strict=False)
    }


def read_with_kernel(kind: Kind, buffers: list[bytes], duplicates: Any, **options: Any) -> Any:
    table = kernel.read_text(kernel.Text(buffers, kind), duplicates=duplicates, **options)
    return as_rows(table), sorted(table.counters.items())


def read_with_twin(kind: Kind, buffers: list[bytes], duplicates: str) -> Any:
    groups, counters = twin.read_text(kind, buffers, duplicates)
    return {
        query: [(row.document, row.value) for row in rows] for query, rows in groups.items()
    }, sorted(counters.items())


@pytest.mark.parametrize("kind", ["qrels", "run"])
@given(data=st.data())
@settings(max_examples=examples(100), deadline=None)
def test_reading_agrees_with_the_twin(kind: Kind, data: st.DataObject) -> None:
    buffers = data.draw(texts(kind, dirty=data.draw(st.booleans())))
    duplicates = data.draw(st.sampled_from(["error", "first", "last", "best", "keep"]))
    expected = outcome(read_with_twin, kind, buffers, duplicates)
    for threads in THREADS:
        chunk = data.draw(st.integers(0, 200))
        found = outcome(
            read_with_kernel, kind, buffers, duplicates, threads=threads, chunk_bytes=chunk
        )
        assert repr(found) == repr(expected)  # repr tells -0.0 from 0.0


def ranked(aligned: kernel.Aligned, qrels: kernel.Table) -> dict[bytes, twin.Ranked]:
    """An alignment as the twin has it."""
    ids = qrels.query_ids() + aligned.run_only_ids()
    assert len(ids) == aligned.n_queries == len(aligned.length)
    first_row = [*qrels.offsets.tolist()[:-1], *[0] * len(aligned.run_only_ids())]
    tied = len(aligned.tie_first) > 0
    assert len(aligned.tie_first) == len(aligned.tie_last) in (0, len(aligned.hit_row))
    spans = (
        zip(aligned.tie_first.tolist(), aligned.tie_last.tolist(), strict=True)
        if tied
        else ((rank, rank) for rank in aligned.hit_rank.tolist())
    )
    hits = [
        (row, rank, *span)
        for row, rank, span in zip(
            aligned.hit_row.tolist(), aligned.hit_rank.tolist(), spans, strict=True
        )
    ]
    assert tied == any(first != last for _, _, first, last in hits)
    results = {}
    for i, query in enumerate(ids):
        mine = [
            (hit[0] - first_row[i], *hit[1:])
            for hit in hits[aligned.hit_offsets[i] : aligned.hit_offsets[i + 1]]
        ]
        columns = (
            "length",
            "returned",
            "judged",
            "first_unjudged",
            "tied",
            "straddling",
            "duplicates",
        )
        counts = (int(getattr(aligned, column)[i]) for column in columns)
        results[query] = twin.Ranked(
            bool(aligned.in_run[i]), mine, *counts, unjudged_of(aligned, i)
        )
    tied = iter(aligned.top_tied.tolist())
    for query, rows in as_rows(aligned.top).items():
        results[query].top = [(*row, next(tied)) for row in rows]
    assert list(tied) == []
    return results


def unjudged_of(aligned: kernel.Aligned, query: int) -> list[Any]:
    """Keys, ranks and tie groups of the unjudged documents of one query; none where the run alone
    has it, or none were asked for.
    """
    if query >= len(aligned.unjudged_offsets) - 1:
        return []
    here = slice(*aligned.unjudged_offsets[query : query + 2].tolist())
    columns = (
        aligned.unjudged_key,
        aligned.unjudged_rank,
        aligned.unjudged_first,
        aligned.unjudged_last,
    )
    return list(zip(*(column[here].tolist() for column in columns), strict=True))


def with_keys(expected: Any) -> Any:
    """The twin's unjudged documents by the keys that stand for their ids in a run of all of
    them.
    """
    if not isinstance(expected, dict):
        return expected
    ids = sorted({document for one in expected.values() for document, *_ in one.unjudged})
    run = kernel.from_columns([b"q"] * len(ids), ids, -np.arange(len(ids), dtype=np.float64))
    qrels = kernel.from_columns([b"q"], [b"none of them"], np.zeros(1))
    found = (
        kernel.align(qrels, run, ties="input", unjudged_depth=len(ids)).unjudged_key.tolist()
        if ids
        else []
    )
    keys = dict(zip(ids, found, strict=True))
    assert len(set(found)) == len(ids)
    return {
        query: replace(one, unjudged=[(keys[id_], *span) for id_, *span in one.unjudged])
        for query, one in expected.items()
    }


options = st.fixed_dictionaries(
    {
        "ties": st.sampled_from(["descending", "ascending", "input"]),
        "float32": st.booleans(),
        "duplicates": st.sampled_from(["error", "first", "last", "best", "twice"]),
        "skip_unjudged": st.booleans(),
        "depth": st.sampled_from([0, 0, 1, 2, 3, 10]),
        "unjudged_depth": st.sampled_from([0, 1, 2, 3, 10]),
        "top_depth": st.sampled_from([0, 1, 2, 3, 10]),
    }
)


def draw_qrels(data: st.DataObject) -> kernel.Table:
    """Judgments of some of the queries and documents that runs may have."""
    judged = data.draw(st.lists(st.tuples(queries, documents), max_size=30, unique=True))
    ids, names = [query for query, _ in judged], [document for _, document in judged]
    return kernel.from_columns(ids, names, np.zeros(len(judged)))


def judgments(qrels: kernel.Table) -> dict[bytes, list[bytes]]:
    return {query: [document for document, _ in rows] for query, rows in as_rows(qrels).items()}


def align_with_twin(
    qrels: kernel.Table, buffers: list[bytes], removed: Any, chosen: dict[str, Any]
) -> Any:
    rows = twin.by_query(twin.checked("run", buffers, chosen["duplicates"]).rows)
    gone = (
        None
        if removed is None
        else {
            q: removed[f:e].tolist()
            for q, f, e in zip(qrels.query_ids(), qrels.offsets, qrels.offsets[1:], strict=False)
        }
    )
    return twin.align(judgments(qrels), rows, gone, **chosen)


@given(data=st.data(), chosen=options)
@settings(max_examples=examples(200), deadline=None)
def test_aligning_a_text_agrees_with_the_twin(data: st.DataObject, chosen: dict[str, Any]) -> None:
    qrels = draw_qrels(data)
    buffers = data.draw(texts("run", dirty=data.draw(st.integers(0, 5)) == 0))
    removed = (
        np.array(
            data.draw(st.lists(st.booleans(), min_size=qrels.n_rows, max_size=qrels.n_rows)),
            np.uint8,
        )
        if data.draw(st.booleans())
        else None
    )
    expected = with_keys(outcome(align_with_twin, qrels, buffers, removed, chosen))
    for threads in THREADS:
        chunk = data.draw(st.integers(0, 300))
        found = outcome(
            kernel.align,
            qrels,
            kernel.Text(buffers, "run"),
            removed=removed,
            threads=threads,
            chunk_bytes=chunk,
            **chosen,
        )
        if isinstance(found, kernel.Aligned):
            counters = found.counters
            reading = twin.read_lines("run", buffers)
            assert counters["duplicates"] == len(twin.repeats(reading.rows))
            assert counters["scattered_queries"] == len(
                {row.query for row, _ in twin.scattered(reading.rows)}
            )
            assert {name: counters[name] for name in reading.counters} == reading.counters
            found = ranked(found, qrels)
        assert found == expected


@given(data=st.data(), chosen=options)
@settings(max_examples=examples(100), deadline=None)
def test_aligning_a_table_agrees_with_the_twin(data: st.DataObject, chosen: dict[str, Any]) -> None:
    qrels = draw_qrels(data)
    buffers = data.draw(texts("run", dirty=False))
    run = kernel.read_text(kernel.Text(buffers, "run"), duplicates="keep")
    expected = with_keys(outcome(align_with_twin, qrels, buffers, None, chosen))
    for threads in THREADS:
        found = outcome(kernel.align, qrels, run, threads=threads, **chosen)
        if isinstance(found, kernel.Aligned):
            assert ranked(found, qrels) == expected
        else:
            repeated = [
                row
                for row, _ in twin.repeats(
                    [
                        row
                        for rows in twin.by_query(twin.read_lines("run", buffers).rows).values()
                        for row in rows
                    ]
                )
            ]
            assert found == (
                "error",
                "duplicate",
                0,
                0,
                repeated[0].query + b" " + repeated[0].document,
                b"",
            )


@given(buffers=texts("run", dirty=False), chosen=options)
@settings(max_examples=examples(100), deadline=None)
def test_a_single_ranking_agrees_with_the_twin(
    buffers: list[bytes], chosen: dict[str, Any]
) -> None:
    chosen = {name: chosen[name] for name in ("ties", "float32")}
    run = kernel.read_text(kernel.Text(buffers, "run"), duplicates="keep")
    for number, rows in enumerate(twin.by_query(twin.read_lines("run", buffers).rows).values()):
        expected = twin.rank(rows, **chosen)
        ids, values, first, last = kernel.rank_query(run, number, duplicates="twice", **chosen)
        assert ids == [row.document for row, _, _ in expected]
        assert list(zip(first.tolist(), last.tolist(), strict=True)) == [
            (top, end) for _, top, end in expected
        ]
        np.testing.assert_array_equal(
            values,
            [np.float32(row.value) if chosen["float32"] else row.value for row, _, _ in expected],
        )
        top = kernel.rank_query(run, number, duplicates="twice", depth=2, **chosen)
        assert [list(column) for column in top] == [
            list(column[:2]) for column in (ids, values, first, last)
        ]


@pytest.mark.parametrize("kind", ["qrels", "run"])
@given(data=st.data())
@settings(max_examples=examples(100), deadline=None)
def test_linting_agrees_with_the_twin(kind: Kind, data: st.DataObject) -> None:
    buffers = data.draw(texts(kind, dirty=True))
    examples = data.draw(st.integers(0, 4))
    expected = twin.lint(kind, buffers, examples)
    for threads in THREADS:
        chunk = data.draw(st.integers(0, 200))
        assert (
            kernel.lint_text(
                kernel.Text(buffers, kind), examples=examples, threads=threads, chunk_bytes=chunk
            )
            == expected
        )


@given(data=st.data())
@settings(max_examples=examples(60), deadline=None)
def test_one_query_can_be_read_alone(data: st.DataObject) -> None:
    buffers = data.draw(texts("run", dirty=False))
    wanted = data.draw(queries)
    alone, _ = read_with_kernel("run", buffers, "keep", only_query=wanted)
    everything, _ = read_with_kernel("run", buffers, "keep")
    assert repr(alone) == repr(
        {query: rows for query, rows in everything.items() if query == wanted}
    )
