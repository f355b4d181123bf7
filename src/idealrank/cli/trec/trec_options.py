"""trec_eval's own options, read as getopt reads them: clustered, attached, abbreviated, and before or after the files."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from getopt import GetoptError, gnu_getopt

from idealrank.errors import OptionError

# Letter -> trec_eval's long name, and what its value is called; "" where it has none. Two options are ours and have no letter.
LETTERS: dict[str, tuple[str, str]] = {
    "h": ("help", ""),
    "v": ("version", ""),
    "q": ("query_eval_wanted", ""),
    "c": ("complete_rel_info_wanted", ""),
    "n": ("nosummary", ""),
    "J": ("Judged_docs_only", ""),
    "o": ("Output_old_results_format", ""),
    "m": ("measure", "MEASURE[.PARAMETERS]"),
    "l": ("level_for_rel", "LEVEL"),
    "M": ("Max_retrieved_per_topic", "NUMBER"),
    "N": ("Number_docs_in_coll", "NUMBER"),
    "R": ("Rel_info_format", "FORMAT"),
    "T": ("Results_format", "FORMAT"),
    "Z": ("Zscore", "FILE"),
    "D": ("Debug_level", "LEVEL"),
}
_OURS = ("convention", "threads")
_LONG = {long: letter for letter, (long, _) in LETTERS.items()} | {name: name for name in _OURS}
RELEVANCE_FORMATS = ("qrels", "prefs", "qrels_prefs", "qrels_jg")
RESULT_FORMATS = ("trec_results",)
VERSION_10, VERSION_9 = VERSIONS = ("trec_eval-10", "trec_eval-9")


@dataclass
class Request:
    """Parsed options.

    Attributes
    ----------
    files : list of str
        Judgments and run.
    measures : list of str
        As given with ``-m``; empty for the official ones.
    help, version, per_query, complete, no_summary, judged_only : bool
        -h, -v, -q, -c, -n, -J.
    level : int
        -l: least grade that is relevant.
    depth : int or None
        -M: documents of each query that are looked at.
    collection : int or None
        -N: documents in the collection.
    relevance_format : str
        -R.
    zscores : str or None
        -Z: file of means and standard deviations.
    convention : str
        ``trec_eval-10`` or ``trec_eval-9``.
    threads : int
        0 for all cores.
    notices : list of str
        What to say about options that change nothing here.
    """

    files: list[str] = field(default_factory=list)
    measures: list[str] = field(default_factory=list)
    help: bool = False
    version: bool = False
    per_query: bool = False
    complete: bool = False
    no_summary: bool = False
    judged_only: bool = False
    level: int = 1
    depth: int | None = None
    collection: int | None = None
    relevance_format: str = "qrels"
    zscores: str | None = None
    convention: str = VERSION_10
    threads: int = 0
    notices: list[str] = field(default_factory=list)


def parse_request(arguments: Sequence[str]) -> Request:
    """Options and files of a command line.

    Raises
    ------
    OptionError
        An option is unknown, lacks its value, or has one that is not understood.

    Examples
    --------
    >>> request = parse_request(["-qc", "-M100", "-l", "2", "-mP.5,10", "a.qrels", "a.run", "-J"])
    >>> request.per_query, request.complete, request.depth, request.level, request.measures, request.files, request.judged_only
    (True, True, 100, 2, ['P.5,10'], ['a.qrels', 'a.run'], True)
    """
    request = Request()
    for letter, value in _pairs(arguments):
        if letter == "":
            request.files.append(value)
        elif letter in _FLAGS:
            setattr(request, _FLAGS[letter], True)
        else:
            _SETTERS[letter](request, value)
    if not (request.help or request.version) and len(request.files) != 2:
        found = f"{len(request.files)}" + (f" ({', '.join(request.files)})" if request.files else "")
        raise OptionError(f"found {found} file names, expected two: judgments, then the run; `idealrank trec-eval -h` lists the options")
    return request


def _pairs(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(letter, value) of every option, and ("", name) of every file."""
    letters = "".join(letter + ":" * bool(takes) for letter, (_, takes) in LETTERS.items())
    long = [name + "=" * bool(_value_of(letter)) for name, letter in _LONG.items()]
    try:
        found, files = gnu_getopt(list(arguments), letters, long)
    except GetoptError as error:
        raise OptionError(_wrong(error.opt, arguments)) from None
    yield from ((_LONG[option[2:]] if option.startswith("--") else option[1:], value) for option, value in found)
    yield from (("", name) for name in files)


