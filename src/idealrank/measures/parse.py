"""Parser of measure texts: our own (`nDCG(gain=exp2)@10`) and the spellings of other tools, whose
tables are in `spellings`.

It also has the texts of the default measures.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import fields
from typing import Any, NamedTuple, TypeAlias
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


class _Names(NamedTuple):
    """Classes by name, and other tools' spellings of the names."""

    classes: Mapping[str, type[Measure]]
    spellings: Mapping[str, str]


_ONE_RUN = _Names(MEASURES, SPELLINGS)
_TWO_RUNS = _Names(PAIR_MEASURES, PAIR_SPELLINGS)
_CHECKED: WeakSet[type[Measure]] = WeakSet()  # user-defined classes whose names are not taken
_LONGEST = 200  # letters of an unknown name for which a near one is looked for
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
    """Return the text by which results keep a measure; the given text of a user-defined class."""
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
        _refuse_name(text, tables[0].classes)
        return text
    # its measures are written as ours are read
    if type(text).__module__.partition(".")[0] == "ir_measures":
        text = str(text)
    if not isinstance(text, str):
        raise _no_measure(text)
    misplaced = re.fullmatch(r"(\w+)(@[\w.]+)(\([^()]*=.*\))", text.strip())
    if misplaced:
        name, cutoff, bracketed = misplaced.groups()
        right = name + bracketed + cutoff
        raise OptionError(
            f"{shown(text)}: found options after the cutoff, expected them before it, as in "
            f"{shown(right)}"
        )
    match = _match(_plainer(text.strip()))
    if match is None:
        raise _unknown(text, tables[0])
    name, options = match
    options = _with_numbers_named(text, name, options)
    preset = PRESET_OPTIONS.get(name.lower())
    if preset is not None:
        name, implied = preset
        options = {**implied, **options}
    for classes, spellings in tables:
        listed = name if name in classes else spellings.get(name.lower())
        if listed is not None:
            other_with = OTHER_WITH.get(listed, {})
            listed = next(
                (other_with[option] for option in other_with if option in options), listed
            )
            return _build(text, classes[listed], options)
    raise _unknown(text, tables[0])


def _refuse_name(measure: Measure, listed: Mapping[str, type[Measure]]) -> None:
    """Refuse a user-defined class without a name, or with the name of a listed measure, for which
    sentences and stores would take it.
    """
    cls = type(measure)
    if cls.__module__.startswith("idealrank.measures.") or cls in _CHECKED:
        return
    name = getattr(cls, "name", None)
    if not isinstance(name, str):
        kind = "no name" if name is None else f"name = {shown(repr(name))}"
        raise OptionError(
            f"measure {cls.__name__}: found {kind}, expected a text, as in name: ClassVar[str] = "
            f'"{cls.__name__}"'
        )
    taken = next((listed_name for listed_name in listed if listed_name.lower() == name.lower()), "")
    if taken:
        raise name_taken(name, taken)
    _CHECKED.add(cls)


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


def _with_numbers_named(text: str, name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Options with trec_eval's numbers after the name under the names of the options that they set;
    unlisted names have a cutoff there.
    """
    numbered = AFTER_UNDERSCORE.get(name.lower())
    if _AFTER_AT not in options:
        if name.lower() in NUMBERED:
            raise OptionError(f"{shown(text)}: expected a number after the name, as in {name}_0.20")
        return options
    numbers = str(options[_AFTER_AT])
    if numbered is None and "=" not in numbers:
        return options
    others = {option: value for option, value in options.items() if option != _AFTER_AT}
    if numbered is None:
        return others | {"gain": "{" + numbers.replace("=", ":") + ",*:*}"}
    if "," not in numbered:
        return others | {numbered: numbers}
    if numbers.count(",") != numbered.count(","):
        raise OptionError(
            f"{shown(text)}: expected {numbered.count(',') + 1} numbers with commas between, one "
            f"for each of {numbered}"
        )
    return others | dict(zip(numbered.split(","), numbers.split(","), strict=True))


def _match(text: str) -> tuple[str, dict[str, Any]] | None:
    """Name and options of a text, the cutoff among the options."""
    match = re.fullmatch(r"(\w*[A-Za-z]\w*\+?)(.*)", text, re.DOTALL)
    if match is None:
        return None
    name, rest = match.groups()
    options: dict[str, Any] = {}
    # trec_eval writes an underscore before the cutoff, or before other numbers, which then looks
    # like part of the name.
    cut = re.fullmatch(r"(\w*[A-Za-z])_([-.\d][-.\d,=]*)(\(.*|@.*)?", text, re.DOTALL)
    if cut and name.lower() not in SPELLINGS:
        name = cut[1]
        options[_AFTER_AT] = cut[2]
        rest = cut[3] or ""
    if rest.startswith("("):
        end = _closing(rest)
        if end < 0:
            return None
        options |= _options(rest[1:end])
        rest = rest[end + 1 :]
    if rest.endswith("-") and name.lower().startswith("ndcg"):
        rest = rest[:-1]
        options["no_relevant"] = "zero"  # XGBoost's ndcg@10-
    if rest.startswith(("@", ".")) and len(rest) > 1:
        options[_AFTER_AT] = rest[1:]
        rest = ""
    return None if rest else (name, options)


def _closing(text: str) -> int:
    """Index of the parenthesis that closes the first one; -1 if none does."""
    depth = 0
    for index, letter in enumerate(text):
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
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
    names = [field.name for field in fields(cls)]
    options = {
        key if key in names else OPTION_SPELLINGS.get(key, key): value
        for key, value in options.items()
    }
    if _AFTER_AT in options:
        options[cls.after_at] = options.pop(_AFTER_AT)
    for key in options:
        if key not in names:
            raise OptionError(
                f"{shown(text)}: {cls.name} has no option {shown(repr(key))}, expected "
                f"{' | '.join(sorted(names))}"
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
    # No listed name is near a longer text than this, and the search takes time that grows with it.
    name_of_spelling = {other.lower(): other for other in classes} | dict(spellings)
    typed = [(name, text[len(name) :])]
    cut = re.fullmatch(r"(.*?[A-Za-z])_?(?:at)?_?(\d+)", name)
    if cut:  # trec_eval's cutoff, and MRR10
        typed.insert(0, (cut[1], f"@{cut[2]}"))
    for typo, rest in typed:
        near = difflib.get_close_matches(typo[:_LONGEST].lower(), name_of_spelling, n=1, cutoff=0.6)
        if near:
            meant = f"did you mean {_completed(name_of_spelling[near[0]], rest.strip(), names)}?"
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
