"""One training with LightGBM, XGBoost, CatBoost or PyTorch: measures of every round, early stopping
on one of them, predictions.
"""

import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from idealrank._lazy import load_extra
from idealrank.data.types import FloatArray
from idealrank.errors import IdealrankError, InputError, OptionError, near_ids, shown
from idealrank.io.formats.feature_rows import FeatureRows
from idealrank.training import catboost, lightgbm, xgboost
from idealrank.training.boosting import RoundMeasures
from idealrank.training.configuration import STOPPING_NAMES, TrainingConfig

_LONGEST = 400  # characters of a library's message, which may repeat a value
_FEW = 40  # rows on which parameters are tried
_NAMES = {"lightgbm": "LightGBM", "xgboost": "XGBoost", "catboost": "CatBoost", "torch": "PyTorch"}
# Where in its source a library found the mistake: LightGBM, CatBoost, and XGBoost with the time.
_FILE = r"\S+\.(?:cpp|cc|cu|cuh|h|hpp|inl)"
_SOURCE = re.compile(rf"^(?:\[[\d:]+\] )?{_FILE}:\d+: |\s+at {_FILE}, line \d+\s*\.?")
# of LightGBM: one parameter against a limit
_CHECK = re.compile(r"Check failed: \((\w+)\) ([<>]=?) \((-?[\d.]+?)(?:\.0)?f?\)")
Tell = Callable[[int, int, str], None]
Curves = dict[str, dict[str, list[float]]]


@dataclass(kw_only=True, eq=False)
class Rounds:
    """Values of every round, by part of the data and measure, and when to stop."""

    measures: RoundMeasures  # What is measured
    parts: Mapping[str, FeatureRows]  # Parts of the data that are measured in every round
    # Stop if the value of `stop_measure` on ``valid`` has not improved for so many rounds
    stop_after: int | None = None
    stop_measure: str | None = None  # Text of a measure
    curves: Curves = field(default_factory=dict)  # Values, by part and measure

    def add(self, part: str, scores: Any) -> list[tuple[str, float, bool]]:
        """Measure the scores of a part, and keep the values."""
        rows = self.parts[part]
        values = self.measures.values(rows.labels, scores, rows.group)
        for text, value, _ in values:
            self.curves.setdefault(part, {}).setdefault(text, []).append(value)
        return values

    @property
    def note(self) -> str:
        """The last value of the measure that stops training, or of the first one, with its part of
        the data; empty before all rounds.
        """
        part = "valid" if "valid" in self.curves else "train"
        text = self.stop_measure or str(self.measures.measures[0])
        values = self.curves.get(part, {}).get(text)
        return f"{part} {text} {values[-1]:.4f}" if values else ""

    @property
    def best(self) -> int:
        """Round to keep, from 1: the first with the best value if training stops early, else the
        last.
        """
        values = self._stopping
        if values is None:
            curves = chain.from_iterable(by_measure.values() for by_measure in self.curves.values())
            return max(map(len, curves), default=0)
        is_rising = next(
            measure.direction > 0
            for measure in self.measures.measures
            if str(measure) == self.stop_measure
        )
        return int(np.argmax(values) if is_rising else np.argmin(values)) + 1

    @property
    def is_over(self) -> bool:
        """True if training should stop now."""
        values = self._stopping
        return (
            values is not None
            and self.stop_after is not None
            and len(values) - self.best >= self.stop_after
        )

    @property
    def _stopping(self) -> list[float] | None:
        if self.stop_measure is None:
            return None
        return self.curves.get("valid", {}).get(self.stop_measure)


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainedModel:
    """A model that is trained, whatever the library."""

    predict: Callable[[FloatArray], FloatArray]  # Scores of features, shape (n,)
    save: Callable[[Path], Any]  # Writes the model to a path
    ending: str  # Ending of the model's file
    rounds: Rounds  # Values of every round


def train_model(
    config: TrainingConfig, parts: Mapping[str, FeatureRows], seed: int, tell: Tell
) -> TrainedModel:
    """Train one model."""
    evaluation = config.evaluation
    measures = RoundMeasures.of(evaluation.measures, evaluation.convention)
    if evaluation.stop_after and "valid" not in parts:
        raise OptionError(
            "evaluation.early_stopping: found no validation set, expected data.valid or "
            "data.valid_share"
        )
    rounds = Rounds(
        measures=measures,
        parts=parts,
        stop_after=evaluation.stop_after,
        stop_measure=evaluation.stop_measure,
    )
    trainers = {"lightgbm": _lightgbm, "xgboost": _xgboost, "catboost": _catboost, "torch": _torch}
    train = trainers[config.model.library]
    with redirect_stdout(sys.stderr):  # a library that is asked to talk prints into the report
        return train(config, rounds, seed, tell)


