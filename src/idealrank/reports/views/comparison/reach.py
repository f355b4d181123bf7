"""Reach of the judgments in one sentence: the share of unjudged documents that would have to be relevant, and the likely share.

Every output that says it takes it from here. Nothing here knows where the sentence will stand: names come fit for that place, and
`Phrases` says what the judgments have to carry.
"""

from typing import NamedTuple

from idealrank.analysis.comparison.tipping import Tipping

BOTH_RUNS = (
    "tips at leaves the other run's unjudged documents at 0, the verdict counts both runs' documents: it stands if the difference stays "
    "significant, with its sign, with the run behind at likely behind and the run ahead at likely ahead, and with both at the higher "
    "upper limit"
)
"""The rule of the verdict in a phrase: why a difference may stand though its tipping point is low."""


class Phrases(NamedTuple):
    """Phrases for what a test has found, and for what becomes of it.

    Attributes
    ----------
    goes, stays : str
        What follows where unjudged documents undo the answer, and where they do not.
    weak : str
        What is said where the t test, by which tipping points go, does not find it even as judged.
    turns : str
        The sign turns, after ``it would``; empty where the sign is not what was asked about.

    Examples
    --------
    >>> Phrases().goes
    'this difference would no longer be significant'
    """

    goes: str = "this difference would no longer be significant"
    stays: str = "this difference would stay significant"
    weak: str = "by the paired t test this difference is not significant"
    turns: str = "turn its sign"


SIGNIFICANT = Phrases()
"""The answer of a comparison: a difference is significant."""


def tipping_text(tipping: Tipping, a: str, b: str, answer: Phrases = SIGNIFICANT) -> str:
    """The tipping point in a clause that begins with a small letter and has no full stop; empty where nothing can tip.

    Parameters
    ----------
    tipping : Tipping
        Of one difference.
    a, b : str
        Names of the runs.
    answer : Phrases
        Phrases for what the test has found; default that a difference is significant.

    Returns
    -------
    str
        Empty where there is no difference, or the run that is behind shows no unjudged document that the other one does not.

    Examples
    --------
    >>> common = dict(side="b", significance_both=0.2, sign_both=0.3, unjudged_a=9, unjudged_b=58, unjudged_both=3)
    >>> common |= dict(rate_judged=0.38, rate_exclusive=None, n_judged=80, n_exclusive=0, likely=0.5)
    >>> common |= dict(likely_ahead=0.0, likely_both=0.5, reaches=False)
    >>> print(tipping_text(Tipping(**common, significance=0.12, sign=0.34), "old", "new"))  # doctest: +NORMALIZE_WHITESPACE
    this difference would no longer be significant if 12 % of the 58 documents that only new shows without a judgment were relevant,
    and turn its sign if 34 % were; among judged documents at these ranks 38 % are relevant; 12 % is far below that, so unjudged
    documents may well explain it
    """
    own = {"a": (a, tipping.unjudged_a), "b": (b, tipping.unjudged_b), None: ("", 0)}
    name, count = own[tipping.side]
    if not count:
        if tipping.reaches or not tipping.unjudged_both or not tipping.significance_both:
            return ""
        shown = f"{tipping.unjudged_both:,} {'document' if tipping.unjudged_both == 1 else 'documents'}"
        return f"{answer.goes} if {share(tipping.significance_both)} of the {shown} that both show without a judgment were relevant"
    documents = f"the {count:,} {'document' if count == 1 else 'documents'} that only {name} shows without a judgment"
    other = b if tipping.side == "a" else a
    stands = tipping.reaches and tipping.significance is not None and 0 < tipping.significance <= tipping.likely
    ahead = (
        f"; at least {share(tipping.likely_ahead)} of those that only {other} shows are likely to be, too, so it stands" if stands else ""
    )
    return f"{_share_text(tipping, documents, answer)}; {_rate_text(tipping, name)}{ahead}{_conclusion(tipping)}"


