"""Rankers, scorers and folds for scikit-learn."""

from idealrank.training.sklearn import QueryKFold, QueryRanker, query_scorer

__all__ = ["QueryKFold", "QueryRanker", "query_scorer"]
