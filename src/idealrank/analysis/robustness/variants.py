"""Variants of a comparison: every switch of the convention, the cutoff, the threshold, presets,
other measures.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from idealrank.conventions import PRESETS, SWITCHES, Convention
from idealrank.conventions.switches import ROWS
from idealrank.errors import OptionError, shown
from idealrank.evaluation.sweep import ALIGNMENT, NOT_IN_ARRAYS, switch_text
from idealrank.measures.measure import Measure
from idealrank.measures.measure_texts import split_outside_brackets
from idealrank.measures.parse import parse_run_measure

_MOST_THRESHOLDS = 10  # thresholds tried; more different grades are no scale of a person

# What is changed, one at a time and in this order: what a value is made of first, then the lists,
# the judgments and the queries. A threshold is no switch; its values come from the data. A switch
# without a place of its own comes last.
_ORDER = (
    "gain",
    "discount",
    "cutoff",
    "rel",
    "ideal",
    "rounding",
    "recall_points",
    "ties",
    "score",
    "duplicates",
    "unjudged",
    "grades",
    "negative",
    "missing",
    "without_judgments",
    "no_relevant",
)
CHANGED = (*_ORDER, *(switch for switch in ROWS if switch not in _ORDER))
MEASURE, PRESET = "measure", "preset"
AS_ASKED = "as asked"
GROUPS: tuple[str, ...] = (*CHANGED, MEASURE, PRESET)

Change = tuple[str, object]


@dataclass(frozen=True, kw_only=True, eq=False)
class Alternative:
    """One way to compute: a change of the comparison that was asked for, and what it comes to."""

    group: str
    text: str
    measure: Measure | None
    convention: Convention
    changes: tuple[Change, ...] = ()
    reason: str = ""

    @classmethod
    def of(
        cls, measure: Measure, convention: Convention, changes: Sequence[Change]
    ) -> "Alternative":
        """The measure under the convention with switches and options changed; an option set on the
        measure is changed there.
        """
        group = " + ".join(name for name, _ in changes)
        text = ",".join(f"{name}={switch_text(value)}" for name, value in changes)
        switches = {name: value for name, value in changes if name in SWITCHES and name != "cutoff"}
        new = Convention.of(convention, **switches)
        options: dict[str, Any] = {name: value for name, value in changes if name not in ALIGNMENT}
        changed = None
        reason = ""
        lacking = [name for name in options if not has_option(measure, name)]
        if lacking:
            reason = f"{measure.name} has no option {lacking[0]}"
        else:
            try:
                changed = replace(measure.under(convention), **options)
            except OptionError as error:
                reason = str(error)
        return cls(
            group=group,
            text=text,
            measure=changed,
            convention=new,
            changes=tuple(changes),
            reason=reason,
        )


def has_option(measure: Measure, name: str) -> bool:
    """Return whether an option can be set on the measure and affects it."""
    if name == "cutoff":
        return measure.cuts != "none"
    is_field = any(field.name == name for field in fields(measure))
    return is_field and (name not in SWITCHES or name in measure.from_convention)


@dataclass(frozen=True, kw_only=True, eq=False)
class ComparisonRequest:
    """Requested comparison, and facts about the data that determine its variants."""

    measure: Measure
    convention: Convention
    grades: Sequence[float]
    others: Sequence[str]
    arrays: bool

    @property
    def reference(self) -> Alternative:
        """No change."""
        return Alternative(
            group="",
            text=AS_ASKED,
            measure=self.measure.under(self.convention),
            convention=self.convention,
        )

    def lacking(self) -> dict[str, str]:
        """Groups that mean nothing here, with the reason."""
        reasons: dict[str, str] = {}
        for group in CHANGED:
            is_idle = not has_option(self.measure, group) or (
                group == "rel" and self._weighs_grades
            )
            if group not in ALIGNMENT and is_idle:
                reasons[group] = f"{self.measure.name} does not use this option"
            elif self.arrays and group in NOT_IN_ARRAYS:
                reasons[group] = "arrays of labels and scores have no documents and miss no query"
        return reasons

    @property
    def _weighs_grades(self) -> bool:
        """True if a gain tells grades apart, and no threshold was asked for."""
        return "gain" in self.measure.from_convention and getattr(self.measure, "rel", 0) is None

    def alternatives(self, requested: "Iterable[str] | None" = None) -> list[Alternative]:
        """The requested changes, by default one of each group at a time, then presets and other
        measures; each once.
        """
        if requested is None:
            # Values of 0 for short lists tell how long the lists are, not which run is better.
            requested = [group for group in GROUPS if group != "short_lists"]
        if not isinstance(requested, Iterable):
            raise OptionError(
                f"variants: found {type(requested).__name__}, expected a list, as in "
                '["ties", "cutoff=5"]'
            )
        texts = [requested] if isinstance(requested, str) else list(requested)
        lacking = self.lacking()
        by_text: dict[str, Alternative] = {}
        for text in texts:
            if text in GROUPS:
                alternatives = list(self._of_group(text, lacking))
            else:
                alternatives = [self._of_text(text)]
            for alternative in alternatives:
                by_text.setdefault(alternative.text, alternative)
        return list(by_text.values())

    def _of_group(self, group: str, lacking: dict[str, str]) -> Iterator[Alternative]:
        if group in lacking:
            return
        if group == MEASURE:
            yield from (
                self._of_measure(text)
                for text in self.others
                if parse_run_measure(text) != self.measure
            )
        elif group == PRESET:
            short_lists = self.convention.rules.short_lists
            for name, preset in PRESETS.items():
                if name != self.convention.name and preset.rules.short_lists == short_lists:
                    yield self._of_preset(name)
        else:
            for value in self._values(group):
                if switch_text(value) != self._reference_value(group):
                    alternative = Alternative.of(self.measure, self.convention, ((group, value),))
                    if alternative.measure is not None:  # P must have a cutoff
                        yield alternative

    def _reference_value(self, group: str) -> str:
        """The value of a switch or option in the reference comparison."""
        if group in ALIGNMENT:
            return self.convention.switches()[group]
        value = getattr(self.measure.under(self.convention), group)
        return "1" if group == "rel" and value is None else switch_text(value)

    def _values(self, group: str) -> Iterator[object]:
        positive = [grade for grade in self.grades if grade > 0]
        if group == "rel":
            thresholds = positive[:_MOST_THRESHOLDS]
            yield from (int(grade) if grade == int(grade) else grade for grade in thresholds)
        listed = ROWS[group].tried if group in ROWS else ()
        for value in listed:
            by_id = group == "ties" and str(value).startswith("docid")
            if value != "error" and not (self.arrays and by_id):
                yield value
        if group == "gain" and 2 <= len(positive) <= _MOST_THRESHOLDS:
            # All relevant documents are worth the same, for grades that cannot be trusted.
            table = "{" + ",".join(["0:0", *(f"{grade:g}:1" for grade in positive)]) + "}"
            yield "binary" if positive[0] >= 1 else table

    def _of_measure(self, text: str) -> Alternative:
        measure = parse_run_measure(text)
        return Alternative(
            group=MEASURE,
            text=str(measure),
            measure=measure.under(self.convention),
            convention=self.convention,
        )

    def _of_preset(self, name: str) -> Alternative:
        preset = PRESETS[name]
        return Alternative(
            group=PRESET, text=name, measure=self.measure.under(preset), convention=preset
        )

    def taken_apart(self, alternative: Alternative) -> list[Alternative]:
        """The switches in which a convention differs from the reference, each as a change of its
        own.
        """
        reference = self.convention.switches()
        changed = alternative.convention.switches()
        free = [name for name in SWITCHES if name in ALIGNMENT or self._is_free(name)]
        differing = [name for name in free if reference[name] != changed[name]]
        return [
            Alternative.of(self.measure, self.convention, [_change(f"{name}={changed[name]}")])
            for name in sorted(differing, key=CHANGED.index)
        ]

    def _is_free(self, option: str) -> bool:
        """Return whether the measure leaves an option to the convention."""
        return option in self.measure.from_convention and getattr(self.measure, option) is None

    def _of_text(self, text: str) -> Alternative:
        parts = split_outside_brackets(text)
        if all(_is_change(part) for part in parts):
            return Alternative.of(self.measure, self.convention, [_change(part) for part in parts])
        base = parts[0].strip().lower()
        if base in PRESETS:
            convention = Convention.of(text)
            return Alternative(
                group=PRESET,
                text=convention.name,
                measure=self.measure.under(convention),
                convention=convention,
            )
        try:
            return self._of_measure(text)
        except OptionError as error:
            raise OptionError(
                f"variant {shown(repr(text))}: expected a group ({', '.join(GROUPS)}), a change "
                "such as cutoff=5, a convention that `idealrank conventions` lists, or a measure "
                f"({error.kept().parts[0]})"
            ) from None


def _is_change(part: str) -> bool:
    name, equals, _ = part.partition("=")
    return bool(equals) and name.strip().replace("-", "_") in CHANGED


def _change(part: str) -> Change:
    name, _, value = part.partition("=")
    name = name.strip().replace("-", "_")
    value = value.strip()
    return name, None if (name, value.lower()) == ("cutoff", "none") else value


def joined(first: Alternative, other: Alternative, request: ComparisonRequest) -> Alternative:
    """Both changes at once."""
    return Alternative.of(request.measure, request.convention, (*first.changes, *other.changes))
