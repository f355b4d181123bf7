"""Arrow data that were cut or whose codes point nowhere."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import idealrank as ir
from idealrank.io.dataframes import qrels_from_frame
from idealrank.io.read import read_qrels


def stream(table: pa.Table, *, batches: int = 1) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=-(-table.num_rows // batches))
    return sink.getvalue().to_pybytes()


TABLE = pa.table({"qid": ["q", "q"], "docid": ["a", "b"], "rel": [1, 4294967295]})


def test_a_stream_that_broke_off_between_two_batches_is_refused(tmp_path: Path) -> None:
    """Without the mark of its end half of a collection would count as all of it."""
    path, whole = tmp_path / "a.arrows", stream(TABLE, batches=2)
    path.write_bytes(whole)
    assert read_qrels(path)["q"] == {"a": 1.0, "b": 4294967295.0}
    first = stream(TABLE.slice(0, 1))
    for cut in (whole[:-8], whole[: len(first) - 8], stream(TABLE.slice(0, 0))[:-8]):
        path.write_bytes(cut)
        with pytest.raises(
            ir.InputError,
            match=r"a\.arrows: found an Arrow stream that ends without an end-of-stream mark, "
            r"expected a whole",
        ):
            read_qrels(path)


@pytest.mark.parametrize("code", [77, -7])
@pytest.mark.parametrize("column", ["qid", "rel"])
def test_codes_outside_the_dictionary(code: int, column: str, tmp_path: Path) -> None:
    values = pa.array(["q", "r"]) if column == "qid" else pa.array([1, 2])
    bad = pa.DictionaryArray.from_arrays(pa.array([0, code]), values, safe=False)
    table = TABLE.set_column(TABLE.schema.get_field_index(column), column, bad)
    with pytest.raises(
        ir.InputError, match=f"qrels: found column '{column}' with codes outside its dictionary"
    ):
        qrels_from_frame(table)
    path = tmp_path / "a.arrows"
    path.write_bytes(stream(table))
    with pytest.raises(
        ir.InputError, match=r"a\.arrows: found data that cannot be read .*out of bounds"
    ):
        read_qrels(path)


@pytest.mark.parametrize("code", [2, -1])
def test_codes_of_a_later_batch_outside_the_dictionary_that_all_batches_share(
    code: int, tmp_path: Path
) -> None:
    documents, path = pa.array(["a", "b"]), tmp_path / "a.arrow"
    parts = [
        pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), documents, safe=False)
        for codes in ([0, 1], [1, code])
    ]
    table = pa.table(
        {"qid": ["q", "q", "r", "r"], "docid": pa.chunked_array(parts), "rel": [1, 2, 3, 0]}
    )
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)

    with pytest.raises(
        ir.InputError,
        match=r"a\.arrow: found data that cannot be read .*, expected an Arrow IPC file",
    ):
        read_qrels(path)


@pytest.mark.parametrize("bad", [[b"a", b"\xff"], [b"\xff", b"a"]])
def test_text_of_a_shared_dictionary_that_is_not_utf8_is_refused(
    bad: list[bytes], tmp_path: Path
) -> None:
    offsets, data = np.array([0, 1, 2], np.int32), b"".join(bad)
    documents = pa.StringArray.from_buffers(2, pa.py_buffer(offsets), pa.py_buffer(data))
    parts, path = (
        [pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), documents)] * 2,
        tmp_path / "a.arrow",
    )
    table = pa.table(
        {"qid": ["q", "q", "r", "r"], "docid": pa.chunked_array(parts), "rel": [1, 2, 3, 0]}
    )
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)

    with pytest.raises(
        ir.InputError,
        match=r"a\.arrow: found data that cannot be read .*, expected an Arrow IPC file",
    ):
        read_qrels(path)


@pytest.mark.parametrize("beyond", [b"", b"\7\7\7"], ids=["whole", "odd"])
def test_bytes_after_the_last_offset_are_ignored(beyond: bytes) -> None:
    """A damaged stream can have such a buffer, and the check of pyarrow accepts it."""
    offsets = pa.py_buffer(np.array([0, 1, 2], np.int32).tobytes() + beyond)
    table = pa.table(
        {
            "qid": ["q", "q"],
            "docid": pa.StringArray.from_buffers(2, offsets, pa.py_buffer(b"ab")),
            "rel": [1, 0],
        }
    )
    table.validate(full=True)

    assert dict(qrels_from_frame(table)["q"]) == {"a": 1, "b": 0}
