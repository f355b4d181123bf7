"""A metric for CatBoost."""

from idealrank.training.catboost import eval_function

__all__ = ["eval_function"]