def unused_parameters(config: TrainingConfig) -> list[str]:
    """Parameters that the library does not know, and would ignore in silence; CatBoost refuses them
    itself.
    """
    params = config.model.params
    name = _NAMES[config.model.library]
    usual = [
        "max_depth",
        "learning_rate",
        "min_child_weight",
        "max_leaves",
        "subsample",
        "colsample_bytree",
        "reg_alpha",
        "reg_lambda",
    ]
    unused: list[str] = []
    if config.model.library == "lightgbm":
        library = load_extra("lightgbm", "training with LightGBM", "lightgbm")
        # the list has no public name
        aliases = library.basic._ConfigAliases._get_all_param_aliases()
        spellings = {*aliases, *chain.from_iterable(aliases.values())}
        unused = [param for param in params if param not in spellings]
        usual = [*aliases]
    elif config.model.library == "xgboost":
        unused = _unused_of_xgboost(params)
    else:
        load_extra(
            config.model.library,
            f"training with {_NAMES[config.model.library]}",
            config.model.library,
        )
    messages = []
    for param in unused:
        near = near_ids(param, usual, 1)
        hint = f"did you mean {near[0]}?" if near else "leave it out"
        messages.append(f"model.params: found {param!r}, which {name} does not know; {hint}")
    return messages


def refuse_parameters(config: TrainingConfig, n_features: int) -> None:
    """Refuse values that LightGBM refuses, before training; the other libraries tell at their first
    round.
    """
    params = config.model.params
    if config.model.library != "lightgbm" or any(
        name in params for name in ("machines", "num_machines", "machine_list_filename")
    ):
        return
    library = _of_this_thread(load_extra("lightgbm", "training with LightGBM", "lightgbm"))
    aliases = library.basic._ConfigAliases
    rows = np.tile(np.arange(_FEW, dtype=np.float64)[:, None], n_features)
    no_objective = {} if config.objective is None else {"objective": "none"}
    with _refusals("LightGBM", library.basic.LightGBMError), _quiet(), redirect_stdout(sys.stderr):
        few = library.Dataset(rows, np.arange(_FEW) % 2, group=[_FEW], params={"verbose": -1})
        try:
            tried_params = {
                "objective": "lambdarank",
                **{name: value for name, value in params.items() if name != "verbosity"},
                **no_objective,
                "verbose": -1,
                "metric": "None",
            }
            library.Booster(tried_params, few)
        except library.basic.LightGBMError as error:
            # any text where it reads a number
            token = re.match(r"Unknown token (.*) in data file", str(error))
            unread = token[1].lower() if token else None
            texts = {name: str(value).lower() for name, value in params.items()}
            wrong = next((name for name, text in texts.items() if text == unread), None)
            if wrong is not None:
                raise InputError(
                    f"model.params.{wrong}: found {shown(repr(params[wrong]))}, expected a number "
                    "for LightGBM"
                ) from None
            failed = _CHECK.match(str(error))
            if failed is None:
                raise
            name, sign, limit = failed.groups()
            spellings = {name, *aliases.get(name)}
            spelling = next((param for param in params if param in spellings), name)
            raise InputError(
                f"model.params.{spelling}: found {params.get(spelling)}, expected {name} {sign} "
                f"{limit} for LightGBM"
            ) from None


