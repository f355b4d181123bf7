"""Checks of the data of `idealrank train` before and after training: labels of every part, shared
queries, clicks, scores that are tied.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from idealrank.data.types import FloatArray
from idealrank.errors import InputError
from idealrank.io.formats.feature_rows import FeatureRows
from idealrank.measures.parse import parse_measures
from idealrank.training import TrainingProblem, check_training, refuse_problems
from idealrank.training.boosting import RoundMeasures
from idealrank.training.configuration import TrainingConfig
from idealrank.training.neural_configuration import FINITE, IN_FLOAT32
from idealrank.training.trainers import refuse_parameters, unused_parameters

_EXPECTED = {
    "propensity": "a probability above 0; clip it from below, such as at 0.05",
    "position": "a rank from 1, the top; take rows that users did not see out",
}


def check_parts(config: TrainingConfig, parts: Mapping[str, FeatureRows]) -> list[TrainingProblem]:
    """Warnings about the data and the configuration."""
    train = parts["train"]
    common = _limits(config)
    # here, not after an hour of reading and training
    RoundMeasures.of(config.evaluation.measures, config.evaluation.convention)
    _refuse_columns(train)
    for name, rows in parts.items():
        _refuse_labels(config, name, rows, common)
        _refuse_features(config, rows)
    problems = refuse_problems(
        check_training(
            train.labels,
            group=train.group,
            cutoff=_cutoff_that_matters(config),
            truncation=config.truncation,
            **common,
        )
    )
    for name in ("valid", "test"):
        if name in parts:
            _refuse_shared(train, parts[name], common)
    problems += [*_of_parts(parts), *_of_loss(config)]
    problems += _of_clicks(config, parts)
    refuse_parameters(config, train.features.shape[1])
    problems += [
        TrainingProblem(
            kind="parameter", severity="warning", parameter="model.params", message=message
        )
        for message in unused_parameters(config)
    ]
    if "test" not in parts:
        measured_part = "valid" if "valid" in parts else "train"
        message = (
            f"data.test: found no test set, so that the result is that of {measured_part}, which "
            f"training used; set data.test or test_share"
        )
        problems.append(
            TrainingProblem(
                kind="no-test", severity="warning", parameter="data.test", message=message
            )
        )
    return problems


def _refuse_shared(train: FeatureRows, other: FeatureRows, common: Mapping[str, Any]) -> None:
    """Refuse queries of training in another part, by their ids and by their rows."""
    if not (train.numbered and other.path != train.path):  # queries numbered in each file
        queries = np.array(train.queries)[train.codes]
        by_id = check_training(
            train.labels, qid=queries, held_out=np.array(other.queries), **common
        )
        refuse_problems([problem for problem in by_id if problem.kind == "shared-query"])
    by_rows = check_training(
        train.labels,
        group=train.group,
        features=train.features,
        held_out_rows=(other.labels, other.group, other.features),
        **common,
    )
    refuse_problems([problem for problem in by_rows if problem.kind == "shared-query"])


def tied_scores(rows: FeatureRows, scores: FloatArray, name: str) -> str:
    r"""A caution if most queries have one score for all their rows, so that the order of the file
    decides; else empty.
    """
    several = np.flatnonzero(rows.group > 1)
    if not several.size:
        return ""
    starts = rows.offsets[:-1]
    highest = np.maximum.reduceat(scores, starts)[several]
    lowest = np.minimum.reduceat(scores, starts)[several]
    tied = int((highest == lowest).sum())
    if 2 * tied <= several.size:
        return ""
    ties = f"one score for all rows of {tied} of {several.size} queries with several rows"
    return (
        f"data.{name}: found {ties}, so the file's order counts; train for more rounds, or add "
        f"features that differ within a query"
    )


def _limits(config: TrainingConfig) -> dict[str, Any]:
    """Options of `check_training` that depend on the objective."""
    params = config.model.params
    is_ours = config.objective or config.loss or not config.takes_grades
    custom_gain = (
        config.loss is not None
        or bool(params.get("label_gain"))
        or params.get("ndcg_exp_gain") is False
        or not config.takes_grades
    )
    return {
        "library": "idealrank" if is_ours else config.model.library,
        "custom_gain": custom_gain,
    }


def _refuse_labels(
    config: TrainingConfig, name: str, rows: FeatureRows, common: Mapping[str, Any]
) -> None:
    """Refuse labels of one part, with the place in its file."""
    problems = [
        problem
        for problem in check_training(rows.labels, group=rows.group, **common)
        if problem.row is not None
    ]
    highest = config.highest_label
    if highest is not None and rows.labels.max() > highest:
        row = int(rows.labels.argmax())
        expected = (
            f"expected at most {highest}, the last label with a gain in label_gain; add gains to "
            f"label_gain, or change the labels"
        )
        problems.append(
            TrainingProblem(
                kind="label-high",
                severity="error",
                parameter="label_gain",
                message=f"labels: found {rows.labels[row]:g} at row {row}, {expected}",
                row=row,
            )
        )
    if config.loss is not None and config.takes_grades and (rows.labels < 0).any():
        row = int((rows.labels < 0).argmax())
        message = (
            f"labels: found {rows.labels[row]:g} at row {row}, expected 0 or more for "
            f"{config.loss.loss}; shift the labels"
        )
        problems.append(
            TrainingProblem(
                kind="label-negative",
                severity="error",
                parameter="labels",
                message=message,
                row=row,
            )
        )
    for problem in problems:
        place = f" at row {rows.places[problem.row]} of {rows.path}"
        message = f"data.{name}, {problem.message}".replace(f" at row {problem.row}", place, 1)
        refuse_problems([replace(problem, message=message)])


def _refuse_features(config: TrainingConfig, rows: FeatureRows) -> None:
    """Refuse features that a network cannot take; the boosting libraries take missing values."""
    if config.network is None:
        return
    rows.require(np.isfinite(rows.features), FINITE)
    if config.network.transform == "none":
        with np.errstate(over="ignore"):
            rows.require(np.isfinite(rows.features.astype(np.float32)), IN_FLOAT32)


def _refuse_columns(rows: FeatureRows) -> None:
    for name, values in rows.beside.items():
        fits = np.isfinite(values) & (values > 0)
        if name == "position":
            fits &= values == np.floor(values)
        if not fits.all():
            row = int(np.flatnonzero(~fits)[0])
            raise InputError(
                f"data.{name}: found {values[row]:g} at row {rows.places[row]} of {rows.path}, "
                f"expected {_EXPECTED[name]}"
            )


def _of_loss(config: TrainingConfig) -> Iterator[TrainingProblem]:
    """A loss that ends above the ranks that the evaluation counts."""
    measured = _cutoff_that_matters(config)
    trained = None if config.loss is None else config.loss.cutoff
    if measured is not None and trained is not None and trained < measured:
        expected = (
            f"expected training at least as deep; set objective.cutoff={measured}, or evaluate at "
            f"{trained}"
        )
        message = f"objective.cutoff={trained}: found evaluation at {measured}, {expected}"
        yield TrainingProblem(
            kind="truncation", severity="warning", parameter="objective.cutoff", message=message
        )


def _of_clicks(
    config: TrainingConfig, parts: Mapping[str, FeatureRows]
) -> Iterator[TrainingProblem]:
    """Labels that are no clicks where clicks are debiased, and clicks that judge the model."""
    if not parts["train"].beside:
        return
    (key,) = parts["train"].beside
    labels = np.unique(parts["train"].labels)
    if not np.isin(labels, (0, 1)).all():
        listed = ", ".join(f"{label:g}" for label in labels[:5])
        message = (
            f"data.{key}: found labels {listed} in data.train, expected clicks, 0 or 1; only "
            f"clicks depend on the rank: leave {key} out"
        )
        yield TrainingProblem(
            kind="clicks", severity="warning", parameter=f"data.{key}", message=message
        )
    for name, share in (("valid", config.data.valid_share), ("test", config.data.test_share)):
        if share:
            message = (
                f"data.{name}_share: found clicks as labels, whose value favours the ranker of the "
                f"log; set data.{name} to judged rows"
            )
            yield TrainingProblem(
                kind="clicks", severity="warning", parameter=f"data.{name}", message=message
            )


def _of_parts(parts: Mapping[str, FeatureRows]) -> Iterator[TrainingProblem]:
    """Parts on which every model has the same value, and queries of early stopping in the test
    set.
    """
    for name, rows in parts.items():
        n = len(rows.queries)
        if name != "train" and not (rows.labels > 0).any():
            message = (
                f"data.{name}: found no label above 0 in any of {n} queries, expected some; all "
                f"models are equal: check labels"
            )
            yield TrainingProblem(
                kind="no-positive", severity="warning", parameter=f"data.{name}", message=message
            )
        if rows.labels.size > n and not _varies(rows):
            message = (
                f"data.{name}: found no feature that differs within a query, expected some; scores "
                "are tied, so the file's order counts"
            )
            yield TrainingProblem(
                kind="constant", severity="warning", parameter=f"data.{name}", message=message
            )
    if "valid" in parts and "test" in parts:
        valid = parts["valid"]
        test = parts["test"]
        common = set(valid.queries) & set(test.queries)
        if common and not (valid.numbered and valid.path != test.path):
            message = (
                f"data.test: found {len(common)} queries of data.valid ({min(common)}), expected "
                f"none; split by query"
            )
            yield TrainingProblem(
                kind="shared-query", severity="warning", parameter="data.test", message=message
            )


def _varies(rows: FeatureRows) -> bool:
    """True if a feature differs between two neighbours of one query."""
    neighbours = np.ones(rows.labels.size - 1, bool)  # a row and the next one, of one query
    ends = rows.offsets[1:-1] - 1
    neighbours[ends[(ends >= 0) & (ends < neighbours.size)]] = False
    for column in rows.features.T:
        upper = column[:-1]
        lower = column[1:]
        both_missing = np.isnan(upper) & np.isnan(lower)
        if ((upper != lower) & ~both_missing & neighbours).any():
            return True
    return False


def _cutoff_that_matters(config: TrainingConfig) -> int | None:
    """Cutoff of the measure that stops training, else the largest."""
    measures = parse_measures(config.evaluation.measures)
    stop = config.evaluation.stop_measure
    if stop is not None:
        cutoff = measures[config.evaluation.measures.index(stop)].cutoff
        if isinstance(cutoff, int):
            return int(cutoff)
    cutoffs = [measure.cutoff for measure in measures if isinstance(measure.cutoff, int)]
    return max(cutoffs, default=None)
