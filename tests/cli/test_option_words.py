"""Messages on the command line name its options, and only those that the command has."""

from collections.abc import Callable
from pathlib import Path

import click
import pytest

from idealrank.cli.main import cli
from idealrank.cli.options import OnceOption
from tests.cli.terminal import Said

BOOK = "query,docid,alice,bob\nshoes,d1,3,2\nshoes,d2,,1\n"
QRELS = "q1 0 d1 1\nq2 0 d1 1\n"
RUN = "q1 Q0 d1 1 2.0 x\nq2 Q0 d1 1 2.0 x\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, text in (
        ("book.csv", BOOK),
        ("qrels.txt", QRELS),
        ("a.run", RUN),
        ("b.run", RUN.replace("2.0", "1.5")),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "command",
    ["validate", "evaluate", "explain --query shoes", "measures advise", "validate --format json"],
)
def test_a_book_of_several_raters_asks_for_the_option_that_chooses_one(
    command: str, say: Callable[..., Said], files: Path
) -> None:
    name, dash, options = command.partition(" --")
    typed = [*name.split(), "book.csv", "a.run", *(dash + options).split()]
    said = say(*typed, cwd=files)

    text = said.out + said.err
    assert said.code == 2
    assert "use --qrels-columns grade=mean, or the name of a rater" in text
    assert "columns={" not in text
    assert "read_assessors" not in text
    # the others have no such option
    assert ("--judgments qrels_jg" in text) == (name == "evaluate")


def test_a_note_is_said_once(say: Callable[..., Said], tmp_path: Path) -> None:
    (tmp_path / "rank.test").write_text("1 1:0.5\n0 1:0.4\n", encoding="utf-8")
    (tmp_path / "rank.test.query").write_text("2\n", encoding="utf-8")
    (tmp_path / "scores.txt").write_text("0.5\n0.1\n", encoding="utf-8")

    # judgments, and documents of the scores
    said = say("evaluate", "rank.test", "scores.txt", cwd=tmp_path)

    assert (said.code, said.err.count("group sizes read from rank.test.query")) == (0, 1)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            "gate qrels.txt a.run --baseline b.run --alpha 0.7",
            "error: --alpha 0.7: expected a probability",
        ),
        (
            "evaluate qrels.txt a.run --run-columns document",
            "error: --run-columns document: expected query=NAME",
        ),
        ("measures advise qrels.txt a.run --visible 0", "--visible"),
        ("judge bounds qrels.txt a.run --depth 0", "--depth"),
    ],
)
def test_a_bad_value_is_named_as_it_was_typed(
    arguments: str, expected: str, say: Callable[..., Said], files: Path
) -> None:
    said = say(*arguments.split(), cwd=files)

    assert said.code == 2
    assert expected in said.err


@pytest.mark.parametrize(
    "command",
    [
        "compare qrels.txt a.run b.run --slices {} --slices {}",
        "compare qrels.txt a.run b.run --weights {} --weights {}",
        "compare qrels.txt a.run b.run --cluster {} --cluster {}",
        "compare qrels.txt a.run b.run --judge-qrels {} --judge-qrels {}",
        "compare qrels.txt a.run b.run --convention {} --convention={}",
        "gate qrels.txt a.run --baseline b.run --convention {} --convention {}",
        "evaluate qrels.txt a.run --slices {} --slices {}",
        "serve --slices {} --slices {}",
        "judge agreement qrels.txt b.txt --cluster {} --cluster {}",
        "evaluate qrels.txt a.run --columns {} --columns {}",
        "compare qrels.txt a.run b.run --qrels-columns {} --qrels-columns {}",
        "compare qrels.txt a.run b.run --baseline {} --baseline {}",
        "search recall exact.run a.run --qrels {} --qrels {}",
        "report a b --queries {} --queries {}",
        "evaluate qrels.txt a.run -o {} -o {}",
    ],
)
def test_an_option_that_may_be_given_once_refuses_a_second_value(
    command: str, say: Callable[..., Said], files: Path
) -> None:
    said = say(*command.format("one", "other").split(), cwd=files)

    option = command.rsplit(maxsplit=1)[-1] if command.endswith("={}") else command.split()[-2]
    assert said.code == 2
    assert (
        f"error: {option.removesuffix('={}')}: found one and other, expected the option once"
        in said.err
    )


