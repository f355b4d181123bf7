"""Journals: what is torn is mended, and what is no journal stays as it is."""

from pathlib import Path

import pytest

from idealrank.errors import FileFormatError
from idealrank.live.line_journal import LineJournal

FOREIGN = {
    "a line without an end": b'{"my": "only copy"}',
    "lines": b'{"my": "first"}\n{"my": "second"}\n',
    "a text": b"notes of mine",
    "another journal": b'{"format": "idealrank search journal 1"}\n{"n": 1}\n',
    "bytes": b"\xff\xfe\n\x00",
}


def read(path: Path, *, restart: bool = False) -> list[object]:
    found: list[object] = []
    with LineJournal(str(path), "count", "a number", restart=restart) as journal:
        journal.start({"of": "things"}, lambda line: found.append(line["n"]))
    return found


@pytest.mark.parametrize("content", FOREIGN.values(), ids=list(FOREIGN))
@pytest.mark.parametrize("restart", [False, True])
def test_a_file_that_is_no_such_journal_stays_as_it_is(
    tmp_path: Path, content: bytes, restart: bool
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=r"a\.jsonl"):
        read(path, restart=restart)
    assert path.read_bytes() == content


@pytest.mark.parametrize("restart", [False, True])
def test_a_journal_that_was_cut_anywhere_goes_on_or_starts_anew(
    tmp_path: Path, restart: bool
) -> None:
    path = tmp_path / "a.jsonl"
    with LineJournal(str(path), "count", "a number") as journal:
        journal.start({"of": "things"}, print)
        journal.write({"n": 1})
        journal.write({"n": 2})
    whole = path.read_bytes()
    for length in range(len(whole) + 1):
        path.write_bytes(whole[:length])
        expected = [] if restart else [1, 2][: max(0, whole[:length].count(b"\n") - 1)]
        assert read(path, restart=restart) == expected
        assert read(path) == expected
