"""A gate for GitHub Actions: annotations beside a change."""

from collections.abc import Iterator

from idealrank.analysis.gate.outcome import Check, Gated, KeptContract
from idealrank.reports.table.digits import number
from idealrank.reports.views.gate.sentences import could_see, demand, failed, gate_places, one_line, reason_text, unreached, verdict

# GitHub shows ten errors and ten warnings of a step and drops the rest without a word.
_SHOWN = 10
_REASON = 600  # letters
_WORST = 3


def annotations(gated: Gated) -> Iterator[str]:
    """Workflow commands, one a line: an error for each check and contract that failed, and a notice with the drop that the gate detects.

    A check that the judgments do not reach gets a warning in place of the error. Companions that do not close the gate get nothing.

    References
    ----------
    Workflow commands for GitHub Actions, "Setting an error message"; their escapes as the runner undoes them (`ActionCommand.cs`).

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(8)}
    >>> good, bad = (ir.evaluate(qrels, {query: ranking for query in qrels}, "RR") for ranking in (["x", "y"], ["y", "x"]))
    >>> next(annotations(ir.gate(bad, good)))[:76]
    '::error title=RR against run (2)::a drop of 0.5000 is significant (one-sided'
    """
    checks, contracts = failed(gated)
    errors = [_command("error", f"Run {one_line(name)}", phrase) for name, phrase in gated.mismatches.items()]
    errors += [_check("error", gated, check) for check in checks] + [_contract(kept) for kept in contracts]
    yield from _listed("error", errors, "failed")
    yield from _listed("warning", [_check("warning", gated, check) for check in unreached(gated)], "are not reached by the judgments")
    yield _command("notice", verdict(gated), could_see(gated))


def _listed(kind: str, commands: list[str], what: str) -> Iterator[str]:
    """As many as GitHub shows, the last of which says how many more there are."""
    if len(commands) > _SHOWN:
        hidden = len(commands) - _SHOWN + 1
        commands = [*commands[: _SHOWN - 1], _command(kind, "More", f"{hidden} more checks and contracts {what}; the log has them")]
    yield from commands


def _check(kind: str, gated: Gated, check: Check) -> str:
    places = gate_places(gated)
    title = f"{one_line(check.measure)} against {one_line(check.baseline)}"
    means = f"{number(check.mean_run, places)} against {number(check.mean_baseline, places)}"
    numbers = f"{means}, {number(check.difference, places, signed=True)}"
    worst = ", ".join(f"{one_line(one.query)} ({number(one.difference, signed=True)})" for one in check.worst[:_WORST])
    why = one_line(reason_text(gated, check, places), _REASON)
    return _command(kind, title, f"{why}; {numbers}" + (f"; worst queries: {worst}" if worst else ""))


def _contract(kept: KeptContract) -> str:
    place = f" ({one_line(kept.contract.place)})" if kept.contract.place else ""
    return _command("error", f"Contract of {one_line(kept.contract.query)} is broken", f"{one_line(kept.measure)} {demand(kept)}{place}")


def _command(kind: str, title: str, message: str) -> str:
    return f"::{kind} title={_escaped(title).replace(':', '%3A').replace(',', '%2C')}::{_escaped(message)}\n"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
