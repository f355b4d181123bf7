"""The entry of the command line: the list of commands, and what each does about errors and
signals.

Neither NumPy nor a command's own module is imported here: `idealrank --help` needs none of them,
and the limit on BLAS threads must stand before NumPy is loaded.
"""

import atexit
import gc
import os
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from typing import NoReturn

import click

from idealrank._features import RUNS_CODE_OF_USERS, command_homes
from idealrank.cli import console, process
from idealrank.cli.console import command_of, worded
from idealrank.cli.lazy_groups import LazyGroup
from idealrank.errors import IdealrankError, StoppedError
from idealrank.version import __version__

# Exit codes. 1 is kept for closed gates, and 3 for gates with too few judgments to decide; the last
# three are the codes of a shell for SIGINT, SIGPIPE and SIGTERM.
FINE = 0
CLOSED = 1
UNUSABLE = 2
UNDECIDABLE = 3
FAULT = 70
INTERRUPTED = 130
BROKEN_PIPE = 141
TERMINATED = 143

# The command ends at once if only Python's own modules and these are loaded. Debian and Ubuntu load
# the last two at every start; a module that they load in turn is judged on its own.
_CORE = frozenset(
    {
        "__main__",
        "_cyutility",
        "_distutils_hack",
        "click",
        "cython_runtime",
        "idealrank",
        "numpy",
        "scipy",
        "sitecustomize",
        "apport_python_hook",
    }
)
_OF_INSTALLATION = ("_cython_", "_sysconfigdata_", "_editable_skbc_")

# Commands by group, in the order of the help: what each does in one line, the same line as in its
# own help (a test compares them).
GROUPS = {
    "Evaluate": {
        "evaluate": "Evaluate runs against judgments.",
        "overlap": "Measure the similarity of runs, without judgments.",
        "validate": "Check judgment and run files, and list every problem.",
        "trec-eval": "Replace the trec_eval binary: same options, same output.",
    },
    "Compare and decide": {
        "compare": "Decide whether one run is better than another.",
        "gate": "Pass or fail a run against its baselines, in continuous integration.",
        "init": "Set up a gate: its policy, baseline, workflow and test.",
        "robust": "Repeat a comparison under other conventions, cutoffs and measures.",
        "seeds": "Compare systems that were trained several times.",
    },
    "Look into": {
        "why": "Show the queries and documents behind a difference.",
        "explain": "Show how the value of one query is computed, rank by rank.",
        "reconcile": "Find the convention behind a reported number.",
    },
    "Judge": {
        "judge": "Examine judgments: unjudged documents, agreement of assessors.",
        "convert": "Convert judgments and runs between tools.",
    },
    "Clicks": {
        "clicks": "Turn a click log into judgments, propensities and estimates.",
        "online": "Plan and read experiments with users.",
    },
    "Live systems": {
        "search": "Ask a search engine all queries, and write a run.",
        "monitor": "Watch a search engine by canary queries, with alarms that know noise.",
    },
    "Train": {
        "train": "Train a ranker, and evaluate it on queries that it has not seen.",
    },
    "Stored results": {
        "history": "Show a measure or query over time, and find when it regressed.",
        "report": "Make a page of stored results.",
        "serve": "Show a store as a local web page.",
        "store": "Show, compare, query, export and import stored results.",
    },
    "Reference": {
        "measures": "List the measures, explain some, or recommend one.",
        "conventions": "List the conventions, or show every switch of one.",
        "theory": "Compute limits of NDCG, and draw the figures of the theory.",
    },
}
COMMANDS = {name: line for commands in GROUPS.values() for name, line in commands.items()}

_EPILOG = """\
Start here:

\b
  idealrank evaluate qrels.txt bm25.run neural.run
  idealrank evaluate qrels.txt bm25.run -m nDCG@10 --convention lightgbm --per-query --format csv
  idealrank compare qrels.txt bm25.run neural.run
  idealrank gate qrels.txt neural.run --baseline bm25.run
  idealrank init qrels.txt bm25.run
  idealrank why qrels.txt bm25.run neural.run
  idealrank explain qrels.txt bm25.run --query q1
  idealrank conventions lightgbm
  idealrank measures advise qrels.txt bm25.run
  idealrank trec-eval -q -m all_trec qrels.txt bm25.run

Exit codes: 0 success, 1 gate failed or alarm open, 2 bad input or usage, 3 gate undecided since
there are too few judgments, or round without a value, 70 fault of idealrank, or output that cannot
be written, 130 interrupted, 141 output closed by its reader, 143 terminated.
"""


@click.group(
    cls=LazyGroup,
    lines=COMMANDS,
    groups=GROUPS,
    home="idealrank.cli.commands",
    modules=command_homes(),
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "--version", message="idealrank %(version)s")
def cli() -> None:
    """Evaluate rankings, compare them, and decide.

    Tools compute NDCG in different ways. idealrank reproduces each of these conventions by name,
    and prints the convention with every number.
    """


def command() -> NoReturn:
    """Run the command line as the installed command, and leave without taking the interpreter
    apart.
    """
    try:
        main()
    except SystemExit as ended:
        # Called by the installed script alone: no code of a caller is left to run.
        is_script = sys._getframe(1).f_back is None
        if is_script and _is_alone():
            _leave(int(ended.code or FINE))
        raise


def _is_alone() -> bool:
    """Return whether this process has run no code except Python, this library and the packages that
    its core needs.
    """
    packages = {name.partition(".")[0] for name in sys.modules} - sys.stdlib_module_names - _CORE
    others = [name for name in packages if not name.startswith(_OF_INSTALLATION)]
    return (
        not others
        and RUNS_CODE_OF_USERS not in sys.modules
        and threading.active_count() == 1
        and not sys.flags.inspect
    )


