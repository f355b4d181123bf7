"""trec_eval's command line: its options, read as getopt reads them (clustered, attached,
abbreviated, and before or after files).

Its names of measures have their order, parameters, defaults and nicknames.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from getopt import GetoptError, gnu_getopt
from typing import Literal, TypeAlias

from idealrank.cli.console import nearest
from idealrank.errors import OptionError

# By letter: trec_eval's long name, and the word for its value; "" without a value. Two options are
# ours and have no letter.
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
# By long name: the letter of an option, or the name of one of ours.
_LONG = {long: letter for letter, (long, _) in LETTERS.items()} | {name: name for name in _OURS}
RELEVANCE_FORMATS = ("qrels", "prefs", "qrels_prefs", "qrels_jg")
RESULT_FORMATS = ("trec_results",)
VERSION_10 = "trec_eval-10"
VERSION_9 = "trec_eval-9"
VERSIONS = (VERSION_10, VERSION_9)


@dataclass(kw_only=True)
class Request:
    """Parsed options."""

    files: list[str] = field(default_factory=list)  # Judgments and run
    # As given with ``-m``; empty for the official ones
    measures: list[str] = field(default_factory=list)
    # help, version, per_query, complete, no_summary, judged_only: -h, -v, -q, -c, -n, -J
    help: bool = False
    version: bool = False
    per_query: bool = False
    complete: bool = False
    no_summary: bool = False
    judged_only: bool = False
    level: int = 1  # -l: least grade that is relevant
    depth: int | None = None  # -M: documents of each query that are looked at
    collection: int | None = None  # -N: documents in the collection
    relevance_format: str = "qrels"  # -R
    zscores: str | None = None  # -Z: file of means and standard deviations
    convention: str = VERSION_10  # ``trec_eval-10`` or ``trec_eval-9``
    threads: int = 0  # 0 for all cores
    # What to say about options that change nothing here
    notices: list[str] = field(default_factory=list)


def parse_request(arguments: Sequence[str]) -> Request:
    """Parse the options and files of a command line."""
    request = Request()
    for letter, value in _pairs(arguments):
        if letter == "":
            request.files.append(value)
        elif letter in _FLAGS:
            setattr(request, _FLAGS[letter], True)
        else:
            _SETTERS[letter](request, value)
    if not (request.help or request.version) and len(request.files) != 2:
        number = f"{len(request.files)}"
        if request.files:
            number += f" ({', '.join(request.files)})"
        raise OptionError(
            f"found {number} file names, expected two: judgments, then the run; `idealrank "
            "trec-eval -h` lists the options"
        )
    return request


def _pairs(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield (letter, value) of every option, and ("", name) of every file."""
    letters = "".join(letter + ":" * bool(takes) for letter, (_, takes) in LETTERS.items())
    long = [name + "=" * bool(_value_of(letter)) for name, letter in _LONG.items()]
    try:
        options, files = gnu_getopt(list(arguments), letters, long)
    except GetoptError as error:
        raise OptionError(_wrong(error.opt, arguments)) from None
    for option, value in options:
        yield _LONG[option[2:]] if option.startswith("--") else option[1:], value
    for name in files:
        yield "", name


def _value_of(letter: str) -> str:
    """Return the name of an option's value; "" without one."""
    return LETTERS[letter][1] if letter in LETTERS else letter.upper()


def _wrong(option: str, arguments: Sequence[str]) -> str:
    """Describe the error in an option that getopt refuses; getopt does not distinguish a letter
    from a one-letter long name.
    """
    is_long = any(argument.partition("=")[0] == f"--{option}" for argument in arguments)
    if len(option) == 1 and not is_long:
        if option in LETTERS:
            return f"-{option}: found no value, expected {_value_of(option)}"
        return (
            f"unknown option -{option}, expected one of "
            f"{' '.join('-' + known for known in LETTERS)}"
        )
    near = [option] if option in _LONG else [long for long in _LONG if long.startswith(option)]
    if len(near) != 1:
        opening = "found" if not near else f"found an abbreviation of {' and '.join(near)}:"
        known = ", ".join("--" + long for long in _LONG)
        return f"{opening} option --{option}, expected one of {known}"
    if takes := _value_of(_LONG[near[0]]):
        return f"--{near[0]}: found no value, expected {takes}"
    return f"--{near[0]}: found a value, expected none"


