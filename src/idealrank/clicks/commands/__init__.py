"""The commands of `idealrank clicks`."""
