"""A store: evaluations, comparisons and gates in one folder, each with its origin."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from idealrank._features import offered
from idealrank._lazy import annotation
from idealrank.conventions import Convention
from idealrank.errors import InputError, OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.evaluation.judged_hits import JudgedHits
from idealrank.measures.measure import Measure
from idealrank.store import entries, history, queries
from idealrank.store.bundle import export, opened
from idealrank.store.database import Database, Row
from idealrank.store.entries import Adding, evaluation_adding, verdict_adding
from idealrank.store.intact_records import is_intact
from idealrank.store.mounts import usable_folder
from idealrank.store.record import Entry, Kind, Record
from idealrank.store.results import Stored, StoredVerdict, in_words_of_today
from idealrank.store.timeline import Timeline
from idealrank.store.value_files import Swept, ValueFiles, sweep

if TYPE_CHECKING:  # SciPy, which only verdicts need
    from idealrank.analysis.comparison import Comparison
    from idealrank.analysis.gate import Gated
    from idealrank.store.sql import Answer
else:
    Comparison = annotation("idealrank.analysis.comparison", "Comparison")
    Gated = annotation("idealrank.analysis.gate", "Gated")
    Answer = annotation("idealrank.store.sql", "Answer")


class Store:
    """Evaluations, comparisons and gates kept in a folder; open it with `Store.open`.

    A store object belongs to one thread of one process; any number of them may use one folder at a
    time. When `add` returns an id, the entry is on disk. Close the store, or use it in a ``with``
    statement.

    Examples
    --------
    >>> import tempfile, idealrank as ir
    >>> with ir.Store.open(tempfile.mkdtemp()) as store:
    ...     key = store.add(ir.evaluate({"q": {"a": 1}}, {"q": ["x", "a"]}, ["RR"]))
    ...     [(entry.name, entry.means) for entry in store.entries()]
    [('run', {'RR': 0.5})]
    """

    def __init__(self, folder: Path, database: Database) -> None:
        self.folder = folder
        self.files = ValueFiles(folder)
        self.database = database

    @classmethod
    def open(cls, path: "str | Path", *, create: bool = True, upgrade: bool = True) -> "Store":
        """Open the store in a folder, and create it if there is none.

        Parameters
        ----------
        path : str or Path
            Folder on a local disk.
        create : bool
            False refuses a folder without a store.
        upgrade : bool
            False refuses a store of an earlier schema, which is otherwise brought up to date.

        Raises
        ------
        InputError
            The folder is on a network, holds no store or one of a newer version, or holds none and
            is not writable.

        Notes
        -----
        A store that is not writable is opened for reading, and no file is created next to it. If
        another process has it open, its later writes are visible; otherwise the store is read into
        memory once.

        Examples
        --------
        >>> import tempfile
        >>> with Store.open(tempfile.mkdtemp()) as store:
        ...     store.entries()
        []
        """
        folder = usable_folder(Path(path), create=create)
        return cls(folder, Database(folder, upgrade=upgrade))

    def close(self) -> None:
        """Close the store. Nothing is lost without it, but the last copy from the log to the file
        is postponed.
        """
        self.database.close()

    def check_writable(self) -> None:
        """Refuse a store that is read-only: its folder is not writable, or lies on a read-only
        medium.

        Raises
        ------
        InputError
            The store is read-only.

        Examples
        --------
        >>> import tempfile
        >>> with Store.open(tempfile.mkdtemp()) as store:
        ...     store.check_writable()
        """
        self.database.check_writable()

    def __enter__(self) -> "Store":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # --- adding ----------------------------------------------------------------------------------

    def add(
        self,
        evaluation: Evaluation,
        *,
        hits: JudgedHits | None = None,
        record: Record | None = None,
    ) -> str:
        """Keep an evaluation.

        Parameters
        ----------
        evaluation : Evaluation
            Evaluation; its values are kept to the last bit.
        hits : JudgedHits, optional
            Judged documents that the run returned, as computed by `judged_hits`.
        record : Record, optional
            Command line, commit, time, tags, notes.

        Returns
        -------
        str
            Id, 12 hexadecimal digits. When it is returned, the evaluation is on disk.

        Raises
        ------
        InputError
            The entry cannot be written; the store is then unchanged.
        """
        return self._keep(evaluation_adding(evaluation, hits, record or Record()))

    def add_comparison(
        self,
        comparison: "Comparison",
        evaluations: Sequence[str],
        *,
        options: Mapping[str, Any] | None = None,
        record: Record | None = None,
    ) -> str:
        """Keep a comparison.

        Parameters
        ----------
        comparison : Comparison
            Comparison; stored as `Comparison.as_dict`.
        evaluations : sequence of str
            Ids of the compared evaluations in this store, in their order.
        options : mapping, optional
            Options beyond `Comparison.method`: weights and clusters by query, slices.
        record : Record, optional
            Command line, commit, time, tags, notes.

        Returns
        -------
        str
            Id of the entry.

        Raises
        ------
        InputError
            An evaluation is not in this store, or the entry cannot be written.
        """
        ids = [self.resolve(key, kind="evaluation") for key in evaluations]
        return self._keep(
            verdict_adding("comparison", comparison, ids, options or {}, record or Record())
        )

    def add_gate(
        self,
        gated: "Gated",
        evaluations: Sequence[str],
        *,
        options: Mapping[str, Any] | None = None,
        record: Record | None = None,
    ) -> str:
        """Store the result of a gate, as `add_comparison`; the run's evaluation comes first, then
        its baselines.
        """
        ids = [self.resolve(key, kind="evaluation") for key in evaluations]
        return self._keep(verdict_adding("gate", gated, ids, options or {}, record or Record()))

    def _keep(self, adding: Adding) -> str:
        self.check_writable()
        with (
            self.files.prepared(list(adding.files.values())) as prepared,
            self.database.writing() as connection,
        ):
            while self.database.rows("SELECT 1 FROM entry WHERE id = ?", (adding.id,)):
                adding = adding.renamed()
            prepared.place()
            adding.insert(connection)
        return adding.id

    # --- reading ----------------------------------------------------------------------------------

    def resolve(self, beginning: str, *, kind: Kind | None = None) -> str:
        """Return the full id for a unique prefix of at least 4 digits.

        Raises
        ------
        InputError
            No id, or more than one, has this prefix.
        """
        return queries.resolve(self.database, beginning, kind)

    def shortest(self, id: str) -> str:  # noqa: A002
        """Return the shortest unique prefix of an id, of at least 4 digits."""
        return queries.shortest(self.database, self.resolve(id))

    def evaluation(
        self,
        id: str,  # noqa: A002
        *,
        measures: Sequence[Measure] = (),
        convention: Convention | None = None,
    ) -> Stored:
        """Return a stored evaluation, by its id or a prefix of it.

        Parameters
        ----------
        id : str
            4 to 12 hexadecimal digits.
        measures : sequence of Measure, optional
            User-defined measure classes, which cannot be recreated from text.
        convention : Convention, optional
            Convention of the evaluation, if its gain or discount is a user-defined function.

        Raises
        ------
        InputError
            There is no such entry, or its record is damaged.
        """
        key = self.resolve(id, kind="evaluation")
        return Stored(
            entry=self.entry(key),
            fields=queries.fields_of(self.database, key),
            _files=self.files,
            _own_measures=tuple(measures),
            _convention=convention,
        )

    def comparison(self, id: str) -> StoredVerdict:  # noqa: A002
        """Return a stored comparison, by its id or a prefix of it."""
        return self._verdict(id, "comparison")

    def gate(self, id: str) -> StoredVerdict:  # noqa: A002
        """Return a stored gate, by its id or a prefix of it."""
        return self._verdict(id, "gate")

    def _verdict(self, beginning: str, kind: Kind) -> StoredVerdict:
        key = self.resolve(beginning, kind=kind)
        fields = queries.fields_of(self.database, key)
        return StoredVerdict(
            self.entry(key), fields["options"], in_words_of_today(fields["result"])
        )

    def entry(self, id: str) -> Entry:  # noqa: A002
        """Return the summary of an entry, by its id or a prefix of it."""
        return queries.entry(self.database, self.resolve(id))

    def entries(
        self,
        *,
        kind: Kind | None = None,
        run: str | None = None,
        tag: str | None = None,
        measure: str | None = None,
        commit: str | None = None,
        limit: int | None = None,
    ) -> list[Entry]:
        """List the entries of the store, newest first.

        Parameters
        ----------
        kind : {"evaluation", "comparison", "gate"}, optional
            Only entries of this kind.
        run, tag : str, optional
            Only entries of this run name; only entries with this tag.
        measure : str, optional
            Only evaluations of this measure, in any spelling.
        commit : str, optional
            Only entries of this commit, by its id or a prefix of it.
        limit : int, optional
            Greatest number of entries.
        """
        conditions = {"kind": kind, "run": run, "tag": tag, "measure": measure, "commit": commit}
        return queries.entries(
            self.database,
            {name: value for name, value in conditions.items() if value is not None},
            limit,
        )

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """Run a SELECT in SQLite's SQL over the tables of the store; the schema may grow with a
        version.

        Raises
        ------
        OptionError
            The statement is not a SELECT.
        InputError
            SQLite refuses the statement, as it does for any write.
        """
        if not sql.lstrip().upper().startswith(("SELECT", "WITH")):
            raise OptionError("rows: found a statement that changes something, expected a SELECT")
        with self.database.one_state():
            return self.database.rows(sql, parameters)

    def history(
        self,
        measure: str | None = None,
        *,
        run: "str | Sequence[str] | None" = None,
        tag: str | None = None,
        query: str | None = None,
        since: str | None = None,
    ) -> Timeline:
        """Return the values of one measure in the order in which they were stored, for all queries
        or for one.

        Parameters
        ----------
        measure : str, optional
            Measure, in any spelling; default: the first measure of the newest evaluation.
        run : str or sequence of str, optional
            Names of runs.
        tag : str, optional
            Only evaluations with this tag.
        query : str, optional
            Only this query; default: the aggregate over all.
        since : str, optional
            Earliest time: ISO 8601, or ``"7d"``, ``"12h"``, ``"2w"`` ago.

        Raises
        ------
        InputError
            No entry matches; the message lists what the store holds.
        """
        runs = (run,) if isinstance(run, str) else tuple(run or ())
        return history.history(self, measure=measure, runs=runs, tag=tag, query=query, since=since)

    def sql(self, query: str) -> "Answer":
        """Return DuckDB's result of one SELECT over the tables of the store; see
        `idealrank.store.sql.ask`.
        """
        from idealrank.store.sql import ask  # noqa: PLC0415  (an extra)

        return ask(self, query)

    def to_parquet(self, folder: "str | Path") -> dict[str, int]:
        """Write every table as a Parquet file; see `idealrank.store.relations.write_parquet`."""
        from idealrank.store.relations import write_parquet  # noqa: PLC0415  (an extra)

        return write_parquet(self, folder)

    # --- tags, notes and removal ------------------------------------------------------------------

    def tag(self, id: str, *tags: str) -> None:  # noqa: A002
        """Add tags to an entry; an existing tag is kept."""
        entries.tag(self.database, self.resolve(id), tags)

    def untag(self, id: str, *tags: str) -> None:  # noqa: A002
        """Remove tags from an entry.

        Raises
        ------
        InputError
            The entry has no such tag.
        """
        entries.untag(self.database, self.entry(id), tags)

    def note(self, id: str, text: str) -> None:  # noqa: A002
        """Add a note to an entry."""
        entries.note(self.database, self.resolve(id), text)

    def remove(self, id: str) -> None:  # noqa: A002
        """Remove an entry; `gc` then frees what no other entry needs.

        Raises
        ------
        InputError
            A comparison or a gate refers to the entry.
        """
        entries.remove(self.database, self.resolve(id))

    def gc(self, *, dry_run: bool = False) -> Swept:
        """Remove the value files that no entry needs, and files of writers killed at least an hour
        ago.

        Other writers may continue meanwhile.

        Parameters
        ----------
        dry_run : bool
            Report only what would be removed.
        """
        return sweep(self.database, self.files, dry_run=dry_run)

    # --- rounds of canary queries -----------------------------------------------------------------

    def monitors(self) -> list[str]:
        """Return the names of all monitors with a round in this store, in order."""
        sql = "SELECT DISTINCT monitor FROM round ORDER BY monitor"
        return [str(name) for (name,) in self.rows(sql)]

    def monitoring(self, name: str) -> Any:
        """Return the `Monitoring` of a monitor: its rounds, alarms and messages, if it has any.

        Examples
        --------
        >>> import tempfile
        >>> with Store.open(tempfile.mkdtemp()) as store:
        ...     store.monitoring("shop").rounds()
        []
        """
        return offered("monitoring of a store").of(self, name)

    # --- export and import ------------------------------------------------------------------------

    def export_file(self, id: str, path: "str | Path") -> None:  # noqa: A002
        """Write one evaluation, with tags and notes, as one file that another store can import.

        Raises
        ------
        InputError
            A value file is missing or damaged, or the file cannot be written.
        """
        entry = self.entry(self.resolve(id, kind="evaluation"))
        notes = self.database.rows(
            "SELECT time, text FROM note WHERE id = ? ORDER BY time, text", (entry.id,)
        )
        fields = queries.fields_of(self.database, entry.id)
        export(
            entry,
            fields,
            [(str(time), str(text)) for time, text in notes],
            partial(self.files.read, whose=entry.id),
            Path(path),
        )

    def import_file(self, path: "str | Path") -> str:
        """Import a file written by `export_file`; the entry keeps its id. Existing entries are
        kept, and damaged ones repaired.

        Raises
        ------
        InputError
            The file is damaged or of another kind, or the store is not writable.
        """
        self.check_writable()
        adding = opened(Path(path))
        with (
            self.files.prepared(list(adding.files.values())) as prepared,
            self.database.writing() as connection,
        ):
            statement = f"SELECT digest, {is_intact()} FROM entry WHERE id = ?"  # noqa: S608  (names of the package)
            row = connection.execute(statement, (adding.id,)).fetchone()
            digest, intact = row or ("", False)
            if intact and digest != adding.digest:
                raise InputError(
                    f"{path}: found another entry with the id {adding.id} in this store; use a "
                    "store of its own"
                )
            prepared.place()
            if row is None:
                adding.insert(connection)
            elif not intact:
                adding.mend(connection)
        return adding.id

    # --- repeating verdicts -----------------------------------------------------------------------

    def compare_again(
        self,
        id: str,  # noqa: A002
        *,
        measures: Sequence[Measure] = (),
        convention: Convention | None = None,
    ) -> "Comparison":
        """Repeat a comparison from the stored evaluations, options and seed; `measures` and
        `convention` as for `evaluation`.

        Raises
        ------
        InputError
            A file is missing or damaged, or weights, clusters or slices were not stored.
        """
        from idealrank.store.replay import comparison_again  # noqa: PLC0415  (SciPy)

        return comparison_again(
            self.comparison(id), self._evaluations_of(id, measures, convention), measures
        )

    def gate_again(
        self,
        id: str,  # noqa: A002
        *,
        measures: Sequence[Measure] = (),
        convention: Convention | None = None,
    ) -> "Gated":
        """Repeat a gate, as `compare_again`."""
        from idealrank.store.replay import gate_again  # noqa: PLC0415  (SciPy)

        return gate_again(self.gate(id), self._evaluations_of(id, measures, convention), measures)

    def _evaluations_of(
        self, verdict: str, measures: Sequence[Measure], convention: Convention | None
    ) -> list[Evaluation]:
        return [
            self.evaluation(part, measures=measures, convention=convention).evaluation
            for part in self.entry(verdict).parts
        ]

    def __repr__(self) -> str:
        return f"Store({str(self.folder)!r})"
