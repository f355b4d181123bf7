"""Results where experiments are kept: MLflow and Weights & Biases."""

from idealrank.trackers.naming import metric_names
from idealrank.trackers.to_mlflow import log_to_mlflow
from idealrank.trackers.to_wandb import log_to_wandb

__all__ = ["log_to_mlflow", "log_to_wandb", "metric_names"]
