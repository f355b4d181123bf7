"""Evaluations are compared only where they were judged by the same grades; or where somebody says that other grades are meant."""

import idealrank as ir

QUERIES = [f"q{number}" for number in range(8)]
RANKING = {query: ["x", "y"] for query in QUERIES}


def judged(**grades: float) -> ir.Evaluation:
    """One ranking, judged so in every query."""
    return ir.evaluate({query: grades for query in QUERIES}, RANKING, "RR")


def test_one_run_against_itself_is_not_worse_because_other_documents_are_relevant() -> None:
    one, other = judged(x=1, y=0), judged(x=0, y=1)
    try:
        found = ir.compare(one, other)
    except ir.IncompatibleError as error:
        assert "judgments" in str(error)
    else:
        raise AssertionError(f"{found.pairs[0]['RR'].verdict}, p {found.pairs[0]['RR'].p}")
