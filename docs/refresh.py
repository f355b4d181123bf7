"""Write what commands print today into the console blocks of pages: ``python docs/refresh.py README.md docs/guides/*.md``.

Run it in the environment of the project (`.venv/bin/python`) after output has changed on purpose, then read the difference. Only output
that stands below a command is replaced; blocks that set a machine up, and those with a line of dots in their output, stay as they are.
Between ``<!-- speed -->`` and ``<!-- end of speed -->`` it puts the table that `make bench` wrote.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.docs.blocks import SET_UP, Block, blocks_of, commands_of, shell  # noqa: E402  (the path above comes first)

SPEED = ROOT / "benchmarks" / "results" / "table.md"
ELIDED = re.compile(r"^\s*\.\.\.\s*$", re.MULTILINE)
MARKED = re.compile(r"(<!-- speed -->\n).*?(<!-- end of speed -->)", re.DOTALL)


def renewed(block: Block) -> str:
    """The text of a console block with the output of today."""
    lines = []
    for command, expected in commands_of(block):
        first, *more = command.split("\n")
        lines += [f"$ {first}", *(f"> {line}" if not line.startswith(" ") else line for line in more)]
        if expected and not SET_UP.match(command) and not ELIDED.search(expected):
            lines.append("\n".join(line.rstrip() for line in shell(command)[1].rstrip("\n").split("\n")))
        elif expected:
            lines.append(expected)
    return "\n".join(lines) + "\n"


def refresh(page: Path) -> bool:
    """Rewrite one page; whether it changed."""
    before = text = page.read_text(encoding="utf-8")
    for block in blocks_of(text):
        if block.language == "console" and not block.excuse:
            text = text.replace(block.text, renewed(block), 1)
    if SPEED.exists():
        table = SPEED.read_text(encoding="utf-8").strip()
        text = MARKED.sub(lambda found: f"{found[1]}\n{table}\n\n{found[2]}", text)
    if text != before:
        page.write_text(text, encoding="utf-8")
    return text != before


def main() -> None:
    """Refresh the pages named on the command line."""
    for name in sys.argv[1:]:
        print(f"{name}: {'changed' if refresh(Path(name)) else 'as it was'}")


if __name__ == "__main__":
    main()
