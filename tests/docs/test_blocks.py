"""The runner of code blocks finds what is wrong, and nothing else."""

from pathlib import Path

import pytest

from tests import in_process
from tests.docs import blocks
from tests.docs.blocks import blocks_of, complaints_of


def page(folder: Path, *lines: str) -> Path:
    path = folder / "page.md"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


RIGHT = {
    "doctest": ["```python", ">>> 1 + 1", "2", "```"],
    "one namespace": ["```python", "x = 3", "```", "", "```python", ">>> x", "3", "```"],
    "printed text": ["```python", "print('a', 1.23456)", "```", "", "```text", "a 1.23...", "```"],
    "text that is no output": [
        "```python",
        "print('a')",
        "```",
        "",
        "Elsewhere:",
        "```text",
        "b",
        "```",
    ],
    "command": ["```console", "$ echo one two", "one two", "$ echo three", "three", "```"],
    "command whose output is not shown": ["```console", "$ echo one", "$ echo two", "two", "```"],
    "command over two lines": ["```console", "$ echo one \\", "    two", "one two", "```"],
    "here document": ["```console", "$ cat <<END", "> one", "> END", "one", "```"],
    "failure that is meant": [
        "```console",
        "$ ls nowhere",
        "ls: ...nowhere...",
        "$ echo $?",
        "2",
        "```",
    ],
    "excused": ["<!-- not run: needs a server -->", "```python", "1 / 0", "```"],
    "set-up": ["```console", "$ make nothing-of-the-kind", "$ pip install idealrank", "```"],
    "script": ["```sh", "cd examples-of-nothing", "test 1 = 1", "```"],
    "other languages": ["```json", "{", "```"],
    "indented": ["* item", "", "  ```python", "  >>> 1", "  1", "  ```"],
}
WRONG = {
    "doctest": ["```python", ">>> 1 + 1", "3", "```"],
    "exception": ["```python", "1 / 0", "```"],
    "printed text": ["```python", "print('a')", "```", "", "```text", "b", "```"],
    "output": ["```console", "$ echo one", "two", "```"],
    "output of the second command": [
        "```console",
        "$ echo one",
        "one",
        "$ echo three",
        "four",
        "```",
    ],
    "failure": ["```console", "$ false", "```"],
    "script": ["```bash", "false", "true", "```"],
}


@pytest.mark.parametrize("lines", RIGHT.values(), ids=RIGHT)
def test_a_right_page_passes(tmp_path: Path, lines: list[str]) -> None:
    assert complaints_of(page(tmp_path, "# Title", "", *lines)) == []


@pytest.mark.parametrize("lines", WRONG.values(), ids=WRONG)
def test_a_wrong_block_is_named_with_its_line(tmp_path: Path, lines: list[str]) -> None:
    path = page(tmp_path, "# Title", "", *lines)
    (complaint,) = complaints_of(path)
    assert complaint.startswith(f"{path}:4: ")


def test_blocks_keep_language_text_and_line() -> None:
    (block,) = blocks_of("intro\n\n```python\nx = 1\n```\n")
    assert (block.language, block.text, block.line) == ("python", "x = 1\n", 4)


SCRIPTS = [
    # a pattern, quotes, two lines, a warning
    "idealrank evaluate qrels.txt *.run -m 'nDCG(gain=exp2)@2' \\\n  --format csv",
    "idealrank conventions lightgbm | head -2",
    "COLUMNS=60 PYTHONUTF8=1 idealrank conventions lightgbm",
    "idealrank evaluate qrels.txt nowhere.run",
    "idealrank conventions nothing | wc -l",
]


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_command_in_this_process_says_what_it_says_in_its_own(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text("q1 0 a 2\nq1 0 b 1\n#q2 0 a 1\n", encoding="utf-8")
    for name, first, second in (("one", "a", "b"), ("two", "b", "a")):
        Path(f"{name}.run").write_text(
            f"q1 Q0 {first} 1 2.0 t\nq1 Q0 {second} 2 1.0 t\n", encoding="utf-8"
        )

    assert in_process.command_of(script)
    assert in_process.shell(script) == blocks.shell(script)


@pytest.mark.parametrize(
    "script",
    [
        "idealrank conventions > all.txt",
        "awk 1 a",
        "idealrank a; idealrank b",
        "idealrank a 2>&1",
        "idealrank $A",
    ],
)
def test_what_needs_bash_goes_to_bash(script: str) -> None:
    assert in_process.command_of(script) is None
