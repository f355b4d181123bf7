# The checks of a measure of one's own, with Hypothesis.
python - <<'PYTHON'
import idealrank as ir
from idealrank.testing import check_measure, judgments, runs
from hypothesis import given, settings


@settings(max_examples=20)
@given(judgments(), runs())
def never_above_one(qrels, run):
    values = ir.evaluate(qrels, run, ["nDCG@3"]).mean()
    assert not values["nDCG@3"] > 1


never_above_one()
check_measure(ir.NDCG)
print("checked")
PYTHON
