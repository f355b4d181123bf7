"""The command `idealrank convert`."""
