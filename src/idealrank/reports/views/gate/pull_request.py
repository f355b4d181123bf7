"""A gate on a pull request: a comment in Markdown that fits and that no name or id can get out of,
and annotations beside the change.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from idealrank.analysis.gate.outcome import NOT_CARRIED, Check, Gated, KeptContract, QueryDrop
from idealrank.reports.table.cells import number, p_text
from idealrank.reports.table.forms import entity, escaped
from idealrank.reports.views.comparison.verdicts import (
    caution_mark_of_check,
    mark_of_check,
    mark_of_contract,
)
from idealrank.reports.views.conventions import cautioned, title, unanswered, warned
from idealrank.reports.views.gate.sentences import (
    ANCHORED,
    COMPANION,
    RATE_MARKED,
    could_see,
    demand,
    failed,
    gate_places,
    hidden_drop,
    is_anchored,
    method,
    next_step,
    one_line,
    one_sided,
    reach_text,
    reason_text,
    short_of_judgments,
    subject_of,
    unjudged,
    verdict,
    visible,
)

MARKER = "<!-- idealrank gate -->"
"""Stands at the end of each comment, so that a program finds its own and replaces it."""

COMMENT_BYTES = 65_535
"""GitHub takes fewer than 65,536 characters; bytes are never fewer than characters, however these
are counted.
"""

_HEAD = (
    "",
    "measure",
    "baseline",
    "mean before",
    "mean now",
    "difference",
    "bound",
    "one-sided p",
    "two-sided p",
    "detectable drop",
    "unjudged before / now",
    "why",
)
_CODE = re.compile(r"[^\w\s]|_")
_WHY = 600  # letters
_MORE = "\nMore did not fit here; the log and the JUnit file have all.\n"


def gate_markdown(
    gated: Gated, most_bytes: int = COMMENT_BYTES, digits: int | None = None
) -> Iterator[str]:
    """The verdict in the first line, a table, the worst queries folded away, then the rule,
    convention and seed.

    Where a person accepted the run of a closed gate, the first line states the acceptance.
    """
    places = gate_places(gated, digits)
    doubtful = next((check for check in gated.deciding if not check.carried), None)
    said = (
        ""
        if doubtful is None
        else f"{code(doubtful.measure)}: {plain(_why(gated, doubtful, places), _WHY)}.\n\n"
    )
    beside = [
        *warned(gated.mismatches, code),
        *unanswered(gated.missing, code),
        *_cautions(gated),
        could_see(gated, code, places),
    ]
    beside += [*one_sided(gated, [said]), *hidden_drop(gated, code), *next_step(gated, code)]
    accepted = (
        "" if gated.acceptance is None else f"**{plain(gated.acceptance.headline, _WHY)}**\n\n"
    )
    head = f"{accepted}**{verdict(gated, code)}**\n\n{said}{' '.join(beside)}\n"
    foot = _foot(gated)
    left = most_bytes - _size(head) - _size(foot) - _size(_MORE)
    body, complete = _fitted(_body(gated, places), left)
    yield head
    yield from body
    if not complete:
        yield _MORE
    yield foot


def code(text: str) -> str:
    """A name or id in which nothing is Markdown, HTML, a mention or a link.

    Punctuation stands as entities, which mean a letter and never an instruction; within ``<code>``
    neither mentions nor links are made.
    """
    return f"<code>{_CODE.sub(lambda found: entity(found[0]), one_line(text))}</code>"


def plain(text: str, width: int = 200) -> str:
    """A phrase of at most so many letters in which nothing is Markdown, HTML, a mention or a
    link.
    """
    return escaped(one_line(text, width))


def _cautions(gated: Gated) -> list[str]:
    """Cautions, which may name runs, so that nothing in them is live."""
    return [plain(caution, _WHY) for caution in cautioned(gated.cautions)]


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _fitted(pieces: Iterable[tuple[str, str]], room: int) -> tuple[list[str], bool]:
    """As many pieces as there is room for. With each stands what closes the fold it is in, for
    which room is kept.
    """
    fitted: list[str] = []
    closing = ""
    for piece, ends in pieces:
        if _size(piece) + _size(ends) > room:
            return [*fitted, closing], False
        fitted.append(piece)
        room -= _size(piece)
        closing = ends
    return fitted, True


def _body(gated: Gated, places: int) -> Iterator[tuple[str, str]]:
    contracts = failed(gated)[1]
    ordered = sorted(
        gated.checks, key=lambda check: (not check.decides, check.passed, check.outcome != "failed")
    )
    if gated.checks:
        yield _table_head(_HEAD, left=(0, 1, 2, 11)), ""
        # What stopped the run first: whatever does not fit is no reason for the verdict.
        for check in ordered:
            yield _check_row(gated, check, places), ""
        if not all(check.decides for check in ordered):
            yield f"\n<sub>{plain(COMPANION)}</sub>\n", ""
        if any(map(caution_mark_of_check, ordered)):
            yield f"\n<sub>{plain(RATE_MARKED)}</sub>\n", ""
        if any(map(is_anchored, ordered)):
            yield f"\n<sub>{plain(ANCHORED)}</sub>\n", ""
    if contracts:
        yield (
            "\nBroken contracts:\n"
            + _table_head(("query", "measure", "demanded", "found", "of"), left=(0, 1, 4)),
            "",
        )
        for kept in contracts:
            yield _contract_row(kept), ""
    for check in ordered:
        if check.worst:
            yield from _worst(check)


def _check_row(gated: Gated, check: Check, places: int) -> str:
    means = [number(mean, places) for mean in (check.mean_baseline, check.mean_run)]
    means += [number(value, places, signed=True) for value in (check.difference, check.bound)]
    means += [p_text(check.p_corrected), p_text(check.p_two_sided)]
    word = mark_of_check(check, gated).word
    shown = f"**{word}**" if check.decides and not check.passed else word
    named = [f"{shown}{caution_mark_of_check(check)}", code(check.measure), code(check.baseline)]
    # where the judgments do not carry it, the rest of the sentence stands above the table
    why = _why(gated, check, places)
    why = why if check.carried else f"{why.partition(NOT_CARRIED)[0]}{NOT_CARRIED}"
    return _row([*named, *means, visible(check, places), unjudged(check), plain(why, _WHY)])


def _why(gated: Gated, check: Check, places: int) -> str:
    clause = reach_text(gated, check) if check.carried else ""
    return reason_text(gated, check, places) + (f"; {clause}" if clause else "")


def _contract_row(kept: KeptContract) -> str:
    source = kept.baseline or kept.contract.place
    cells = [
        code(kept.contract.query),
        code(kept.measure),
        number(kept.demanded),
        number(kept.found),
    ]
    return _row([*cells, code(source) if source else ""])


def _worst(check: Check) -> Iterator[tuple[str, str]]:
    closing = "\n</details>\n"
    summary = f"Worst queries by {code(check.measure)} against {code(check.baseline)}"
    named = any(drop.text for drop in check.worst)
    head = _table_head(
        ("query", "before", "now", "difference", *(["text"] if named else [])), left=(0, 4)
    )
    yield f"\n<details><summary>{summary}</summary>\n{head}", closing
    for drop in check.worst:
        cells = [
            code(drop.query),
            number(drop.baseline),
            number(drop.run),
            number(drop.difference, signed=True),
        ]
        yield _row([*cells, plain(drop.text or "")] if named else cells), closing
    yield closing, ""


def _table_head(titles: Sequence[str], left: Sequence[int]) -> str:
    return (
        f"\n"
        f"{_row(titles)}|{'|'.join(' --- ' if column in left else ' ---: ' for column in range(len(titles)))}|\n"  # noqa: E501
    )


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _foot(gated: Gated) -> str:
    return (
        f"\n<sub>Rule: {plain(method(gated))}. Convention "
        f"{plain(title(gated.convention))}.</sub>\n\n{MARKER}\n"
    )


# GitHub shows ten errors and ten warnings of a step and drops the rest without a word.
_SHOWN = 10
_REASON = 600  # letters
_WORST = 3


def annotations(gated: Gated) -> Iterator[str]:
    """Workflow commands, one a line: an error for each check and contract that failed, and a notice
    with the drop that the gate detects.

    A check with too few judgments gets a warning in place of the error.
    """
    checks, contracts = failed(gated)
    errors = [
        _command("error", f"Run {one_line(name)}", phrase)
        for name, phrase in gated.mismatches.items()
    ]
    errors += [_check(gated, check) for check in checks] + [
        _contract(gated, kept) for kept in contracts
    ]
    if gated.acceptance is not None:
        yield _command("notice", "Accepted", one_line(gated.acceptance.headline, _REASON))
    yield from _listed("error" if gated.acceptance is None else "warning", errors, "failed")
    yield from (_command("warning", "Caution", caution) for caution in cautioned(gated.cautions))
    warnings = [_check(gated, check) for check in short_of_judgments(gated)]
    yield from _listed("warning", warnings, "have too few judgments")
    yield _command("notice", verdict(gated), could_see(gated))


def _listed(kind: str, commands: list[str], what: str) -> Iterator[str]:
    """As many as GitHub shows, the last of which says how many more there are."""
    if len(commands) > _SHOWN:
        hidden = len(commands) - _SHOWN + 1
        commands = [
            *commands[: _SHOWN - 1],
            _command(kind, "More", f"{hidden} more checks and contracts {what}; the log has them"),
        ]
    yield from commands


def _check(gated: Gated, check: Check) -> str:
    places = gate_places(gated)
    whose = f" of {subject_of(gated, check)}" if is_anchored(check) else ""
    title = f"{one_line(check.measure)}{whose} against {one_line(check.baseline)}"
    means = f"{number(check.mean_run, places)} against {number(check.mean_baseline, places)}"
    numbers = f"{means}, {number(check.difference, places, signed=True)}"
    worst = ", ".join(map(_named, check.worst[:_WORST]))
    why = one_line(reason_text(gated, check, places), _REASON)
    kind = mark_of_check(check, gated).annotation
    return _command(
        kind, title, f"{why}; {numbers}" + (f"; worst queries: {worst}" if worst else "")
    )


def _named(drop: QueryDrop) -> str:
    """A query that fell, with its text."""
    text = f' "{one_line(drop.text)}"' if drop.text else ""
    return f"{one_line(drop.query)}{text} ({number(drop.difference, signed=True)})"


def _contract(gated: Gated, kept: KeptContract) -> str:
    place = f" ({one_line(kept.contract.place)})" if kept.contract.place else ""
    kind = mark_of_contract(kept, gated).annotation
    return _command(
        kind,
        f"Contract of {one_line(kept.contract.query)} is broken",
        f"{one_line(kept.measure)} {demand(kept)}{place}",
    )


def _command(kind: str, title: str, message: str) -> str:
    return (
        f"::{kind} "
        f"title={_escaped(title).replace(':', '%3A').replace(',', '%2C')}::{_escaped(message)}\n"
    )


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
