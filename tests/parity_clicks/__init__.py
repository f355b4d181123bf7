"""Peers of `idealrank.clicks`, each in an environment of its own: `make test-peers`."""
