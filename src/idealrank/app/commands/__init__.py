"""One file per command; `idealrank.app.cli` lists them and imports each only when it is used."""
