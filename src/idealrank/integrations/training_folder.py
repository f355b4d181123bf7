"""Results of `idealrank train`: models with what they were trained from, predictions as runs, an evaluation, and learning curves."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from idealrank._files import write_bytes
from idealrank.analysis.comparison import RunMean, intervals
from idealrank.api.evaluation import evaluate
from idealrank.api.held_out import keep_opened, require_unopened
from idealrank.data.types import FloatArray
from idealrank.errors import InputError, OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.integrations.trainers import Curves, Tell, TrainedModel, train_model, unused_parameters
from idealrank.io.formats.feature_rows import FeatureRows, read_feature_rows
from idealrank.reports.figures.learning import learning_page
from idealrank.training import TrainingProblem, check_training, refuse_problems
from idealrank.training.configuration import TrainingConfig


@dataclass(frozen=True, eq=False)
class TrainedSystem:
    """One trained model and its evaluation.

    Attributes
    ----------
    seed : int
        Of the model.
    rounds : int
        Rounds of boosting that the model keeps.
    curves : dict
        Values of every round, by part of the data and measure.
    evaluations : mapping of str to Evaluation
        By part of the data; ``test`` if there is one.
    files : tuple of Path
        Files that were written.

    Examples
    --------
    >>> TrainedSystem(0, 5, {}, {}, ()).rounds
    5
    """

    seed: int
    rounds: int
    curves: Curves
    evaluations: Mapping[str, Evaluation]
    files: tuple[Path, ...]

    @property
    def final(self) -> tuple[str, Evaluation]:
        """Part of the data that no training has seen, if there is one, and its evaluation."""
        part = next(name for name in ("test", "valid", "train") if name in self.evaluations)
        return part, self.evaluations[part]

    def intervals(self, level: float = 0.95) -> dict[str, RunMean]:
        """Interval of each mean of the final evaluation."""
        return intervals(self.final[1], level=level)

    def record(self) -> dict[str, dict[str, float]]:
        """By text of a measure its mean, its interval and the number of queries."""
        found = self.intervals().items()
        return {text: {"mean": one.mean, "low": one.interval[0], "high": one.interval[1], "queries": one.n} for text, one in found}


def read_parts(config: TrainingConfig, tell: Callable[[str], None] | None = None) -> dict[str, FeatureRows]:
    """Read the files of a configuration, and split off queries for the parts without a file.

    Raises
    ------
    InputError
        A file cannot be read, or a split leaves a part without a query.
    OptionError
        Columns are named for a file that is not Parquet.
    """
    data = config.data

    def read(path: str) -> FeatureRows:
        rows = read_feature_rows(path, label=data.label, qid=data.qid, features=data.features, tell=tell)
        for name, value, usual in (("features", data.features, ()), ("label", data.label, "label"), ("qid", data.qid, "qid")):
            if not rows.names and value != usual:
                found = list(value) if name == "features" else value
                raise OptionError(f"data.{name}: found {found!r} for {path}, expected it for Parquet only; leave it out, or use Parquet")
        return rows

    parts = {"train": read(data.train)}
    parts |= {name: read(path) for name, path in (("valid", data.valid), ("test", data.test)) if path is not None}
    parts = _split(parts, {"valid": data.valid_share, "test": data.test_share}, config.seeds[0])
    width = max(rows.features.shape[1] for rows in parts.values())
    return {name: rows.widened(width) for name, rows in parts.items()}


def _split(parts: dict[str, FeatureRows], shares: Mapping[str, float], seed: int) -> dict[str, FeatureRows]:
    whole = parts["train"]
    n = len(whole.queries)
    order = np.random.default_rng(seed).permutation(n)
    taken = 0
    for name, share in shares.items():
        count = round(share * n)
        if share and not 0 < count < n - taken:
            raise InputError(f"data.{name}_share={share:g}: found {n} queries, expected at least one for {name} and one for training")
        if count:
            keep = np.zeros(n, bool)
            keep[order[taken : taken + count]] = True
            parts[name] = whole.select(keep)
            taken += count
    if taken:
        keep = np.zeros(n, bool)
        keep[order[taken:]] = True
        parts["train"] = whole.select(keep)
    return parts


def check_parts(config: TrainingConfig, parts: Mapping[str, FeatureRows]) -> list[TrainingProblem]:
    """Warnings about the data and the configuration.

    Raises
    ------
    InputError
        The data cannot be used.
    """
    cutoffs = [measure.cutoff for measure in _measures(config) if isinstance(measure.cutoff, int)]
    train = parts["train"]
    common: dict[str, Any] = {
        "library": "idealrank" if config.objective or not config.takes_grades else config.model.library,
        "custom_gain": bool(
            config.model.params.get("label_gain") or config.model.params.get("ndcg_exp_gain") is False or not config.takes_grades
        ),
    }
    found = list(
        refuse_problems(
            check_training(
                train.labels, group=train.group, cutoff=_smallest_that_matters(config, cutoffs), truncation=config.truncation, **common
            )
        )
    )
    for name in ("valid", "test"):
        if name in parts:
            other = parts[name]
            if not (train.numbered and other.path != train.path):
                ids: dict[str, Any] = {"qid": np.array(train.queries)[train.codes], "held_out": np.array(other.queries)}
                refuse_problems([one for one in check_training(train.labels, **ids, **common) if one.kind == "shared-query"])
            rows = (other.labels, other.group, other.features)
            checked = check_training(train.labels, group=train.group, features=train.features, held_out_rows=rows, **common)
            refuse_problems([one for one in checked if one.kind == "shared-query"])
    found += _of_parts(parts)
    found += [TrainingProblem("parameter", "warning", "model.params", message) for message in unused_parameters(config)]
    if "test" not in parts:
        seen = "valid" if "valid" in parts else "train"
        message = f"data.test: found no test set, so that the result is that of {seen}, which training used; set data.test or test_share"
        found.append(TrainingProblem("no-test", "warning", "data.test", message))
    return found


def _of_parts(parts: Mapping[str, FeatureRows]) -> Iterator[TrainingProblem]:
    """Parts on which every model has the same value, and queries of early stopping in the test set."""
    for name, rows in parts.items():
        n = len(rows.queries)
        if name != "train" and not (rows.labels > 0).any():
            message = f"data.{name}: found no label above 0 in any of {n} queries, expected some; all models are equal: check labels"
            yield TrainingProblem("no-positive", "warning", f"data.{name}", message)
        if rows.labels.size > 1 and not any((column != column[0]).any() for column in rows.features.T):
            message = f"data.{name}: found no feature with two values, expected some; scores are equal, so the file's order counts"
            yield TrainingProblem("constant", "warning", f"data.{name}", message)
    if "valid" in parts and "test" in parts:
        valid, test = parts["valid"], parts["test"]
        common = set(valid.queries) & set(test.queries)
        if common and not (valid.numbered and valid.path != test.path):
            message = f"data.test: found {len(common)} queries of data.valid ({min(common)}), expected none; split by query"
            yield TrainingProblem("shared-query", "warning", "data.test", message)


def _measures(config: TrainingConfig) -> tuple[Any, ...]:
    from idealrank.measures.parse import parse_measures  # noqa: PLC0415  (texts of options become values)

    return tuple(parse_measures(config.evaluation.measures))


def _smallest_that_matters(config: TrainingConfig, cutoffs: list[int]) -> int | None:
    """Cutoff of the measure that stops training, else the largest."""
    texts = config.evaluation.measures
    stop = config.evaluation.stop_measure
    if stop is not None and isinstance(cutoff := _measures(config)[texts.index(stop)].cutoff, int):
        return int(cutoff)
    return max(cutoffs, default=None)


def train(config: TrainingConfig, parts: Mapping[str, FeatureRows], tell: Tell | None = None) -> Iterator[TrainedSystem]:
    """Train a model for each seed, and write its files.

    ``model``, ``config.json``, ``PART.run`` and ``PART.scores`` for each part, ``evaluation.json``, ``per-query.csv``, ``curve.json`` and
    ``curve.html`` appear in the folder `TrainingConfig.output`, or in a folder of it for each of several seeds.

    Parameters
    ----------
    config : TrainingConfig
        What to train.
    parts : mapping
        As `read_parts` gives them.
    tell : callable, optional
        Told rounds done and rounds in all.

    Raises
    ------
    InputError
        The library refuses the data, a file cannot be written, or the test set was opened before.
    """
    _require_unopened(config, parts)
    trained = {"train": parts["train"]} | ({"valid": parts["valid"]} if "valid" in parts else {})
    for number, seed in enumerate(config.seeds):

        def told(done: int, total: int, number: int = number) -> None:
            if tell is not None:
                tell(number * total + done, len(config.seeds) * total)

        model = train_model(config, trained, seed, told)
        folder = Path(config.output) if len(config.seeds) == 1 else Path(config.output, f"seed-{seed}")
        yield _written(config, parts, model, seed, folder)


def _evaluated(config: TrainingConfig, rows: FeatureRows, scores: FloatArray, name: str) -> Evaluation:
    chosen = config.evaluation
    return evaluate(rows.labels, scores, chosen.measures, chosen.convention, qid=np.array(rows.queries)[rows.codes], name=name)


def _require_unopened(config: TrainingConfig, parts: Mapping[str, FeatureRows]) -> None:
    """Before hours of training, not after them."""
    chosen = config.evaluation
    if chosen.test_store is None:
        return
    if "test" not in parts:
        raise OptionError("evaluation.test_store: found no test set, expected data.test or data.test_share")
    untrained = np.zeros(parts["test"].labels.size)
    require_unopened(_evaluated(config, parts["test"], untrained, "test"), chosen.test_store, chosen.again)


def _written(config: TrainingConfig, parts: Mapping[str, FeatureRows], model: TrainedModel, seed: int, folder: Path) -> TrainedSystem:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be created: {error.strerror or error}") from None
    files = [folder / f"model{model.ending}"]
    model.save(files[0])
    evaluations = {}
    for name, rows in parts.items():
        scores = np.asarray(model.predict(rows.features), np.float64)
        evaluations[name] = _evaluated(config, rows, scores, name)
        files += [_write(folder / f"{name}.run", _run_lines(rows, scores)), _write(folder / f"{name}.scores", _score_lines(rows, scores))]
    if config.evaluation.test_store is not None:
        named = replace(evaluations["test"], name=str(folder))
        keep_opened(named, config.evaluation.test_store, config.evaluation.again)
    system = TrainedSystem(seed, model.rounds.best, model.rounds.curves, evaluations, ())
    files += [
        _write(folder / "config.json", [_json(config.to_dict() | {"seed": seed})]),
        _write(folder / "evaluation.json", [_json(_report(config, system))]),
        _write(folder / "per-query.csv", _query_lines(system)),
        _write(folder / "curve.json", [_json({"best_round": system.rounds, "curves": system.curves})]),
    ]
    files.append(_write(folder / "curve.html", [learning_page(system.curves, system.rounds)]))
    return TrainedSystem(seed, system.rounds, system.curves, evaluations, tuple(files))


def _write(path: Path, lines: "Iterator[str] | list[str]") -> Path:
    write_bytes((line.encode("utf-8", "surrogatepass") for line in lines), str(path))
    return path


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False, default=str) + "\n"


def _run_lines(rows: FeatureRows, scores: FloatArray) -> Iterator[str]:
    """A TREC run: rows of equal score in the order of the file."""
    for number, query in enumerate(rows.queries):
        begin, end = int(rows.offsets[number]), int(rows.offsets[number + 1])
        for rank, place in enumerate(np.argsort(-scores[begin:end], kind="stable"), 1):
            row = begin + int(place)
            yield f"{query}\tQ0\t{rows.documents[row]}\t{rank}\t{float(scores[row])!r}\tidealrank\n"


def _score_lines(rows: FeatureRows, scores: FloatArray) -> Iterator[str]:
    """One score a line, in the order of the file; only parts that are whole files have as many lines as these."""
    for row in np.argsort(rows.places, kind="stable"):
        yield f"{float(scores[row])!r}\n"


def _query_lines(system: TrainedSystem) -> Iterator[str]:
    texts = [str(measure) for measure in system.final[1].measures]
    yield ",".join(["part", "query", *(f'"{text}"' for text in texts)]) + "\n"
    for part, evaluation in system.evaluations.items():
        for query, values in zip(evaluation.queries, evaluation.values.tolist(), strict=True):
            yield ",".join([part, '"' + query.replace('"', '""') + '"', *map(repr, values)]) + "\n"


def _report(config: TrainingConfig, system: TrainedSystem) -> dict[str, Any]:
    part, _ = system.final
    found = system.record()
    means = {name: dict(evaluation.mean()) for name, evaluation in system.evaluations.items()}
    return {
        "part": part,
        "convention": config.evaluation.convention,
        "convention_fingerprint": system.final[1].convention.fingerprint,
        "level": 0.95,
        "measures": found,
        "means": means,
        "rounds": system.rounds,
    }
