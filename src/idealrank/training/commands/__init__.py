"""The command `idealrank train`."""
