# A regression as a ranker, with a score of the measure, over folds of whole queries.
python - <<'PYTHON'
import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score

from idealrank.integrations.sklearn import QueryKFold, QueryRanker, query_scorer

rng = np.random.default_rng(1)
queries = np.repeat(np.arange(20), 6)
feature = rng.normal(size=queries.size)
X = np.column_stack([queries, feature])
grades = (feature > 0).astype(int)
folds = QueryKFold(4)
values = cross_val_score(
    QueryRanker(LinearRegression()), X, grades, cv=folds, scoring=query_scorer("nDCG@5")
)
print(values)
assert (values > 0.95).all()
PYTHON
