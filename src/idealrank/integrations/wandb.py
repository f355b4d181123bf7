"""Evaluations in Weights & Biases."""

from idealrank.trackers.wandb import log_to_wandb

__all__ = ["log_to_wandb"]
