"""Files of a gate: baselines, contracts of single queries, the policy in pyproject.toml."""
