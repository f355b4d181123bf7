"""Features of training files: one large number of a feature does not fill memory."""

import tracemalloc
from pathlib import Path

import pytest

import idealrank as ir
from idealrank.io.formats.feature_rows import read_feature_rows


@pytest.mark.parametrize("index", ["2000000000", "1048576", "9" * 30])
def test_a_feature_beyond_the_largest_number_is_refused_by_its_line(
    tmp_path: Path, index: str
) -> None:
    path = tmp_path / "a.letor"
    path.write_text(f"1 qid:1 1:0.5\n0 qid:1 {index}:1\n", encoding="utf-8")

    with pytest.raises(ir.FileFormatError, match=r"a\.letor:2: .*the number below 1,048,576"):
        read_feature_rows(path)


def test_rows_as_wide_as_one_feature_are_refused_before_they_take_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.letor"
    path.write_text(
        "".join(f"1 qid:{number} 1:0.5\n" for number in range(1000)) + "0 qid:1 1048575:1\n",
        encoding="utf-8",
    )
    tracemalloc.start()
    try:
        with pytest.raises(
            ir.FileFormatError,
            match=r"1,001 rows with features up to number 1,048,575, which take 8,396,996,608 "
            r"bytes "
            r"as a",
        ):
            read_feature_rows(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 20 << 20


def test_a_column_named_by_a_very_long_number_is_no_feature(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"qid,docid,grade,feature_{'9' * 5000}\nq1,d1,1,2\n", encoding="utf-8")

    assert ir.convert(path, tmp_path / "out.qrels").losses
