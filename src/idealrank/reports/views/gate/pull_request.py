"""A gate on a pull request: a comment in Markdown that fits and in which no name or id is live, and
annotations on the change.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from idealrank.analysis.gate.contracts import KeptContract
from idealrank.analysis.gate.outcome import NOT_CARRIED, Check, Gated, QueryDrop
from idealrank.reports.table.cells import number, p_text
from idealrank.reports.table.forms import entity, escaped
from idealrank.reports.table.text import one_line
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
"""End of each comment, by which a program finds its own comment and replaces it."""

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
_CODE = re.compile(r"[^\w\s]|_")  # punctuation of names and ids, which becomes entities
_WHY = 600  # letters of a reason
_MORE = "\nMore did not fit here; the log and the JUnit file have all.\n"


def gate_markdown(
    gated: Gated, most_bytes: int = COMMENT_BYTES, digits: int | None = None
) -> Iterator[str]:
    """Yield a comment: the verdict in the first line, a table, the worst queries folded away, then
    the rule, convention and seed.

    If a person accepted the run of a closed gate, the first line states the acceptance.
    """
    places = gate_places(gated, digits)
    doubtful = next((check for check in gated.deciding if not check.carried), None)
    doubt = ""
    if doubtful is not None:
        doubt = f"{code(doubtful.measure)}: {plain(_why(gated, doubtful, places), _WHY)}.\n\n"
    beside = [
        *warned(gated.mismatches, code),
        *unanswered(gated.missing, code),
        *_cautions(gated),
        could_see(gated, code, places),
    ]
    beside += [*one_sided(gated, [doubt]), *hidden_drop(gated, code), *next_step(gated, code)]
    head = f"**{verdict(gated, code)}**\n\n{doubt}{' '.join(beside)}\n"
    if gated.acceptance is not None:
        head = f"**{plain(gated.acceptance.headline, _WHY)}**\n\n{head}"
    foot = _foot(gated)
    left = most_bytes - _size(head) - _size(foot) - _size(_MORE)
    body, complete = _fitted(_body(gated, places), left)
    yield head
    yield from body
    if not complete:
        yield _MORE
    yield foot


def code(text: str) -> str:
    """Format a name or id in which nothing is Markdown, HTML, a mention or a link.

    Entities, which always mean a letter, replace punctuation; within ``<code>`` there are neither
    mentions nor links.
    """
    return f"<code>{_CODE.sub(lambda match: entity(match[0]), one_line(text))}</code>"


def plain(text: str, width: int = 200) -> str:
    """Format a phrase of at most so many letters in which nothing is Markdown, HTML, a mention or a
    link.
    """
    return escaped(one_line(text, width))


def _cautions(gated: Gated) -> list[str]:
    """Format cautions, which may name runs, so that nothing in them is live."""
    return [plain(caution, _WHY) for caution in cautioned(gated.cautions)]


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _fitted(pieces: Iterable[tuple[str, str]], room: int) -> tuple[list[str], bool]:
    """Return as many pieces as there is room for, and whether these are all. Each comes with the
    text that closes its fold, for which room is kept.
    """
    fitted: list[str] = []
    open_fold = ""
    for piece, closing in pieces:
        if _size(piece) + _size(closing) > room:
            return [*fitted, open_fold], False
        fitted.append(piece)
        room -= _size(piece)
        open_fold = closing
    return fitted, True


def _body(gated: Gated, places: int) -> Iterator[tuple[str, str]]:
    """Yield the pieces of a comment, each with the text that closes its fold."""
    _, contracts = failed(gated)
    # Checks that stopped the run come first: a piece that does not fit is then no reason for the
    # verdict.
    ordered = sorted(gated.checks, key=_importance)
    if gated.checks:
        yield _table_head(_HEAD, left=(0, 1, 2, 11)), ""
        for check in ordered:
            yield _check_row(gated, check, places), ""
        if not all(check.decides for check in ordered):
            yield f"\n<sub>{plain(COMPANION)}</sub>\n", ""
        if any(map(caution_mark_of_check, ordered)):
            yield f"\n<sub>{plain(RATE_MARKED)}</sub>\n", ""
        if any(map(is_anchored, ordered)):
            yield f"\n<sub>{plain(ANCHORED)}</sub>\n", ""
    if contracts:
        named = any(kept.text for kept in contracts)
        titles = ("query", "measure", "demanded", "found", "of", *(["text"] if named else []))
        yield f"\nBroken contracts:\n{_table_head(titles, left=(0, 1, 4, 5))}", ""
        for kept in contracts:
            yield _contract_row(kept, named=named), ""
    for check in ordered:
        if check.worst:
            yield from _worst(check)


def _importance(check: Check) -> tuple[bool, bool, bool]:
    return not check.decides, check.passed, check.outcome != "failed"


def _check_row(gated: Gated, check: Check, places: int) -> str:
    means = [number(mean, places) for mean in (check.mean_baseline, check.mean_run)]
    means += [number(value, places, signed=True) for value in (check.difference, check.bound)]
    means += [p_text(check.p_corrected), p_text(check.p_two_sided)]
    word = mark_of_check(check, gated).word
    shown = f"**{word}**" if check.decides and not check.passed else word
    named = [f"{shown}{caution_mark_of_check(check)}", code(check.measure), code(check.baseline)]
    # If the judgments do not support it, the rest of the sentence stands above the table.
    why = _why(gated, check, places)
    why = why if check.carried else f"{why.partition(NOT_CARRIED)[0]}{NOT_CARRIED}"
    return _row([*named, *means, visible(check, places), unjudged(check), plain(why, _WHY)])


def _why(gated: Gated, check: Check, places: int) -> str:
    why = reason_text(gated, check, places)
    clause = reach_text(gated, check) if check.carried else ""
    return f"{why}; {clause}" if clause else why


def _contract_row(kept: KeptContract, *, named: bool) -> str:
    source = kept.baseline or kept.contract.place
    cells = [
        code(kept.contract.query),
        code(kept.measure),
        number(kept.demanded),
        number(kept.found),
    ]
    cells.append(code(source) if source else "")
    return _row([*cells, plain(kept.text or "")] if named else cells)


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
    rules = [" --- " if column in left else " ---: " for column in range(len(titles))]
    return f"\n{_row(titles)}|{'|'.join(rules)}|\n"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _foot(gated: Gated) -> str:
    rule = plain(method(gated))
    convention = plain(title(gated.convention))
    return f"\n<sub>Rule: {rule}. Convention {convention}.</sub>\n\n{MARKER}\n"


# GitHub shows ten errors and ten warnings of a step and drops the rest without a word.
_SHOWN = 10
_REASON = 600  # letters of a reason
_WORST = 3  # queries that an annotation names


def annotations(gated: Gated) -> Iterator[str]:
    """Yield workflow commands, one per line: an error for each check and contract that failed, and
    a notice with the drop that the gate detects.
    A check with too few judgments gets a warning in place of the error.
    """
    checks, contracts = failed(gated)
    errors = [
        _command("error", f"Run {one_line(name)}", phrase)
        for name, phrase in gated.mismatches.items()
    ]
    errors += [_check(gated, check) for check in checks]
    errors += [_contract(gated, kept) for kept in contracts]
    if gated.acceptance is not None:
        yield _command("notice", "Accepted", one_line(gated.acceptance.headline, _REASON))
    shown_errors = list(
        _listed("error" if gated.acceptance is None else "warning", errors, "failed")
    )
    yield from shown_errors
    cautions = [_command("warning", "Caution", caution) for caution in cautioned(gated.cautions)]
    yield from cautions
    warnings = [_check(gated, check) for check in short_of_judgments(gated)]
    # Cautions are warnings of the same step, as are the errors of a run that was accepted.
    before = len(cautions) + (0 if gated.acceptance is None else len(shown_errors))
    yield from _listed("warning", warnings, "have too few judgments", most=max(_SHOWN - before, 1))
    yield _command("notice", verdict(gated), could_see(gated))


def _listed(kind: str, commands: list[str], what: str, *, most: int = _SHOWN) -> Iterator[str]:
    """Yield as many commands as GitHub shows; the last one counts the others."""
    if len(commands) > most:
        hidden = len(commands) - most + 1
        message = f"{hidden} more checks and contracts {what}; the log has them"
        commands = [*commands[: most - 1], _command(kind, "More", message)]
    yield from commands


def _check(gated: Gated, check: Check) -> str:
    places = gate_places(gated)
    whose = f" of {subject_of(gated, check)}" if is_anchored(check) else ""
    title = f"{one_line(check.measure)}{whose} against {one_line(check.baseline)}"
    means = f"{number(check.mean_run, places)} against {number(check.mean_baseline, places)}"
    numbers = f"{means}, {number(check.difference, places, signed=True)}"
    worst = ", ".join(map(_named, check.worst[:_WORST]))
    message = f"{one_line(reason_text(gated, check, places), _REASON)}; {numbers}"
    message += f"; worst queries: {worst}" if worst else ""
    return _command(mark_of_check(check, gated).annotation, title, message)


def _named(drop: QueryDrop) -> str:
    """Name a query that fell, with its text."""
    text = f' "{one_line(drop.text)}"' if drop.text else ""
    return f"{one_line(drop.query)}{text} ({number(drop.difference, signed=True)})"


def _contract(gated: Gated, kept: KeptContract) -> str:
    place = f" ({one_line(kept.contract.place)})" if kept.contract.place else ""
    kind = mark_of_contract(kept, gated).annotation
    title = f"Contract of {one_line(kept.contract.query)} is broken"
    text = f' "{one_line(kept.text)}"' if kept.text else ""
    return _command(kind, title, f"{one_line(kept.measure)} {demand(kept)}{place}{text}")


def _command(kind: str, title: str, message: str) -> str:
    # A colon or comma would end the title.
    title = _escaped(title).replace(":", "%3A").replace(",", "%2C")
    return f"::{kind} title={title}::{_escaped(message)}\n"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
