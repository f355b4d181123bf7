"""trec_eval 10.0's printed digits for preferences and for several assessors, every query and the
means.
"""

from pathlib import Path

import pytest

import idealrank as ir
from tests.parity.trec_folder import differences, folder_file, folder_output, offered

# Text that the front prints, no number of ours.
NOT_NUMBERS = {"runid"}
N_PREFERENCE_MEASURES = 14
N_ASSESSOR_MEASURES = 20

CASES = {
    "out.test.prefs": ("prefs.test", "prefs.results.test"),
    "out.test.prefs with comments": ("prefs.comment.test", "prefs.results.test"),
    "out.test.qrels_prefs": ("qrels.test", "results.test"),
    "out.test.qrels_jg": ("qrels.123.gz", "results.test"),
    "out.test.qrels_jg with comments": ("qrels.comments.123.gz", "results.test"),
}


def table_of(name: str, path: Path) -> ir.PreferenceQrels | ir.AssessorQrels:
    """The judgments, as the command that made the output read them."""
    if "jg" in name:
        return ir.read_assessors(path)
    return ir.read_preferences(path, layout="qrels" if "qrels" in name else "prefs")


@pytest.mark.parametrize("convention", ["trec_eval-10", "standard"])
@pytest.mark.parametrize("name", CASES)
def test_every_printed_digit(name: str, convention: str) -> None:
    """``-R prefs``, ``-R qrels_prefs``, ``-R qrels_jg``; comment lines change nothing."""
    judgments, run = CASES[name]
    printed = folder_output(name.partition(" ")[0])
    measures = offered(printed)
    assert {measure for measure, _ in printed} - set(measures) == NOT_NUMBERS
    # num_q too
    assert len(measures) == 1 + (N_ASSESSOR_MEASURES if "jg" in name else N_PREFERENCE_MEASURES)
    evaluation = ir.evaluate(
        table_of(name, folder_file(judgments)), folder_file(run), measures.values(), convention
    )
    assert differences(printed, measures, evaluation) == []


@pytest.mark.parametrize("name", [name for name in CASES if "with" not in name])
def test_its_names_of_measures_read_back(name: str) -> None:
    """What trec_eval calls a measure is what we print for it."""
    for printed, measure in offered(folder_output(name)).items():
        assert measure.trec_name == printed


def test_ties_of_preferences_go_by_rising_document_id() -> None:
    """The one tie between a preferred document and another in these files: query 301, FBIS3-58025
    before FBIS3-58055.
    """
    preferences = ir.read_preferences(folder_file("qrels.test"), layout="qrels")
    run = ir.read_run(folder_file("results.test"))
    evaluation = ir.evaluate(preferences, run, "prefs_num_prefs_ful_ret", "trec_eval-10")
    assert evaluation.convention.alignment.ties == "docid-ascending"
    assert evaluation.per_query()["301"]["prefs_num_prefs_ful(among=retrieved)"] == float(
        folder_output("out.test.qrels_prefs")["prefs_num_prefs_ful_ret", "301"]
    )
    middle = ir.evaluate(preferences, run, "prefs_num_prefs_ful_ret", "trec_eval-10,ties=expected")
    assert middle.values[0, 0] == evaluation.values[0, 0] + 0.5
