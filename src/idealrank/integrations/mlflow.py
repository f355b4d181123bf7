"""Evaluations in MLflow."""

from idealrank.trackers.mlflow import log_to_mlflow

__all__ = ["log_to_mlflow"]
