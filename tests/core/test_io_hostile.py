"""Whatever the bytes: data, or an error of the library; reading and validating agree about
which.
"""

import bz2
import contextlib
import gzip
import io
import json
import lzma
from pathlib import Path

import polars as pl
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from idealrank.data.alignment import Alignment
from idealrank.errors import IdealrankError
from idealrank.io.formats.detection import FORMATS
from idealrank.io.lint import lint
from idealrank.io.read import read_qrels, read_run
from tests.conftest import examples

relaxed = settings(
    max_examples=examples(150),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def parquet() -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame({"qid": ["a", "b"], "docno": ["x", "y"], "score": [1.0, 2.0]}).write_parquet(
        buffer
    )
    return buffer.getvalue()


def arrow(stream: bool) -> bytes:
    buffer = io.BytesIO()
    frame = pl.DataFrame({"qid": ["a", "b"], "docno": ["x", "y"], "score": [1.0, 2.0]})
    frame.write_ipc_stream(buffer) if stream else frame.write_ipc(buffer)
    return buffer.getvalue()


TEXT = b"q1 Q0 d1 1 2.5 tag\nq1\tQ0\td 2\t1\t-1e3\ttag\nq2 0 d1 1\n"
SEEDS = [
    TEXT,
    b"q1 0 d1 1\nq2 0 d2 -1\n#q 0 d 1\n",
    json.dumps({"q1": {"d1": 1, "d2": 2.5}, "q2": {}}).encode(),
    b'{"q": ["a", "b"]}\n{"r": ["a"]}\n',
    b'{"qid": "q", "docid": 7, "score": 0.5}\n{"qid": "q", "docid": 8, "score": 1}\n',
    b'qid,docid,score\nq1,"d,1",0.5\nq1,d2,1e-3\n',
    b"query-id\tcorpus-id\tscore\nq\td\t1\n",
    b"2 qid:1 1:0.5 # c\n1 qid:1 2:0.1\n",
    b"0.5\n-1\n",
    parquet(),
    arrow(stream=True),
    arrow(stream=False),
    gzip.compress(TEXT),
    bz2.compress(TEXT),
    lzma.compress(TEXT),
    zstandard.ZstdCompressor().compress(TEXT),
]


PUT_IN = [
    b"\0",
    b"\xff",
    b"\n",
    b"\r",
    b'"',
    b"{",
    b"[",
    b",",
    b"\t",
    b" ",
    b"nan",
    b"1e999",
    b"\xef\xbb\xbf",
    b"\\ud800",
]


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A file of some format with a few bytes changed, cut out, doubled, or put in."""
    data = bytearray(draw(st.sampled_from(SEEDS)))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        kind = draw(st.sampled_from(["set", "cut", "put", "double", "end"]))
        if kind == "set" and data:
            data[at] = draw(st.integers(0, 255))
        elif kind == "cut":
            del data[at : at + draw(st.integers(1, 20))]
        elif kind == "put":
            data[at:at] = draw(st.sampled_from(PUT_IN))
        elif kind == "double":
            data[at:at] = data[at : at + draw(st.integers(1, 40))]
        else:
            del data[at:]
    return bytes(data)


def outcome(path: Path, table: str, form: str) -> bool:
    """True if the file can be evaluated; anything but data or an error of the library fails the
    test.
    """
    try:
        if table == "qrels":
            read_qrels(path, format=form, duplicates="first", tell=lambda _: None)  # type: ignore[arg-type]
            return True
        run = read_run(path, format=form, tell=lambda _: None)  # type: ignore[arg-type]
        with contextlib.suppress(KeyError):
            run.ranking("q1", Alignment(duplicates="first"))
    except IdealrankError as error:
        message = str(error)
    else:
        return True
    assert message.startswith(str(path)), message
    return False


@pytest.mark.parametrize("table", ["qrels", "run"])
@relaxed
@given(data=mutated() | st.binary(max_size=60), form=st.just("auto") | st.sampled_from(FORMATS))
def test_any_bytes_give_data_or_an_error_of_ours(
    tmp_path: Path, table: str, data: bytes, form: str
) -> None:
    path = tmp_path / "input"
    path.write_bytes(data)
    readable = outcome(path, table, form)
    report = lint([path], table, format=form)  # type: ignore[arg-type]
    errors = report.n_errors - report.problems.counts.get("duplicate", 0)
    assert readable == (errors == 0), (report.failure, report.problems.examples)
    assert readable == ((report.qrels if table == "qrels" else report.run) is not None)
