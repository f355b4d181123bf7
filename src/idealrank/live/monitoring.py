"""Rounds of canary queries in a store, with the alarms that they opened and closed, and the
messages about these.

A round, what the alarms know after it, the alarms it opened or closed, and the messages to send are
written in one transaction. After a kill in any place either all of it is there, or nothing.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from idealrank.errors import InputError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.store.database import Database, Row, column_text
from idealrank.store.entries import evaluation_adding
from idealrank.store.record import Record
from idealrank.store.store import Store
from idealrank.store.value_files import ValueFiles

Outcome: TypeAlias = Literal["running", "complete", "incomplete", "failed", "interrupted"]
Event: TypeAlias = Literal["opened", "recovered", "superseded"]

_ROUND_FIELDS = ("number", "time", "outcome", "evaluation")
_ROUND_COLUMNS = ", ".join([*_ROUND_FIELDS, "record"])


@dataclass(frozen=True, kw_only=True)
class StoredRound:
    """One round of a monitor.

    Attributes
    ----------
    monitor : str
        Name of the monitor.
    number : int
        1 is the first; rounds are ordered by it, since clocks may be set back.
    time : str
        Start, UTC, ISO 8601.
    outcome : {"running", "complete", "incomplete", "failed", "interrupted"}
        ``incomplete`` if too many queries failed for a value, ``failed`` if all did,
        ``interrupted`` if its process ended before it did.
    evaluation : str or None
        Id of its evaluation; None if there is none, or if it was removed.
    record : mapping
        ``measure``, ``value``, ``low``, ``high``, ``queries``, ``failed`` (share), ``coverage``,
        ``label_days``, ``latency`` (ms, by ``p50``, ``p95``, ``p99``), ``slices``, ``readings`` of
        the alarms, ``problems``. A key may be missing.

    Examples
    --------
    >>> StoredRound(
    ...     monitor="shop",
    ...     number=1,
    ...     time="2026-01-01T00:00:00Z",
    ...     outcome="failed",
    ...     evaluation=None,
    ...     record={},
    ... ).outcome
    'failed'
    """

    monitor: str
    number: int
    time: str
    outcome: Outcome
    evaluation: str | None
    record: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class StoredAlarm:
    """One alarm, from the round that opened it to the one that closed it.

    Attributes
    ----------
    id : str
        Monitor, rule, slice and opening round; messages about the alarm carry it.
    monitor, rule, slice : str
        Where it belongs; the slice is empty for all queries.
    opened, closed : int and (int or None)
        Rounds; None while it is open.
    opened_time, closed_time : str and (str or None)
        UTC, ISO 8601.
    closing : str or None
        ``recovered``, or ``superseded`` where the alarm lost its meaning, as after a change of the
        judgments.
    record : mapping
        ``text``, ``kind``, ``value``, ``limit`` at the opening.

    Examples
    --------
    >>> times = {"opened_time": "2026-01-01T00:00:00Z", "closed_time": None}
    >>> StoredAlarm(
    ...     id="a",
    ...     monitor="m",
    ...     rule="floor",
    ...     slice="",
    ...     opened=3,
    ...     closed=None,
    ...     closing=None,
    ...     record={},
    ...     **times,
    ... ).is_open
    True
    """

    id: str
    monitor: str
    rule: str
    slice: str
    opened: int
    closed: int | None
    opened_time: str
    closed_time: str | None
    closing: str | None
    record: Mapping[str, Any]

    @property
    def is_open(self) -> bool:
        """True until a round closes the alarm."""
        return self.closed is None


@dataclass(frozen=True, kw_only=True)
class StoredNotice:
    """One message about an alarm, for one channel.

    Attributes
    ----------
    id : str
        Alarm, event and channel: the same at every attempt, so that a receiver can drop a repeated
        one.
    alarm, event, channel : str
        What it is about, and where it goes.
    content : mapping
        The message.
    attempts : int
        Attempts that failed.
    sent : str or None
        When the channel took it.
    problem : str
        Why the last attempt failed.

    Examples
    --------
    >>> StoredNotice(
    ...     id="a/opened/log",
    ...     alarm="a",
    ...     event="opened",
    ...     channel="log",
    ...     content={},
    ...     attempts=0,
    ...     sent=None,
    ...     problem="",
    ... ).event
    'opened'
    """

    id: str
    alarm: str
    event: str
    channel: str
    content: Mapping[str, Any]
    attempts: int
    sent: str | None
    problem: str


@dataclass(frozen=True, kw_only=True)
class AlarmChange:
    """Alarm that a round opens or closes."""

    id: str
    event: Event
    rule: str
    slice: str
    record: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class RoundStep:
    """Consequence of a round: the new state of a monitor, and its alarms."""

    state: Mapping[str, Any]  # What the alarms know from now on, as JSON has it
    record: Mapping[str, Any]  # Record of the round
    changes: Sequence[AlarmChange] = field(default=())  # Alarms that it opens and closes
    channels: Sequence[str] = field(default=())  # Where each change is told


class Monitoring:
    """Rounds, alarms and messages of one monitor; `Store.monitoring` returns it.

    Examples
    --------
    >>> import tempfile, idealrank as ir
    >>> with ir.Store.open(tempfile.mkdtemp()) as store:
    ...     shop = store.monitoring("shop")
    ...     number = shop.begin("2026-01-01T00:00:00Z")
    ...     change = AlarmChange(
    ...         id="shop/floor//1", event="opened", rule="floor", slice="", record={"text": "low"}
    ...     )
    ...     step = RoundStep(
    ...         state={"seen": 1}, record={"value": 0.4}, changes=[change], channels=["log"]
    ...     )
    ...     stored = shop.finish(
    ...         number, "2026-01-01T00:00:00Z", "complete", lambda state, number: step
    ...     )
    ...     (
    ...         [one.rule for one in shop.alarms(only_open=True)],
    ...         [one.id for one in shop.waiting()],
    ...         shop.state(),
    ...     )
    (['floor'], ['shop/floor//1/opened/log'], {'seen': 1})
    """

    @classmethod
    def of(cls, store: Store, name: str) -> "Monitoring":
        """Return the monitoring of a store under a name; there need be no round yet."""
        return cls(name, store.database, store.files)

    def __init__(self, name: str, database: Database, files: ValueFiles) -> None:
        self.name = name
        self._database = database
        self._files = files

    # --- reading ----------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return what the alarms know; empty before the first round."""
        return _state(self._database.rows("SELECT state FROM monitor WHERE name = ?", (self.name,)))

    def rounds(self, *, limit: int | None = None) -> list[StoredRound]:
        """Return the last rounds, oldest first."""
        rows = self._database.rows(
            f"SELECT {_ROUND_COLUMNS} FROM round WHERE monitor = ? ORDER BY number DESC LIMIT ?",  # noqa: S608  (no text of a user)
            (self.name, -1 if limit is None else limit),
        )
        return [self._round(row) for row in reversed(rows)]

    def last(self, *outcomes: Outcome) -> StoredRound | None:
        """Return the last round with one of these outcomes; None if there is none."""
        rows = self._database.rows(
            f"SELECT {_ROUND_COLUMNS} FROM round WHERE monitor = ? AND "  # noqa: S608  (no text of a user)
            "outcome IN (SELECT value FROM json_each(?)) ORDER BY number DESC LIMIT 1",
            (self.name, json.dumps(outcomes)),
        )
        return self._round(rows[0]) if rows else None

    def outcomes(self) -> dict[str, int]:
        """Return the number of rounds by outcome."""
        rows = self._database.rows(
            "SELECT outcome, count(*) FROM round WHERE monitor = ? GROUP BY outcome ORDER BY "
            "outcome",
            (self.name,),
        )
        return {str(outcome): int(number) for outcome, number in rows}

    def _round(self, row: Row) -> StoredRound:
        *cells, record = row
        fields = dict(zip(_ROUND_FIELDS, cells, strict=True))
        return StoredRound(monitor=self.name, **fields, record=json.loads(record))

    def alarms(self, *, only_open: bool = False, limit: int | None = None) -> list[StoredAlarm]:
        """Return the alarms, last opened first."""
        rows = self._database.rows(
            "SELECT id, rule, slice, opened, closed, opened_time, closed_time, closing, record "
            "FROM alarm WHERE monitor = ? AND (closed IS NULL OR NOT ?) ORDER BY opened DESC, id "
            "LIMIT ?",
            (self.name, only_open, -1 if limit is None else limit),
        )
        names = ("id", "rule", "slice", "opened", "closed", "opened_time", "closed_time", "closing")
        alarms = []
        for *cells, record in rows:
            fields = dict(zip(names, cells, strict=True))
            alarms.append(StoredAlarm(monitor=self.name, **fields, record=json.loads(record)))
        return alarms

    def waiting(self) -> list[StoredNotice]:
        """Return the messages that no channel took yet, oldest first."""
        return self._notices(alarm=None)

    def notices(self, alarm: str) -> list[StoredNotice]:
        """Return all messages about an alarm, oldest first."""
        return self._notices(alarm=alarm)

    def _notices(self, *, alarm: str | None) -> list[StoredNotice]:
        """Messages about an alarm, or all that wait."""
        rows = self._database.rows(
            "SELECT id, alarm, event, channel, attempts, sent, problem, content FROM notice WHERE "
            "monitor = ? AND (alarm = ? OR (? IS NULL AND sent IS NULL)) ORDER BY place, id",
            (self.name, alarm, alarm),
        )
        names = ("id", "alarm", "event", "channel", "attempts", "sent", "problem")
        notices = []
        for *cells, content in rows:
            fields = dict(zip(names, cells, strict=True))
            notices.append(StoredNotice(**fields, content=json.loads(content)))
        return notices

    # --- writing ----------------------------------------------------------------------------------

    def begin(self, time: str) -> int:
        """Note that a round starts, and return its number; rounds that still run in the store were
        interrupted.

        The caller sees to it that no other process runs a round of this monitor.
        """
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE round SET outcome = 'interrupted' WHERE monitor = ? AND outcome = "
                "'running'",
                (self.name,),
            )
            number = self._next()
            connection.execute(
                "INSERT INTO round (monitor, number, time, outcome, record) VALUES (?, ?, ?, "
                "'running', '{}')",
                (self.name, number, time),
            )
        return number

    def _next(self) -> int:
        ((number,),) = self._database.rows(
            "SELECT coalesce(max(number), 0) + 1 FROM round WHERE monitor = ?", (self.name,)
        )
        return int(number)

    def finish(
        self,
        number: int | None,
        time: str,
        outcome: Outcome,
        advance: Callable[[dict[str, Any], int], RoundStep],
        *,
        evaluation: Evaluation | None = None,
        record: Record | None = None,
    ) -> StoredRound:
        """Store a round and all that follows from it, in one transaction.

        Parameters
        ----------
        number : int or None
            From `begin`; None if that could not be stored, and a new number is given.
        time : str
            Start of the round.
        outcome : {"complete", "incomplete", "failed"}
            How it ended.
        advance : callable
            Takes the state and the number of the round, and returns the step. It may be called
            again if the transaction fails.
        evaluation : Evaluation, optional
            What the round measured.
        record : Record, optional
            As for `Store.add`.

        Raises
        ------
        InputError
            Nothing was stored: the disk is full, the store cannot be written, or the round was
            finished before.
        """
        adding = None
        if evaluation is not None:
            adding = evaluation_adding(evaluation, None, record or Record())
        files = [] if adding is None else list(adding.files.values())
        with (
            self._files.prepared(files) as prepared,
            self._database.writing() as connection,
        ):
            if adding is not None:
                while self._database.rows("SELECT 1 FROM entry WHERE id = ?", (adding.id,)):
                    adding = adding.renamed()
                prepared.place()
                adding.insert(connection)
            number = self._number_of(number)
            step = advance(self.state(), number)
            stored = StoredRound(
                monitor=self.name,
                number=number,
                time=time,
                outcome=outcome,
                evaluation=None if adding is None else adding.id,
                record=step.record,
            )
            self._insert(connection, stored, step)
            return stored

    def _number_of(self, number: int | None) -> int:
        if number is None:
            return self._next()
        rows = self._database.rows(
            "SELECT outcome FROM round WHERE monitor = ? AND number = ?", (self.name, number)
        )
        if any(outcome not in ("running", "interrupted") for (outcome,) in rows):
            raise InputError(
                f"{self._database.path}: round {number} of {self.name} was stored before, expected "
                "a running round"
            )
        return number

    def _insert(self, connection: Any, stored: StoredRound, step: RoundStep) -> None:
        connection.execute(
            "INSERT OR REPLACE INTO round (monitor, number, time, outcome, evaluation, record) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            _texts(
                self.name,
                stored.number,
                stored.time,
                stored.outcome,
                stored.evaluation,
                _json(stored.record),
            ),
        )
        connection.execute(
            "INSERT OR REPLACE INTO monitor (name, state) VALUES (?, ?)",
            _texts(self.name, _json(step.state)),
        )
        for change in step.changes:
            self._change(connection, change, stored)
            self._queue(connection, change, stored, step.channels)

    def _change(self, connection: Any, change: AlarmChange, stored: StoredRound) -> None:
        if change.event == "opened":
            connection.execute(
                "INSERT INTO alarm (id, monitor, rule, slice, opened, opened_time, record) VALUES "
                "(?, ?, ?, ?, ?, ?, ?)",
                _texts(
                    change.id,
                    self.name,
                    change.rule,
                    change.slice,
                    stored.number,
                    stored.time,
                    _json(change.record),
                ),
            )
            return
        connection.execute(
            "UPDATE alarm SET closed = ?, closed_time = ?, closing = ? WHERE id = ? AND closed IS "
            "NULL",
            _texts(stored.number, stored.time, change.event, change.id),
        )

    def _queue(
        self, connection: Any, change: AlarmChange, stored: StoredRound, channels: Sequence[str]
    ) -> None:
        """Queue the message about a change for each channel."""
        ((opened, opened_time),) = self._database.rows(
            "SELECT opened, opened_time FROM alarm WHERE id = ?", (change.id,)
        )
        content = {
            "alarm": change.id,
            "event": change.event,
            "monitor": self.name,
            "rule": change.rule,
            "slice": change.slice,
            "round": stored.number,
            "time": stored.time,
            "opened": opened,
            "opened_time": opened_time,
            **change.record,
        }
        ((place,),) = self._database.rows("SELECT coalesce(max(place), 0) + 1 FROM notice")
        for channel in channels:
            connection.execute(
                "INSERT INTO notice (id, place, monitor, alarm, event, channel, content) VALUES "
                "(?, ?, ?, ?, ?, ?, ?)",
                _texts(
                    f"{change.id}/{change.event}/{channel}",
                    int(place),
                    self.name,
                    change.id,
                    change.event,
                    channel,
                    _json(content),
                ),
            )

    def mark_sent(self, notice: str, time: str) -> None:
        """Note that a channel took a message."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE notice SET sent = ?, problem = '' WHERE id = ?", _texts(time, notice)
            )

    def mark_failed(self, notice: str, problem: str) -> None:
        """Note that a channel did not take a message, and why."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE notice SET attempts = attempts + 1, problem = ? WHERE id = ?",
                _texts(problem, notice),
            )


def _state(rows: Sequence[Row]) -> dict[str, Any]:
    if not rows:
        return {}
    ((state,),) = rows
    return dict(json.loads(state))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _texts(*values: Any) -> tuple[Any, ...]:
    return tuple(map(column_text, values))
