"""The only door for the command line and for integrations: a module a question, each takes anything a user may hold."""
