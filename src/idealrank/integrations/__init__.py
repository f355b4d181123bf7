"""Other libraries by their names: engines, trackers, trainers, and the gate in pytest.

What stands here is public; the code is in the folders of the features.
"""

from idealrank.trackers.content import metric_names
from idealrank.trackers.mlflow import log_to_mlflow
from idealrank.trackers.wandb import log_to_wandb

__all__ = ["log_to_mlflow", "log_to_wandb", "metric_names"]
