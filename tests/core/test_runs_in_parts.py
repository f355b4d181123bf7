"""Runs evaluated within a budget of memory: the same values, coverage, fingerprints and errors as
from the whole run.
"""

import itertools
import random
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import idealrank as ir
from idealrank.data.types import decode_id
from idealrank.io import bucket_layouts, part_lines, query_buckets, run_stream
from idealrank.io.complaints import Notes, refuse
from idealrank.io.formats.arrow import parquet_pieces
from idealrank.io.memory_budget import MemoryBudget, resident
from idealrank.io.sources import open_sources
from tests.conftest import examples

CONVENTIONS = (
    "standard",
    "trec_eval-9",
    "standard,without_judgments=evaluated",
    "standard,missing=left-out,without_judgments=evaluated,duplicates=first",
    "standard,unjudged=skipped,ties=expected,duplicates=last",
    "standard,duplicates=error",
)
ENDINGS = ("run", "parquet", "arrow", "csv", "tsv")
Triple = tuple[str, str, float]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of some hundred rows, so that a small run has many."""
    monkeypatch.setattr(run_stream, "_LARGEST_TEXT", 4000)
    monkeypatch.setattr(run_stream, "_LARGEST_ROWS", 6000)
    monkeypatch.setattr(run_stream, "_LARGEST_PIECE", 3000)
    monkeypatch.setattr(run_stream, "_SPLIT_PIECE", 2500)
    monkeypatch.setattr(query_buckets, "_MOST_FILES", 3)  # so that files are split again
    monkeypatch.setattr(bucket_layouts, "_ROWS", 100)


def sample(n_queries: int, n_documents: int) -> tuple[dict[str, dict[str, float]], list[Triple]]:
    """Judgments of most queries and some others, and a run grouped by query with tied scores."""
    rng = np.random.default_rng(7)
    rows = [
        (f"q{query}", f"d{document}", float(score))
        for query in rng.permutation(n_queries).tolist()
        for document, score in zip(
            rng.choice(300, n_documents, replace=False).tolist(),
            rng.normal(size=n_documents).round(1).tolist(),
            strict=True,
        )
    ]
    qrels = {
        f"q{query}": {
            f"d{document}": float(rng.integers(0, 3))
            for document in rng.choice(300, 40, replace=False).tolist()
        }
        for query in range(5, n_queries + 5)
    }
    return qrels, rows


def write(folder: Path, rows: list[Triple], ending: str) -> Path:
    """Write a run."""
    path = folder / f"mine.{ending}"
    frame = pl.DataFrame(rows, schema=["qid", "docno", "score"], orient="row")
    if ending == "run":
        path.write_text(
            "".join(f"{query} Q0 {document} 1 {score} t\n" for query, document, score in rows)
        )
    elif ending == "parquet":
        pq.write_table(frame.to_arrow(), path, row_group_size=500)
    elif ending == "arrow":
        frame.write_ipc(path, record_batch_size=300)
    else:
        frame.write_csv(path, separator="\t" if ending == "tsv" else ",")
    return path


def outcome(work: Callable[[], ir.Evaluation]) -> Any:
    """Everything an evaluation says, or the error."""
    try:
        found = work()
    except ir.IdealrankError as error:
        return type(error).__name__, str(error)
    provenance = found.provenance
    return (
        found.name,
        list(found.queries),
        found.values.tobytes(),
        found.scored.tobytes(),
        found.coverage,
        list(found.coverage.missing_queries),
        found.coverage.best_grade,
        found.coverage.looks_swapped,
        provenance.judgments,
        provenance.convention,
        provenance.measures,
        provenance.inputs,
    )


def with_warnings(work: Callable[[], Any]) -> tuple[Any, list[str]]:
    """Return value and warnings of a function."""
    with warnings.catch_warnings(record=True, action="always") as said:
        found = work()
    return found, sorted(str(warning.message) for warning in said)


@pytest.mark.spread(5)
@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.usefixtures("small")
def test_files_give_the_same_bits_in_parts(tmp_path: Path, ending: str, shuffled: bool) -> None:
    qrels, rows = sample(60, 40)
    if shuffled:
        random.Random(2).shuffle(rows)
    path = write(tmp_path, rows, ending)
    judgments = ir.Qrels(qrels)
    for convention in CONVENTIONS:
        whole = outcome(lambda: ir.evaluate(judgments, path, None, convention))  # noqa: B023  (called at once)
        assert (
            outcome(lambda: ir.evaluate(judgments, path, None, convention, memory="2GB")) == whole  # noqa: B023  (as above)
        )


@pytest.mark.usefixtures("small")
def test_the_parts_are_many_and_grouping_happens_only_where_it_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[str] = []
    grouped, regroup = run_stream.PieceReader.grouped, run_stream.regroup

    def count_parts(self: Any) -> Any:
        for part in grouped(self):
            counted.append("part")
            yield part

    def count_regrouped(*given: Any, **options: Any) -> Any:
        for part in regroup(*given, **options):
            counted.append("regrouped")
            yield part

    monkeypatch.setattr(run_stream.PieceReader, "grouped", count_parts)
    monkeypatch.setattr(run_stream, "regroup", count_regrouped)
    qrels, rows = sample(150, 40)
    ir.evaluate(qrels, write(tmp_path, rows, "parquet"), "AP", memory="2GB")
    assert counted.count("part") > 5
    assert "regrouped" not in counted
    rows.sort(key=lambda row: row[2])
    ir.evaluate(qrels, write(tmp_path, rows, "parquet"), "AP", memory="2GB")
    assert counted.count("regrouped") > 5


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.usefixtures("small")
def test_errors_are_those_of_the_whole_run(tmp_path: Path, ending: str, shuffled: bool) -> None:
    """Documents that come twice, in one part or in two; rows that cannot be used; both."""
    qrels, rows = sample(40, 30)
    twice = (
        [*rows, rows[700], *rows[800:820], rows[3]]
        if shuffled
        else [row for place, row in enumerate(rows) for _ in range(1 + (place in (611, 901)))]
    )
    if shuffled:
        random.Random(5).shuffle(twice)
    path = write(tmp_path, twice, ending)
    expected = outcome(lambda: ir.evaluate(qrels, path, "AP"))
    assert expected[0] == "FileFormatError"
    assert outcome(lambda: ir.evaluate(qrels, path, "AP", memory="2GB")) == expected
    broken = [
        (query, document, float("nan") if place in (655, 1100) else score)
        for place, (query, document, score) in enumerate(twice)
    ]
    path = write(tmp_path, broken, ending)
    expected = outcome(lambda: ir.evaluate(qrels, path, "AP"))
    assert expected[0] == "FileFormatError"
    assert outcome(lambda: ir.evaluate(qrels, path, "AP", memory="2GB")) == expected


@pytest.mark.parametrize(
    "line",
    [
        b"q3 Q0 d1 1\n",
        b"q3 Q0 d1 1 x t\n",
        b"q1\x00 Q0 d1 1 2 t\n",
        b"\n",
        b"# a comment\n",
        b"  q3  Q0 other 1 2 t\n",
    ],
)
@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.usefixtures("small")
def test_odd_lines_are_read_and_refused_as_in_the_whole_text(
    tmp_path: Path, line: bytes, shuffled: bool
) -> None:
    qrels, rows = sample(40, 30)
    if shuffled:
        random.Random(5).shuffle(rows)
    path = write(tmp_path, rows, "run")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(
        b"\xef\xbb\xbf" + b"".join([*lines[:700], line, *lines[700:]]).removesuffix(b"\n")
    )
    for convention in CONVENTIONS[:3]:
        expected = outcome(lambda: ir.evaluate(qrels, path, "AP", convention))  # noqa: B023  (called at once)
        assert outcome(lambda: ir.evaluate(qrels, path, "AP", convention, memory="2GB")) == expected  # noqa: B023  (as above)


LINES = st.lists(
    st.one_of(
        st.builds(
            lambda query, document: f"{query} Q0 d{document} 1 {document} t",
            st.sampled_from("abcdefgh"),
            st.integers(0, 60),
        ),
        st.sampled_from(
            [
                "",
                "# a comment",
                "a Q0 d1 1 high t",
                "b Q0 d1",
                "\ufeffa Q0 d1 1 2 t",
                " c Q0 d2 1 1 t\r",
                "a Q0 d1 1 1 " + "t" * 200,
            ]
        ),
    ),
    min_size=1,
    max_size=60,
)


@given(
    lines=LINES,
    grouped=st.booleans(),
    cuts=st.lists(st.integers(0, 60), max_size=2),
    convention=st.sampled_from(CONVENTIONS),
)
@settings(
    deadline=None,
    max_examples=examples(60),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_the_first_line_that_cannot_be_used_is_found_by_parts(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[str],
    grouped: bool,
    cuts: list[int],
    convention: str,
) -> None:
    """Broken lines and documents that come twice, in one file or three, grouped by query or not."""
    if grouped:
        lines = sorted(lines, key=lambda line: line.split()[:1])
    folder = tmp_path_factory.mktemp("runs")
    bounds = [0, *sorted(cuts), len(lines)]
    paths = []
    for number, (begin, end) in enumerate(itertools.pairwise(bounds)):
        paths.append(folder / f"{number}.run")
        paths[-1].write_text("\n".join(lines[begin:end]) + "\n" * (number % 2), "utf-8", newline="")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_stream, "_LARGEST_TEXT", 120)
        patch.setattr(run_stream, "_SPLIT_PIECE", 90)
        patch.setattr(query_buckets, "_MOST_FILES", 3)
        patch.setattr(part_lines, "_BLOCK", 70)
        patch.setattr(run_stream, "_QUERY_SHARE", 2e5)  # of the little that is left for a part
        qrels = {"a": {"d1": 1, "d2": 2}, "b": {"d2": 1}, "gone": {"d1": 1}}
        whole, parts = (
            with_warnings(
                lambda: outcome(
                    lambda: ir.evaluate(qrels, paths, ["AP", "nDCG"], convention, memory=memory)  # noqa: B023
                )
            )
            for memory in (None, "2GB")
        )
    assert parts == whole or "largest query" in str(parts)


PEAK = """
import sys
import idealrank as ir
try:
    ir.evaluate({"q1": {"d1": 1}}, sys.argv[1], "AP", "standard,duplicates=error", memory=sys.argv[2])