def _value_of(letter: str) -> str:
    """Return the name of an option's value; "" without one."""
    return LETTERS[letter][1] if letter in LETTERS else letter.upper()


def _wrong(option: str, arguments: Sequence[str]) -> str:
    """Describe the error in an option that getopt refuses; getopt does not distinguish a letter from a one-letter long name."""
    if len(option) == 1 and not any(argument.partition("=")[0] == f"--{option}" for argument in arguments):
        if option in LETTERS:
            return f"-{option}: found the end of the command, expected {_value_of(option)}"
        return f"unknown option -{option}, expected one of {' '.join('-' + known for known in LETTERS)}"
    near = [option] if option in _LONG else [long for long in _LONG if long.startswith(option)]
    if len(near) != 1:
        found = "found" if not near else f"found an abbreviation of {' and '.join(near)}:"
        return f"{found} option --{option}, expected one of {', '.join('--' + long for long in _LONG)}"
    if takes := _value_of(_LONG[near[0]]):
        return f"--{near[0]}: found the end of the command, expected {takes}"
    return f"--{near[0]}: found a value, expected none"


# --- what each option sets -------------------------------------------------------------------------------------------------------

_FLAGS = {"h": "help", "v": "version", "q": "per_query", "c": "complete", "n": "no_summary", "J": "judged_only"}


_LEAST = -(1 << 31)


def _number(option: str, text: str, low: int) -> int:
    try:
        number = int(text)
    except ValueError:
        number = low - 1
    if number < low:
        raise OptionError(f"{option} {text}: expected a whole number" + (f" of at least {low}" if low > _LEAST else ""))
    return number


def _choice(option: str, text: str, known: Sequence[str]) -> str:
    if text not in known:
        raise OptionError(f"{option} {text}: expected one of {', '.join(known)}")
    return text


def _set_measure(request: Request, text: str) -> None:
    request.measures.append(text)


def _set_level(request: Request, text: str) -> None:
    request.level = _number("-l", text, _LEAST)


def _set_depth(request: Request, text: str) -> None:
    request.depth = _number("-M", text, 1)


def _set_collection(request: Request, text: str) -> None:
    request.collection = _number("-N", text, 1)


def _set_relevance_format(request: Request, text: str) -> None:
    request.relevance_format = _choice("-R", text, RELEVANCE_FORMATS)


def _set_result_format(_: Request, text: str) -> None:
    _choice("-T", text, RESULT_FORMATS)


def _set_zscores(request: Request, text: str) -> None:
    request.zscores = text


def _set_convention(request: Request, text: str) -> None:
    request.convention = _choice("--convention", {"trec_eval": VERSION_10}.get(text, text), VERSIONS)


def _set_threads(request: Request, text: str) -> None:
    request.threads = _number("--threads", text, 0)


def _notice_debug(request: Request, text: str) -> None:
    request.notices.append(f"-D {text}: there is no trace to print; `idealrank explain` shows where the value of a query comes from")


def _notice_old_format(request: Request, _: str) -> None:
    request.notices.append("-o: the layout of trec_eval 8 is not written; this is the usual one")


_SETTERS: dict[str, Callable[[Request, str], None]] = {
    "m": _set_measure,
    "l": _set_level,
    "M": _set_depth,
    "N": _set_collection,
    "R": _set_relevance_format,
    "T": _set_result_format,
    "Z": _set_zscores,
    "D": _notice_debug,
    "o": _notice_old_format,
    "convention": _set_convention,
    "threads": _set_threads,
}
