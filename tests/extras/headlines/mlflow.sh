# An evaluation in a local store of MLflow.
export MLFLOW_TRACKING_URI=sqlite:///mlflow.db
python - <<'PYTHON'
import mlflow

import idealrank as ir

with mlflow.start_run() as run:
    ir.log_to_mlflow(
        ir.evaluate("examples/pydocs/qrels.txt", "examples/pydocs/bm25.run", ["nDCG@10"])
    )
logged = mlflow.get_run(run.info.run_id).data.metrics["nDCG_at_10"]
print(logged)
assert round(logged, 4) == 0.5047
PYTHON