except ir.FileFormatError as error:
    with open("/proc/self/status") as status:
        print(error.line, status.read().split("VmHWM:")[1].split()[0])
"""  # noqa: E501


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells the peak")
def test_the_way_to_an_error_keeps_to_the_budget(tmp_path: Path) -> None:
    """Both files are larger than what the budget leaves; the second budget holds pyarrow, which
    groups lines.
    """
    lines = [
        f"q{query} Q0 d{document} 1 1 {'t' * 180}\n"
        for query in range(10_000)
        for document in range(60)
    ]
    lines[-30] = lines[-31]
    for budget in (130, 200):
        (tmp_path / "a.run").write_text("".join(lines))
        found = subprocess.run(
            [sys.executable, "-c", PEAK, "a.run", f"{budget}MB"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        line, peak = map(int, found.stdout.split())
        second = [number for number, text in enumerate(lines, 1) if text == lines[line - 1]][1:]
        assert second == [line]
        assert peak * 1024 < budget * 10**6
        random.Random(1).shuffle(lines)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b", "c", "d e", "é", "x" * 300, "x" * 299 + "y"]),
            st.integers(0, 400),
            st.integers(0, 3),
        ),
        min_size=1,
        max_size=60,
        unique_by=lambda row: row[:2],
    ),
    st.sampled_from(CONVENTIONS),
)
@settings(
    deadline=None,
    max_examples=examples(40),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_any_order_of_rows_gives_the_values_of_the_whole(
    tmp_path_factory: pytest.TempPathFactory, rows: Any, convention: str
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_stream, "_LARGEST_ROWS", 150)
        patch.setattr(run_stream, "_LARGEST_PIECE", 100)
        patch.setattr(query_buckets, "_MOST_FILES", 3)  # files that are split again
        qrels = {"a": {"d0": 1, "d1": 2}, "b": {"d2": 1}, "gone": {"d1": 1}, "x" * 300: {"d0": 1}}
        path = tmp_path_factory.mktemp("runs") / "a.csv"
        path.write_text(
            "qid,docno,score\n"
            + "".join(f"{query},d{document},{score}\n" for query, document, score in rows)
        )
        (whole, said), (parts, said_of_parts) = (
            with_warnings(
                lambda: outcome(
                    lambda: ir.evaluate(qrels, path, ["AP", "nDCG"], convention, memory=memory)  # noqa: B023
                )
            )
            for memory in (None, "2GB")
        )
    assert (parts, said_of_parts) == (whole, said) or "largest query" in str(parts)


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.usefixtures("small")
def test_lazy_frames_and_relations_are_read_in_batches(
    monkeypatch: pytest.MonkeyPatch, shuffled: bool
) -> None:
    qrels, rows = sample(60, 40)
    if shuffled:
        random.Random(2).shuffle(rows)
    frame = pl.DataFrame(rows, schema=["qid", "docno", "score"], orient="row")
    eager = outcome(lambda: ir.evaluate(qrels, frame, None))
    most: list[int] = []
    read = run_stream.rows_from_table
    monkeypatch.setattr(
        run_stream,
        "rows_from_table",
        lambda data, *given, **options: most.append(data.num_rows) or read(data, *given, **options),
    )
    relation = duckdb.connect().from_arrow(frame.to_arrow())
    for query in (
        frame.lazy(),
        relation,
        frame.lazy().with_columns(pl.col("docno").cast(pl.Categorical)),
    ):
        most.clear()
        assert outcome(lambda: ir.evaluate(qrels, query, None)) == eager  # noqa: B023  (called at once)
        assert max(most) <= 1024 < len(rows)  # never the whole
        assert len(most) >= 3


def test_formats_that_are_read_whole_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"q": {"d": 1}}')
    with pytest.raises(
        ir.InputError,
        match=r"a.json: found json, expected TREC text, Parquet, Arrow IPC, CSV or TSV",
    ):
        ir.evaluate({"q": {"d": 1}}, path, "AP", memory="2GB")


def test_a_failing_query_and_a_missing_column_are_said(tmp_path: Path) -> None:
    lazy = pl.LazyFrame({"qid": ["a"], "docno": ["b"]})
    with pytest.raises(
        ir.InputError, match="found columns 'qid', 'docno', expected one for the score"
    ):
        ir.evaluate({"a": {"b": 1}}, lazy, "AP")
    failing = pl.LazyFrame({"qid": ["a"], "docno": ["b"], "score": ["x"]}).with_columns(
        pl.col("score").cast(pl.Float64)
    )
    with pytest.raises(ir.InputError, match="the Polars query failed"):
        ir.evaluate({"a": {"b": 1}}, failing, "AP")


def test_a_query_larger_than_the_budget_is_named_with_what_it_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        (f"q{query}", f"a document with a long name {number}", 1.0)
        for query in (1, 2)
        for number in range(1 if query == 1 else 60_000)
    ]
    monkeypatch.setattr(MemoryBudget, "left", lambda _: 4 << 20)
    for ending in ("parquet", "csv", "run"):
        path = write(tmp_path, [(q, d.replace(" ", "-"), s) for q, d, s in rows], ending)
        with pytest.raises(ir.InputError, match=r"takes about \d+ MB in all") as caught:
            ir.evaluate({"q1": {"d": 1}}, path, "AP", memory="900MB")
        assert "MB" in str(caught.value.hint)
        assert ending == "run" or "query 'q2'" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "size"),
    [("512MB", 512_000_000), ("2 GiB", 2 << 30), ("1.5g", 1_500_000_000), ("900", 900)],
)
def test_amounts_of_memory(text: str, size: int) -> None:
    assert MemoryBudget.of(text).total == size


@pytest.mark.parametrize("text", ["", "0MB", "many", "-5GB", "5 XB", True, 0, 1.5])
def test_other_amounts_are_refused(text: Any) -> None:
    with pytest.raises(ir.OptionError, match="expected an amount of memory"):
        MemoryBudget.of(text)


def test_a_budget_below_what_the_program_takes_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, [("q", "d", 1.0)], "run")
    with pytest.raises(
        ir.InputError, match=r"the program and the judgments take \d+ MB, expected at least"
    ):
        ir.evaluate({"q": {"d": 1}}, path, "AP", memory=resident() // 2)


@pytest.mark.parametrize(
    "run", [{"q": ["d"]}, pl.DataFrame({"qid": ["q"], "docno": ["d"], "score": [1.0]})]
)
def test_what_is_in_memory_takes_no_budget(run: Any) -> None:
    with pytest.raises(ir.OptionError, match="memory: found"):
        ir.evaluate({"q": {"d": 1}}, run, "AP", memory="1GB")


@pytest.mark.usefixtures("small")
def test_several_files_are_one_run(tmp_path: Path) -> None:
    """A query on both sides of the end of a file, which is one query."""
    qrels, rows = sample(40, 30)
    paths = []
    for number, (begin, end) in enumerate([(0, 415), (415, 900), (900, 1200)]):
        (tmp_path / str(number)).mkdir()
        paths.append(str(write(tmp_path / str(number), rows[begin:end], "run")))
    assert outcome(lambda: ir.evaluate(qrels, paths, None, memory="2GB")) == outcome(
        lambda: ir.evaluate(qrels, paths, None)
    )


def test_rows_of_a_file_with_few_large_groups_come_in_small_batches(tmp_path: Path) -> None:
    _, rows = sample(200, 60)
    path = tmp_path / "a.parquet"
    pq.write_table(
        pl.DataFrame(rows, schema=["qid", "docno", "score"], orient="row").to_arrow(), path
    )
    pieces = list(
        parquet_pieces(
            open_sources(path, Notes())[0], "run", None, Notes(), refuse, most_bytes=60_000
        )
    )
    assert max(piece.values.size for piece in pieces) < 4000 < len(rows)
    assert decode_id(pieces[0].documents.bytes_at(0)) == rows[0][1]


def test_pieces_are_not_smaller_where_a_file_has_many_queries(tmp_path: Path) -> None:
    """All ids of queries in a group of rows are in memory once; counted with each row, they made
    pieces of few rows.
    """
    queries, path = [f"{number % 5000:060}" for number in range(20_000)], tmp_path / "a.parquet"
    pq.write_table(
        pa.table({"qid": queries, "docno": ["d"] * 20_000, "score": np.ones(20_000)}), path
    )
    pieces = list(
        parquet_pieces(
            open_sources(path, Notes())[0], "run", None, Notes(), refuse, most_bytes=100_000
        )
    )

    assert sum(piece.values.size for piece in pieces) == 20_000
    assert 3000 < pieces[0].values.size < 10_000


def test_dictionary_encoded_ids_never_become_strings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Codes travel to the kernel: nothing asks an array of Arrow for its values."""
    import pyarrow as pa

    from idealrank.io import row_parts

    qrels, rows = sample(60, 40)
    columns = {
        name: pa.array([row[place] for row in rows]) for place, name in enumerate(("qid", "docno"))
    }
    table = pa.table(
        {name: column.dictionary_encode() for name, column in columns.items()}
        | {"score": [row[2] for row in rows]}
    )
    path = tmp_path / "a.arrow"
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table)
    expected = outcome(
        lambda: ir.evaluate(ir.Qrels(qrels), write(tmp_path, rows, "csv"), "AP", name="x")
    )

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("an id became a Python string")

    monkeypatch.setattr(row_parts, "pack", refuse)
    monkeypatch.setattr("idealrank.io.formats.arrow_columns.pack", refuse)
    monkeypatch.setattr(row_parts.IdColumn, "__getitem__", refuse)
    monkeypatch.setattr(row_parts.IdColumn, "expanded", refuse)
    found = outcome(lambda: ir.evaluate(ir.Qrels(qrels), path, "AP", name="x"))
    assert found[:-1] == expected[:-1]  # the files differ
    assert (
        outcome(lambda: ir.evaluate(ir.Qrels(qrels), table, "AP", name="x"))[1:-1] == expected[1:-1]
    )


