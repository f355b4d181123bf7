"""One file per command; `idealrank.cli.main` lists them and imports each only when it is used."""
