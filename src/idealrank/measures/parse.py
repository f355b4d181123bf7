"""Parser of measure texts: our own (`nDCG(gain=exp2)@10`) and the spellings of other tools, whose
tables are in `spellings`.

It also has the texts of the default measures.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import fields
from typing import Any, TypeAlias
from weakref import WeakSet

from idealrank.errors import OptionError, shown
from idealrank.measures import MEASURES, PAIR_MEASURES
from idealrank.measures.measure import Measure
from idealrank.measures.measure_texts import name_taken, split_outside_brackets
from idealrank.measures.spellings import (
    AFTER_UNDERSCORE,
    CUTOFF_FOLLOWS,
    ELSEWHERE,
    NUMBERED,
    OPTION_SPELLINGS,
    OTHER_WITH,
    PAIR_SPELLINGS,
    PRESET_OPTIONS,
    SPELLINGS,
)

MeasureLike: TypeAlias = Measure | str

# Classes by name, and other tools' spellings of the names.
_Names: TypeAlias = tuple[Mapping[str, type[Measure]], Mapping[str, str]]

_ONE_RUN: _Names = (MEASURES, SPELLINGS)
_TWO_RUNS: _Names = (PAIR_MEASURES, PAIR_SPELLINGS)
_OWN_NAMES: WeakSet[type[Measure]] = WeakSet()  # classes whose names were found to be theirs
_LONGEST = 200  # letters of a name that a near one is looked for
_AFTER_AT = "@"  # what follows the @, until the class says which option that is


def parse_measure(text: MeasureLike) -> Measure:
    """Parse a measure from its text.

    Parameters
    ----------
    text : str or Measure
        ``nDCG@10``, ``nDCG(gain=exp2)@10``, ``AP(rel=2)@100``, or another tool's spelling:
        ``ndcg_cut_10``, ``ndcg_cut.10``, ``NDCG@10``, ``MAP``, ``recip_rank``, ``recall_100``,
        ``P.10``, ``iprec_at_recall_0.10``, ``Rprec_mult_0.20``, ``nDCG(dcg='exp-log2')@10``,
        ``ndcg@10-``, ``MRR10``, ``hit_rate_10``, ``HR@20``.

    Returns
    -------
    Measure
        ``parse_measure(str(measure)) == measure`` for every measure without user-defined functions.

    Raises
    ------
    OptionError
        The measure or an option is unknown; the message suggests similar names.

    Examples
    --------
    >>> str(parse_measure("ndcg_cut_10")), str(parse_measure("nDCG(gain=exp2)@10"))
    ('nDCG@10', 'nDCG(gain=exp2)@10')
    """
    return _parsed(text, _ONE_RUN, _TWO_RUNS)


def canonical_text(text: str) -> str:
    """Return the text by which results keep a measure; that of a user's own class as it is."""
    try:
        return str(parse_measure(text))
    except OptionError:
        return text


def parse_pair_measure(text: MeasureLike) -> Measure:
    """The measure of two runs of a text, also where a measure of one run has the same name."""
    measure = _parsed(text, _TWO_RUNS, _ONE_RUN)
    if measure.kind != "pair of runs":
        raise OptionError(
            f"measure {shown(repr(str(text)))} compares a run with judgments, expected one of two "
            f"runs: {', '.join(PAIR_MEASURES)}, as in RBO(p=0.9)",
            hint="idealrank.evaluate computes it",
            command_hint="`idealrank evaluate` computes it",
        )
    return measure


def parse_run_measure(text: MeasureLike) -> Measure:
    """The measure of one run and its judgments of a text."""
    measure = parse_measure(text)
    if measure.kind == "pair of runs":
        raise OptionError(
            f"{shown(measure)} compares two runs and takes no judgments, found it among measures "
            "of one run",
            hint=f"use idealrank.overlap(run_a, run_b, {shown(measure)!r})",
            command_hint=f"use `idealrank overlap RUN_A RUN_B -m '{shown(measure)}'`",
        )
    return measure


