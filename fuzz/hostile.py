"""Write hostile qrels and runs: as seeds for the text harness, or as pairs of files for the command
line.

python fuzz/hostile.py seeds FOLDER     one seed a case
python fuzz/hostile.py files FOLDER     CASE.qrels and CASE.run
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path

GOOD_QRELS = b"q1 0 d1 2\nq1 0 d2 0\nq1 0 d3 1\nq2 0 d1 1\nq2 0 d4 3\nq3 0 d9 1\n"
GOOD_RUN = (
    b"q1 Q0 d2 1 9.5 tag\nq1 Q0 d1 2 8.25 tag\nq1 Q0 d7 3 8.25 tag\nq1 Q0 d3 4 -1 tag\n"
    b"q2 Q0 d4 1 0.5 tag\nq2 Q0 d8 2 0.5 tag\nq2 Q0 d1 3 0.25 tag\nq9 Q0 d1 1 7 tag\nq9 Q0 d2 "
    b"2 6 tag\n"
)
Case = tuple[str, bytes, bytes]


def layouts() -> Iterator[Case]:
    """Blanks, tabs, line ends, comments, marks: all of it fine."""
    yield "good", GOOD_QRELS, GOOD_RUN
    yield "crlf", GOOD_QRELS.replace(b"\n", b"\r\n"), GOOD_RUN.replace(b"\n", b"\r\n")
    yield "no_last_line_feed", GOOD_QRELS[:-1], GOOD_RUN[:-1]
    yield "carriage_return_at_the_end", GOOD_QRELS[:-1] + b"\r", GOOD_RUN[:-1] + b"\r"
    yield "tabs", GOOD_QRELS.replace(b" ", b"\t"), GOOD_RUN.replace(b" ", b"\t")
    yield (
        "tabs_and_spaces_in_ids",
        b"the query\t0\ta document\t1\n",
        b"the query\tQ0\ta document\t1\t2.5\tmy tag\n",
    )
    yield "mixed_blanks", GOOD_QRELS.replace(b" ", b" \t "), b"\t" + GOOD_RUN.replace(b" ", b"  \t")
    yield (
        "marks",
        b"\xef\xbb\xbf" + GOOD_QRELS,
        b"\xef\xbb\xbf" + GOOD_RUN + b"\x1d\xef\xbb\xbf" + GOOD_RUN.replace(b"q", b"r"),
    )
    yield (
        "comments",
        b"# q1 0 d8 1\n#\n" + GOOD_QRELS,
        b"# made by hand\n#q1 Q0 d1 1 2 t\n\n   \n\t\n" + GOOD_RUN,
    )
    yield "tag_of_many_words", GOOD_QRELS, GOOD_RUN.replace(b"tag", b"a tag  of words")
    yield (
        "any_utf8",
        "frage 0 größe 1\n質問 0 文書 2\n".encode(),
        "frage Q0 größe 1 2.5 t\n質問 Q0 文書 x 1 t\n".encode(),
    )
    yield "not_utf8", b"q\xff\xfe 0 d\x80 1\n", b"q\xff\xfe Q0 d\x80 1 2 t\n"
    yield "empty", b"", b""
    yield "line_feeds_only", b"\n\n\n", b"\n\r\n\n"


def numbers() -> Iterator[Case]:
    """Scores and grades at and beyond every edge."""
    texts = (  # noqa: SIM905 - a list of one number a line would be longer and no clearer
        "0 -0 +1 .5 5. -.5e1 1e5 1E+5 1e-400 1e400 -1e400 inf -Infinity +INF "
        "123456789012345678901234567890 "
        "9223372036854775807 9223372036854775808 0.1 0.30000000000000004 4.9e-324 "
        "2.4703282292062327e-324 "
        "1.7976931348623157e308 1.7976931348623159e308 2.2250738585072011e-308 "
        "9007199254740993 00000000000000000000001.5 "
        "1e-0005 0e999999999999 1e99999999999999999999 7.0000000000000000000000000001 "
        "1234567.12345678 12345678.5"
    ).split()
    grades = "".join(f"q 0 d{i} {text}\n" for i, text in enumerate(texts))
    scores = "".join(f"q Q0 d{i} 1 {text} t\n" for i, text in enumerate(texts))
    yield "numbers", grades.encode(), scores.encode()
    for name, text in {
        "nan": "nan",
        "signed_nan": "-NaN",
        "hexadecimal": "0x1p3",
        "underscore": "1_000",
        "comma": "1,5",
        "no_digits": "-",
        "point": ".",
        "exponent_only": "e5",
        "open_exponent": "1e",
        "words": "high",
        "trailing": "1.5x",
        "two_points": "1.2.3",
    }.items():
        yield f"grade_{name}", f"q 0 d1 1\nq 0 d2 {text}\n".encode(), GOOD_RUN
        yield f"score_{name}", GOOD_QRELS, f"q1 Q0 d1 1 1 t\nq1 Q0 d2 2 {text} t\n".encode()
    yield (
        "scores_that_float32_ties",
        GOOD_QRELS,
        b"q1 Q0 d1 1 1.00000001 t\nq1 Q0 d2 2 1.00000002 t\nq1 Q0 d3 3 1 t\n",
    )
    yield "all_tied", GOOD_QRELS, b"".join(b"q1 Q0 d%d 1 0.5 t\n" % i for i in range(40))
    yield (
        "zeros_of_both_signs",
        GOOD_QRELS,
        b"q1 Q0 d1 1 0 t\nq1 Q0 d2 2 -0.0 t\nq1 Q0 d3 3 0.0 t\n",
    )


def broken_lines() -> Iterator[Case]:
    """Each a reason to refuse."""
    yield "too_few_fields", b"q1 0 d1\n", b"q1 Q0 d1 1 2.5\n"
    yield "too_many_fields", b"q1 0 d1 1 x\n", GOOD_RUN
    yield "run_as_qrels", GOOD_RUN, GOOD_QRELS
    yield "nul_in_id", b"q1 0 d\x001 1\n", GOOD_RUN
    yield "nul_at_the_end", GOOD_QRELS + b"\x00", GOOD_RUN + b"\x00"
    yield "control_in_run", GOOD_QRELS, GOOD_RUN + b"q1 Q0 d\x0b8 1 2 t\n"
    yield "carriage_return_inside", GOOD_QRELS, b"q1 Q0 d1\r 1 2 t\n"
    yield "carriage_returns_only", GOOD_QRELS.replace(b"\n", b"\r"), GOOD_RUN.replace(b"\n", b"\r")
    yield "utf16", GOOD_QRELS.decode().encode("utf-16"), GOOD_RUN.decode().encode("utf-16")
    yield "gzip_magic", b"\x1f\x8b\x08\x00\x00\x00\x00\x00", b"\x1f\x8b\x08\x00\x00\x00\x00\x00"
    yield "truncated", GOOD_QRELS[:-4], GOOD_RUN[:-9]
    yield (
        "bad_last_line_after_many",
        GOOD_QRELS,
        b"".join(b"q1 Q0 x%d 1 %d t\n" % (i, i) for i in range(300)) + b"q1",
    )
    junk = random.Random(1).randbytes(600).replace(b"\x1e", b"").replace(b"\x1d", b"")
    yield "junk", junk, junk[::-1]
    yield "open_tabs", b"\t\t\t\n", b"\t\t\t\t\t\n"
    yield "empty_tab_field", b"q1\t\td1\t1\n", b"q1\t\td1\t1\t2\tt\n"


def orders() -> Iterator[Case]:
    """Duplicates, scattered queries, several sources, long lines and ids."""
    lines = GOOD_RUN.splitlines(keepends=True)
    yield "duplicate_judgment", GOOD_QRELS + b"q1 0 d1 0\n", GOOD_RUN
    yield "duplicate_hit", GOOD_QRELS, GOOD_RUN + b"q1 Q0 d1 5 99 tag\n"
    yield "duplicate_of_unjudged", GOOD_QRELS, GOOD_RUN + b"q9 Q0 d1 5 99 tag\n"
    yield "duplicates_everywhere", GOOD_QRELS * 2, GOOD_RUN * 3
    yield "shuffled", GOOD_QRELS, b"".join(random.Random(2).sample(lines, len(lines)))
    alternating = b"".join(b"q%d Q0 d%d 1 %d t\n" % (i % 3, i, i % 7) for i in range(120))
    yield "every_line_scattered", GOOD_QRELS, alternating
    yield (
        "scattered_judgments",
        b"".join(b"q%d 0 d%d %d\n" % (i % 3, i, i % 4) for i in range(60)),
        alternating,
    )
    yield (
        "several_sources",
        b"\x1d".join([GOOD_QRELS[:20], GOOD_QRELS[20:]]),
        b"\x1d".join([lines[0], b"", b"".join(lines[1:])]),
    )
    yield (
        "source_ends_inside_a_query",
        GOOD_QRELS,
        b"".join(lines[:2]) + b"\x1d" + b"".join(lines[2:]),
    )
    yield (
        "one_document_queries",
        b"".join(b"q%d 0 d 1\n" % i for i in range(60)),
        b"".join(b"q%d Q0 d 1 1 t\n" % i for i in range(0, 90, 2)),
    )
    yield (
        "long_ids",
        b"q" * 300 + b" 0 " + b"d" * 300 + b" 1\n",
        b"q" * 300 + b" Q0 " + b"d" * 300 + b" 1 1 t\n",
    )
    yield (
        "long_tag",
        GOOD_QRELS,
        b"q1 Q0 d1 1 1 " + b"t" * 700 + b"\n" + GOOD_RUN.replace(b"q1", b"q5"),
    )
    yield "long_blank_line", b" " * 500 + b"\n" + GOOD_QRELS, b"\t" * 500 + b"\n" + GOOD_RUN
    yield (
        "ids_of_every_length",
        *(
            b"".join(line % (b"q" * (i % 21 + 1), b"d" * i, i % 5) for i in range(1, 41))
            for line in (b"%s 0 %s %d\n", b"%s Q0 %s 1 %d t\n")
        ),
    )
    yield (
        "prefixes_tied",
        GOOD_QRELS,
        b"".join(b"q1 Q0 d1%s 1 1 t\n" % (b"\xff" * i) for i in range(12)) + b"q1 Q0 d 1 1 t\n",
    )


def all_cases() -> Iterator[Case]:
    """Every case of this file."""
    yield from layouts()
    yield from numbers()
    yield from broken_lines()
    yield from orders()


def main() -> None:
    """Write the cases as the first argument says."""
    if len(sys.argv) != 3 or sys.argv[1] not in ("seeds", "files"):
        sys.exit(__doc__)
    folder = Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    options = random.Random(3)
    for name, qrels, run in all_cases():
        if sys.argv[1] == "seeds":
            (folder / name).write_bytes(options.randbytes(8) + qrels + b"\x1e" + run)
        else:
            (folder / f"{name}.qrels").write_bytes(qrels.replace(b"\x1d", b""))
            (folder / f"{name}.run").write_bytes(run.replace(b"\x1d", b""))


if __name__ == "__main__":
    main()
