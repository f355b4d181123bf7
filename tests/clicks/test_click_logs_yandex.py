"""Logs in the layout of the Yandex relevance prediction challenge."""

import tracemalloc
from pathlib import Path

import pytest

from idealrank.clicks.files.click_logs import read_log
from idealrank.errors import FileFormatError

LINES = [
    "7\t0\tQ\t50\t1\ta1\ta2\ta3",
    "7\t20\tC\ta2",
    "7\t90\tQ\t50\t1\ta2\ta1",
    "7\t95\tC\ta2",
    "9\t0\tQ\t51\t1\ta2\ta4",
]


def written(folder: Path, lines: list[str]) -> Path:
    path = folder / "log.txt"
    path.write_text("\n".join(line.replace("a", "10") for line in lines) + "\n", encoding="utf-8")
    return path


def test_a_click_belongs_to_the_last_list_of_its_session_that_has_the_result(
    tmp_path: Path,
) -> None:
    rows = read_log(written(tmp_path, LINES))
    assert list(
        zip(rows.session, rows.query, rows.document, rows.rank, rows.click, strict=True)
    ) == [
        ("7.1", "50", "101", 1, 0),
        ("7.1", "50", "102", 2, 1),
        ("7.1", "50", "103", 3, 0),
        ("7.2", "50", "102", 1, 1),
        ("7.2", "50", "101", 2, 0),
        ("9.1", "51", "102", 1, 0),
        ("9.1", "51", "104", 2, 0),
    ]
    checked = rows.check()
    assert (checked.n_lists, checked.n_kept, checked.problems) == (3, 3, ())


def test_lines_of_no_kind_and_clicks_on_nothing_are_named(tmp_path: Path) -> None:
    with pytest.raises(
        FileFormatError, match=r"(?s)log.txt.*4.*a click on 109.*a result of a list of session 7"
    ):
        read_log(written(tmp_path, [*LINES[:3], "7\t95\tC\ta9"]))
    with pytest.raises(
        FileFormatError, match=r"(?s)log.txt.*2.*expected SESSION TIME Q QUERY REGION URL"
    ):
        read_log(written(tmp_path, [LINES[0], "7\t20\tX\ta2"]))
    with pytest.raises(FileFormatError, match="a click on 102"):  # a session of its own
        read_log(written(tmp_path, [LINES[0], "8\t20\tC\ta2"]))


@pytest.mark.parametrize(
    "line",
    [
        b"8\t0\tQ\t50\t1\t10\xff1",
        b"8\t0\tQ\t50\t1\t101\x0c102",
        "8\t0\tQ\t50\t1\t101\u2028".encode(),
        b"",
    ],
)
def test_a_line_with_bytes_that_are_no_number_is_named(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "log.txt"
    path.write_bytes(LINES[0].replace("a", "10").encode() + b"\r\n" + line + b"\n" + line)
    with pytest.raises(
        FileFormatError, match=r"(?s)log.txt.*2.*expected SESSION TIME Q QUERY REGION URL"
    ):
        read_log(path)


def test_a_log_is_read_line_by_line(tmp_path: Path) -> None:
    """The reader keeps 8 bytes per cell and each id once; it does not keep the lines."""
    lists = [
        f"{session}\t0\tQ\t{session % 50}\t1\t"
        + "\t".join(str(10_000 + (session + place) % 99) for place in range(10))
        for session in range(6000)
    ]
    path = written(tmp_path, lists)
    tracemalloc.start()
    rows = read_log(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(rows.session) == 60_000
    assert peak < 8.5 * 8 * 60_000 + 100 * 6000  # arrays are copied once at the end


def test_times_of_other_logs_are_seconds_or_iso_8601(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(
        "session,query,document,rank,click,timestamp\ns,q,a,1,0,2024-05-01T00:00:10Z\n"
        "t,q,a,1,1,12.5\n",
        encoding="utf-8",
    )
    rows = read_log(path)
    assert rows.time is not None
    assert rows.time.tolist() == [1714521610.0, 12.5]
    assert rows.check().sessions.time is not None
    path.write_text("session,query,document,rank,click,time\ns,q,a,1,0,noon\n", encoding="utf-8")
    with pytest.raises(
        FileFormatError, match="time 'noon', expected seconds, or a time of ISO 8601"
    ):
        read_log(path)
