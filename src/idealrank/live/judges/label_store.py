"""Labels of people in SQLite: the next pair of each person, every answer as it was given, and the
judgments that follow from them.
"""

import json
import math
import sqlite3
import threading
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import numpy as np

from idealrank.errors import InputError, OptionError, shown
from idealrank.io.judgment_files import (
    Label,
    assessor_text,
    judgment_line,
    label_line,
    write_judgment_lines,
    write_label_lines,
)
from idealrank.io.judgment_layouts import table_ending
from idealrank.judging.files.judgment_pairs import JudgmentPair
from idealrank.judging.inputs import combined_grades
from idealrank.live.judges.judge_runs import table_path
from idealrank.live.judges.label_plan import LabelPlan
from idealrank.live.line_journal import lock_file
from idealrank.live.timing import wall_time

_VERSION = "1"  # of the tables
_LEASE = 900.0  # seconds that a pair stays with the rater who looks at it
_LONGEST_NAME = 80  # letters of a person's name
_LONGEST_NOTE = 4000  # letters of a note
_SLOW = 1.0  # seconds of writing files, above which not every answer writes them
_PAUSE = 2  # times those seconds until they are written again
_TABLES = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS pairs (
  id INTEGER PRIMARY KEY, query TEXT NOT NULL, document TEXT NOT NULL, UNIQUE (query, document));
