"""The commands that read a store, and the one that serves it."""