def _leave(code: int) -> None:
    """End the process, unless something cannot be written: Python then says so."""
    atexit._run_exitfuncs()  # as `multiprocessing` does before it leaves
    with suppress(OSError, ValueError):
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave the process with its exit code.

    Examples
    --------
    >>> try:  # doctest: +ELLIPSIS
    ...     main(["--version"])
    ... except SystemExit as exit:
    ...     print(exit.code)
    idealrank ...
    0
    """
    _limit_blas_threads()
    process.open_closed_streams()
    # Loading modules makes many objects and no garbage; looking for some meanwhile takes a tenth of
    # a small evaluation.
    gc.disable()
    try:
        with process.ended_by_signals():
            code = run(arguments)
    finally:
        gc.enable()
    sys.exit(code)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; errors and warnings go to stderr as one line
    each.
    """
    typed = sys.argv[1:] if arguments is None else list(arguments)
    with console.warnings_as_lines():
        try:
            _dispatch(typed)
        except click.exceptions.Exit as ended:
            return ended.exit_code
        except KeyboardInterrupt as stopped:
            return console.interrupted(stopped)
        except Exception as error:  # noqa: BLE001  (what is not told apart below must not end with the code of a gate either)
            return _failed(error, typed)
        return FINE


def _failed(error: Exception, typed: Sequence[str]) -> int:
    """Say what went wrong, and give the exit code for it."""
    if isinstance(error, click.UsageError):
        if isinstance(error, click.NoSuchOption):
            message = console.unknown_option(error)
        else:
            message = error.format_message()
        return _refuse(
            " ".join(message.split()),
            f"see {error.ctx.command_path} --help" if error.ctx else "",
        )
    if isinstance(error, IdealrankError):
        return _stopped_or_refused(error, typed)
    if isinstance(error, BrokenPipeError):
        process.to_void(sys.stdout)
        return BROKEN_PIPE
    # Readers name their files; an error without a name comes from the help, which click writes.
    is_nameless = isinstance(error, OSError) and error.filename is None
    if isinstance(error, process.UnwritableError) or is_nameless:
        return _unwritable(error)
    if words := _of_the_system(error):
        return _refuse(words)
    if words := _resources(error):
        console.error(words)
        return FAULT
    import traceback  # noqa: PLC0415  (only of a fault; it loads the tokenizer)

    console.tell("".join(traceback.format_exception(error)).rstrip("\n"))
    console.error("this is a fault of idealrank; please report it with the lines above")
    return FAULT


def _of_the_system(error: Exception) -> str:
    """Describe an error of a file that the system refuses or that memory does not hold; empty for
    any other error.
    """
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror or error}"
    if isinstance(error, MemoryError):
        return "not enough memory for these files; split them by query and evaluate the parts"
    return ""


def _resources(error: Exception) -> str:
    """Describe a lack of memory or threads; empty for any other error."""
    # The library is installed, but does not load.
    if isinstance(error, ImportError) and not isinstance(error, ModuleNotFoundError):
        return f"{error}; is there enough memory to load the library?"
    if isinstance(error, RuntimeError) and "start new thread" in str(error):
        return "not enough memory, or too many threads: the system starts no further thread"
    return ""


def _dispatch(typed: list[str]) -> None:
    """Run the command like click's own ``main``, which would end with code 1 on Ctrl-C and broken
    pipes.
    """
    if completion := os.environ.get("_IDEALRANK_COMPLETE"):
        from idealrank.cli.completion import answer  # noqa: PLC0415  (only for a shell)

        raise click.exceptions.Exit(answer(cli, completion))
    # Pages and stores keep the typed words, see `invocation.command_line`.
    try:
        with cli.make_context("idealrank", typed, obj=tuple(typed)) as context:
            cli.invoke(context)
    except click.exceptions.NoArgsIsHelpError as asked:
        console.show(asked.format_message())  # a group alone is a question, not a mistake
    sys.stdout.flush()


def _stopped_or_refused(error: IdealrankError, typed: Sequence[str]) -> int:
    if isinstance(error, StoppedError):
        return console.interrupted()
    message = worded(error, command_of(cli, typed))
    if typed[:1] == ["theory"]:  # its options are named as they are typed
        return _refuse(message)
    # Commands without a convention have the switches as options of their own.
    convention = "" if typed[:1] == ["overlap"] else _convention_of(typed)
    return _refuse(message, console.hint_for(error.switch, convention))


def _refuse(message: str, hint: str = "") -> int:
    console.error(message, hint)
    return UNUSABLE


def _convention_of(arguments: Sequence[str]) -> str:
    """Return the convention on the command line, for a hint."""
    conventions = [after for before, after in pairwise(arguments) if before == "--convention"]
    conventions += [
        argument.partition("=")[2] for argument in arguments if argument.startswith("--convention=")
    ]
    return conventions[-1] if conventions else "standard"


def _unwritable(error: Exception) -> int:
    """Report output that cannot be written, which is no verdict of a gate."""
    process.to_void(sys.stdout)
    console.error(f"output: {getattr(error, 'strerror', None) or error}")
    return FAULT


def _limit_blas_threads() -> None:
    """Limit BLAS to one thread: no measure uses it, and its libraries would start a pool of threads
    on import, which costs time and memory.
    """
    for name in (
        "OPENBLAS_NUM_THREADS",
        "OMP_NUM_THREADS",
        "MKL_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
    ):
        os.environ.setdefault(name, "1")
