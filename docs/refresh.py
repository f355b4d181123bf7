"""Write what commands print today into the console blocks of pages: ``python docs/refresh.py
README.md docs/guides/*.md``.

Run it in the environment of the project (`.venv/bin/python`) after output has changed on purpose,
then read the difference. All blocks of a page run in order, for a script may write the files of a
later command. Only output that stands below a command is replaced; blocks that set a machine up,
those with a line of dots in their output, and those whose dots still stand for what is printed (ids
and times, which change), stay as they are. Between ``<!-- speed -->`` and ``<!-- end of speed -->``
it puts the table that `make bench` wrote; after ``<!-- speed rows: A; B -->`` only the first row
that compares with A, and the first that compares with B; after ``<!-- speed job: NAME -->`` the
table of one job.
"""

import contextlib
import re
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.docs.blocks import SET_UP, Block, blocks_of, commands_of, run_block, same, shell  # noqa: E402  (the path above comes first)

SPEED = ROOT / "benchmarks" / "results" / "table.md"
ELIDED = re.compile(r"^\s*\.\.\.\s*$", re.MULTILINE)
ROWS = re.compile(r"(<!-- speed rows: (.*?) -->\n).*?(<!-- end of speed -->)", re.DOTALL)
JOB = re.compile(r"(<!-- speed job: ([a-z-]+) -->\n).*?(<!-- end of speed -->)", re.DOTALL)
MARKED = re.compile(r"(<!-- speed -->\n).*?(<!-- end of speed -->)", re.DOTALL)


def renewed(block: Block) -> str:
    """The text of a console block with the output of today."""
    lines = []
    status = 0
    for command, expected in commands_of(block):
        first, *more = command.split("\n")
        lines += [
            f"$ {first}",
            *(f"> {line}" if not line.startswith(" ") else line for line in more),
        ]
        if SET_UP.match(command):
            lines += [expected] if expected else []
            continue
        status, found = shell(command, status)
        if expected:
            kept = ELIDED.search(expected) or same(expected, found)
            lines.append(
                expected
                if kept
                else "\n".join(line.rstrip() for line in found.rstrip("\n").split("\n"))
            )
    return "\n".join(lines) + "\n"


def rows_of(table: str, compared: list[str]) -> str:
    """Some rows of the table of speed, each with its job and what the ratio means."""
    jobs: dict[str, str] = {}
    job = ""
    for line in table.splitlines():
        if line.startswith("| "):
            cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            job = cells[0] or job
            result = cells[3].removesuffix(" **(missed)**")  # of a target that is not shown here
            said = (
                f"{result} faster"
                if cells[2].endswith("faster")
                else f"takes {result} the processor time"
            )
            jobs.setdefault(cells[1], f"| {job} | {cells[1]} | {said} |")
    missing = [name for name in compared if name not in jobs]
    if missing:
        raise SystemExit(f"{SPEED}: found no row that compares with {missing[0]!r}")
    return "\n".join(
        ["| job | compared with | result |", "|---|---|---|", *(jobs[name] for name in compared)]
    )


def rewritten(found: re.Match[str], table: str) -> str:
    """A marked part with another table; as it is if the words are those already there, however they
    are wrapped.
    """
    text = f"{found[1]}{table}\n\n{found[found.re.groups]}"
    return found[0] if found[0].split() == text.split() else text


def refresh(page: Path) -> bool:
    """Rewrite one page; whether it changed."""
    before = text = page.read_text(encoding="utf-8")
    names = {"__name__": "__main__"}
    # where the tests run it, too
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        shutil.copytree(
            ROOT / "examples", "examples", ignore=shutil.ignore_patterns(".*", "__pycache__")
        )
        for block in blocks_of(text):
            if block.language != "console":  # a script may write the files of a later command
                if wrong := run_block(block, str(page), names, shell):
                    print(
                        f"{page}:{block.line}: {block.language} block, to be mended by hand\n"
                        f"{wrong}",
                        file=sys.stderr,
                    )
            elif not block.excuse:
                text = text.replace(block.text, renewed(block), 1)
    if SPEED.exists():
        table = SPEED.read_text(encoding="utf-8").strip()
        text = ROWS.sub(lambda found: rewritten(found, rows_of(table, found[2].split("; "))), text)
        text = MARKED.sub(lambda found: rewritten(found, f"\n{table}"), text)
    text = JOB.sub(
        lambda found: rewritten(
            found, f"\n{SPEED.with_name(found[2] + '.md').read_text(encoding='utf-8').strip()}"
        ),
        text,
    )
    if text != before:
        page.write_text(text, encoding="utf-8")
    return text != before


def main() -> None:
    """Refresh the pages named on the command line."""
    for name in sys.argv[1:]:
        print(f"{name}: {'changed' if refresh(Path(name).resolve()) else 'as it was'}")


if __name__ == "__main__":
    main()
