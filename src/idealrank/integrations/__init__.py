"""Results where experiments are kept: MLflow and Weights & Biases."""

from idealrank.integrations.content import metric_names
from idealrank.integrations.mlflow import log_to_mlflow
from idealrank.integrations.wandb import log_to_wandb

__all__ = ["log_to_mlflow", "log_to_wandb", "metric_names"]
