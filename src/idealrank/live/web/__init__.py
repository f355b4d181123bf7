"""The pages of canaries, which a served store shows too, and the page on which people label."""