CREATE TABLE IF NOT EXISTS raters (name TEXT PRIMARY KEY, joined TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS answers (
  id INTEGER PRIMARY KEY, pair INTEGER NOT NULL REFERENCES pairs (id), rater TEXT NOT NULL REFERENCES raters (name),
  status TEXT NOT NULL, grade REAL, note TEXT NOT NULL, seconds REAL, time TEXT NOT NULL, after_model INTEGER NOT NULL,
  nonce TEXT NOT NULL);
"""  # noqa: E501


@dataclass(frozen=True, kw_only=True, slots=True)
class RaterAnswer:
    """Answer of one person to one pair."""

    pair: int  # Number of the pair
    rater: str  # Name of the person
    status: str  # What was done
    grade: float | None  # The grade
    note: str  # Note of the person
    seconds: float | None  # Time that the pair was looked at
    time: str  # When, in ISO 8601 and UTC
    after_model: bool  # The grade of the model had been shown before


@dataclass(frozen=True, kw_only=True)
class RaterProgress:
    """Work of one person."""

    rater: str  # Name
    # graded, skipped, revised: Pairs graded and skipped, and grades that were changed
    graded: int
    skipped: int
    revised: int
    seconds: float | None  # Median time of a grade
    # gold_right, gold: Gold questions answered right, and answered; the first grade counts, since a
    # later one may follow a hint
    gold_right: int
    gold: int
    grades: Mapping[float, int]  # Number of each grade


class LabelStore:
    """Answers of people, in a file of SQLite that survives the end of the process at any point.

    Every answer is on the disk before the next pair is shown. One process uses the file at a time;
    its threads share it.
    """

    def __init__(self, path: str, plan: LabelPlan, output: str) -> None:
        self.path = path
        self.plan = plan
        self.output = output
        self._mutex = threading.RLock()
        self._leases: dict[tuple[int, str], float] = {}
        self._answers: dict[int, dict[str, RaterAnswer]] = {}
        # first grade of each person for a gold question, by pair and name
        self._first_gold: dict[tuple[int, str], float] = {}
        self._history: list[RaterAnswer] = []
        self._nonces: set[str] = set()
        # Lines of the files, each made once: by pair the judgment and the judgment of each person,
        # by place in the history the label.
        self._judgment_lines: dict[int, str] = {}
        self._rater_lines: dict[int, str] = {}
        self._label_lines: list[str] = []
        # place of the last answer in the history, by pair and person
        self._last_places: dict[tuple[int, str], int] = {}
        self._files_at = -math.inf
        self._files_took = 0.0
        self.unwritten = ""
        self._lock: IO[bytes] | None = None
        try:
            self._lock = Path(f"{path}.lock").open("ab")  # noqa: SIM115  (closed by `close`)
        except (OSError, ValueError) as error:
            raise InputError(
                f"{path}: cannot be written: {getattr(error, 'strerror', None) or error}"
            ) from None
        try:
            if not lock_file(self._lock.fileno()):
                raise OptionError(  # noqa: TRY301
                    f"{path}: found another process that uses these labels, expected one at a time"
                )
            self._open()
        except BaseException:
            self._lock.close()
            raise

    def _open(self) -> None:
        try:
            self._database = sqlite3.connect(
                self.path, isolation_level=None, check_same_thread=False
            )
            self._check_tables()
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = FULL")
            self._database.executescript(_TABLES)
            self._check_meta()
            self._numbers = self._listed()
            self._read()
        except sqlite3.Error as error:
            raise InputError(
                f"{self.path}: {error}; expected a file of labels that may be written"
            ) from None
        except BaseException:
            self._database.close()
            raise
        self.write_files()

    def _check_tables(self) -> None:
        """Refuse a database of something else, before anything in it is changed."""
        tables = {
            name
            for (name,) in self._database.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table'"
            )
        }
        if tables and not {"meta", "pairs", "raters", "answers"} <= tables:
            names = shown(", ".join(sorted(tables)))
            raise InputError(
                f"{self.path}: found a database with the tables {names}, expected a file of labels "
                "or another name"
            )

    def _check_meta(self) -> None:
        stored_meta = dict(self._database.execute("SELECT key, value FROM meta"))
        grades = json.dumps(list(self.plan.scale.grades))
        if stored_meta.get("version", _VERSION) != _VERSION:
            raise InputError(
                f"{self.path}: found labels of version {stored_meta['version']}, expected "
                f"{_VERSION}; update idealrank"
            )
        if stored_meta.get("grades", grades) != grades:
            stored = ", ".join(f"{grade:g}" for grade in json.loads(stored_meta["grades"]))
            hint = "use that scale, or another file for the labels"
            raise OptionError(
                f"{self.path}: found grades of the scale {stored}, expected {self.plan.scale.text}",
                hint=hint,
            )
        with self._database:
            self._database.execute("BEGIN IMMEDIATE")
            self._database.executemany(
                "INSERT OR IGNORE INTO meta VALUES (?, ?)",
                [("version", _VERSION), ("grades", grades)],
            )

    def _listed(self) -> dict[int, JudgmentPair]:
        """Number of each pair of the list, in the order in which they are labelled."""
        ordered = self.plan.ordered
        with self._database:
            self._database.execute("BEGIN IMMEDIATE")
            self._database.executemany(
                "INSERT OR IGNORE INTO pairs (query, document) VALUES (?, ?)",
                [pair.key for pair in ordered],
            )
        rows = self._database.execute("SELECT id, query, document FROM pairs").fetchall()
        self._keys = {number: (query, document) for number, query, document in rows}
        numbers = {key: number for number, key in self._keys.items()}
        return {numbers[pair.key]: pair for pair in ordered}

    def _read(self) -> None:
        names = ("pair", "rater", "status", "grade", "note", "seconds", "time", "after_model")
        columns = ", ".join(names)
        rows = self._database.execute(f"SELECT {columns}, nonce FROM answers ORDER BY id")  # noqa: S608  (no text of a user)
        for *cells, nonce in rows:
            answer = RaterAnswer(**dict(zip(names, cells, strict=True)))
            # SQLite has no booleans
            self._take(replace(answer, after_model=bool(answer.after_model)), nonce)

    def _take(self, answer: RaterAnswer, nonce: str) -> None:
        """Keep an answer in memory, with its lines of the files."""
        self._history.append(answer)
        self._answers.setdefault(answer.pair, {})[answer.rater] = answer
        if nonce:
            self._nonces.add(nonce)
        place = self._last_places.get((answer.pair, answer.rater))
        if place is not None:
            self._label_lines[place] = label_line(self._label(self._history[place]))
        self._last_places[answer.pair, answer.rater] = len(self._label_lines)
        self._label_lines.append(label_line(self._label(answer)))
        key = self._keys[answer.pair]
        if answer.grade is not None and key in self.plan.gold:
            self._first_gold.setdefault((answer.pair, answer.rater), answer.grade)
        grades = [
            (last.rater, last.grade)
            for last in self._answers[answer.pair].values()
            if last.grade is not None
        ]
        self._judgment_lines.pop(answer.pair, None)
        self._rater_lines.pop(answer.pair, None)
        if grades and key not in self.plan.gold:
            query, document = key
            names = "+".join(assessor_text(rater) for rater, _ in grades)
            median = float(combined_grades([[grade for _, grade in grades]])[0])
            self._judgment_lines[answer.pair] = judgment_line(
                query, names, document, median, path=self.output
            )
            self._rater_lines[answer.pair] = "".join(
                judgment_line(query, rater, document, grade, path=self.output)
                for rater, grade in grades
            )

    def join(self, name: str) -> None:
        """Let a person take part, anew or again."""
        if not name or len(name) > _LONGEST_NAME or not name.isprintable() or name != name.strip():
            raise OptionError(
                f"name: found {shown(repr(name))}, expected 1 to {_LONGEST_NAME} letters that can "
                "be seen"
            )
        others = (rater for rater in self.raters if rater != name)
        twin = next(
            (rater for rater in others if assessor_text(rater) == assessor_text(name)), None
        )
        if twin is not None:
            raise OptionError(
                f"name: found {shown(repr(name))}, expected another than {shown(repr(twin))}: "
                "judgments could not tell them apart"
            )
        with self._mutex, self._database:
            self._database.execute("BEGIN IMMEDIATE")
            self._database.execute("INSERT OR IGNORE INTO raters VALUES (?, ?)", (name, _now()))

    @property
    def raters(self) -> list[str]:
        """Names of the people, in the order in which they came."""
        with self._mutex:
            return [
                name for (name,) in self._database.execute("SELECT name FROM raters ORDER BY rowid")
            ]

    @property
    def n_pairs(self) -> int:
        """Number of pairs of the list."""
        return len(self._numbers)

    def pair(self, number: int) -> JudgmentPair | None:
        """Return a pair of the list by its number; None if the list lacks it."""
        return self._numbers.get(number)

    def answer_of(self, number: int, rater: str) -> RaterAnswer | None:
        """Return the last answer of a person to a pair."""
        return self._answers.get(number, {}).get(rater)

    def next_pair(self, rater: str, now: float | None = None) -> int | None:
        """Return the number of the next pair of a person, and keep it for them a while; None if
        nothing is left.

        A pair goes to as many people as the plan has for it.
        """
        now = wall_time() if now is None else now
        with self._mutex:
            self._leases = {lease: end for lease, end in self._leases.items() if end > now}
            leased = [
                number
                for number, name in self._leases
                if name == rater and self._is_open(number, rater)
            ]
            free = (number for number in self._numbers if self._is_open(number, rater))
            chosen = leased[0] if leased else next(free, None)
            for number in [number for number, name in self._leases if name == rater]:
                del self._leases[number, rater]
            if chosen is not None:
                self._leases[chosen, rater] = now + _LEASE
            return chosen

    def _is_open(self, number: int, rater: str, *, with_leases: bool = True) -> bool:
        pair = self._numbers.get(number)
        answers = self._answers.get(number, {})
        if pair is None or rater in answers:
            return False
        others = {name for name, answer in answers.items() if answer.status == "graded"}
        if with_leases:
            others |= {name for leased, name in self._leases if leased == number and name != rater}
        return len(others) < self.plan.n_raters(pair)

    def is_done(self, rater: str) -> bool:
        """Return whether nothing is left for a person, not even pairs that others look at."""
        with self._mutex:
            return not any(
                self._is_open(number, rater, with_leases=False) for number in self._numbers
            )

    def gold_grades(self) -> dict[tuple[int, str], float]:
        """Return the first grade of each person for each gold question of the list, by number and
        name.
        """
        with self._mutex:
            return {
                (number, rater): grade
                for (number, rater), grade in self._first_gold.items()
                if number in self._numbers
            }

    def answer(
        self,
        number: int,
        rater: str,
        grade: float | None,
        *,
        note: str = "",
        seconds: float | None = None,
        nonce: str = "",
    ) -> None:
        """Keep an answer, and write the judgments."""
        pair = self._numbers.get(number)
        if pair is None:
            raise OptionError(f"pair {number}: found no such pair, expected one of the list")
        if rater not in self.raters:
            raise OptionError(f"name: found {shown(repr(rater))}, expected a name that has joined")
        if grade is not None and grade not in self.plan.scale.words:
            raise OptionError(f"grade: found {grade:g}, expected one of {self.plan.scale.text}")
        if len(note) > _LONGEST_NOTE:
            raise OptionError(
                f"note: found {len(note):,} letters, expected at most {_LONGEST_NOTE:,}"
            )
        if seconds is not None and not 0 <= seconds < 86_400:
            seconds = None

        with self._mutex:
            if nonce and nonce in self._nonces:
                return
            before = self.answer_of(number, rater)
            status = "skipped" if grade is None else "graded"
            content = (status, grade, note)
            if before is not None and (before.status, before.grade, before.note) == content:
                return
            is_changed = before is not None and before.status == "graded" and before.grade != grade
            saw_model = is_changed and pair.key in self.plan.model
            answered = RaterAnswer(
                pair=number,
                rater=rater,
                status=status,
                grade=grade,
                note=note,
                seconds=seconds,
                time=_now(),
                after_model=saw_model or (before is not None and before.after_model),
            )
            self._insert(answered, nonce)
            self._take(answered, nonce)
            self._leases.pop((number, rater), None)
            n_graded, n_needed = self.counts()
            # No answer after the last one would write the files, so the last one always does.
            is_delayed = self._files_took > _SLOW and n_graded < n_needed
            pause = _PAUSE * self._files_took if is_delayed else 0.0
            if wall_time() - self._files_at >= pause:
                self._try_to_write()

    def _insert(self, answer: RaterAnswer, nonce: str) -> None:
        """Bring an answer to the disk."""
        with self._database:
            self._database.execute("BEGIN IMMEDIATE")
            self._database.execute(
                "INSERT INTO answers (pair, rater, status, grade, note, seconds, time, "
                "after_model, nonce) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    answer.pair,
                    answer.rater,
                    answer.status,
                    answer.grade,
                    answer.note,
                    answer.seconds,
                    answer.time,
                    int(answer.after_model),
                    nonce,
                ),
            )

    def _try_to_write(self) -> None:
        """Write the files; the answer is kept whether or not that goes well, so a failure is a
        message for all people.
        """
        try:
            self.write_files()
        except (InputError, OSError) as error:
            self.unwritten = str(error).replace(self.output, Path(self.output).name)

    def last_of(self, rater: str) -> RaterAnswer | None:
        """Return the last answer of a person."""
        with self._mutex:
            newest_first = (answer for answer in reversed(self._history) if answer.rater == rater)
            return next((answer for answer in newest_first if answer.pair in self._numbers), None)

    def skipped_by(self, rater: str) -> list[int]:
        """Return the numbers of the pairs that a person skipped."""
        with self._mutex:
            answers = ((number, self.answer_of(number, rater)) for number in self._numbers)
            return [
                number
                for number, answer in answers
                if answer is not None and answer.status == "skipped"
            ]

    def counts(self, rater: str = "") -> tuple[int, int]:
        """Return the answers that are there and those that are wanted in all; with a name, the
        pairs this person graded, and may grade.
        """
        with self._mutex:
            if rater:
                answered = sum(rater in self._answers.get(number, {}) for number in self._numbers)
                n_open = sum(self._is_open(number, rater) for number in self._numbers)
                return answered, answered + n_open
            done = 0
            total = 0
            for number, pair in self._numbers.items():
                if pair.key not in self.plan.gold:
                    answers = self._answers.get(number, {}).values()
                    graded = sum(answer.status == "graded" for answer in answers)
                    needed = self.plan.n_raters(pair)
                    done += min(graded, needed)
                    total += needed
            return done, total

    def table(self) -> tuple[list[int], list[str], "np.ndarray[Any, np.dtype[np.float64]]"]:
        """Return numbers of pairs, names of people, and grades of shape (pairs, people); NaN where
        a person gave none.
        """
        with self._mutex:
            with_answers = set[str]().union(*self._answers.values())
            raters = [name for name in self.raters if name in with_answers]
            numbers = [number for number, answers in self._answers.items() if _has_grade(answers)]
            grades = np.full((len(numbers), len(raters)), np.nan)
            for row, number in enumerate(numbers):
                for column, name in enumerate(raters):
                    answer = self._answers[number].get(name)
                    if answer is not None and answer.grade is not None:
                        grades[row, column] = answer.grade
            return numbers, raters, grades

    def key(self, number: int) -> tuple[str, str]:
        """Return ids of query and document."""
        return self._keys[number]

    def progress(self) -> list[RaterProgress]:
        """Return the work of each person."""
        with self._mutex:
            return [self._progress(name) for name in self.raters]

    def _progress(self, name: str) -> RaterProgress:
        last_answers = [answers[name] for answers in self._answers.values() if name in answers]
        graded = [answer for answer in last_answers if answer.grade is not None]
        times = sorted(answer.seconds for answer in graded if answer.seconds is not None)
        gold_pairs = [
            (grade, self.plan.gold[self._keys[number]])
            for (number, rater), grade in self._first_gold.items()
            if rater == name
        ]
        last_grades: dict[int, float] = {}
        revised = 0
        for answer in self._history:
            if answer.rater == name and answer.grade is not None:
                if last_grades.get(answer.pair, answer.grade) != answer.grade:
                    revised += 1
                last_grades[answer.pair] = answer.grade
        return RaterProgress(
            rater=name,
            graded=len(graded),
            skipped=sum(answer.status == "skipped" for answer in last_answers),
            revised=revised,
            seconds=times[len(times) // 2] if times else None,  # the upper of two medians
            gold_right=sum(grade == right for grade, right in gold_pairs),
            gold=len(gold_pairs),
            grades=dict(Counter(answer.grade for answer in graded if answer.grade is not None)),
        )

    def write_files(self) -> None:
        """Write the judgments, the judgments of each person, and the label table."""
        with self._mutex:
            started = wall_time()
            origin = self._provenance()
            write_judgment_lines(self.output, self._judgment_lines.values(), origin)
            write_judgment_lines(
                raters_path(self.output), self._rater_lines.values(), {**origin, "combine": "none"}
            )
            write_label_lines(
                table_path(self.output),
                [*self._label_lines, *map(label_line, self._model_labels())],
            )
            self._files_at = wall_time()
            self._files_took = wall_time() - started
            self.unwritten = ""

    def _provenance(self) -> dict[str, Any]:
        n_right: Counter[str] = Counter()
        n_answered: Counter[str] = Counter()
        for (number, rater), grade in self.gold_grades().items():
            n_answered[assessor_text(rater)] += 1
            if grade == self.plan.gold[self._keys[number]]:
                n_right[assessor_text(rater)] += 1
        return {
            "kind": "people",
            "assessors": list(
                dict.fromkeys(assessor_text(answer.rater) for answer in self._history)
            ),
            "scale": list(self.plan.scale.grades),
            "words": [word for word in self.plan.scale.words.values() if word],
            "pairs": len(self._numbers),
            "combine": "median",
            "double": self.plan.double,
            "gold": {name: [n_right[name], n] for name, n in n_answered.items()},
            "model_shown_after": self.plan.model_name if self.plan.model else "",
            "after_model": sum(
                answer.after_model and answer.grade is not None
                for answers in self._answers.values()
                for answer in answers.values()
            ),
            "first": self._history[0].time if self._history else "",
            "last": self._history[-1].time if self._history else "",
        }

    def _label(self, answer: RaterAnswer) -> Label:
        key = self._keys[answer.pair]
        status = answer.status
        if self._answers[answer.pair][answer.rater] is not answer:
            status = "revised"
        elif status == "graded" and key in self.plan.gold:
            status = "gold"
        elif status == "graded" and answer.after_model:
            status = "after-model"
        query, document = key
        return Label(
            query=query,
            document=document,
            grade=answer.grade,
            assessor=assessor_text(answer.rater),
            kind="people",
            status=status,
            repeat=1,
            note=answer.note,
            seconds=answer.seconds,
            time=answer.time,
        )

    def _model_labels(self) -> list[Label]:
        """Grades of the model for pairs that a person has graded; grades of other pairs would be
        known before the answer.
        """
        graded = (number for number, answers in self._answers.items() if _has_grade(answers))
        keys = {self._keys[number] for number in graded if number in self._numbers}
        name = assessor_text(self.plan.model_name)
        return [
            Label(query=query, document=document, grade=grade, assessor=name, kind="model")
            for (query, document), grade in self.plan.model.items()
            if (query, document) in keys
        ]

    def close(self) -> None:
        """Write the files, and close the database."""
        with self._mutex:
            try:
                self.write_files()
            finally:
                with suppress(sqlite3.Error):
                    self._database.close()
                if self._lock is not None:
                    self._lock.close()


def _has_grade(answers: Mapping[str, RaterAnswer]) -> bool:
    return any(answer.grade is not None for answer in answers.values())


def _now() -> str:
    return datetime.fromtimestamp(wall_time(), UTC).isoformat(timespec="milliseconds")


def raters_path(path: str) -> str:
    """Return the file with the grades of each person that belongs to judgments, in their layout."""
    return f"{path}.raters{table_ending(path)}"
