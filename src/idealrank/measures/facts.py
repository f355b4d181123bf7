"""Facts of a measure: class attributes and docstring sections, for tables and people."""

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields

from idealrank.errors import OptionError
from idealrank.measures import MEASURES, PAIR_MEASURES
from idealrank.measures.measure import Measure
from idealrank.measures.parse import parse_measure, parse_pair_measure
from idealrank.measures.spellings import PAIR_SPELLINGS, PRESET_OPTIONS, SPELLINGS

_HEADING = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
_ENTRY = re.compile(r"^(?P<names>\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: : (?P<type>.+))?$")
_SAME_AS = re.compile(r"[Aa]s for `(\w+)`")


@dataclass(frozen=True)
class Parameter:
    """One option of a measure: its name, the values it takes, and what it means."""

    name: str
    values: str
    meaning: str


@dataclass(frozen=True, kw_only=True)
class Facts:
    """A measure in words."""

    # name, class_name, family: Its text without options, its class, and the module of the class
    name: str
    class_name: str
    family: str
    text: str  # How it is written, as in ``P@k``; brackets stand round what may be left out
    # summary, idea, formula: In a few words, in a sentence, and as a formula
    summary: str
    idea: str
    formula: str
    bounds: tuple[float, float]  # Least and greatest value
    direction: int  # 1 when more is better, -1 when less, 0 when neither
    # kind, aggregate, ties: What it looks at, how queries are aggregated, how expected values over
    # tie orders are computed
    kind: str
    aggregate: str
    ties: str
    # needs, from_convention: Tables beside qrels and run; options that the convention sets where
    # they are unset
    needs: tuple[str, ...]
    from_convention: tuple[str, ...]
    parameters: tuple[Parameter, ...]  # Every option
    # source, use, proof: Where it is defined, when to choose it and when not, whose numbers it was
    # held against
    source: str
    use: str
    proof: str
    # trec_names, spellings: What trec_eval prints, with and without a cutoff; what other tools and
    # people write
    trec_names: tuple[str, ...]
    spellings: tuple[str, ...]


def facts_of(cls: type[Measure]) -> Facts:
    """The facts that a class states."""
    body, sections = _sections(inspect.getdoc(cls) or "")
    formula = re.search(r"``(.+?)``", body, re.DOTALL)
    paired = cls.kind == "pair of runs"
    table = PAIR_SPELLINGS if paired else SPELLINGS
    spellings = [spelling for spelling, name in table.items() if cls.name == name != spelling]
    return Facts(
        name=cls.name,
        class_name=cls.__name__,
        family=cls.__module__.rpartition(".")[2],
        text=_text(cls),
        summary=cls.summary,
        idea=_one_line(body.partition("\n\n")[0]),
        formula=_one_line(formula[1]) if formula else "",
        bounds=(float(cls.bounds[0]), float(cls.bounds[1])),
        direction=cls.direction,
        kind=cls.kind,
        aggregate=cls.aggregate,
        ties=cls.ties,
        needs=cls.needs,
        from_convention=cls.from_convention,
        parameters=tuple(_parameters(cls)),
        source=_one_line(sections.get("References", "")),
        use=cls.use,
        proof=cls.proof,
        trec_names=_trec_names(cls, sections.get("References", "")),
        spellings=(*spellings, *(() if paired else _presets(cls))),
    )


def classes_of(text: str) -> list[type[Measure]]:
    """The classes that a text names, in any tool's spelling, with or without options: of one run,
    of two runs, or one of each.
    """
    name = text.strip()
    run_name = name if name in MEASURES else SPELLINGS.get(name.lower(), "")
    if not run_name and name.lower() in PRESET_OPTIONS:
        run_name, _ = PRESET_OPTIONS[name.lower()]
    pair_name = name if name in PAIR_MEASURES else PAIR_SPELLINGS.get(name.lower(), "")
    classes = []
    if run_name:
        classes.append(MEASURES[run_name])
    if pair_name:
        classes.append(PAIR_MEASURES[pair_name])
    return classes or [_parsed_class(name)]


def _parsed_class(text: str) -> type[Measure]:
    """Class of a measure with options; an unknown text has the error of measures of one run."""
    try:
        return type(parse_measure(text))
    except OptionError:
        pair_class = _parsed_pair_class(text)
        if pair_class is None:
            raise
        return pair_class


def _parsed_pair_class(text: str) -> type[Measure] | None:
    try:
        return type(parse_pair_measure(text))
    except OptionError:
        return None