def _of_this_thread(library: Any) -> Any:
    """LightGBM, whose messages go through Python only in the thread that loaded it, else straight
    to the standard output.
    """
    compiled = library.basic._LIB
    if hasattr(compiled, "callback"):
        compiled.LGBM_RegisterLogCallback(compiled.callback)
    return library


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the standard error of the process, for a moment."""
    try:
        standard_error = os.dup(2)
    except OSError:  # it is closed
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(standard_error, 2)
        os.close(standard_error)
        os.close(nowhere)


def _unused_of_xgboost(params: Mapping[str, Any]) -> list[str]:
    """XGBoost tells in a warning of its first round, here on two rows."""
    library = load_extra("xgboost", "training with XGBoost", "xgboost")
    compiled = library.core._LIB
    # it warns only in the thread that imported it, and this may be another
    if hasattr(compiled, "callback"):
        compiled.XGBRegisterLogCallback(compiled.callback)
    matrix = library.DMatrix(np.array([[0.0], [1.0]]), [0, 1], group=[2])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            library.train({"objective": "rank:ndcg", **params, "verbosity": 1}, matrix, 1)
        except (library.core.XGBoostError, ValueError, TypeError):  # training tells, with its data
            return []
    unused: list[str] = []
    for warning in caught:
        text = str(warning.message)
        if "are not used" in text:
            unused += [param for param in re.findall(r'"([^"]+)"', text) if param in params]
    return unused


@contextmanager
def _refusals(library: str, error_class: type[Exception]) -> Iterator[None]:
    """Turn errors of the library about parameters and data into errors of input; errors of our own
    code stay faults.
    """
    try:
        yield
    except IdealrankError:
        raise
    except (error_class, TypeError, ValueError, OverflowError) as error:
        # The innermost frame tells where the error arose: in our code it is a fault of ours.
        innermost = error.__traceback__
        while innermost is not None and innermost.tb_next is not None:
            innermost = innermost.tb_next
        if (
            not isinstance(error, error_class)
            and innermost is not None
            and str(innermost.tb_frame.f_globals.get("__name__")).startswith("idealrank")
        ):
            raise
        first_line = next(iter(str(error).splitlines()), "")
        message = _SOURCE.sub("", first_line).strip() or type(error).__name__
        if len(message) > _LONGEST:
            message = f"{message[:_LONGEST]} ..."
        raise InputError(
            f"{library}: {message}; expected parameters and data that {library} takes: change "
            f"model.params or data"
        ) from None


def _refuse_infinite(parts: Mapping[str, FeatureRows]) -> None:
    """XGBoost takes NaN for a missing value, and refuses infinity without its place."""
    for rows in parts.values():
        places = np.argwhere(np.isinf(rows.features))
        if places.size:
            row, column = map(int, places[0])
            feature = rows.names[column] if rows.names else column
            place = f"{rows.path}: feature {feature} of row {int(rows.places[row])}"
            raise InputError(
                f"{place}: found {rows.features[row, column]}, expected a finite number for "
                f"XGBoost; correct or clip it"
            )


def _click_options(config: TrainingConfig, train: FeatureRows) -> dict[str, Any]:
    """Options of an objective for clicks as labels."""
    if "propensity" in train.beside:
        return {"propensity": train.beside["propensity"]}
    if config.bias is None:
        return {}
    return {
        "positions": train.beside["position"],
        "regularisation": config.bias.regularisation,
        "bias": config.bias.bias,
    }


def _lightgbm(config: TrainingConfig, rounds: Rounds, seed: int, tell: Tell) -> TrainedModel:
    library = _of_this_thread(load_extra("lightgbm", "training with LightGBM", "lightgbm"))
    quiet = {} if "verbosity" in config.model.params else {"verbose": -1}
    params = {
        "objective": "lambdarank",
        "seed": seed,
        **quiet,
        **config.model.params,
        "metric": "None",
    }
    for name in STOPPING_NAMES:
        params.pop(name, None)  # ours stops on a measure of idealrank
    if config.objective is not None:
        params["objective"] = lightgbm.objective(
            **vars(config.objective), **_click_options(config, rounds.parts["train"])
        )
    sets: dict[str, Any] = {}
    for name, rows in rounds.parts.items():
        position = None
        if not config.objective and "position" in rows.beside:
            position = rows.beside["position"].astype(np.int64)
        sets[name] = library.Dataset(
            rows.features,
            rows.labels,
            group=rows.group,
            reference=sets.get("train"),
            feature_name=list(rows.names) or "auto",
            params={"verbose": -1},
            position=position,
        )
    part_of = {id(data): name for name, data in sets.items()}

    def measure(predictions: Any, data: Any) -> list[tuple[str, float, bool]]:
        return rounds.add(part_of[id(data)], predictions)

    def after(round_: Any) -> None:
        tell(round_.iteration + 1, config.model.rounds, rounds.note)
        if rounds.is_over:
            raise library.callback.EarlyStopException(rounds.best - 1, [])

    with _refusals("LightGBM", library.basic.LightGBMError):
        model = library.train(
            params,
            sets["train"],
            config.model.rounds,
            valid_sets=list(sets.values()),
            valid_names=list(sets),
            feval=measure,
            callbacks=[after],
        )
    best = rounds.best
    return TrainedModel(
        predict=partial(model.predict, num_iteration=best),
        save=lambda path: path.write_bytes(model.model_to_string(num_iteration=best).encode()),
        ending=".txt",
        rounds=rounds,
    )


def _xgboost(config: TrainingConfig, rounds: Rounds, seed: int, tell: Tell) -> TrainedModel:
    library = load_extra("xgboost", "training with XGBoost", "xgboost")
    params = {
        "objective": "rank:ndcg",
        "seed": seed,
        "verbosity": 0,
        **config.model.params,
        "disable_default_eval_metric": 1,
    }
    params.pop("eval_metric", None)
    clicks = _click_options(config, rounds.parts["train"])
    objective: dict[str, Any] = {}
    if config.objective is not None:
        objective["obj"] = xgboost.objective(**vars(config.objective), **clicks)
        params.pop("objective")
    _refuse_infinite(rounds.parts)
    sets = {
        name: library.DMatrix(
            rows.features, rows.labels, group=rows.group, feature_names=list(rows.names) or None
        )
        for name, rows in rounds.parts.items()
    }
    part_of = {id(data): name for name, data in sets.items()}

    def measure(predictions: Any, data: Any) -> tuple[str, float]:
        text, value, _ = rounds.add(part_of[id(data)], predictions)[0]
        return text.replace(":", "=").replace(" ", "_"), value

    class Told(library.callback.TrainingCallback):  # type: ignore[misc, name-defined]
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            tell(epoch + 1, config.model.rounds, rounds.note)
            return rounds.is_over

    with _refusals("XGBoost", library.core.XGBoostError):
        model = library.train(
            params,
            sets["train"],
            config.model.rounds,
            evals=[(data, name) for name, data in sets.items()],
            custom_metric=measure,
            verbose_eval=False,
            callbacks=[Told()],
            **objective,
        )
        curve = rounds.curves["train"][str(rounds.measures.measures[0])]
        # a booster of linear models has no slices, and is kept whole
        best_model = model if rounds.best == len(curve) else model[: rounds.best]
    names = list(rounds.parts["train"].names) or None

    def predict(features: FloatArray) -> FloatArray:
        return np.asarray(
            best_model.predict(library.DMatrix(features, feature_names=names), output_margin=True),
            np.float64,
        )

    return TrainedModel(
        predict=predict,
        save=lambda path: path.write_bytes(best_model.save_raw("json")),
        ending=".json",
        rounds=rounds,
    )


def _catboost(config: TrainingConfig, rounds: Rounds, seed: int, tell: Tell) -> TrainedModel:
    library = load_extra("catboost", "training with CatBoost", "catboost")
    if config.objective is not None:
        raise OptionError(
            "objective: CatBoost hands no groups to Python; expected LightGBM or XGBoost, or "
            "params.loss_function"
        )
    pools = {
        name: library.Pool(
            rows.features, rows.labels, group_id=rows.codes, feature_names=list(rows.names) or None
        )
        for name, rows in rounds.parts.items()
    }
    evaluation = config.evaluation
    watched_measure = evaluation.stop_measure or evaluation.measures[0]
    metric = catboost.eval_function(watched_measure, evaluation.convention, pools=pools.values())
    params = {
        "loss_function": "YetiRank",
        "random_seed": seed,
        "verbose": False,
        "allow_writing_files": False,
        **config.model.params,
        "iterations": config.model.rounds,
        "eval_metric": metric,
        "use_best_model": False,
    }
    if evaluation.stop_after:
        params |= {"od_type": "Iter", "od_wait": evaluation.stop_after}
    with _refusals("CatBoost", library.CatBoostError):
        model = library.CatBoost(params)
        model.fit(pools["train"], eval_set=pools.get("valid"))
        # It calls Python with one metric; all measures come from its scores after each round.
        for name, pool in pools.items():
            for number, scores in enumerate(model.staged_predict(pool), 1):
                rounds.add(name, scores)
                tell(number, model.tree_count_, rounds.note)
        best = rounds.best
        if best < model.tree_count_:
            model.shrink(best)
    return TrainedModel(
        predict=model.predict,
        save=lambda path: model.save_model(str(path), format="cbm"),
        ending=".cbm",
        rounds=rounds,
    )


def _torch(config: TrainingConfig, rounds: Rounds, seed: int, tell: Tell) -> TrainedModel:
    load_extra("torch", "training with PyTorch", "torch")
    from idealrank.training import torch as losses  # noqa: PLC0415  (the boosting libraries need no PyTorch)
    from idealrank.training.torch.ranking_network import fit_network  # noqa: PLC0415

    if config.network is None or config.loss is None:
        raise OptionError(
            "model.library: found torch without a network, expected a configuration that "
            "TrainingConfig.of has read"
        )

    def after(_: int, scores: Mapping[str, FloatArray]) -> tuple[bool, bool]:
        for name, part_scores in scores.items():
            rounds.add(name, part_scores)
        curve = next(iter(rounds.curves["train"].values()))
        return rounds.best == len(curve), rounds.is_over

    network = fit_network(
        config.network,
        getattr(losses, config.loss.loss)(
            **config.loss.with_convention(config.evaluation.convention)
        ),
        rounds.parts,
        seed=seed,
        epochs=config.model.rounds,
        step=lambda epoch: tell(epoch - 1, config.model.rounds, rounds.note),
        after=after,
    )
    return TrainedModel(predict=network.score, save=network.save, ending=".pt", rounds=rounds)