def _share_text(tipping: Tipping, documents: str, answer: Phrases) -> str:
    if tipping.significance is None:
        return f"{answer.stays} even if all of {documents} were relevant"
    if tipping.significance == 0:
        said = f"{answer.weak} as judged"
        if answer.turns and tipping.sign is not None:
            return f"{said}; it would {answer.turns} if {share(tipping.sign)} of {documents} were relevant"
        return said
    said = f"{answer.goes} if {share(tipping.significance)} of {documents} were relevant"
    if not answer.turns:
        return said
    if tipping.sign is None:
        return f"{said}, but not {answer.turns} even if all were"
    return f"{said}, and {answer.turns} if {share(tipping.sign)} were"


def _rate_text(tipping: Tipping, name: str) -> str:
    """Describe the shares to compare with."""
    if tipping.rate_judged is None:
        return "no document at these ranks is judged"
    said = f"among judged documents at these ranks {share(tipping.rate_judged)} are relevant"
    if tipping.rate_exclusive is not None:
        said += f", among those that only {name} shows {share(tipping.rate_exclusive)}"
    if not tipping.reaches and max(tipping.rate_judged, tipping.rate_exclusive or 0.0) < (tipping.significance or 0.0) <= tipping.likely:
        said += f", and from so few up to {share(tipping.likely)} is taken to be likely"
    return said


def _conclusion(tipping: Tipping) -> str:
    """State the conclusion if the judgments do not reach; the end of the sentence."""
    if tipping.reaches or tipping.significance == 0:  # what is not significant needs no explanation
        return ""
    if tipping.significance is None or tipping.significance > tipping.likely:
        return "; but where documents of both runs are as likely to be relevant, unjudged documents may well explain it"
    rates = [rate for rate in (tipping.rate_judged, tipping.rate_exclusive) if rate is not None]
    least = min(rates, default=0.0)
    if tipping.significance < least:
        far = "far " if tipping.significance <= least / 2 else ""
        return f"; {share(tipping.significance)} is {far}below that, so unjudged documents may well explain it"
    return ", so unjudged documents may well explain it"


def unknown_text(reason: str | None) -> str:
    """Why a tipping point is not known, in a clause as of `tipping_text`; empty without a reason.

    Examples
    --------
    >>> unknown_text("LastRel falls as documents become relevant")
    'how far the judgments reach is not known: LastRel falls as documents become relevant'
    >>> unknown_text("how far the judgments reach was not looked at")
    'how far the judgments reach was not looked at'
    """
    if not reason:
        return ""
    return reason if reason.startswith("how far the judgments reach") else f"how far the judgments reach is not known: {reason}"


def reach_text(tipping: Tipping | None, reason: str | None, a: str, b: str, answer: Phrases = SIGNIFICANT) -> str:
    """Either of `tipping_text` and `unknown_text`, whichever there is.

    Examples
    --------
    >>> reach_text(None, "not asked", "old", "new")
    'how far the judgments reach is not known: not asked'
    """
    return unknown_text(reason) if tipping is None else tipping_text(tipping, a, b, answer)


def sentence(clause: str) -> str:
    """A clause as a sentence; empty where it is.

    Examples
    --------
    >>> sentence("it would stay significant"), sentence("")
    ('It would stay significant.', '')
    """
    return f"{clause[:1].upper()}{clause[1:]}." if clause else ""


def share(part: float) -> str:
    """A share in percent; no share but 0 and 1 looks like 0 % or 100 %.

    Examples
    --------
    >>> [share(part) for part in (0.0, 0.0004, 0.034, 0.12, 0.996, 1.0)]
    ['0 %', 'under 0.1 %', '3.4 %', '12 %', '99.6 %', '100 %']
    """
    if part in (0, 1):
        return f"{100 * part:.0f} %"
    if part < 0.001:
        return "under 0.1 %"
    if part > 0.999:
        return "over 99.9 %"
    return f"{100 * part:.{0 if 0.0995 <= part <= 0.99 else 1}f} %"
