"""The local web page of a store, rendered on the server and read-only."""
