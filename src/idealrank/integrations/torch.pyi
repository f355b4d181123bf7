from idealrank.training.torch import *  # noqa: F403
