# An evaluation on Dask.
python - <<'PYTHON'
import dask.dataframe
import pandas

import idealrank as ir
from idealrank.integrations.dask import evaluate_dask


def rows(path, names):
    return pandas.read_csv(path, sep=r"\s+", header=None, names=names, dtype={0: str})


qrels = rows("examples/pydocs/qrels.txt", ["query", "iteration", "document", "grade"])
run = rows("examples/pydocs/bm25.run", ["query", "q0", "document", "rank", "score", "tag"])
evaluation = evaluate_dask(
    dask.dataframe.from_pandas(qrels[["query", "document", "grade"]], npartitions=2),
    dask.dataframe.from_pandas(run[["query", "document", "score"]], npartitions=4),
    ["nDCG@10"],
)
print(evaluation.mean())
assert round(evaluation.mean()["nDCG@10"], 4) == 0.5047
PYTHON
