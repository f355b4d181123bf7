"""A convention in words, switch by switch."""

import re
from collections.abc import Callable, Iterable, Mapping

from idealrank.conventions import Convention
from idealrank.conventions.switches import ROWS, phrase
from idealrank.evaluation.coverage import VALIDATE
from idealrank.reports.table.text import WIDTH, MethodLines, columns, wrapped

_UNANSWERED = 6  # runs named in a sentence
# What a result says of the judgments behind its runs; nothing where they are the same.
JUDGED: Mapping[str, list[str]] = {
    "same": [],
    "different": ["the runs have different judgments, as asked"],
    "unknown": ["it is unknown whether the runs have the same judgments"],
}
# Presets whose other measures are shown to be those of the tool, too; every other preset is made
# from a tool's NDCG.
_OF_MORE_THAN_NDCG = ("standard", "trec_eval-9", "trec_eval-10", "trec_eval", "ir_measures")
_NDCG = ("nDCG", "DCG", "iDCG")
_OTHERS = 3
_TITLE = 62  # characters that leave room in a line for where to find the details


def design_phrases(*, weighted: bool, clustered: bool, judgments: str) -> list[str]:
    """Phrases about weights, clusters and judgments that differ between the runs."""
    used = [
        word for word, is_used in (("weighted", weighted), ("in clusters", clustered)) if is_used
    ]
    return [*([f"queries {' and '.join(used)}"] if used else []), *JUDGED[judgments]]


def in_words(convention: Convention) -> str:
    """The whole convention as one sentence of phrases."""
    switches = convention.switches()
    return "; ".join(
        phrase(name, switches[name]) for name, row in ROWS.items() if row.usual != switches[name]
    )


def title(convention: Convention) -> str:
    """Name, fingerprint, and what it reproduces; a changed preset reproduces nothing, and says
    so.
    """
    changed = "changed from " if "," in convention.name else ""
    return f"{convention}: {changed}{convention.tool}"


def paragraph(
    convention: Convention, measures: Iterable[str] = (), *, with_tool: bool = False
) -> MethodLines:
    """A convention under a table: its title and all of it in words, as lines."""
    name, _, tool = title(convention).partition("]: ")
    line = f"convention {name}]: {tool}"
    measures = list(measures)
    words = in_words(convention) + (
        "; options that a measure names win over these"
        if any("(" in text for text in measures)
        else ""
    )
    head = [line] if len(line) <= WIDTH else [f"convention {name}]:", f"  {tool}"]
    said = [caution] if (caution := not_reproduced(convention, measures)) else []
    lines = [*head, *wrapped(words), *(line for caution in said for line in wrapped(caution))]
    brief = title(convention) if with_tool and len(title(convention)) <= _TITLE else str(convention)
    return MethodLines(lines, f"convention {brief}", *said)


def not_reproduced(convention: Convention, measures: Iterable[str]) -> str:
    """A sentence for measures other than NDCG under a preset made from a tool's NDCG; empty without
    any.
    """
    if convention.name.partition(",")[0] in _OF_MORE_THAN_NDCG:
        return ""
    others = [text for text in measures if re.split(r"[(@]", text)[0] not in _NDCG]
    if not others:
        return ""
    some = ", ".join(others[:_OTHERS]) + (
        f" and {len(others) - _OTHERS} more" if len(others) > _OTHERS else ""
    )
    return f"this preset reproduces its tool's NDCG only, not {some}"


def conventions_table(conventions: Mapping[str, Convention]) -> str:
    """All conventions, one a line, with what each reproduces and how that was shown."""
    rows = [["convention", "proof", "reproduces"]]
    rows += [
        [name, convention.proof, convention.reproduces] for name, convention in conventions.items()
    ]
    lines = columns(rows, left=(0, 1, 2))
    return "\n".join([*lines, "", "idealrank conventions NAME shows the switches of one."]) + "\n"


def convention_card(convention: Convention) -> str:
    """One convention: every switch, its value, what that means; switches that differ from the
    standard are marked.
    """
    usual = Convention.of("standard").switches()
    rows = [["", "switch", "value", "in words"]]
    rows += [
        ["" if value == usual[switch] else "*", switch, value, phrase(switch, value)]
        for switch, value in convention.switches().items()
    ]
    lines = columns(rows, left=(0, 1, 2, 3))
    last = "* not as in standard; any switch can be changed: --convention NAME,SWITCH=VALUE"
    proof = "none, for the preset was changed" if "," in convention.name else convention.proof
    head = [title(convention), f"proof: {proof}"]
    if convention.unstable_from:
        head.append(
            f"not reproduced: equal scores in lists of {convention.unstable_from} or more "
            f"documents, which the tool's unstable sort "
            "puts in an order of its own"
        )
    return "\n".join([*head, "", *lines, "", last]) + "\n"


def warned(mismatches: Mapping[str, str], shown: Callable[[str], str] = str) -> list[str]:
    """A sentence for each run whose values mean nothing, and the next step, for the top of a
    report; `shown` fits names to the place.
    """
    found = [f"Run {shown(name)} {phrase}" for name, phrase in mismatches.items()]
    return [*found, f"{VALIDATE}."] if found else []


def cautioned(cautions: Iterable[str]) -> list[str]:
    """A sentence for each caution of a result."""
    return [f"{text[:1].upper()}{text[1:]}{'' if text[-1:] in '.?' else '.'}" for text in cautions]


def unanswered(missing: Mapping[str, int], shown: Callable[[str], str] = str) -> list[str]:
    """Name the runs that leave judged queries without an answer, in a sentence; none if all answer
    all.
    """
    found = [f"{number:,} in {shown(name)}" for name, number in missing.items() if number]
    more = [f"some in {len(found) - _UNANSWERED:,} more"] if len(found) > _UNANSWERED else []
    return (
        [f"Judged queries without an answer: {', '.join([*found[:_UNANSWERED], *more])}."]
        if found
        else []
    )
