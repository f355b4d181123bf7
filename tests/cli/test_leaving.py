"""The end of the installed command: the interpreter is not taken apart, and nothing that must happen at the end is lost."""

import subprocess
import sys

import pytest

from tests.cli.terminal import DATA, Said, environment, idealrank

# Something that speaks when it is taken apart, as only an interpreter does that ends as usual.
WITNESS = "import os\nclass Witness:\n    def __del__(self, write=os.write): write(1, b'taken apart\\n')\nwitness = Witness()\n"
LEAVE = "from idealrank.cli.main import command; command()"


def installed(before: str, *arguments: str) -> Said:
    """Run the command as its script does, in a process that has done something before."""
    done = subprocess.run(
        [sys.executable, "-c", f"{WITNESS}{before}\n{LEAVE}", *arguments],
        capture_output=True,
        cwd=DATA,
        env=environment(),
        check=False,
        text=True,
    )
    return Said(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize(
    "arguments",
    [("--version",), ("evaluate", "qrels.txt", "bm25.run"), ("evaluate", "qrels.txt", "nowhere.run"), ("evaluate", "--nothing")],
)
def test_the_installed_command_says_and_returns_what_the_module_does(arguments: tuple[str, ...]) -> None:
    assert installed("", *arguments) == idealrank(*arguments)


def test_functions_of_atexit_run() -> None:
    said = installed("import atexit; atexit.register(lambda: print('at exit', end=''))", "--version")
    assert said.out.endswith("at exit")


def test_a_thread_that_runs_ends_first() -> None:
    said = installed("import threading, time; threading.Thread(target=lambda: (time.sleep(1), print('thread'))).start()", "--version")
    assert said.out.split("\n")[1:] == ["thread", "taken apart", ""]


@pytest.mark.parametrize("tool", ["sys.settrace(lambda *_: None)", "sys.setprofile(lambda *_: None)"])
def test_a_tool_that_looks_on_sees_the_end(tool: str) -> None:
    assert installed(f"import sys; {tool}", "--version").out.endswith("taken apart\n")


@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full")
def test_what_cannot_be_written_at_the_end_is_told() -> None:
    late = "import atexit, sys; sys.stdout = open('/dev/full', 'w'); atexit.register(lambda: print('late'))"
    said = installed(late, "evaluate", "--nothing")
    assert (said.code, "No space left" in said.err) == (120, True)


def test_a_profiler_of_the_module_writes_its_table() -> None:
    done = subprocess.run([sys.executable, "-m", "cProfile", "-m", "idealrank", "--version"], capture_output=True, check=False, text=True)
    assert "function calls" in done.stdout
