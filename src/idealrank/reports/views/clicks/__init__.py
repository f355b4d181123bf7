"""Click logs, propensities and values of policies, in every form."""
