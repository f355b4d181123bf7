"""Results of `idealrank train`: models with what they were trained from, predictions as runs, an
evaluation, and learning curves.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from idealrank._features import offered
from idealrank._files import appearing, real_path, write_bytes
from idealrank.analysis.comparison import RunMean, intervals
from idealrank.conventions import Convention
from idealrank.data.types import FloatArray
from idealrank.errors import InputError, OptionError, shown
from idealrank.evaluation.evaluate import Evaluation
from idealrank.inputs.evaluation import evaluate
from idealrank.io.formats.feature_rows import FeatureRows, read_feature_rows
from idealrank.training.configuration import TrainingConfig
from idealrank.training.trainers import Curves, Tell, TrainedModel, train_model
from idealrank.training.training_checks import tied_scores
from idealrank.training.views.learning import learning_page


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainedSystem:
    """One trained model and its evaluation."""

    seed: int  # Of the model
    rounds: int  # Rounds of boosting that the model keeps
    curves: Curves  # Values of every round, by part of the data and measure
    evaluations: Mapping[str, Evaluation]  # By part of the data; ``test`` if there is one
    files: tuple[Path, ...]  # Files that were written
    cautions: tuple[str, ...] = ()  # Cautions about the scores
    # By text of a measure, the numbers to read the final mean with: see `_references`
    references: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def final(self) -> tuple[str, Evaluation]:
        """Part of the data that no training has seen, if there is one, and its evaluation."""
        part = next(name for name in ("test", "valid", "train") if name in self.evaluations)
        return part, self.evaluations[part]

    def intervals(self, level: float = 0.95) -> dict[str, RunMean]:
        """Interval of each mean of the final evaluation."""
        _, evaluation = self.final
        return intervals(evaluation, level=level)

    def record(self) -> dict[str, dict[str, Any]]:
        """By text of a measure its mean, its interval, the number of queries, and the numbers
        beside it.
        """
        record: dict[str, dict[str, Any]] = {}
        for text, mean in self.intervals().items():
            low, high = mean.interval
            record[text] = {
                "mean": mean.mean,
                "low": low,
                "high": high,
                "queries": mean.n,
                **self.references.get(text, {}),
            }
        return record


def read_parts(
    config: TrainingConfig, tell: Callable[[str], None] | None = None
) -> dict[str, FeatureRows]:
    """Read the files of a configuration, and split off queries for the parts without a file."""
    data = config.data

    columns = {
        name: where
        for name, where in (("propensity", data.propensity), ("position", data.position))
        if where is not None
    }

    def read(
        path: str, names: Sequence[str], beside: Mapping[str, str] | None = None
    ) -> FeatureRows:
        rows = read_feature_rows(
            path,
            label=data.label,
            qid=data.qid,
            features=names,
            beside=beside,
            no_features=tuple(columns.values()),
            tell=tell,
        )
        for name, value, usual in (
            ("features", data.features, ()),
            ("label", data.label, "label"),
            ("qid", data.qid, "qid"),
        ):
            if not rows.names and value != usual:
                shown_value = list(value) if name == "features" else value
                raise OptionError(
                    f"data.{name}: found {shown_value!r} for {path}, expected it for Parquet only; "
                    "leave it out, or use Parquet"
                )
        return rows

    parts = {"train": read(data.train, data.features, columns)}
    names = parts["train"].names  # by name, as columns of another file may have another order
    parts |= {
        name: read(path, names)
        for name, path in (("valid", data.valid), ("test", data.test))
        if path is not None
    }
    for name, rows in parts.items():
        if bool(rows.names) != bool(names):
            raise OptionError(
                f"data.{name}: found {rows.path} beside {data.train}, expected both in Parquet, or "
                "both in text"
            )
    parts = _split(parts, {"valid": data.valid_share, "test": data.test_share}, config.seeds[0])
    width = max(rows.features.shape[1] for rows in parts.values())
    return {name: rows.widened(width) for name, rows in parts.items()}


def _split(
    parts: dict[str, FeatureRows], shares: Mapping[str, float], seed: int
) -> dict[str, FeatureRows]:
    whole = parts["train"]
    n = len(whole.queries)
    order = np.random.default_rng(seed).permutation(n)
    n_taken = 0
    for name, share in shares.items():
        count = round(share * n)
        if share and not 0 < count < n - n_taken:
            raise InputError(
                f"data.{name}_share={share:g}: found {n} queries, expected at least one for {name} "
                "and one for training"
            )
        if count:
            keep = np.zeros(n, bool)
            keep[order[n_taken : n_taken + count]] = True
            parts[name] = whole.select(keep)
            n_taken += count
    if n_taken:
        keep = np.zeros(n, bool)
        keep[order[n_taken:]] = True
        parts["train"] = whole.select(keep)
    return parts


def require_folder(config: TrainingConfig) -> None:
    """Refuse an output folder that cannot be made, before hours of training instead of after them;
    nothing is written.
    """
    place = Path(config.output)
    try:
        while not _exists(place):
            place = place.parent
        if not place.is_dir():
            raise InputError(
                f"output: found {place}, which is no folder, expected the name of a new or an "
                f"existing folder"
            )
        if not os.access(place, os.W_OK | os.X_OK):
            raise InputError(
                f"output: found {place}, a folder without the right to write, expected one with it"
            )
    except OSError as error:
        raise InputError(
            f"output: {shown(config.output)}: cannot be created: {error.strerror or error}"
        ) from None
    except ValueError as error:  # a null character
        raise InputError(
            f"output: found {config.output!r} ({error}), expected the name of a folder"
        ) from None


def _exists(place: Path) -> bool:
    """Return whether a path exists; `Path.exists` takes a name that cannot be one for missing."""
    try:
        place.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def train(
    config: TrainingConfig, parts: Mapping[str, FeatureRows], tell: Tell | None = None
) -> Iterator[TrainedSystem]:
    """Train a model for each seed, and write its files."""
    _require_unopened(config, parts)
    trained = {name: parts[name] for name in ("train", "valid") if name in parts}
    for number, seed in enumerate(config.seeds):

        def told(done: int, total: int, note: str, number: int = number) -> None:
            if tell is not None:
                tell(number * total + done, len(config.seeds) * total, note)

        model = train_model(config, trained, seed, told)
        folder = Path(config.output)
        if len(config.seeds) > 1:
            folder /= f"seed-{seed}"
        yield _written(config, parts, model, seed, folder)


def _evaluated(
    config: TrainingConfig, rows: FeatureRows, scores: FloatArray, name: str
) -> Evaluation:
    chosen = config.evaluation
    return evaluate(
        rows.labels,
        scores,
        chosen.measures,
        chosen.convention,
        qid=np.array(rows.queries)[rows.codes],
        name=name,
    )


def _references(
    config: TrainingConfig, rows: FeatureRows, scores: FloatArray, evaluation: Evaluation
) -> dict[str, dict[str, Any]]:
    """Return by text of a measure the numbers to read its mean with.

    ``random_order`` is the mean of lists in random order, and ``own`` the mean under the library's
    own convention where that is another one.
    """
    chosen = config.evaluation
    queries = np.array(rows.queries)[rows.codes]
    # Rows that all tie: their expected value is that of a random order.
    tied = np.zeros(scores.size)
    expected = Convention.of(chosen.convention, ties="expected")
    chance = evaluate(rows.labels, tied, chosen.measures, expected, qid=queries)
    library = config.own_convention
    library_evaluation = None
    rules = Convention.of(chosen.convention).rules
    if library is not None and rules != Convention.of(library).rules:
        library_evaluation = evaluate(rows.labels, scores, chosen.measures, library, qid=queries)
    ids = list(evaluation.queries)
    relevant = set(queries[rows.labels > 0].tolist())
    without = np.array([query not in relevant for query in ids])
    numbers_of: dict[str, dict[str, Any]] = {}
    for column, measure in enumerate(evaluation.measures):
        text = str(measure)
        numbers: dict[str, Any] = {
            "random_order": chance.mean()[text],
            "no_relevant": int(without.sum()),
        }
        if library_evaluation is not None:
            library_mean = library_evaluation.mean()[text]
            numbers["own"] = {"convention": library, "mean": library_mean}
        if without.any() and not without.all():
            counted = evaluation.values[without, column]
            numbers["counted_as"] = None if np.isnan(counted).all() else float(np.nanmean(counted))
            numbers["mean_of_others"] = float(np.nanmean(evaluation.values[~without, column]))
            numbers["random_order_of_others"] = float(np.nanmean(chance.values[~without, column]))
        numbers_of[text] = numbers
    return numbers_of


def _require_unopened(config: TrainingConfig, parts: Mapping[str, FeatureRows]) -> None:
    """Refuse a test set that was opened before hours of training, not after them."""
    chosen = config.evaluation
    if chosen.test_store is None:
        return
    if "test" not in parts:
        raise OptionError(
            "evaluation.test_store: found no test set, expected data.test or data.test_share"
        )
    untrained = np.zeros(parts["test"].labels.size)
    offered("refuse an opened test set")(
        _evaluated(config, parts["test"], untrained, "test"), chosen.test_store, chosen.again
    )


def _written(
    config: TrainingConfig,
    parts: Mapping[str, FeatureRows],
    model: TrainedModel,
    seed: int,
    folder: Path,
) -> TrainedSystem:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be created: {error.strerror or error}") from None
    files = [folder / f"model{model.ending}"]
    _save(model, files[0])

    evaluations: dict[str, Evaluation] = {}
    scores_of: dict[str, FloatArray] = {}
    cautions = []
    for name, rows in parts.items():
        scores = np.asarray(model.predict(rows.features), np.float64)
        scores_of[name] = scores
        evaluations[name] = _evaluated(config, rows, scores, name)
        cautions.append(tied_scores(rows, scores, name))
        files += [
            _write(folder / f"{name}.run", _run_lines(rows, scores)),
            _write(folder / f"{name}.scores", _score_lines(rows, scores)),
        ]
    if config.evaluation.test_store is not None:
        opened = replace(evaluations["test"], name=str(folder))
        offered("keep an opened test set")(
            opened, config.evaluation.test_store, config.evaluation.again
        )

    system = TrainedSystem(
        seed=seed,
        rounds=model.rounds.best,
        curves=model.rounds.curves,
        evaluations=evaluations,
        files=(),
        cautions=tuple(filter(None, cautions)),
    )
    part, final = system.final
    system = replace(system, references=_references(config, parts[part], scores_of[part], final))

    curves = {"best_round": system.rounds, "curves": system.curves}
    files += [
        _write(folder / "config.json", [_json(config.to_dict())]),
        _write(folder / "evaluation.json", [_json(_report(config, system))]),
        _write(folder / "per-query.csv", _query_lines(system)),
        _write(folder / "curve.json", [_json(curves)]),
        _write(folder / "curve.html", [learning_page(system.curves, system.rounds)]),
    ]
    return replace(system, files=tuple(files))


def _save(model: TrainedModel, path: Path) -> None:
    try:
        with appearing(real_path(path)) as unfinished:
            model.save(unfinished)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None


def _write(path: Path, lines: "Iterator[str] | list[str]") -> Path:
    write_bytes((line.encode("utf-8", "surrogatepass") for line in lines), str(path))
    return path


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False, default=str) + "\n"


def _run_lines(rows: FeatureRows, scores: FloatArray) -> Iterator[str]:
    """A TREC run: rows of equal score in the order of the file."""
    for number, query in enumerate(rows.queries):
        begin = int(rows.offsets[number])
        end = int(rows.offsets[number + 1])
        for rank, place in enumerate(np.argsort(-scores[begin:end], kind="stable"), 1):
            row = begin + int(place)
            yield f"{query}\tQ0\t{rows.documents[row]}\t{rank}\t{float(scores[row])!r}\tidealrank\n"


def _score_lines(rows: FeatureRows, scores: FloatArray) -> Iterator[str]:
    """One score a line, in the order of the file; only parts that are whole files have as many
    lines as these.
    """
    for row in np.argsort(rows.places, kind="stable"):
        yield f"{float(scores[row])!r}\n"


def _query_lines(system: TrainedSystem) -> Iterator[str]:
    _, final = system.final
    texts = [str(measure) for measure in final.measures]
    yield ",".join(["part", "query", *(f'"{text}"' for text in texts)]) + "\n"
    for part, evaluation in system.evaluations.items():
        for query, values in zip(evaluation.queries, evaluation.values.tolist(), strict=True):
            quoted = '"' + query.replace('"', '""') + '"'
            yield ",".join([part, quoted, *map(repr, values)]) + "\n"


def convention_record(config: TrainingConfig) -> dict[str, Any]:
    """The convention of every number."""
    name = config.evaluation.convention
    return {"convention": name, "convention_fingerprint": Convention.of(name).fingerprint}


def _report(config: TrainingConfig, system: TrainedSystem) -> dict[str, Any]:
    part, _ = system.final
    record = system.record()
    means = {name: dict(evaluation.mean()) for name, evaluation in system.evaluations.items()}
    return {
        "seed": system.seed,
        "part": part,
        **convention_record(config),
        "level": 0.95,
        "measures": record,
        "means": means,
        "rounds": system.rounds,
        "cautions": list(system.cautions),
    }
