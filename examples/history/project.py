"""Make a small git repository of a search engine, twenty commits old: `python
examples/history/project.py project`.

It finds objects of Python's library by the words of their names. One of its commits makes some
queries fail; docs/store/history.md finds out which. Authors and dates are fixed, so that the
commits have the same hashes everywhere.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

SEARCH = '''\
"""Rank names by the words they share with each query: search.py QUERIES QRELS."""

import json
import re
import sys
from pathlib import Path

SETTINGS = json.loads(Path(__file__).with_name("settings.json").read_text())


def words(text):
    text = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text) if SETTINGS["camel"] else text
    found = re.findall(r"[a-z0-9]+", text.lower())
    return {word[: SETTINGS["stem"]] for word in found if len(word) >= SETTINGS["shortest"] and word not in SETTINGS["stop"]}


queries = [line.rstrip("\\n").split("\\t") for line in open(sys.argv[1], encoding="utf-8")]
names = {name: words(name) for name in sorted({line.split()[2] for line in open(sys.argv[2], encoding="utf-8")})}
for query, text in queries:
    asked = words(text)
    scores = {name: len(asked & held) / (len(held) + SETTINGS["smooth"]) for name, held in names.items()}
    found = sorted((name for name in names if scores[name]), key=lambda name: (-scores[name], name))[: SETTINGS["depth"]]
    for rank, name in enumerate(found, start=1):
        print(query, "Q0", name, rank, 1000 - rank, "search")
'''  # noqa: E501
START = {"camel": False, "depth": 100, "shortest": 1, "smooth": 2.0, "stem": 20, "stop": []}
# What each commit changes, the oldest first.
CHANGES: list[tuple[str, dict[str, object]]] = [
    ("Rank names by the words they share with a query", {}),
    ("Say how to run it", {}),
    ("Read names in camel case as several words", {"camel": True}),
    ("Match words by their first twelve letters", {"stem": 12}),
    ("Leave out a and of", {"stop": ["a", "of"]}),
    ("Smooth the length of names more", {"smooth": 3.0}),
    ("Match words by their first eight letters", {"stem": 8}),
    ("Return fifty results", {"depth": 50}),
    ("Leave out the and in", {"stop": ["a", "in", "of", "the"]}),
    ("Words of two letters say little", {"shortest": 2}),
    ("Smooth the length of names less", {"smooth": 2.5}),
    ("Match words by their first six letters", {"stem": 6}),
    ("Return thirty results", {"depth": 30}),
    ("Words of three letters say little, too", {"shortest": 4}),
    ("Smooth the length of names a little more", {"smooth": 2.75}),
    ("Match words by their first seven letters", {"stem": 7}),
    ("Leave out with", {"stop": ["a", "in", "of", "the", "with"]}),
    ("Return forty results", {"depth": 40}),
    ("Smooth as before", {"smooth": 2.5}),
    ("Match words by their first six letters again", {"stem": 6}),
]
_AUTHOR = {"NAME": "Search", "EMAIL": "search@example.org"}
_FIRST = 1_767_261_600  # 2026-01-01, 10:00 UTC


def git(folder: Path, *arguments: str, day: int = 0) -> None:
    """Run git as nobody in particular, on a day of January."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in _AUTHOR.items()
    }
    environment |= {
        f"GIT_{who}_DATE": f"{_FIRST + 86_400 * day} +0000" for who in ("AUTHOR", "COMMITTER")
    }
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(["git", *arguments], cwd=folder, env=environment, check=True)


def main(folder: Path) -> None:
    """Make the repository."""
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    settings = dict(START)
    for day, (message, change) in enumerate(CHANGES):
        settings |= change
        (folder / "search.py").write_text(SEARCH, encoding="utf-8")
        (folder / "settings.json").write_text(
            json.dumps(settings, indent=2) + "\n", encoding="utf-8"
        )
        if message == "Say how to run it":
            (folder / "README").write_text(
                "python search.py queries.tsv qrels.txt > search.run\n", encoding="utf-8"
            )
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "-m", message, day=day)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
