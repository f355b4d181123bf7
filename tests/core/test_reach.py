"""The sentence on tipping points: every form of it, from numbers worked by hand."""

import html

import pytest

import idealrank as ir
from idealrank.analysis.comparison.tipping import Tipping
from idealrank.reports.views.comparison.phrases import (
    SIGNIFICANT,
    Phrases,
    reach_text,
    sentence,
    share,
    tipping_text,
    unknown_text,
)

OWN = "the 58 unjudged documents that only new returns"
RULED_OUT = Phrases(
    "this difference would no longer be ruled out",
    "this difference would still be ruled out",
    "by the paired t test this difference is not ruled out",
    "",
)


def tipping(**changes: object) -> Tipping:
    found = {
        "side": "b",
        "significance": 0.12,
        "sign": 0.34,
        "significance_both": None,
        "sign_both": None,
        "unjudged_a": 7,
        "unjudged_b": 58,
        "unjudged_both": 3,
        "rate_judged": 0.38,
        "rate_exclusive": None,
        "n_judged": 80,
        "n_exclusive": 0,
        "likely": 0.48,
        "likely_ahead": 0.0,
        "likely_both": 0.48,
        "reaches": False,
    }
    return Tipping(**{**found, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {},
            f"this difference would no longer be significant if 12% of {OWN} were relevant, "
            f"and would change its sign if 34% were",
        ),
        (
            {"sign": None},
            f"this difference would no longer be significant if 12% of {OWN} were relevant, "
            f"but would not change its sign even if all were",
        ),
        (
            {"significance": None, "sign": None},
            f"this difference would stay significant even if all of {OWN} were relevant",
        ),
        (
            {"significance": 0.0},
            f"by the paired t test this difference is not significant as judged. It would "
            f"change its sign if 34% of {OWN} were relevant",
        ),
        (
            {"significance": 0.0, "sign": None},
            "by the paired t test this difference is not significant as judged",
        ),
        (
            {"side": "a"},
            "this difference would no longer be significant if 12% of the 7 unjudged "
            "documents that only old returns "
            "were relevant, and would change its sign if 34% were",
        ),
        (
            {"unjudged_b": 1},
            "this difference would no longer be significant if 12% of the 1 unjudged document "
            "that only new returns "
            "were relevant, and would change its sign if 34% were",
        ),
    ],
)
def test_the_sentence_names_the_share_the_documents_and_the_sign(
    changes: dict[str, object], said: str
) -> None:
    assert tipping_text(tipping(**changes), "old", "new").startswith(
        f"{said}. At the ranks of these documents, 38% of the judged documents are relevant"
    )


def test_the_rates_to_hold_it_against_are_said() -> None:
    def rates(**changes: object) -> str:
        return tipping_text(tipping(**changes), "old", "new").partition(". ")[2]

    assert rates(rate_exclusive=0.3) == (
        "At the ranks of these documents, 38% of the judged documents are relevant, and 30% "
        "of the judged documents that only new "
        "returns are relevant. "
        "Both shares are far more than 12%, so unjudged documents may explain the difference"
    )
    assert (
        rates(rate_judged=None)
        == "No document at the ranks of these documents is judged, so unjudged documents may "
        "explain the difference"
    )
    # Few judged documents leave more open than their rate: the share lies above every rate, and
    # still it is likely.
    assert rates(significance=0.45) == (
        "At the ranks of these documents, 38% of the judged documents are relevant. With so "
        "few judged documents, up to 48% is likely, "
        "so unjudged documents may explain the difference"
    )
    assert (
        rates(significance=0.6, reaches=True)
        == "At the ranks of these documents, 38% of the judged documents are relevant"
    )


@pytest.mark.parametrize("changes", [{"side": None}, {"unjudged_b": 0}])
def test_nothing_is_said_where_no_document_could_undo_the_difference(
    changes: dict[str, object],
) -> None:
    assert tipping_text(tipping(**changes), "old", "new") == ""
    assert sentence("") == ""


def test_other_answers_have_their_own_words() -> None:
    said = tipping_text(tipping(), "old", "new", RULED_OUT)
    kept = tipping_text(tipping(significance=None), "old", "new", RULED_OUT)
    plain = tipping_text(tipping(), "old", "new", SIGNIFICANT._replace(turns=""))

    assert said.startswith(
        f"this difference would no longer be ruled out if 12% of {OWN} were relevant. At the ranks"
    )
    assert kept.startswith(
        f"this difference would still be ruled out even if all of {OWN} were relevant. At the ranks"
    )
    assert plain.startswith(
        f"this difference would no longer be significant if 12% of {OWN} were relevant. At "
        f"the ranks"
    )


def test_why_it_is_not_known_is_said() -> None:
    assert (
        unknown_text("the lists have no ids")
        == "whether there are too few judgments is unknown: the lists have no ids"
    )
    assert unknown_text(None) == ""
    assert reach_text(None, "x", "old", "new") == unknown_text("x")
    assert reach_text(tipping(), None, "old", "new") == tipping_text(tipping(), "old", "new")
    assert sentence(unknown_text("x")) == "Whether there are too few judgments is unknown: x."


def test_no_share_but_none_and_all_looks_like_them() -> None:
    assert [
        share(part)
        for part in (0.0, 1e-9, 0.00099, 0.001, 0.0994, 0.0996, 0.5, 0.99, 0.9949, 0.99999, 1.0)
    ] == [
        "0%",
        "under 0.1%",
        "under 0.1%",
        "0.1%",
        "9.9%",
        "10%",
        "50%",
        "99%",
        "99.5%",
        "over 99.9%",
        "100%",
    ]


SEE = "evaluate with keep_unjudged=True to see whether there are too few judgments"


def _two(*, keep: bool) -> list[ir.Evaluation]:
    qrels = ir.Qrels({f"q{number}": {"x": 1} for number in range(8)}, labels_are="pooled")
    runs = [
        ir.Run(dict.fromkeys(qrels, ranking), name=name)
        for name, ranking in (("old", ["y", "z", "x"]), ("new", ["x"]))
    ]
    return [ir.evaluate(qrels, run, ["RR@10", "AP"], keep_unjudged=keep) for run in runs]


def test_a_comparison_that_did_not_look_at_the_judgments_says_so_with_the_unjudged_shares() -> None:
    both = _two(keep=False)
    found = ir.compare(*both)

    said = (
        f"Unjudged within rank 10: 66.7% of old; {SEE}, or give the files to `idealrank compare`."
    )
    assert said in str(found).splitlines()
    assert html.escape(said) in found._repr_html_()
    assert html.escape(said) in ir.report(found, evaluations=both)


def test_a_comparison_that_looked_at_the_judgments_has_no_such_caution() -> None:
    both = _two(keep=True)
    found = ir.compare(*both)

    assert found.reach_unknown == ""
    assert SEE not in str(found) + found._repr_html_() + ir.report(found, evaluations=both)
