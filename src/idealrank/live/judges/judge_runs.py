"""Runs of judges: ask for every pair of a list, keep each answer, and write judgments that know
their assessor.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from idealrank._sections import Section
from idealrank.data.qrels import Qrels
from idealrank.errors import (
    BackendError,
    IdealrankError,
    InputError,
    OptionError,
    hiding,
    shown,
    warn,
)
from idealrank.inputs.evaluation import AnyTable, to_qrels
from idealrank.io.complaints import Tell as Note
from idealrank.io.configuration_files import read_configuration, require_files
from idealrank.io.judgment_files import (
    Label,
    origin_files,
    origin_of,
    refuse_same_files,
    refuse_to_replace_judgments,
    refuse_to_replace_table,
    write_judgments,
    write_labels,
)
from idealrank.io.judgment_layouts import check_ids
from idealrank.io.label_grades import parse_labels
from idealrank.judging import LabelTable, agreement
from idealrank.judging.files.judgment_pairs import JudgmentPair, read_pairs
from idealrank.judging.inputs import combined_grades
from idealrank.live.backends import without_secrets
from idealrank.live.backends.secrets import Secrets
from idealrank.live.judges.callers import FunctionJudge, judge_from
from idealrank.live.judges.judge_answers import Judge
from idealrank.live.judges.judge_configuration import JudgeConfig
from idealrank.live.judges.judge_requests import (
    JudgeAsking,
    JudgeCache,
    JudgeRecord,
    JudgeRequest,
    Tell,
    is_open,
    key_of,
)
from idealrank.live.search_runs import refuse_to_replace_inputs

_LETTERS = 4  # of English text in a token, about


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class JudgeRun:
    """Answers of one judge to all pairs of a list.

    Attributes
    ----------
    name : str
        Name of the assessor.
    kind : str
        ``model``, ``function`` or ``command``.
    labels : tuple of Label
        A row for each pair and repetition; failures have their message.
    grades : mapping of (str, str) to float
        Grade of each pair that got one, over all repetitions.
    provenance : mapping
        How the grades were made, as in the first line of the judgments.
    asked : int
        Requests that were not in the cache.
    path, table : str
        Files that were written; empty for none.
    people : Qrels or None
        Judgments of people to compare with.

    Examples
    --------
    >>> label = Label(query="q1", document="d1", grade=1.0, assessor="tiny", kind="model")
    >>> JudgeRun(
    ...     name="tiny",
    ...     kind="model",
    ...     labels=(
    ...         label,
    ...         Label(
    ...             query="q1",
    ...             document="d2",
    ...             grade=None,
    ...             assessor="tiny",
    ...             kind="model",
    ...             status="abstained",
    ...         ),
    ...     ),
    ...     grades={("q1", "d1"): 1.0},
    ...     provenance={},
    ... )
    JudgeRun('tiny': 1 of 2 pairs graded, 1 abstained)
    """

    name: str
    kind: str
    labels: tuple[Label, ...]
    grades: Mapping[tuple[str, str], float]
    provenance: Mapping[str, Any]
    asked: int = 0
    path: str = ""
    table: str = ""
    people: Qrels | None = None
    people_source: str = ""
    price: Any = None

    @property
    def qrels(self) -> Qrels:
        """Judgments of the judge.

        Raises
        ------
        InputError
            No pair has a grade.
        """
        grades: dict[str, dict[str, float]] = defaultdict(dict)
        for (query, document), grade in self.grades.items():
            grades[query][document] = grade
        if not grades:
            raise InputError(f"{self.name}: found no grade, expected at least one")
        return Qrels(grades, name=self.name)

    def __repr__(self) -> str:
        statuses = Counter(label.status for label in self.labels)
        counts = [
            f"{statuses[name]} {name}"
            for name in ("abstained", "unreadable", "failed")
            if statuses[name]
        ]
        graded = f"{self.name!r}: {len(self.grades)} of {self.n_pairs} pairs graded"
        return f"JudgeRun({', '.join([graded, *counts])})"

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return len({(label.query, label.document) for label in self.labels})

    @property
    def share_without(self) -> float:
        """Share of the pairs without a grade for another reason than an abstention."""
        abstained = {
            (label.query, label.document) for label in self.labels if label.status == "abstained"
        }
        return 1 - len(abstained | set(self.grades)) / max(1, self.n_pairs)

    @property
    def failures(self) -> dict[str, int]:
        """Number of requests by the message of their failure, the most frequent first."""
        without = (label for label in self.labels if label.status in {"failed", "unreadable"})
        return dict(Counter(label.note for label in without).most_common())

    @cached_property
    def _repeats(self) -> list[list[float]]:
        grades_of: dict[tuple[str, str], list[float]] = defaultdict(list)
        for label in self.labels:
            if label.grade is not None:
                grades_of[label.query, label.document].append(label.grade)
        return [grades for grades in grades_of.values() if len(grades) > 1]

    def agreement(self) -> dict[str, Any] | None:
        """Return how far the judge agrees with the people; None without pairs that both graded."""
        if self.people is None or not self.grades:
            return None
        table = LabelTable.of({"people": self.people, self.name: self.qrels})
        graded_twice = ~np.isnan(table.grades).any(axis=1)
        if not graded_twice.any():
            return None
        grades = table.grades[graded_twice]
        people_grades, judge_grades = grades.T
        queries = np.array(table.queries)[graded_twice]
        summary: dict[str, Any] = {
            "pairs": int(graded_twice.sum()),
            "equal": float((people_grades == judge_grades).mean()),
            "bias": float((judge_grades - people_grades).mean()),
        }
        if len(set(queries)) > 1:
            kappa = agreement(
                grades, "cohen_kappa", weights="linear", clusters=queries, interval=True
            )
            low, high = kappa.interval
            summary |= {"kappa": _number(kappa.value), "low": _number(low), "high": _number(high)}
        else:
            summary |= {
                "kappa": _number(agreement(grades, "cohen_kappa", weights="linear")),
                "low": None,
                "high": None,
            }
        return summary

    def to_dict(self) -> dict[str, Any]:
        """Return counts, cost and agreement as plain values."""
        statuses = Counter(label.status for label in self.labels)
        repeats = self._repeats
        share_same = None
        if repeats:
            share_same = sum(len(set(grades)) == 1 for grades in repeats) / len(repeats)
        n_by_grade = sorted(Counter(self.grades.values()).items())
        return {
            "judge": self.name,
            "kind": self.kind,
            "pairs": self.n_pairs,
            "graded": len(self.grades),
            "requests": len(self.labels),
            "asked": self.asked,
            "abstained": statuses["abstained"],
            "unreadable": statuses["unreadable"],
            "failed": statuses["failed"],
            "failures": self.failures,
            "input_tokens": sum(label.input_tokens or 0 for label in self.labels),
            "output_tokens": sum(label.output_tokens or 0 for label in self.labels),
            "cost": None if self.price is None else sum(label.cost or 0.0 for label in self.labels),
            "grades": {f"{grade:g}": n for grade, n in n_by_grade},
            "same_in_all_repeats": share_same,
            "people": self.agreement(),
            "qrels": self.path,
            "table": self.table,
        }


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


class RemainingRequests(NamedTuple):
    """Requests of a run, before it starts."""

    total: int
    unsent: int  # that the cache lacks
    tokens: int  # to read, about: letters by four


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgeWork:
    """Inputs of a run of a judge, read and checked."""

    config: JudgeConfig  # The configuration
    judge: Judge  # The judge
    pairs: list[JudgmentPair]  # Pairs, each with its texts
    people: Qrels | None  # Judgments of people
    people_source: str
    # output, cache: Files to write
    output: str
    cache: str
    secrets: Secrets  # What messages must not show

    @classmethod
    def of(
        cls,
        config: JudgeConfig,
        output: str | None = None,
        *,
        path: str | None = None,
        qrels: "AnyTable | None" = None,
        labels: str = "",
        option: str = "output",
        tell: "Note | None" = None,
    ) -> "JudgeWork":
        """Read the files of a configuration, and make its judge; `tell` gets notes about the files,
        which are warnings without it.
        """
        chosen = output or config.output
        if chosen is None:
            raise OptionError(
                f"{config.judge.path}: found no output, expected the name of the judgments",
                hint="pass output=, or set `output: FILE` in the configuration",
                command_hint="use -o QRELS, or set `output: FILE` in the configuration",
            )

        judged = config.qrels if qrels is None else qrels
        source = "" if judged is None else "people"
        if isinstance(judged, str | PathLike):
            source = fspath(judged)
        cache = config.cache or f"{chosen}.cache.jsonl"
        texts = [config.judge.given.get(key) for key in ("prompt", "system")]
        files = [config.pairs, config.queries, config.documents, source, *texts]
        inputs = [
            name
            for name in (path, *files)
            if isinstance(name, str) and name and Path(name).is_file()
        ]
        for written in (chosen, table_path(chosen)):
            refuse_to_replace_inputs({"judge": written}, inputs, option=option, work="judge")
        refuse_to_replace_inputs({"judge": cache}, inputs, option="cache", work="judge")
        refuse_same_files(
            {
                option: chosen,
                "the label table": table_path(chosen),
                "cache": cache,
                **{f"the origin of {chosen}": file for file in origin_files(chosen)},
            }
        )
        refuse_to_replace_judgments(chosen, ("model", "function", "command"), option=option)
        refuse_to_replace_table(table_path(chosen), option=option)

        pairs = read_pairs(config.pairs, config.queries, config.documents, tell=tell)
        check_ids(chosen, (pair.key for pair in pairs), where=config.pairs)
        grades = parse_labels(labels or config.labels)
        people = None if judged is None else to_qrels(judged, labels=grades)
        secrets = Secrets()
        try:
            with hiding(secrets.hide):
                judge = judge_from(config.judge, config.scale, config.policy.timeout, secrets)
        except IdealrankError as error:
            raise (without_secrets(error, secrets) if secrets else error) from None
        if uncached := getattr(judge, "uncached", ""):
            warn(
                f"{judge.name}: its answers are not kept for the next run, as {uncached}; set "
                "`version:`, and raise it at each change"
            )
        if judge.kind == "model":
            _refuse_without_text(config, pairs)
        return cls(
            config=config,
            judge=judge,
            pairs=pairs,
            people=people,
            people_source=source,
            output=chosen,
            cache=cache,
            secrets=secrets,
        )

    @property
    def requests(self) -> list[JudgeRequest]:
        """A request for each pair and repetition: all pairs once before any of them a second
        time.
        """
        identity, scale = self.judge.identity, self.config.scale
        return [
            JudgeRequest(pair, n, key_of(identity, scale, pair, n))
            for n in range(1, self.config.repeats + 1)
            for pair in self.pairs
        ]

    @property
    def _cache_path(self) -> str | None:
        """The file of answers; None for a judge whose answers must not be kept."""
        return None if getattr(self.judge, "uncached", "") else self.cache

    def remaining(self, *, retry_failed: bool = False) -> RemainingRequests:
        """Count the requests, and those that the cache lacks."""
        requests = self.requests
        if self._cache_path is not None and Path(self._cache_path).exists():
            with JudgeCache(self._cache_path, hide=self.secrets.hide) as cache:
                unsent = _open_requests(requests, cache, retry_failed=retry_failed)
        else:
            unsent = requests
        body = getattr(self.judge, "body", None)
        letters = 0
        if body is not None:
            for request in unsent:
                messages = body(request.pair, request.repeat)["messages"]
                letters += sum(len(message["content"]) for message in messages)
        return RemainingRequests(len(requests), len(unsent), letters // _LETTERS)

    def run(
        self, *, restart: bool = False, retry_failed: bool = False, tell: Tell | None = None
    ) -> JudgeRun:
        """Ask what the cache lacks, and write judgments and label table."""
        requests = self.requests
        stopped: BackendError | None = None
        try:
            with JudgeCache(self._cache_path, restart=restart, hide=self.secrets.hide) as cache:
                asking = JudgeAsking(
                    self.judge, self.config, cache, requests, tell=tell, hide=self.secrets.hide
                )
                try:
                    asking.ask(_open_requests(requests, cache, retry_failed=retry_failed))
                except BackendError as error:
                    stopped = error
                records = [cache.records.get(request.key) for request in requests]
        finally:
            self.judge.close()

        finished = self._finished(requests, records, asking.asked)
        people = _people_labels(self.people, self.people_source, self.pairs)
        write_labels(finished.table, [*finished.labels, *people])
        if stopped is not None:
            raise self._stopped(stopped, records)
        if finished.share_without > self.config.most_failed or not finished.grades:
            raise self._failed(finished, records)
        judgments = [
            (query, finished.name, document, grade)
            for (query, document), grade in finished.grades.items()
        ]
        write_judgments(finished.path, judgments, finished.provenance)
        return finished

    def _finished(
        self, requests: Sequence[JudgeRequest], records: Sequence[JudgeRecord | None], n_asked: int
    ) -> JudgeRun:
        price = self.config.price
        labels = [
            self._label(request, record) for request, record in zip(requests, records, strict=True)
        ]
        grades = self._aggregated(labels)
        return JudgeRun(
            name=self.judge.name,
            kind=self.judge.kind,
            labels=tuple(labels),
            grades=grades,
            provenance=self._provenance(labels, records),
            asked=n_asked,
            path=self.output,
            table=table_path(self.output),
            people=self.people,
            people_source=self.people_source,
            price=price,
        )

    def _label(self, request: JudgeRequest, record: JudgeRecord | None) -> Label:
        query, document = request.pair.key
        label = Label(
            query=query,
            document=document,
            grade=None,
            assessor=self.judge.name,
            kind=self.judge.kind,
            status="failed",
            repeat=request.repeat,
            note="not asked",
        )
        if record is None:
            return label
        label = replace(label, note=record.failure, seconds=record.seconds, time=record.time)
        if record.answer is None:
            return label
        answer, price = record.answer, self.config.price
        return replace(
            label,
            grade=answer.grade,
            status=answer.status,
            note=answer.unreadable,
            input_tokens=answer.input_tokens,
            output_tokens=answer.output_tokens,
            cost=None if price is None else price.of(answer.input_tokens, answer.output_tokens),
            probabilities=answer.probabilities,
        )

    def _aggregated(self, labels: Sequence[Label]) -> dict[tuple[str, str], float]:
        by_pair: dict[tuple[str, str], list[float]] = {pair.key: [] for pair in self.pairs}
        for label in labels:
            if label.grade is not None:
                by_pair[label.query, label.document].append(label.grade)
        graded = {pair: grades for pair, grades in by_pair.items() if grades}
        if not graded:
            return {}
        table = np.full((len(graded), self.config.repeats), np.nan)
        for row, grades in enumerate(graded.values()):
            table[row, : len(grades)] = grades
        values = combined_grades(table, self.config.aggregate)
        return dict(zip(graded, values.tolist(), strict=True))

    def _provenance(
        self, labels: Sequence[Label], records: Sequence[JudgeRecord | None]
    ) -> dict[str, Any]:
        config, judge = self.config, self.judge
        answers = [record.answer for record in records if record is not None]
        served = sorted({answer.model for answer in answers if answer is not None and answer.model})
        times = sorted(label.time for label in labels if label.time)
        prompt = config.judge.given.get("prompt")
        prompt_file = "plain" if prompt is None else Path(str(prompt)).name
        return {
            "kind": judge.kind,
            "assessors": [judge.name],
            **judge.identity,
            **({"prompt_file": prompt_file} if judge.kind == "model" else {}),
            **({"served_models": served} if served else {}),
            "scale": list(config.scale.grades),
            "outside": config.scale.outside,
            "choose": config.scale.choose,
            "repeats": config.repeats,
            "aggregate": config.aggregate,
            "pairs": len(self.pairs),
            "statuses": dict(Counter(label.status for label in labels)),
            "first": times[0] if times else "",
            "last": times[-1] if times else "",
        }

    def _stopped(
        self, stopped: BackendError, records: Sequence[JudgeRecord | None]
    ) -> BackendError:
        message, hint, _ = stopped.kept().parts
        n_failed = _failures_of_answers(records)
        more = ""
        if n_failed and self._cache_path is not None:
            more = f", and --retry-failed the {n_failed} whose own answers failed"
        return BackendError(self.secrets.hide(message), hint=self.secrets.hide(f"{hint}{more}"))

    def _asked_again(self, records: Sequence[JudgeRecord | None]) -> str:
        """Return the next step for requests without a grade."""
        if self._cache_path is None:
            return "the same command asks all requests again"
        n_failed = _failures_of_answers(records)
        n_not_taken = sum(record is not None and record.is_open for record in records)
        if n_failed and n_not_taken:
            return (
                f"the same command asks the {n_not_taken} that were not taken, and --retry-failed "
                f"the {n_failed} whose own answers failed"
            )
        return f"the same command{' with --retry-failed' if n_failed else ''} asks them again"

    def _failed(self, finished: JudgeRun, records: Sequence[JudgeRecord | None]) -> BackendError:
        """Return the error of a run with too few grades: why, and the next step."""
        without = round(finished.share_without * finished.n_pairs)
        abstentions = [label for label in finished.labels if label.status == "abstained"]
        abstained_pairs = {(label.query, label.document) for label in abstentions}
        abstained = len(abstained_pairs - set(finished.grades))
        reasons = [f"{n} x {shown(text)}" for text, n in list(finished.failures.items())[:3]]
        causes = [f"the judge abstained on {abstained}"] if abstained else []
        why = "; ".join([*causes, *reasons])
        expected = f"at most a share of {self.config.most_failed:g}"
        if not finished.grades:
            without += abstained
            expected = "at least one with a grade"
        message = (
            f"{finished.name}: found {without} of {finished.n_pairs} pairs without a grade ({why})"
        )
        hints = [f"see {finished.table}"]
        if abstained and not finished.grades:
            cause = "null is an abstention"
            if finished.kind == "function":
                cause = "a function without `return` abstains"
            hints.append(
                f"{cause}, so let the judge answer with a grade of {self.config.scale.text}"
            )
        has_unreadable = any(label.status == "unreadable" for label in finished.labels)
        if finished.kind == "model" and has_unreadable and not self.config.judge.has("pattern"):
            hints.append(
                r"`pattern` reads a grade that stands among words, as in pattern: 'grade is (\d)'"
            )
        if reasons:
            more = ", and `most_failed` allows more" if finished.grades else ""
            hints.append(f"{self._asked_again(records)}{more}")
        return BackendError(
            self.secrets.hide(f"{message}, expected {expected}, so no judgments were written"),
            hint="; ".join(hints),
        )


def _open_requests(
    requests: Sequence[JudgeRequest], cache: JudgeCache, *, retry_failed: bool
) -> list[JudgeRequest]:
    """Requests that are to be sent, given what the cache has of them."""
    return [
        request
        for request in requests
        if is_open(cache.records.get(request.key), retry_failed=retry_failed)
    ]


def _failures_of_answers(records: Sequence[JudgeRecord | None]) -> int:
    """Number of requests that the judge took and gave no grade for, which only --retry-failed asks
    again.
    """
    return sum(
        record is not None and not record.is_open and is_open(record, retry_failed=True)
        for record in records
    )


def _people_labels(people: Qrels | None, source: str, pairs: Sequence[JudgmentPair]) -> list[Label]:
    """Rows of the people's grades of the same pairs, under the people's name: the judgments of the
    judge never contain them.
    """
    if people is None:
        return []
    origin = origin_of(source) if source else None
    kind = "people"
    assessor = Path(source).name or "people"
    if origin:
        kind = str(origin.get("kind", "people"))
        assessor = ",".join(map(str, origin.get("assessors", ())))

    labels: list[Label] = []
    by_query: dict[str, Mapping[str, float]] = {}
    judged_queries = set(people.queries)
    for pair in pairs:
        query, document = pair.key
        if query in judged_queries and query not in by_query:
            by_query[query] = people[query]
        grade = by_query.get(query, {}).get(document)
        if grade is not None:
            labels.append(
                Label(
                    query=query, document=document, grade=float(grade), assessor=assessor, kind=kind
                )
            )
    return labels


def _refuse_without_text(config: JudgeConfig, pairs: Sequence[JudgmentPair]) -> None:
    lacking = [pair for pair in pairs if not pair.content.joined]
    if lacking:
        where = config.documents or config.pairs
        message = (
            f"{where}: found no text of {len(lacking)} of {len(pairs)} documents, such as "
            f"{shown(repr(lacking[0].document))}"
        )
        raise InputError(
            f"{message}, expected one for each pair",
            hint="name the file of their texts by `documents`",
        )


def table_path(path: str) -> str:
    """Return the file of the label table that belongs to judgments."""
    return f"{path}.labels.csv"


def judge(
    config: "str | PathLike[str] | Mapping[str, Any]",
    output: "str | PathLike[str] | None" = None,
    *,
    qrels: "AnyTable | None" = None,
    restart: bool = False,
    retry_failed: bool = False,
) -> JudgeRun:
    r"""Let a judge grade the pairs of a list, and write judgments that know their assessor.

    Answers are kept in a cache as they come: the same call continues a run that was stopped, and
    asks nothing twice.

    Parameters
    ----------
    config : path or mapping
        Configuration, as `idealrank judge run` takes it. In a mapping, ``judge: {"kind":
        "function", "function": ...}`` may hold the function itself.
    output : path, optional
        Judgments to write, in place of ``output`` of the configuration; the label table is written
        beside them.
    qrels : path, mapping, dataframe or Qrels, optional
        Judgments of people, to compare with; never mixed with the grades of the judge.
    restart : bool
        Drop the cache first.
    retry_failed : bool
        Ask again where a request failed, or its answer could not be read.

    Returns
    -------
    JudgeRun
        Grades, a row for each request, cost and agreement.

    Raises
    ------
    OptionError, InputError, MissingExtraError
        The configuration or a file does not fit.
    BackendError
        The judge answers no more, or too many pairs have no grade.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "pairs.csv").write_text(
    ...     "query,document,query_text,text\nq1,d1,list,a list\nq1,d2,list,a file\n"
    ... )
    >>> section = {
    ...     "kind": "function",
    ...     "function": lambda query, document: int(query in document),
    ...     "name": "contains",
    ... }
    >>> found = judge(
    ...     {"judge": section, "pairs": str(folder / "pairs.csv"), "scale": [0, 1]},
    ...     folder / "contains.qrels",
    ... )
    >>> found.qrels["q1"]
    {'d1': 1.0, 'd2': 0.0}
    """
    name = None if isinstance(config, Mapping) else fspath(config)
    mapping = config if name is None else read_configuration(name)
    section = Section(mapping, name or "configuration", "")
    chosen = JudgeConfig.of(mapping, section.path)
    require_files(JudgeConfig, section, but=() if qrels is None else ("qrels",))
    work = JudgeWork.of(chosen, None if output is None else fspath(output), path=name, qrels=qrels)
    try:
        return work.run(restart=restart, retry_failed=retry_failed)
    finally:
        _tell_changes(work.judge)


def _tell_changes(judge: Judge) -> None:
    """Warn of a function whose values changed while it judged: its answers are kept for one with
    the values of before.
    """
    if isinstance(judge, FunctionJudge) and (names := judge.changed()):
        message = (
            f"{judge.name}: {names} changed while it judged, so the next call in this process asks "
            "everything again"
        )
        warn(
            f"{message}; keep results by functools.cache, or name the function by its file, as in "
            "judge.py:grade"
        )
