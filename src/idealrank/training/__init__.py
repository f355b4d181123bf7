"""Learning to rank without a framework: gradients of ranking measures, checks of the data before
training, selection of a model.

Everything here is arrays. `idealrank.integrations` connects it to LightGBM, XGBoost, CatBoost and
scikit-learn.
"""

from idealrank._lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