@pytest.mark.parametrize("memory", [None, "2GB"])
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_small_groups_of_rows_are_read_together(
    tmp_path: Path, size: int, memory: str | None
) -> None:
    """Values, and the number of a broken row, do not depend on the groups of a Parquet file."""
    qrels, rows = sample(30, 40)
    path = tmp_path / "mine.parquet"
    frame = pl.DataFrame(rows, schema=["qid", "docno", "score"], orient="row")
    pq.write_table(frame.to_arrow(), path, row_group_size=size)
    lists: dict[str, dict[str, float]] = {}
    for query, document, score in rows:
        lists.setdefault(query, {})[document] = score
    assert (
        ir.evaluate(qrels, path, "AP", memory=memory).per_query()
        == ir.evaluate(qrels, lists, "AP").per_query()
    )
    broken = [
        (query, document, float("nan") if place == 1111 else score)
        for place, (query, document, score) in enumerate(rows)
    ]
    pq.write_table(
        pl.DataFrame(broken, schema=["qid", "docno", "score"], orient="row").to_arrow(),
        path,
        row_group_size=size,
    )
    with pytest.raises(ir.FileFormatError, match=r"row 1111 \(counted from 0\)"):
        ir.evaluate(qrels, path, "AP", memory=memory)


def test_scattered_rows_are_seen_before_a_part_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Text by its first lines and the middle, coded rows by two pieces: no part is thrown away."""
    parts: list[str] = []
    for reader in (run_stream.TextReader, run_stream.PieceReader):
        original = reader.grouped

        def counted(self: Any, original: Any = original) -> Any:
            for part in original(self):
                parts.append("part")
                yield part

        monkeypatch.setattr(reader, "grouped", counted)
    monkeypatch.setattr(run_stream, "_LARGEST_TEXT", 2000)
    monkeypatch.setattr(run_stream, "_LARGEST_PIECE", 20_000)
    monkeypatch.setattr(run_stream, "_SAMPLE", 4000)
    qrels, rows = sample(40, 60)
    rows.sort(key=lambda row: row[2])
    whole = ir.evaluate(qrels, write(tmp_path, rows, "run"), "AP").per_query()
    for ending in ("run", "parquet"):
        assert (
            ir.evaluate(qrels, write(tmp_path, rows, ending), "AP", memory="2GB").per_query()
            == whole
        )
        assert parts == []
    rows.sort(key=lambda row: row[0])
    ir.evaluate(qrels, write(tmp_path, rows, "run"), "AP", memory="2GB")
    assert len(parts) > 2
