"""`--only` of `--figures`: the files that a command writes, and mistakes that stop it first."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.terminal import Said

Say = Callable[..., Said]


def test_a_command_writes_the_chosen_files(say: Say, tmp_path: Path) -> None:
    options = ("--figures", str(tmp_path / "figures"), "--only", "means, svg ,column")

    said = say("evaluate", "qrels.txt", "bm25.run", "-m", "RR", *options)

    assert said.code == 0, said.err
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == [
        "figures.md",
        "means-RR.svg",
    ]
    assert "wrote 2 files" in said.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--only means", "--only means: found no --figures, expected both"),
        ("--figures DIR --only meens", "--only: found 'meens', expected some of the plots means,"),
        ("--figures DIR --only means,", "--only: found '', expected some of the plots means,"),
    ],
)
def test_a_mistake_is_found_before_anything_is_written(
    options: str, message: str, say: Say, tmp_path: Path
) -> None:
    folder = tmp_path / "figures"

    said = say(
        *("evaluate", "qrels.txt", "bm25.run", "-m", "RR"),
        *options.replace("DIR", str(folder)).split(),
    )

    assert said.code == 2
    assert message in said.err
    assert not folder.exists()
