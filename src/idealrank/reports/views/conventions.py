"""A convention in words, switch by switch."""

import re
from collections.abc import Callable, Iterable, Mapping

from idealrank.conventions import Convention
from idealrank.conventions.switches import ROWS, phrase
from idealrank.evaluation.coverage import VALIDATE
from idealrank.reports.table.text import MethodLines, columns, prose_width, wrapped

_UNANSWERED = 6  # runs named in a sentence
# Phrases on the judgments behind the runs of a result; none for the same judgments.
JUDGED: Mapping[str, list[str]] = {
    "same": [],
    "different": ["the runs have different judgments, as asked"],
    "unknown": ["it is unknown whether the runs have the same judgments"],
}
# Presets that also reproduce other measures of their tool; every other preset is made from a tool's
# NDCG.
_OF_MORE_THAN_NDCG = ("standard", "trec_eval-9", "trec_eval-10", "trec_eval", "ir_measures")
_NDCG = ("nDCG", "DCG", "iDCG")
_OTHERS = 3  # measures named in a sentence
_TITLE = 62  # letters of a title that leave room in a line for the options with details


def design_phrases(*, weighted: bool, clustered: bool, judgments: str) -> list[str]:
    """Describe weights, clusters, and judgments that differ between the runs."""
    used = ["weighted"] if weighted else []
    used += ["in clusters"] if clustered else []
    phrases = [f"queries {' and '.join(used)}"] if used else []
    return [*phrases, *JUDGED[judgments]]


def in_words(convention: Convention) -> str:
    """Describe a convention in phrases, one for each switch that is not the usual one."""
    switches = convention.switches()
    return "; ".join(
        phrase(name, switches[name]) for name, row in ROWS.items() if row.usual != switches[name]
    )


def title(convention: Convention) -> str:
    """Return name, fingerprint and tool; the title of a changed preset says that it is changed."""
    changed = "changed from " if "," in convention.name else ""
    return f"{convention}: {changed}{convention.tool}"


def paragraph(
    convention: Convention, measures: Iterable[str] = (), *, with_tool: bool = False
) -> MethodLines:
    """Describe a convention below a table: its title, and all of it in words."""
    full_title = title(convention)
    name, _, tool = full_title.partition("]: ")
    line = f"convention {name}]: {tool}"
    lines = [line] if len(line) <= prose_width() else [f"convention {name}]:", f"  {tool}"]

    measures = list(measures)
    words = in_words(convention)
    if any("(" in text for text in measures):
        words += "; options that a measure names win over these"
    lines += wrapped(words)
    caution = not_reproduced(convention, measures)
    lines += wrapped(caution) if caution else []

    brief = full_title if with_tool and len(full_title) <= _TITLE else str(convention)
    return MethodLines(lines, f"convention {brief}", *([caution] if caution else []))


def not_reproduced(convention: Convention, measures: Iterable[str]) -> str:
    """Caution for measures other than NDCG under a preset made from a tool's NDCG; empty without
    any.
    """
    if convention.name.partition(",")[0] in _OF_MORE_THAN_NDCG:
        return ""
    others = [text for text in measures if re.split(r"[(@]", text)[0] not in _NDCG]
    if not others:
        return ""
    some = ", ".join(others[:_OTHERS])
    some += f" and {len(others) - _OTHERS} more" if len(others) > _OTHERS else ""
    return f"this preset reproduces its tool's NDCG only, not {some}"


def conventions_table(conventions: Mapping[str, Convention]) -> str:
    """Write a table of all conventions, with the tool that each reproduces and the evidence."""
    rows = [["convention", "proof", "reproduces"]]
    rows += [
        [name, convention.proof, convention.reproduces] for name, convention in conventions.items()
    ]
    lines = columns(rows, left=(0, 1, 2))
    return "\n".join([*lines, "", "idealrank conventions NAME shows the switches of one."]) + "\n"


def convention_card(convention: Convention) -> str:
    """Write a table of one convention: every switch, its value and its meaning; switches that
    differ from the standard are marked.
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
            "documents, which the tool's unstable sort puts in an order of its own"
        )
    return "\n".join([*head, "", *lines, "", last]) + "\n"


def warned(mismatches: Mapping[str, str], shown: Callable[[str], str] = str) -> list[str]:
    """Write a sentence for each run whose values mean nothing, and the next step, for the top of a
    report; `shown` makes names fit for their place.
    """
    sentences = [f"Run {shown(name)} {phrase}" for name, phrase in mismatches.items()]
    return [*sentences, f"{VALIDATE}."] if sentences else []


def cautioned(cautions: Iterable[str]) -> list[str]:
    """Make a sentence of each caution of a result."""
    sentences = []
    for text in cautions:
        end = "" if text[-1:] in ".?" else "."
        sentences.append(f"{text[:1].upper()}{text[1:]}{end}")
    return sentences


def unanswered(missing: Mapping[str, int], shown: Callable[[str], str] = str) -> list[str]:
    """Name the runs that leave judged queries without an answer, in a sentence; none if all answer
    all.
    """
    counts = [f"{number:,} in {shown(name)}" for name, number in missing.items() if number]
    if not counts:
        return []
    more = [f"some in {len(counts) - _UNANSWERED:,} more"] if len(counts) > _UNANSWERED else []
    return [f"Judged queries without an answer: {', '.join([*counts[:_UNANSWERED], *more])}."]