# --- what each option sets ------------------------------------------------------------------------

_FLAGS = {
    "h": "help",
    "v": "version",
    "q": "per_query",
    "c": "complete",
    "n": "no_summary",
    "J": "judged_only",
}


_LEAST = -(1 << 31)  # the smallest int of C, below which trec_eval reads no level


def _number(option: str, text: str, low: int) -> int:
    try:
        number = int(text)
    except ValueError:
        number = low - 1
    if number < low:
        raise OptionError(
            f"{option} {text}: expected a whole number"
            + (f" of at least {low}" if low > _LEAST else "")
        )
    return number


def _choice(option: str, text: str, choices: Sequence[str]) -> str:
    if text not in choices:
        raise OptionError(f"{option} {text}: expected one of {', '.join(choices)}")
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
    request.convention = _choice(
        "--convention", {"trec_eval": VERSION_10}.get(text, text), VERSIONS
    )


def _set_threads(request: Request, text: str) -> None:
    request.threads = _number("--threads", text, 0)


def _notice_debug(request: Request, text: str) -> None:
    request.notices.append(
        f"-D {text}: idealrank prints no trace; `idealrank explain` shows how the value of a query "
        "is computed"
    )


def _notice_old_format(request: Request, _: str) -> None:
    request.notices.append(
        "-o: the layout of trec_eval 8 is not supported; this is the usual layout"
    )


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


Parameters: TypeAlias = Literal["none", "ranks", "shares", "text"]

_RANKS = ("5", "10", "15", "20", "30", "100", "200", "500", "1000")
_TENTHS = tuple(str(tenth / 10) for tenth in range(11))
_MULTIPLES = tuple(str(fifth / 5) for fifth in range(1, 11))


@dataclass(frozen=True)
class Name:
    """A measure as trec_eval knows it."""

    name: str
    # Parameters after the dot: none; whole numbers or fractions, each a measure of its own, printed
    # in rising order; or a text that is one parameter
    parameters: Parameters = "none"
    # Parameters if none is given; empty: the plain name is printed
    defaults: tuple[str, ...] = ()

    def printed(self, parameter: str) -> str:
        """Return the name with a parameter, as trec_eval prints it."""
        if not parameter:
            return self.name
        if self.parameters == "shares":
            return f"{self.name}_{float(parameter):.2f}"
        return f"{self.name}_{parameter}"


# In trec_eval's order, which is the order of its output whatever the order on the command line.
_ORDER: tuple[Name, ...] = (
    Name("runid"),
    Name("num_q"),
    Name("num_ret"),
    Name("num_rel"),
    Name("num_rel_ret"),
    Name("map"),
    Name("gm_map"),
    Name("Rprec"),
    Name("bpref"),
    Name("recip_rank"),
    Name("iprec_at_recall", "shares", _TENTHS),
    Name("P", "ranks", _RANKS),
    Name("relstring", "text"),
    Name("recall", "ranks", _RANKS),
    Name("infAP"),
    Name("gm_bpref"),
    Name("Rprec_mult", "shares", _MULTIPLES),
    Name("utility", "text"),
    Name("11pt_avg", "text"),
    Name("binG"),
    Name("G", "text"),
    Name("dcg", "text"),
    Name("ideal_dcg", "text"),
    Name("ndcg", "text"),
    Name("ndcg_rel", "text"),
    Name("Rndcg", "text"),
    Name("ndcg_cut", "ranks", _RANKS),
    Name("map_cut", "ranks", _RANKS),
    Name("relative_P", "ranks", _RANKS),
    Name("success", "ranks", ("1", "5", "10")),
    Name("set_P"),
    Name("set_relative_P"),
    Name("set_recall"),
    Name("set_map"),
    Name("set_F", "text"),
    Name("num_nonrel_judged_ret"),
    Name("prefs_num_prefs_poss"),
    Name("prefs_num_prefs_ful"),
    Name("prefs_num_prefs_ful_ret"),
    Name("prefs_simp"),
    Name("prefs_pair"),
    Name("prefs_avgjg"),
    Name("prefs_avgjg_Rnonrel"),
    Name("prefs_simp_ret"),
    Name("prefs_pair_ret"),
    Name("prefs_avgjg_ret"),
    Name("prefs_avgjg_Rnonrel_ret"),
    Name("prefs_simp_imp"),
    Name("prefs_pair_imp"),
    Name("prefs_avgjg_imp"),
    Name("map_avgjg"),
    Name("P_avgjg", "ranks", _RANKS),
    Name("Rprec_mult_avgjg", "shares", _MULTIPLES),
    Name("yaap"),
    Name("rbp", "text"),
    Name("rbp_resid", "text"),
    Name("unj", "ranks", ("5", "10", "20")),
)
NAMES: dict[str, Name] = {entry.name: entry for entry in _ORDER}