def _parsed(text: MeasureLike, *tables: _Names) -> Measure:
    """The measure of a text, from the first table that has its name."""
    if isinstance(text, Measure):
        _refuse_name(text, tables[0][0])
        return text
    # its measures are written as ours are read
    if type(text).__module__.partition(".")[0] == "ir_measures":
        text = str(text)
    if not isinstance(text, str):
        raise _no_measure(text)
    misplaced = re.fullmatch(r"(\w+)(@[\w.]+)(\([^()]*=.*\))", text.strip())
    if misplaced:
        name, cutoff, listed = misplaced.groups()
        right = name + listed + cutoff
        raise OptionError(
            f"{shown(text)}: found options after the cutoff, expected them before it, as in "
            f"{shown(right)}"
        )
    match = _match(_plainer(text.strip()))
    if match is None:
        raise _unknown(text, tables[0])
    name, options = match
    options = _numbered(text, name, options)
    preset = PRESET_OPTIONS.get(name.lower())
    if preset is not None:
        name, implied = preset
        options = {**implied, **options}
    for classes, spellings in tables:
        known = name if name in classes else spellings.get(name.lower())
        if known is not None:
            others = OTHER_WITH.get(known, {})
            known = next((others[option] for option in others if option in options), known)
            return _build(text, classes[known], options)
    raise _unknown(text, tables[0])


def _refuse_name(measure: Measure, listed: Mapping[str, type[Measure]]) -> None:
    """Refuse a class of the user's without a name, or with that of a listed measure, for which
    sentences and stores would take it.
    """
    cls = type(measure)
    if cls.__module__.startswith("idealrank.measures.") or cls in _OWN_NAMES:
        return
    name = getattr(cls, "name", None)
    if not isinstance(name, str):
        kind = "no name" if name is None else f"name = {shown(repr(name))}"
        raise OptionError(
            f"measure {cls.__name__}: found {kind}, expected a text, as in name: ClassVar[str] = "
            f'"{cls.__name__}"'
        )
    taken = next((known for known in listed if known.lower() == name.lower()), "")
    if taken:
        raise name_taken(name, taken)
    _OWN_NAMES.add(cls)


def _plainer(text: str) -> str:
    """Rewrite spellings that differ in signs alone: ``ndcg_at_10``, ``nDCG @ 10``, ``MRR10``,
    ``R-Prec``; refuse ranx's ``rbp.95``, a persistence.
    """
    persistence = re.fullmatch(r"rbp[.@](0?\.?)(\d\d)", text)
    if persistence:
        raise OptionError(
            f"{shown(text)}: found a persistence where a cutoff would stand, expected it as an "
            f"option: RBP(p=0.{persistence[2]})"
        )
    text = re.sub(r"_at_(\d+)$", r"@\1", re.sub(r"\s*@\s*", "@", text))
    joined = re.fullmatch(r"([A-Za-z_]*[A-Za-z])([1-9]\d*)", text)
    if joined and joined[1].lower() in CUTOFF_FOLLOWS:
        return f"{joined[1]}@{joined[2]}"
    return re.sub(r"^([Rr])-(?=[Pp]rec)", r"\1_", text)


