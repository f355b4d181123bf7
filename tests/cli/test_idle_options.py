"""No command takes an option for its output only to ignore it: with every format, such an option
changes the output, or is an error that names the formats it changes.
"""

import json
import random
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import click
import pytest

from idealrank.cli.headings import heading_of
from idealrank.cli.output import FormatOption
from tests import pools
from tests.cli.terminal import DATA, Said
from tests.contract.commands import commands

Say = Callable[..., Said]

# Options of the heading that write further files, or choose the format and the place.
PLACES = {"--format", "-o", "--figure", "--junit", "--markdown", "--github"}
WITHOUT = {"judge pool"}  # its --order is the order of the pool
TWO, SIX = "all.qrels a.run b.run", "all.qrels a.run b.run c.run d.run e.run f.run"
JUDGED = "human.qrels --judge-qrels m=model.qrels"
# By command, a line on which its options act.
LINES = {
    "evaluate": f"evaluate {TWO}",
    "overlap": "overlap a.run b.run",
    "validate": "validate all.qrels doubled.run",
    "compare": f"compare {TWO}",
    "gate": "gate all.qrels a.run --baseline b.run --no-github",
    "robust": "robust pooled.qrels main.run new.run --try measure",
    "seeds": "seeds all.qrels a.run b.run vs c.run d.run",
    "why": f"why {TWO}",
    "explain": "explain all.qrels a.run --query q1 -m P@1",
    "judge agreement": "judge agreement human.qrels model.qrels",
    "judge bounds": f"judge bounds {TWO}",
    "judge check": f"judge check {JUDGED} --judge-qrels n=all.qrels",
    "judge correct": f"judge correct {JUDGED} a.run b.run",
    "judge infer": f"judge infer {DATA / 'sampled.txt'} {DATA / 'bm25.run'}",
    "judge next": f"judge next {TWO} --budget 4",
    "judge no-answer": "judge no-answer all.qrels a.run --unanswerable nothing.txt",
    "judge nuggets": "judge nuggets base.jsonl new.jsonl",
    "judge reuse": "judge reuse all.qrels a.run b.run c.run",
    "search recall": "search recall a.run b.run",
    "history": "history --store kept",
    "store show": "store show FIRST --store kept",
    "store diff": "store diff FIRST SECOND --store kept",
    "measures choose": "measures choose all.qrels a.run b.run c.run",
}
# Where an option needs another line to act.
OTHERS = {
    ("compare", "--rankings", "table"): f"compare {TWO} --more",
    ("compare", "--every-pair", ""): f"compare {SIX}",
    ("evaluate", "--chance", ""): f"evaluate {TWO} --candidates 20",
    ("compare", "--letters", ""): f"compare {SIX}",
    ("compare", "--sort-by", ""): f"compare {TWO} c.run d.run --table paper",
    ("compare", "--rename", ""): f"compare {TWO} --table paper",
}
# The rankings of two runs are compared by default; a table describes them with --more.
OFF = {"--rankings": "--no-rankings"}
VALUES = {
    "--digits": "6",
    "--show": "1",
    "--show-documents": "1",
    "--letters": "groups",
    "--table": "paper",
    "--sort-by": "P@10",
    "--rename": "a=A",
}
DOCUMENTS = [f"d{number}" for number in range(12)]
QUERIES = [f"q{number}" for number in range(1, 9)]


def options_of(command: click.Command) -> list[click.Option]:
    """Options of a command that say what its output shows."""
    return [
        option
        for option in command.params
        if isinstance(option, click.Option)
        and heading_of(option) == "Output"
        and not PLACES & set(option.opts)
    ]


@cache
def shaped() -> dict[str, tuple[list[str], list[click.Option]]]:
    """By command: its formats, and its options for the output."""
    found = {}
    for name, command in commands():
        formats = [option for option in command.params if isinstance(option, FormatOption)]
        if formats and options_of(command) and name not in WITHOUT:
            found[name] = (list(formats[0].formats.writers), options_of(command))
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random runs, with the judgments of people and of a model, and with nuggets."""
    path, rng = tmp_path_factory.mktemp("idle"), random.Random(1)
    human = {q: {d: rng.choice([0, 0, 1, 2]) for d in DOCUMENTS[:9]} for q in QUERIES}
    model = {
        query: {d: grade if rng.random() < 0.7 else rng.choice([0, 1]) for d, grade in of.items()}
        for query, of in human.items()
    }
    pools.written(path)
    some = {query: human[query] for query in QUERIES[:6]}
    for name, grades in (("all", human), ("human", some), ("model", model)):
        (path / f"{name}.qrels").write_text(pools.qrels_text(grades), encoding="utf-8")
    for name in "abcdef":
        text = pools.run_text({query: rng.sample(DOCUMENTS, 10) for query in QUERIES})
        (path / f"{name}.run").write_text(text, encoding="utf-8")
    (path / "nothing.txt").write_text("n1\nn2\n", encoding="utf-8")
    doubled = "".join(f"q1 Q0 d{number} 1 1 x\n" * 2 for number in range(5))
    (path / "doubled.run").write_text(doubled, encoding="utf-8")
    words = ["support", "not_support"]
    for name in ("base", "new"):
        answers = (
            {"qid": q, "run_id": name, "nuggets": [_nugget(rng.choice(words))]} for q in QUERIES
        )
        lines = (json.dumps(answer) + "\n" for answer in answers)
        (path / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    return path


def _nugget(word: str) -> dict[str, str]:
    return {"text": "n", "importance": "vital", "assignment": word}


def kept_ids(say: Say, folder: Path) -> dict[str, str]:
    """Ids of two stored evaluations by their place in a line."""
    if not (folder / "kept").exists():
        for name in "ab":
            say("evaluate", "all.qrels", f"{name}.run", "--store", "kept", cwd=folder)
    stored = json.loads(say("history", "--store", "kept", "--format", "json", cwd=folder).out)
    ids = [point["id"] for point in stored["points"]]
    return {"FIRST": ids[0], "SECOND": ids[-1]}


def test_every_command_with_such_options_has_a_line() -> None:
    assert shaped().keys() == LINES.keys()


@pytest.mark.parametrize("name", LINES)
def test_every_option_changes_the_output_or_is_refused(name: str, say: Say, folder: Path) -> None:
    formats, options = shaped()[name]
    ids = kept_ids(say, folder) if "--store" in LINES[name] else {}
    plain: dict[str, str] = {}

    def output(line: str, *words: str) -> str | None:
        said = say(*[ids.get(word, word) for word in line.split()], *words, cwd=folder)
        if said.code == 2 and not said.out:
            assert re.search(r"error: --[a-z-]+\b.*: (found --(format|table)|a CSV)", said.err)
            return None
        return said.out

    ignored = []
    for option in options:
        spelling = option.opts[0]
        usual = OTHERS.get((name, spelling, ""), LINES[name])
        for layout in formats:
            line = OTHERS.get((name, spelling, layout), usual)
            is_off = spelling in OFF and layout in {"table", "json"}
            typed = [OFF[spelling] if is_off else spelling]
            typed += [] if option.is_flag else [VALUES[spelling]]
            shown = output(line, "--format", layout, *typed)
            if shown is None:
                continue
            if line + layout not in plain:
                plain[line + layout] = output(line, "--format", layout) or ""
            if shown == plain[line + layout]:
                ignored.append(f"{line} --format {layout} {' '.join(typed)}")
    assert ignored == []
