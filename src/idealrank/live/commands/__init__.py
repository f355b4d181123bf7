"""The commands that ask search engines and judges, and the one that opens the page for labels."""
