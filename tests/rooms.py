"""Modules of the library that a command enters, on 60 made queries.

``python -m tests.rooms compare qrels a b --report page.html`` prints how many, and their names. The
files ``qrels``, ``a`` and ``b`` are made in a folder of their own, in which the command runs.
"""

import os
import random
import sys
import tempfile
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import idealrank
from idealrank.cli.main import main

_ROOT = Path(idealrank.__file__).parent
_OF_FUNCTION = 1  # flag of code that is no body of a module or of a class


def _write_files(folder: Path) -> None:
    chance = random.Random(1)
    lines: dict[str, list[str]] = {"qrels": [], "a": [], "b": []}
    for query in range(60):
        grades = [max(0, chance.randint(-1, 3)) for _ in range(20)]
        lines["qrels"] += [f"q{query} 0 d{doc} {grade}" for doc, grade in enumerate(grades)]
        for run, noise in (("a", 1.5), ("b", 1.2)):
            scores = [grade + chance.gauss(0, noise) for grade in [*grades, *[0] * 10]]
            lines[run] += [f"q{query} Q0 d{doc} 0 {score} -" for doc, score in enumerate(scores)]
    for name, of_file in lines.items():
        (folder / name).write_text("\n".join(of_file) + "\n")


def entered(arguments: list[str]) -> list[str]:
    """Run a command, and return the modules of which it calls a function."""
    files = set[str]()

    def look(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_flags & _OF_FUNCTION:
            files.add(frame.f_code.co_filename)

    threading.setprofile(look)
    sys.setprofile(look)
    try:
        main(arguments)
    except SystemExit as end:
        print("exit code", end.code)
    sys.setprofile(None)
    return sorted(file for file in files if file.startswith(str(_ROOT)) and file.endswith(".py"))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        _write_files(Path(made))
        os.chdir(made)
        rooms = entered(sys.argv[1:])
        os.chdir(_ROOT)
    print(len(rooms), *rooms, sep="\n")
