"""What queries detect is said in one way: a difference that they detect with so much power."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# What was said before, or would say it otherwise.
ELSEWISE = (
    "four times in five",
    "one time in five",
    "could have seen",
    "seen from  ",
    "smallest visible",
    "  visible  ",
    "| visible |",
)
SAID = sorted(
    path
    for folder, pattern in (
        ("src/idealrank", "*.py"),
        ("docs", "*.md"),
        ("tests/cli/snapshots", "*.txt"),
        (".", "README.md"),
    )
    for path in (ROOT / folder).rglob(pattern)
    if "page" not in path.parts
    and not {"site", ".venv", "node_modules"} & set(path.relative_to(ROOT).parts)
)


@pytest.mark.parametrize("phrase", ELSEWISE)
def test_nothing_printed_says_it_otherwise(phrase: str) -> None:
    assert len(SAID) > 500

    found = [
        str(path.relative_to(ROOT)) for path in SAID if phrase in path.read_text(encoding="utf-8")
    ]

    assert found == []