def families() -> dict[str, list[type[Measure]]]:
    """Listed classes by family, measures of two runs last."""
    classes_by_family: dict[str, list[type[Measure]]] = {}
    for cls in (*MEASURES.values(), *PAIR_MEASURES.values()):
        classes_by_family.setdefault(cls.__module__.rpartition(".")[2], []).append(cls)
    return classes_by_family


def family_title(classes: list[type[Measure]]) -> str:
    """Return the title of a family: the first sentence of its module."""
    return _one_line((inspect.getdoc(inspect.getmodule(classes[0])) or "").partition("\n\n")[0])


def example_of(cls: type[Measure]) -> Measure:
    """One measure of the class, with no more options than it must have."""
    if cls.cuts == "required":
        return cls(cutoff=10)
    try:
        return cls()
    except OptionError:
        # An option has no default: those with examples take their first value.
        required = {
            name: next(value for value in values if value is not None)
            for name, values in cls.samples.items()
        }
        return cls(**required)


def _sections(docstring: str) -> tuple[str, dict[str, str]]:
    """Split a docstring into the text before the first heading and the sections by heading."""
    body, *headings_and_texts = _HEADING.split(docstring)
    return body.strip(), dict(zip(headings_and_texts[::2], headings_and_texts[1::2], strict=True))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _text(cls: type[Measure]) -> str:
    # The name alone if nothing may follow it; else @ and the cutoff or the option that is written
    # there, in brackets if it may be left out.
    if cls.after_at == "cutoff" and cls.cuts == "none":
        return cls.name
    after_at = "k" if cls.after_at == "cutoff" else cls.after_at
    try:
        optional = "@" not in str(cls()) or cls.after_at == "cutoff"
    except OptionError:
        optional = False
    return f"{cls.name}[@{after_at}]" if optional else f"{cls.name}@{after_at}"


def _trec_names(cls: type[Measure], source: str) -> tuple[str, ...]:
    """Return trec_eval's names that differ from the measure's text, or that its sources attribute
    to trec_eval.
    """
    measures = [example_of(cls)]
    if cls.cuts == "optional":
        measures.append(cls(cutoff=10))
    if cls.kind != "pair of runs":
        measures += [parse_measure(spelling) for spelling in _presets(cls)]
    names = (
        measure.trec_name
        for measure in measures
        if measure.trec_name != str(measure) or _is_called(measure.trec_name, source)
    )
    return tuple(dict.fromkeys(names))


def _presets(cls: type[Measure]) -> tuple[str, ...]:
    """Spellings that mean this measure with certain options."""
    return tuple(spelling for spelling, (name, _) in PRESET_OPTIONS.items() if name == cls.name)


def _is_called(name: str, source: str) -> bool:
    return any(
        part.strip().startswith("trec_eval") and f"``{name}``" in part for part in source.split(";")
    )


def _parameters(cls: type[Measure]) -> Iterator[Parameter]:
    """Every option, those that are the measure's own first."""
    documented = _documented(cls)
    names = [field.name for field in fields(cls) if field.name not in ("cutoff", "judged_only")]
    names += ["cutoff"] if cls.cuts != "none" else []
    names += ["judged_only"] if cls.kind != "pair of runs" else []
    for name in names:
        values, meaning = documented.get(name, ("", ""))
        yield Parameter(name, values, meaning)


def _documented(cls: type) -> dict[str, tuple[str, str]]:
    """Values and meaning of each option that the class or one of its bases documents."""
    documented: dict[str, tuple[str, str]] = {}
    for base in reversed(cls.__mro__):
        _, sections = _sections(inspect.cleandoc(vars(base).get("__doc__") or ""))
        for names, values, meaning in _entries(sections.get("Parameters", "")):
            same_as = _SAME_AS.search(meaning)
            other = _documented(_class_named(same_as[1])) if same_as else {}
            for name in names:
                documented[name] = other.get(name) or (values, meaning)
    return documented


def _class_named(name: str) -> type:
    """A listed class by its class name or the name of its measures."""
    for cls in (*MEASURES.values(), *PAIR_MEASURES.values()):
        if name in (cls.__name__, cls.name):
            return cls
    return object


def _entries(section: str) -> list[tuple[list[str], str, str]]:
    """Names, values and meaning of each entry of a Parameters section."""
    entries: list[tuple[list[str], str, list[str]]] = []
    for line in section.splitlines():
        entry = None if line.startswith(" ") else _ENTRY.match(line.strip())
        if entry is not None:
            entries.append((entry["names"].split(", "), entry["type"] or "", []))
        elif entries:
            *_, meaning_lines = entries[-1]
            meaning_lines.append(line.strip())
    return [(names, values, " ".join(lines).strip()) for names, values, lines in entries]
