"""Files named on the command line, as judgments and runs."""

from collections import Counter
from collections.abc import Sequence

from idealrank import _kernel
from idealrank.conventions import Convention
from idealrank.data.problems import translate
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run, name_of
from idealrank.errors import InputError, OptionError


def open_qrels(paths: Sequence[str], convention: Convention) -> Qrels:
    """Judgments of one or several files; a document judged twice falls under the convention's policy for duplicates."""
    policy = convention.alignment.duplicates
    try:
        table = _kernel.read_text(
            _kernel.Text([_read(path) for path in paths], "qrels"), duplicates="error" if policy == "twice" else policy
        )
    except _kernel.ParseError as error:
        raise translate(error, paths, "qrels") from None
    return Qrels.from_table(table, name=paths[0], paths=paths)


def open_run(path: str, name: str) -> Run:
    """One run under a name."""
    return Run.from_text(_kernel.Text([_read(path)], "run"), name=name, paths=[path])


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


def run_names(paths: Sequence[str]) -> list[str]:
    """A name for each run: the stem of its file, or the path where two stems are the same.

    Examples
    --------
    >>> run_names(["a/bm25.run", "b/bm25.run", "neural.run"])
    ['a/bm25.run', 'b/bm25.run', 'neural']
    """
    twice = [path for path, count in Counter(paths).items() if count > 1]
    if twice:
        raise OptionError(f"run {twice[0]}: given {paths.count(twice[0])} times, expected each run once")
    stems = ["stdin" if path == "-" else name_of(path) for path in paths]
    counts = Counter(stems)
    return [stem if counts[stem] == 1 else path for stem, path in zip(stems, paths, strict=True)]
