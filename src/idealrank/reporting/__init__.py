"""A page of results, for anything a user may hold: gathered here, drawn by `reports.page`."""
