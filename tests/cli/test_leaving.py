"""The end of the installed command: the interpreter is not taken apart, and nothing that must
happen at the end is lost.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.terminal import DATA, Said, environment, idealrank

# Something that speaks when it is taken apart, as only an interpreter does that ends as usual.
WITNESS = (
    "import os\nclass Witness:\n    def __del__(self, write=os.write): write(1, b'taken "
    "apart\\n')\nwitness = Witness()\n"
)
LEAVE = "from idealrank.cli.main import command; command()"


def installed(before: str, *arguments: str, leave: str = LEAVE) -> Said:
    """Run the command as its script does, in a process that has done something before."""
    done = subprocess.run(
        [sys.executable, "-c", f"{WITNESS}{before}\n{leave}", *arguments],
        capture_output=True,
        cwd=DATA,
        env=environment(),
        check=False,
        text=True,
    )
    return Said(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--version",),
        ("evaluate", "qrels.txt", "bm25.run"),
        ("evaluate", "qrels.txt", "nowhere.run"),
        ("evaluate", "--nothing"),
    ],
)
def test_the_installed_command_says_and_returns_what_the_module_does(
    arguments: tuple[str, ...],
) -> None:
    assert installed("", *arguments) == idealrank(*arguments)


def test_functions_of_atexit_run() -> None:
    said = installed(
        "import atexit; atexit.register(lambda: print('at exit', end=''))", "--version"
    )
    assert said.out.endswith("at exit")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--version",),
        ("evaluate", "qrels.txt", "bm25.run"),
        ("compare", "qrels.txt", "bm25.run", "neural.run"),
    ],
)
def test_the_interpreter_is_not_taken_apart(arguments: tuple[str, ...]) -> None:
    said = installed("", *arguments)
    assert (said.code, "taken apart" in said.out) == (0, False)


def test_a_thread_that_runs_ends_first() -> None:
    said = installed(
        "import threading, time; threading.Thread(target=lambda: (time.sleep(1), "
        "print('thread'))).start()",
        "--version",
    )
    assert said.out.split("\n")[1:] == ["thread", "taken apart", ""]


def test_a_program_that_calls_the_command_goes_on() -> None:
    program = """
from idealrank.cli.main import command
def call():
    try:
        command()
    except SystemExit as ended:
        print(ended.code)
call()
"""
    assert installed("", "--version", leave=program).out.split("\n")[1:] == ["0", "taken apart", ""]


@pytest.mark.parametrize(
    "others",
    [
        "import pytest",
        "import idealrank.live.backends.python_function",
        "import types; sys.modules['of_others'] = types.ModuleType('of_others')",
    ],
)
def test_files_that_modules_of_others_keep_open_are_written(others: str, tmp_path: Path) -> None:
    kept = tmp_path / "kept.txt"
    assert installed(
        f"import sys; {others}; file = open({str(kept)!r}, 'w'); file.write('all')", "--version"
    ).out.endswith("taken apart\n")
    assert kept.read_text() == "all"


@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full")
def test_what_cannot_be_written_at_the_end_is_told() -> None:
    late = (
        "import atexit, sys; sys.stdout = open('/dev/full', 'w'); atexit.register(lambda: "
        "print('late'))"
    )
    said = installed(late, "evaluate", "--nothing")
    assert (said.code, "No space left" in said.err) == (120, True)


def test_a_profiler_of_the_script_writes_its_table(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(f"{LEAVE}\n")
    done = subprocess.run(
        [sys.executable, "-m", "cProfile", str(script), "--version"],
        capture_output=True,
        check=False,
        text=True,
    )
    assert "function calls" in done.stdout
