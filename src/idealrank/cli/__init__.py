"""The command line. Everything that prints, exits or asks the terminal lives here."""
