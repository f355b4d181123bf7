"""The tables of a store, and how one of an earlier version becomes one of this."""

from collections.abc import Mapping, Sequence

# Tells a store from any other SQLite file: the letters "irst".
APPLICATION = 0x69727374
VERSION = 2

# What every version added to the one before. A store is made by all of them in turn, so that a new one and one brought up to date are
# the same; none may ever be changed once people have stores.
_FIRST = (
    # One row for each evaluation, comparison and gate. `record` is canonical JSON and never changes; `digest` is its SHA-256, and `id` the
    # first digits of that.
    """CREATE TABLE entry (
        id TEXT PRIMARY KEY, kind TEXT NOT NULL CHECK (kind IN ('evaluation', 'comparison', 'gate')), time TEXT NOT NULL,
        name TEXT NOT NULL, digest TEXT NOT NULL, record TEXT NOT NULL, convention TEXT NOT NULL, fingerprint TEXT NOT NULL,
        version TEXT NOT NULL, commit_id TEXT NOT NULL, dirty INTEGER, command TEXT NOT NULL, note TEXT NOT NULL DEFAULT ''
    ) WITHOUT ROWID""",
    "CREATE INDEX entry_time ON entry (time)",
    """CREATE TABLE evaluation (
        id TEXT PRIMARY KEY REFERENCES entry (id) ON DELETE CASCADE, n_queries INTEGER NOT NULL, n_measures INTEGER NOT NULL,
        queries_file TEXT NOT NULL, values_file TEXT NOT NULL, scored_file TEXT
    ) WITHOUT ROWID""",
    """CREATE TABLE mean (
        id TEXT NOT NULL REFERENCES evaluation (id) ON DELETE CASCADE, place INTEGER NOT NULL, measure TEXT NOT NULL,
        resolved TEXT NOT NULL, value REAL, scored INTEGER NOT NULL, PRIMARY KEY (id, place)
    ) WITHOUT ROWID""",
    "CREATE INDEX mean_measure ON mean (measure)",
    """CREATE TABLE input (
        id TEXT NOT NULL REFERENCES evaluation (id) ON DELETE CASCADE, place INTEGER NOT NULL, name TEXT NOT NULL,
        size INTEGER NOT NULL, sha256 TEXT NOT NULL, PRIMARY KEY (id, place)
    ) WITHOUT ROWID""",
    # What a comparison or a gate was made of, in its order.
    """CREATE TABLE part (
        id TEXT NOT NULL REFERENCES entry (id) ON DELETE CASCADE, place INTEGER NOT NULL,
        evaluation TEXT NOT NULL REFERENCES evaluation (id), PRIMARY KEY (id, place)
    ) WITHOUT ROWID""",
    "CREATE INDEX part_evaluation ON part (evaluation)",
    "CREATE TABLE tag (id TEXT NOT NULL REFERENCES entry (id) ON DELETE CASCADE, tag TEXT NOT NULL, PRIMARY KEY (id, tag)) WITHOUT ROWID",
    "CREATE INDEX tag_tag ON tag (tag)",
    # Which value files an entry needs; a file that stands here never is swept away.
    """CREATE TABLE kept (
        id TEXT NOT NULL REFERENCES entry (id) ON DELETE CASCADE, file TEXT NOT NULL, PRIMARY KEY (id, file)
    ) WITHOUT ROWID""",
    "CREATE INDEX kept_file ON kept (file)",
)
_NOTES_OF_THEIR_OWN = (
    """CREATE TABLE note (
        id TEXT NOT NULL REFERENCES entry (id) ON DELETE CASCADE, time TEXT NOT NULL, text TEXT NOT NULL, PRIMARY KEY (id, time, text)
    ) WITHOUT ROWID""",
    "INSERT INTO note (id, time, text) SELECT id, time, note FROM entry WHERE note <> ''",
    "ALTER TABLE entry DROP COLUMN note",
)
MIGRATIONS: Mapping[int, Sequence[str]] = {1: _FIRST, 2: _NOTES_OF_THEIR_OWN}
