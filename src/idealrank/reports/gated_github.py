"""A gate for GitHub Actions: annotations beside a change."""

from collections.abc import Iterator

from idealrank.reports.digits import number
from idealrank.reports.gated_words import could_see, demand, failed, gate_places, one_line, reason_text, verdict
from idealrank.verdict.gated import Check, Gated, Kept

# GitHub shows ten errors of a step and drops the rest without a word.
_SHOWN = 10
_WORST = 3


def annotations(gated: Gated) -> Iterator[str]:
    """Workflow commands, one a line: an error for each check and contract that failed, and a notice with what could have been seen.

    References
    ----------
    Workflow commands for GitHub Actions, "Setting an error message"; their escapes as the runner undoes them (`ActionCommand.cs`).

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(8)}
    >>> good, bad = (ir.evaluate(qrels, {query: ranking for query in qrels}, "RR") for ranking in (["x", "y"], ["y", "x"]))
    >>> next(annotations(ir.gate(bad, good)))[:69]
    '::error title=RR against run (2)::a drop of 0.5000 is shown, p 0.0039'
    """
    checks, contracts = failed(gated)
    errors = [_command("error", f"Run {one_line(name)}", phrase) for name, phrase in gated.mismatches.items()]
    errors += [_check(check, gate_places(gated)) for check in checks] + [_contract(kept) for kept in contracts]
    if len(errors) > _SHOWN:
        hidden = len(errors) - _SHOWN + 1
        errors = [*errors[: _SHOWN - 1], _command("error", "More failures", f"{hidden} more checks and contracts failed; the log has them")]
    yield from errors
    yield _command("notice", verdict(gated), could_see(gated))


def _check(check: Check, places: int) -> str:
    title = f"{one_line(check.measure)} against {one_line(check.baseline)}"
    means = f"{number(check.mean_run, places)} against {number(check.mean_baseline, places)}"
    numbers = f"{means}, {number(check.difference, places, signed=True)}"
    worst = ", ".join(f"{one_line(one.query)} ({number(one.difference, signed=True)})" for one in check.worst[:_WORST])
    return _command(
        "error", title, f"{one_line(reason_text(check, places), 200)}; {numbers}" + (f"; worst queries: {worst}" if worst else "")
    )


def _contract(kept: Kept) -> str:
    place = f" ({one_line(kept.contract.place)})" if kept.contract.place else ""
    return _command("error", f"Contract of {one_line(kept.contract.query)} is broken", f"{one_line(kept.measure)} {demand(kept)}{place}")


def _command(kind: str, title: str, message: str) -> str:
    return f"::{kind} title={_escaped(title).replace(':', '%3A').replace(',', '%2C')}::{_escaped(message)}\n"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
