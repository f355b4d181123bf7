# An evaluation in Weights & Biases, without a network.
export WANDB_MODE=offline WANDB_SILENT=true
python - <<'PYTHON'
import wandb

import idealrank as ir

with wandb.init(project="search") as run:
    ir.log_to_wandb(
        ir.evaluate("examples/pydocs/qrels.txt", "examples/pydocs/bm25.run", ["nDCG@10"])
    )
    logged = run.summary["nDCG_at_10"]
print(logged)
assert round(logged, 4) == 0.5047
PYTHON
ls wandb/offline-run-*/*.wandb