def test_the_same_value_twice_is_no_other_value(say: Callable[..., Said], files: Path) -> None:
    once, twice = (
        say(
            "compare",
            "qrels.txt",
            "a.run",
            "b.run",
            *["--convention", "trec_eval"] * times,
            cwd=files,
        )
        for times in (1, 2)
    )
    assert once.code == 0
    assert (twice.code, twice.out, twice.err) == (once.code, once.out, once.err)


def test_the_last_value_of_a_setting_counts(say: Callable[..., Said], files: Path) -> None:
    """A script or an alias ends with its own settings, and a user adds others."""
    last, both = (
        say("compare", "qrels.txt", "a.run", "b.run", *more, "--level", "0.8", cwd=files)
        for more in ([], ["--level", "0.9"])
    )
    assert (both.code, both.out) == (last.code, last.out) == (0, last.out)


def value_options() -> "list[tuple[str, click.Option]]":
    found: list[tuple[str, click.Option]] = []
    waiting: list[tuple[str, click.Command]] = [("", cli)]
    while waiting:
        path, command = waiting.pop()
        if isinstance(command, click.Group):
            context = click.Context(command)
            waiting += [
                (f"{path} {name}".strip(), command.get_command(context, name))
                for name in command.list_commands(context)
            ]  # type: ignore[misc]
        found += [
            (path, one)
            for one in command.params
            if isinstance(one, click.Option) and not one.is_flag and not one.count
        ]
    return found


def test_measures_judgments_and_columns_are_nowhere_lost_if_they_are_given_twice() -> None:
    """In some commands these options add up, so that a user may expect it in others."""
    data = {
        "-m",
        "--measure",
        "--qrels",
        "--baseline",
        "--judge-qrels",
        "--columns",
        "--run-columns",
        "--qrels-columns",
        "--reward-columns",
    }
    lost = [
        (path, one.opts)
        for path, one in value_options()
        if data & {*one.opts} and not (one.multiple or isinstance(one, OnceOption))
    ]
    assert lost == []


@pytest.mark.parametrize("runs", ["a.run ./a.run", "a.run sub/../a.run"])
def test_one_file_spelled_in_two_ways_is_one_run(
    runs: str, say: Callable[..., Said], files: Path
) -> None:
    said = say("compare", "qrels.txt", *runs.split(), cwd=files)
    assert (said.code, said.err) == (
        2,
        f"error: run {runs.replace(' ', ' and ')}: found the same file twice, expected each "
        f"run once\n",
    )


def test_a_contract_that_no_value_can_keep_is_refused(
    say: Callable[..., Said], files: Path
) -> None:
    (files / "contracts.csv").write_text(
        "query,measure,at_least\nq1,nDCG@10,1.9\n", encoding="utf-8"
    )
    said = say(
        "gate",
        "qrels.txt",
        "a.run",
        "--baseline",
        "b.run",
        "--contracts",
        "contracts.csv",
        cwd=files,
    )
    assert said.code == 2
    assert (
        "contracts.csv:2: found at_least 1.9, which nDCG@10 cannot have; expected a value "
        "from 0 to 1" in said.err
    )


def test_nouns_agree_with_one(say: Callable[..., Said], files: Path) -> None:
    (files / "qrels.txt").write_text("q1 0 d1 1\nq1 0 d2 0\n", encoding="utf-8")
    (files / "b.run").write_text("q1 Q0 d2 1 2.0 x\n", encoding="utf-8")
    said = say("compare", "qrels.txt", "a.run", "b.run", "-m", "RR", "--more", cwd=files)
    assert said.code == 0
    assert "differ on the only query that both answer" in " ".join(said.out.split()).replace(
        "differs", "differ"
    )
    assert "1 queries" not in said.out
