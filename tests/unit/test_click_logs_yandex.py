"""Logs in the layout of the Yandex relevance prediction challenge."""

from pathlib import Path

import pytest

from idealrank.errors import FileFormatError
from idealrank.io.click_logs import read_log

LINES = ["7\t0\tQ\t50\t1\ta1\ta2\ta3", "7\t20\tC\ta2", "7\t90\tQ\t50\t1\ta2\ta1", "7\t95\tC\ta2", "9\t0\tQ\t51\t1\ta2\ta4"]


def written(folder: Path, lines: list[str]) -> Path:
    path = folder / "log.txt"
    path.write_text("\n".join(line.replace("a", "10") for line in lines) + "\n", encoding="utf-8")
    return path


def test_a_click_belongs_to_the_last_list_of_its_session_that_has_the_result(tmp_path: Path) -> None:
    found = read_log(written(tmp_path, LINES))
    assert list(zip(found.session, found.query, found.document, found.rank, found.click, strict=True)) == [
        ("7.1", "50", "101", 1, 0), ("7.1", "50", "102", 2, 1), ("7.1", "50", "103", 3, 0),
        ("7.2", "50", "102", 1, 1), ("7.2", "50", "101", 2, 0),
        ("9.1", "51", "102", 1, 0), ("9.1", "51", "104", 2, 0),
    ]  # fmt: skip
    checked = found.check()
    assert (checked.n_lists, checked.n_kept, checked.problems) == (3, 3, ())


def test_lines_of_no_kind_and_clicks_on_nothing_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"(?s)log.txt.*4.*a click on 109.*a result of a list of session 7"):
        read_log(written(tmp_path, [*LINES[:3], "7\t95\tC\ta9"]))
    with pytest.raises(FileFormatError, match=r"(?s)log.txt.*2.*expected SESSION TIME Q QUERY REGION URL"):
        read_log(written(tmp_path, [LINES[0], "7\t20\tX\ta2"]))
    with pytest.raises(FileFormatError, match="a click on 102"):  # a session of its own
        read_log(written(tmp_path, [LINES[0], "8\t20\tC\ta2"]))


@pytest.mark.parametrize("line", [b"8\t0\tQ\t50\t1\t10\xff1", b"8\t0\tQ\t50\t1\t101\x0c102", "8\t0\tQ\t50\t1\t101\u2028".encode(), b""])
def test_a_line_with_bytes_that_are_no_number_is_named(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "log.txt"
    path.write_bytes(LINES[0].replace("a", "10").encode() + b"\r\n" + line + b"\n" + line)
    with pytest.raises(FileFormatError, match=r"(?s)log.txt.*2.*expected SESSION TIME Q QUERY REGION URL"):
        read_log(path)