def _numbered(text: str, name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Options, with what trec_eval's numbers after the name mean; that is a cutoff unless said
    otherwise.
    """
    named = AFTER_UNDERSCORE.get(name.lower())
    if _AFTER_AT not in options:
        if name.lower() in NUMBERED:
            raise OptionError(f"{shown(text)}: expected a number after the name, as in {name}_0.20")
        return options
    numbers = str(options[_AFTER_AT])
    if named is None and "=" not in numbers:
        return options
    others = {option: value for option, value in options.items() if option != _AFTER_AT}
    if named is None:
        return others | {"gain": "{" + numbers.replace("=", ":") + ",*:*}"}
    if "," not in named:
        return others | {named: numbers}
    if numbers.count(",") != named.count(","):
        raise OptionError(
            f"{shown(text)}: expected {named.count(',') + 1} numbers with commas between, one for "
            f"each of {named}"
        )
    return others | dict(zip(named.split(","), numbers.split(","), strict=True))


def _match(text: str) -> tuple[str, dict[str, Any]] | None:
    """Name and options of a text, the cutoff among the options."""
    parts = re.fullmatch(r"(\w*[A-Za-z]\w*\+?)(.*)", text, re.DOTALL)
    if parts is None:
        return None
    name, rest = parts[1], parts[2]
    options: dict[str, Any] = {}
    # trec_eval writes an underscore before the cutoff, or before other numbers, which then looks
    # like part of the name.
    cut = re.fullmatch(r"(\w*[A-Za-z])_([-.\d][-.\d,=]*)(\(.*|@.*)?", text, re.DOTALL)
    if cut and name.lower() not in SPELLINGS:
        name, options[_AFTER_AT], rest = cut[1], cut[2], cut[3] or ""
    if rest.startswith("("):
        end = _closing(rest)
        if end < 0:
            return None
        options |= _options(rest[1:end])
        rest = rest[end + 1 :]
    if rest.endswith("-") and name.lower().startswith("ndcg"):
        rest, options["no_relevant"] = rest[:-1], "zero"  # XGBoost's ndcg@10-
    if rest.startswith(("@", ".")) and len(rest) > 1:
        options[_AFTER_AT], rest = rest[1:], ""
    return None if rest else (name, options)


def _closing(text: str) -> int:
    """Index of the parenthesis that closes the first one; -1 if none does."""
    depth = 0
    for index, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if depth == 0:
            return index
    return -1


def _options(text: str) -> dict[str, Any]:
    """``gain=power(2),rel=2`` as a dict; commas inside brackets and braces belong to the value."""
    options: dict[str, Any] = {}
    for part in filter(str.strip, split_outside_brackets(text)):
        key, equals, value = part.partition("=")
        if not equals:
            raise OptionError(f"measure option {shown(repr(part))}: expected NAME=VALUE")
        if key.strip() in options:
            raise OptionError(
                f"measure option {shown(key.strip())}: found it twice, expected each option once"
            )
        options[key.strip()] = value.strip().strip("'\"")
    return options


def _build(text: str, cls: type[Measure], options: dict[str, Any]) -> Measure:
    known = [field.name for field in fields(cls)]
    options = {
        key if key in known else OPTION_SPELLINGS.get(key, key): value
        for key, value in options.items()
    }
    if _AFTER_AT in options:
        options[cls.after_at] = options.pop(_AFTER_AT)
    for key in options:
        if key not in known:
            raise OptionError(
                f"{shown(text)}: {cls.name} has no option {shown(repr(key))}, expected "
                f"{' | '.join(sorted(known))}"
            )
    try:
        return cls(**options)
    except OptionError as error:
        several = [part.strip() for part in split_outside_brackets(text)]
        hint = f"several measures are a list: {shown(several)}" if len(several) > 1 else ""
        raise OptionError(f"{shown(text)}: {error}", hint=hint) from None


def _no_measure(value: Any) -> OptionError:
    name = getattr(value, "__name__", type(value).__name__)
    hint = ""
    if isinstance(value, type):
        hint = f"; {name}() is one"
    elif callable(value):
        hint = f"; put @idealrank.measure above {name}"
    return OptionError(f"found {name}, expected a measure or its text, as in nDCG@10{hint}")


def _unknown(text: str, names: _Names) -> OptionError:
    import difflib  # noqa: PLC0415  (for this message only, and it is slow to load)

    classes, spellings = names
    hint = "idealrank.MEASURES has all"
    command_hint = "`idealrank measures` lists all"
    expected = "expected one such as nDCG@10"
    if classes is not MEASURES:
        hint = command_hint = ""
        expected = f"expected one of {', '.join(classes)}, as in RBO(p=0.9)"
    name, *_ = re.split(r"[(@.]", text)
    if re.sub(r"_[0-9.]+$", "", name.lower()) in ELSEWHERE:
        instead = _instead_of_hits(name, text)
        return OptionError(
            f"measure {shown(repr(text))} is not computed here, {instead or expected}",
            hint="" if instead else hint,
            command_hint="" if instead else command_hint,
        )
    unknown = f"unknown measure {shown(repr(text))}, {expected}"
    # No name is near a longer one, and to look takes time that grows with it.
    known = {other.lower(): other for other in classes} | dict(spellings)
    typed = [(name, text[len(name) :])]
    cut = re.fullmatch(r"(.*?[A-Za-z])_?(?:at)?_?(\d+)", name)
    if cut:  # trec_eval's cutoff, and MRR10
        typed.insert(0, (cut[1], f"@{cut[2]}"))
    for typo, rest in typed:
        near = difflib.get_close_matches(typo[:_LONGEST].lower(), known, n=1, cutoff=0.6)
        if near:
            meant = f"did you mean {_completed(known[near[0]], rest.strip(), names)}?"
            hint = f"{meant} {hint}".strip()
            command_hint = f"{meant} {command_hint}".strip()
            break
    return OptionError(unknown, hint=hint, command_hint=command_hint)


def _instead_of_hits(name: str, text: str) -> str:
    """Our two measures of what other tools call hits; empty for any other measure."""
    spelled = re.fullmatch(r"hits(?:_?(?:at)?_?([0-9.]+))?", name.lower())
    if spelled is None:
        return ""
    cutoff = f"@{spelled[1]}" if spelled[1] else text[len(name) :]
    return (
        f"expected HR{cutoff}, the share of queries with a hit, or NumRelRet{cutoff}, the number "
        f"of hits"
    )


def _completed(near: str, rest: str, names: _Names) -> str:
    """The near name with the cutoff and options that were typed, where the measure takes them; the
    name alone otherwise.
    """
    if _match(near + rest) is None:
        return near
    try:
        return shown(_parsed(near + rest, names))
    except OptionError:
        return near


def parse_measures(measures: "MeasureLike | Iterable[MeasureLike]") -> tuple[Measure, ...]:
    """Several measures of one run, each once, in the order given."""
    return _each_once(measures, parse_run_measure)


def parse_pair_measures(measures: "MeasureLike | Iterable[MeasureLike]") -> tuple[Measure, ...]:
    """Several measures of two runs, each once, in the order given."""
    return _each_once(measures, parse_pair_measure)


def _each_once(
    measures: "MeasureLike | Iterable[MeasureLike]", parse: Callable[[MeasureLike], Measure]
) -> tuple[Measure, ...]:
    try:
        listed = (
            list(measures)
            if isinstance(measures, Iterable) and not isinstance(measures, (str, Measure))
            else [measures]
        )
    except TypeError:  # an array of no dimension calls itself iterable
        raise OptionError(
            f"measures: found {shown(repr(measures))}, expected measures or their texts, as in "
            "nDCG@10"
        ) from None
    parsed = tuple(dict.fromkeys(parse(measure) for measure in listed))
    texts = Counter(map(str, parsed))
    for text, count in texts.items():
        if count > 1:
            raise OptionError(
                f"{count} measures are written {shown(text)}, expected different texts; give their "
                "functions names of their own"
            )
    if not parsed:
        raise OptionError("no measures given, expected at least one, as in nDCG@10")
    return parsed


DEFAULT_MEASURES = ("nDCG@10", "nDCG", "AP", "RR", "P@10", "R@100")

_BY_TABLE = {
    "preferences": ("prefs_simp", "prefs_pair", "prefs_avgjg"),
    "assessors": ("AP_avgjg", "P_avgjg@10"),
}


def default_measures(tables: Collection[str] = ()) -> tuple[str, ...]:
    """Texts of the measures for judgments of this kind."""
    return next((_BY_TABLE[table] for table in tables if table in _BY_TABLE), DEFAULT_MEASURES)