_ALL = tuple(NAMES)
_ALWAYS = ("runid", "num_q")
_ALL_PREFS = tuple(name for name in _ALL if name.startswith("prefs_"))
# yaap and the two sums of nDCG are printed only when they are named.
_ONLY_BY_NAME = {"dcg", "ideal_dcg", "yaap"}
_SINCE_10 = {"rbp", "rbp_resid", "unj"}
_COUNTS = ("num_ret", "num_rel", "num_rel_ret")
NICKNAMES: dict[str, tuple[str, ...]] = {
    "official": _ALL[: _ALL.index("P") + 1],
    "set": (
        *_ALWAYS,
        *_COUNTS,
        "utility",
        "set_P",
        "set_relative_P",
        "set_recall",
        "set_map",
        "set_F",
    ),
    "all_trec": tuple(
        name
        for name in _ALL
        if name not in _ONLY_BY_NAME and "prefs" not in name and "avgjg" not in name
    ),
    "prefs": (*_ALWAYS, *_ALL_PREFS[:6]),
    "all_prefs": (*_ALWAYS, *_ALL_PREFS),
    "qrels_jg": (*_ALWAYS, "map_avgjg", "P_avgjg", "Rprec_mult_avgjg"),
}


def chosen(texts: Sequence[str], *, new: bool = True) -> dict[str, tuple[str, ...]]:
    """Return names in trec_eval's order, each with the parameters it is computed for; empty if it
    has none.
    """
    parameters_of: dict[str, list[str]] = {}
    for text in texts or ["official"]:
        name, dot, parameters = text.partition(".")
        if name in NICKNAMES and not dot:
            for member in NICKNAMES[name]:
                if new or member not in _SINCE_10:
                    parameters_of.setdefault(member, [])
        elif name in NAMES:
            parameters_of.setdefault(name, []).extend(
                _parameters(NAMES[name], text, parameters) if dot else ()
            )
        else:
            raise _unknown(text, name)
    return {
        name: _sorted(NAMES[name], tuple(parameters_of[name]))
        for name in NAMES
        if name in parameters_of
    }


def _parameters(name: Name, text: str, parameters: str) -> list[str]:
    if name.parameters == "none":
        raise OptionError(f"-m {text}: {name.name} takes no parameters")
    if name.parameters == "text":
        return [parameters]
    return [_one(name, text, part) for part in parameters.split(",")]


def _one(name: Name, text: str, part: str) -> str:
    """Return a parameter as the text of a number; ranks lose their decimals."""
    try:
        number = float(part)
        if name.parameters == "ranks" and number >= 1:
            return str(int(number))
        if name.parameters == "shares" and 0 <= number < float("inf"):
            return str(number)
    except (ValueError, OverflowError):
        pass
    expected = "ranks of at least 1" if name.parameters == "ranks" else "numbers of at least 0"
    raise OptionError(
        f"-m {text}: found {part!r}, expected {expected}, separated by commas, as in "
        f"{name.name}.{','.join(name.defaults[:2])}"
    )


def _sorted(name: Name, parameters: tuple[str, ...]) -> tuple[str, ...]:
    distinct = tuple(dict.fromkeys(parameters or name.defaults))
    return distinct if name.parameters == "text" else tuple(sorted(distinct, key=float))


def _unknown(text: str, name: str) -> OptionError:
    stem, _, cut = name.rpartition("_")
    if stem in NAMES and NAMES[stem].parameters in ("ranks", "shares"):
        return OptionError(f"unknown measure {text!r}; parameters follow a dot, as in {stem}.{cut}")
    near = nearest(name, [*NAMES, *NICKNAMES])
    hint = f"; did you mean {near}?" if near else ""
    return OptionError(
        f"-m {text}: unknown measure, expected one of trec_eval's, or {', '.join(NICKNAMES)}{hint}"
    )
