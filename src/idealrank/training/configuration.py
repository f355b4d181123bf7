"""Configuration of `idealrank train`: a mapping of sections, checked key by key before anything is
read or trained.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Literal, TypeAlias, get_args

from idealrank._keys import (
    Schema,
    choice,
    document,
    file_to_read,
    given_of,
    has_value,
    key,
    or_null,
    read,
    schema_of,
    share,
    text,
    texts,
    values_of,
    whole,
)
from idealrank._sections import Section
from idealrank.conventions.configuration_keys import (
    convention_key,
    measure_key,
    measures_key,
)
from idealrank.errors import OptionError, shown
from idealrank.measures.measure_texts import number_text
from idealrank.training.neural_configuration import LossSection, NetworkSection, loss_schema
from idealrank.training.objectives import LambdaObjective
from idealrank.training.position_debiasing import UnbiasedObjective

Trainer: TypeAlias = Literal["lightgbm", "xgboost", "catboost", "torch"]

# Other names that LightGBM takes for the same parameter.
_ROUNDS = (
    "num_iterations",
    "num_iteration",
    "num_boost_round",
    "n_estimators",
    "num_trees",
    "num_round",
    "num_rounds",
    "iterations",
)
STOPPING_NAMES = (
    "early_stopping_round",
    "early_stopping_rounds",
    "early_stopping",
    "n_iter_no_change",
)
_EVAL_AT = ("eval_at", "ndcg_eval_at", "ndcg_at", "map_eval_at", "map_at")
_OBJECTIVE = ("objective", "objective_type", "app", "application", "loss")
_METRIC = {
    "lightgbm": ("metric", "metrics", "metric_types"),
    "xgboost": ("eval_metric",),
    "catboost": (),
    "torch": (),
}
# Objectives that form pairs down to a truncation level, and take grades with gains.
_BY_PAIRS = {"lightgbm": ("lambdarank",), "xgboost": ("rank:ndcg",), "catboost": (), "torch": ()}
_LEVEL_OF_LIGHTGBM = 30  # its default lambdarank_truncation_level
_MOST_ROUNDS = 1_000_000  # more are taken for a mistake
_DEEPEST_TREE = 16  # of CatBoost
_LARGEST = 2**53  # libraries cut longer numbers to some other number
_THREADS = ("num_threads", "num_thread", "nthread", "nthreads", "n_jobs", "thread_count")
_MOST_THREADS = 1024  # more are taken for a mistake
# Metrics of the libraries, as measures; their map divides by the cutoff if that is less than the
# number of relevant documents.
_LIBRARY_METRICS = {
    "lightgbm": {
        "ndcg": "nDCG",
        "lambdarank": "nDCG",
        "rank_xendcg": "nDCG",
        "map": "AP(divisor=reachable)",
    },
    "xgboost": {"ndcg": "nDCG", "map": "AP(divisor=reachable)", "pre": "P"},
    "catboost": {},
    "torch": {},
}
# Other names of LightGBM for its metrics.
_SAME_METRIC = {
    "mean_average_precision": "map",
    "xendcg": "ndcg",
    "xe_ndcg": "ndcg",
    "xe_ndcg_mart": "ndcg",
    "xendcg_mart": "ndcg",
}
# Conventions of the libraries' own metrics; PyTorch has none.
_CONVENTIONS: dict[Trainer, str | None] = {
    "lightgbm": "lightgbm",
    "xgboost": "xgboost",
    "catboost": "catboost",
    "torch": None,
}

# One for every library, so that their tables can be compared. Ties are named, since arrays and
# files treat them differently by default, and the expected value gives nothing to a model that
# leaves rows in the order of the file.
DEFAULT_CONVENTION = "standard,ties=expected"


@dataclass(frozen=True, kw_only=True)
class DataSection:
    """Section ``data``: files and columns."""

    # One of the two is required: `train` has a usual name if there are folds.
    schema_rules: ClassVar[Schema] = {
        "not": {"allOf": [{"not": has_value("train")}, {"not": has_value("folds")}]}
    }

    train: str = file_to_read(
        "LETOR or SVMlight file, or Parquet. Required without `folds`; with them, the name in each "
        "folder, `train.txt` by default.",
        default="",
    )
    valid: str | None = file_to_read(
        "File of the same format, by which training stops. With `folds`, `vali.txt` by default."
    )
    test: str | None = file_to_read(
        "File of the same format, for the results. With `folds`, `test.txt` by default."
    )
    folds: tuple[str, ...] = texts(
        "Folders of given folds, each with the three files, or a pattern such as `MSLR/Fold*`; the "
        "test sets are pooled."
    )
    valid_share: float = share("Share of the queries of `train` to split off for `valid`.")
    test_share: float = share("Share of the queries of `train` to split off for `test`.")
    label: str = text("Column of labels in Parquet files.", "label")
    qid: str = text("Column of queries in Parquet files.", "qid")
    features: tuple[str, ...] = texts(
        "Columns of features in Parquet files; default all others that hold numbers."
    )
    propensity: str | None = file_to_read(
        "Column of `train`, or a file beside LETOR and SVMlight, whose labels are clicks: "
        "probability that users looked at each row."
    )
    position: str | None = file_to_read(
        "Column of `train`, or a file beside LETOR and SVMlight, whose labels are clicks: "
        "rank at which each row was shown."
    )


@dataclass(frozen=True)
class ModelSection:
    """Section ``model``: the library and its own parameters, passed on unchanged; `NetworkSection`
    reads them for ``torch``.
    """

    library: Trainer = choice(get_args(Trainer), "Library that trains the model.")
    rounds: int = whole("Rounds of boosting, or epochs.", 100, most=_MOST_ROUNDS)
    params: Mapping[str, Any] = key(
        dict,
        about="Parameters of the library.",
        read=lambda section, name: dict(section.section(name).given),
        schema=lambda: {"type": "object"},
    )


@dataclass(frozen=True, kw_only=True)
class _StoppingKeys:
    """Section ``early_stopping`` of ``evaluation``; a number stands for its rounds."""

    rounds: int = whole("Rounds without a better value.", 50)
    measure: str | None = measure_key("Measure that stops training; default the first one.")


def _stopping(section: Section, name: str) -> _StoppingKeys:
    if isinstance(section.given[name], Mapping):
        return read(_StoppingKeys, section.section(name))
    return _StoppingKeys(rounds=section.number(name, None))


@dataclass(frozen=True, kw_only=True)
class EvaluationSection:
    """Section ``evaluation``: measures of every round, the convention, early stopping, and the
    store of a test set opened once.
    """

    measures: tuple[str, ...] = measures_key("Measures of every round.")
    convention: str = convention_key(DEFAULT_CONVENTION)
    stop_after: int | None = key(
        name="early_stopping",
        about="Rounds without a better value after which training stops.",
        read=_stopping,
        schema=lambda: {"anyOf": [{"type": "integer", "minimum": 1}, schema_of(_StoppingKeys)]},
    )
    stop_measure: str | None = None
    test_store: str | None = text("Store of a test set that is opened once.")
    again: str = text("Reason to open the test set again.", "")


def _seeds(top: Section, name: str) -> tuple[int, ...]:
    if top.has("seed") and top.has(name):
        raise top.error("seed", "both seed and seeds", "one of them")
    if not top.has(name):
        return (top.number("seed", 0, least=0),)
    seeds = tuple(top.numbers(name, least=0))
    if not seeds or len(set(seeds)) != len(seeds):
        raise top.error(name, str(list(seeds)), "one or more different whole numbers")
    return seeds


_SEED: Schema = {"type": "integer", "minimum": 0}


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """Configuration of a training."""

    data: DataSection = key(
        about="Files of the data, and their columns.",
        read=lambda top, name: _data(top.section(name)),
        schema=lambda: schema_of(DataSection),
        below=DataSection,
        expected="a section `data:` with keys and values",
    )
    model: ModelSection = key(
        ModelSection,
        about="Library of the model, and its parameters.",
        read=lambda top, name: _model(top.section(name)),
        schema=lambda: schema_of(ModelSection),
    )
    # Objective of idealrank; None for the library's own
    objective: LambdaObjective | None = key(
        about="Objective of idealrank; default the library's own, and for torch a loss.",
        schema=lambda: {"type": "object"},
    )
    evaluation: EvaluationSection = key(
        EvaluationSection,
        about="Measures of every round, and when training stops.",
        schema=lambda: schema_of(EvaluationSection),
    )
    seeds: tuple[int, ...] = key(
        (0,),
        about="Seeds of the trainings, with a model for each.",
        read=_seeds,
        schema=lambda: {
            "anyOf": [_SEED, {"type": "array", "items": _SEED, "minItems": 1, "uniqueItems": True}]
        },
        others={"seed": ("Seed of a single training.", _SEED)},
    )
    output: str = text("Folder of the results.", "training")
    # The objective with the estimation of position bias, if `data` has positions for it
    bias: UnbiasedObjective | None = None
    # The neural ranker of ``torch``; None for the other libraries
    network: NetworkSection | None = None
    loss: LossSection | None = None  # Its loss

    @classmethod
    def of(cls, mapping: Any, path: str = "configuration") -> "TrainingConfig":
        """Read a mapping, as YAML, TOML or JSON give it."""
        top = Section(mapping, path, "")
        values = values_of(cls, top)
        data = values["data"]
        model = values.setdefault("model", ModelSection())
        network = loss = objective = bias = None
        if model.library == "torch":
            network = NetworkSection.of(top.section("model").section("params"))
            loss = LossSection.of(top.section("objective"))
        elif top.has("objective"):
            objective, bias = _objective(top.section("objective"), data)
        evaluation = _evaluation(top.section("evaluation"), model, loss or objective)
        if network is not None and loss is not None:  # with every default, as `to_dict` writes them
            values["model"] = replace(
                model, params=asdict(network) | {"hidden": list(network.hidden)}
            )
            loss = replace(loss, options=loss.with_convention(evaluation.convention))
        config = cls(
            **values,
            objective=objective,
            evaluation=evaluation,
            bias=bias,
            network=network,
            loss=loss,
        )
        _refuse_clicks_without_objective(top.section("data"), config)
        return config

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of a configuration."""
        library = {"properties": {"library": {"const": "torch"}}, "required": ["library"]}
        torch = {"type": "object"} | library  # else null, which has no library, would match
        network = {"properties": {"params": or_null(schema_of(NetworkSection))}}
        return {
            **document("idealrank train", cls),
            "not": {"allOf": [has_value("seed"), has_value("seeds")]},
            "if": {"properties": {"model": torch}, "required": ["model"]},
            "then": {"properties": {"model": network, "objective": or_null(loss_schema())}},
            "else": {"properties": {"objective": or_null(schema_of(_ObjectiveKeys))}},
        }

    @property
    def own_objective(self) -> str:
        """Objective of the library, by its own name."""
        if self.loss is not None:
            return self.loss.loss
        library = self.model.library
        params = self.model.params
        defaults = {"lightgbm": "lambdarank", "xgboost": "rank:ndcg", "catboost": "YetiRank"}
        names: tuple[str, ...] = _OBJECTIVE
        if library == "catboost":
            names = ("loss_function", "objective")
        return str(next((params[name] for name in names if name in params), defaults[library]))

    @property
    def own_convention(self) -> str | None:
        """Convention of the library's own metrics; None where it has none."""
        if self.model.library == "xgboost" and any(
            text.endswith("-") for text in _metrics(self.model)
        ):
            return "xgboost-minus"  # ndcg@10-: a query without a relevant document counts 0
        return _CONVENTIONS[self.model.library]

    @property
    def takes_grades(self) -> bool:
        """True if training takes labels for grades with gains, as LightGBM's ``lambdarank`` does;
        regression takes any number.
        """
        if self.loss is not None:
            return self.loss.takes_gains
        return self.objective is not None or self.own_objective in (
            *_BY_PAIRS[self.model.library],
            "rank_xendcg",
        )

    @property
    def truncation(self) -> int | None:
        """Rank down to which training forms pairs; None if it is not known, or the objective has no
        such rank.
        """
        if self.objective is not None:
            return self.objective.levels
        if self.own_objective not in _BY_PAIRS[self.model.library]:
            return None
        if self.model.library == "lightgbm":
            level = self.model.params.get("lambdarank_truncation_level")
            return _LEVEL_OF_LIGHTGBM if level is None else int(level)
        level = self.model.params.get("lambdarank_num_pair_per_sample")
        return None if level is None else int(level)

    @property
    def highest_label(self) -> int | None:
        """Last label with a gain in ``label_gain`` of LightGBM; None without such a table."""
        if self.model.library != "lightgbm" or self.objective is not None:
            return None
        label_gains = self.model.params.get("label_gain")
        return len(_listed(label_gains)) - 1 if label_gains else None

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration with every default, as plain values that `of` reads."""
        record = asdict(self)
        after = record["evaluation"].pop("stop_after")
        measure = record["evaluation"].pop("stop_measure")
        if after is not None:
            record["evaluation"]["early_stopping"] = {"rounds": after, "measure": measure}
        if self.objective is not None:
            record["objective"]["gain"] = str(self.objective.gain)
            record["objective"]["discount"] = str(self.objective.discount)
        if self.loss is not None:
            record["objective"] = {"loss": self.loss.loss, **record["loss"]["options"]}
        del record["bias"], record["network"], record["loss"]
        if self.bias is not None:
            record["objective"] |= {
                "regularisation": self.bias.regularisation,
                "bias": self.bias.bias,
            }
        if record["objective"] is None:
            del record["objective"]
        if len(self.seeds) == 1:
            record["seed"] = record.pop("seeds")[0]
        for section in ("data", "evaluation"):
            record[section] = {
                key: value for key, value in record[section].items() if value not in (None, "", ())
            }
        return record


def _data(section: Section) -> DataSection:
    data = read(DataSection, section)
    if data.folds:
        data = _with_folds(section, data)
    elif not data.train:
        expected = "the file to train on, LETOR, SVMlight or Parquet"
        raise section.error("train", "nothing", expected)
    if data.propensity is not None and data.position is not None:
        raise section.error(
            "propensity",
            f"{data.propensity}, and position, too",
            "one of them, since positions estimate propensities",
        )
    columns = [
        data.label,
        data.qid,
        *filter(None, (data.propensity, data.position)),
        *data.features,
    ]
    repeated = next((name for name in columns if columns.count(name) > 1), None)
    if repeated is not None:
        raise section.error(
            "features" if repeated in data.features else "label",
            repeated,
            "each column once; a label as a feature would leak",
        )
    for name, path, split_off in (
        ("valid", data.valid, data.valid_share),
        ("test", data.test, data.test_share),
    ):
        if path is not None and split_off:
            raise section.error(f"{name}_share", str(split_off), f"nothing beside `{name}: {path}`")
    if data.test is not None and data.test == data.valid:
        raise section.error(
            "test",
            f"{data.test}, the file of data.valid",
            "another file, as early stopping chooses by data.valid",
        )
    if data.valid_share + data.test_share >= 1:
        raise section.error(
            "valid_share",
            str(data.valid_share),
            f"less than 1 together with test_share, {data.test_share:g}",
        )
    return data


def _with_folds(section: Section, data: DataSection) -> DataSection:
    """Return the data with the usual names of files in each folder of a fold."""
    if data.test_share:
        raise section.error(
            "test_share", str(data.test_share), "nothing beside `folds`, which have test sets"
        )
    usual_valid = None if data.valid_share else "vali.txt"
    return replace(
        data,
        train=data.train or "train.txt",
        valid=data.valid or usual_valid,
        test=data.test or "test.txt",
    )


def _model(section: Section) -> ModelSection:
    model = read(ModelSection, section)
    if model.library == "torch":
        return model
    params = dict(model.params)
    _refuse_types(section, model.library, params)
    library_rounds = next((params[name] for name in _ROUNDS if name in params), None)
    rounds = model.rounds
    if library_rounds is not None:
        rounds = section.number("rounds", library_rounds, most=_MOST_ROUNDS)
    if model.library == "lightgbm" and params.get("label_gain"):
        _numbers_of(section, "label_gain", params["label_gain"], float)
    for name in ("lambdarank_truncation_level", "lambdarank_num_pair_per_sample"):
        if name not in params:
            continue
        params[name] = _numbers_of(section, name, params[name], _whole)[0]
        if not 1 <= params[name] < 2**31:
            raise section.error(f"params.{name}", str(params[name]), "a whole number of 1 or more")
    return ModelSection(
        model.library,
        rounds,
        {name: value for name, value in params.items() if name not in _ROUNDS},
    )


def _limits_of(library: str, name: str, value: Any) -> str | None:
    """Return the values expected instead of a number at which a library hangs, crashes or trains
    nothing in silence; None for others.
    """
    if isinstance(value, float) and math.isnan(value):
        return "a number"
    if not isinstance(value, int):
        return None
    if abs(value) > _LARGEST:
        return f"a number from -{_LARGEST:,} to {_LARGEST:,}"
    if name in _THREADS and value > _MOST_THREADS:
        return f"at most {_MOST_THREADS:,}"
    if library == "catboost" and name == "thread_count" and value == 0:  # it divides by them
        return "a whole number of 1 or more, or -1 for all cores"
    # 0 makes no tree
    if library == "catboost" and name in ("depth", "max_depth") and not 1 <= value <= _DEEPEST_TREE:
        return f"a whole number from 1 to {_DEEPEST_TREE}"
    return None


def _refuse_types(section: Section, library: str, params: Mapping[str, Any]) -> None:
    """Refuse parameters of a wrong type that are read here, and values that LightGBM cannot write
    as text.
    """
    number = "a whole number, as in 50"
    metrics = "a text, as in ndcg, or a list of texts"
    for name, value in params.items():
        expected = None
        if value is None:
            continue
        if limits := _limits_of(library, name, value):
            expected = limits
        elif name in STOPPING_NAMES:
            expected = None if type(value) is int else number
        elif name in _METRIC[library]:
            listed = [value] if isinstance(value, str) else value
            is_list = isinstance(listed, Sequence) and all(
                isinstance(metric, str) for metric in listed
            )
            expected = None if is_list else metrics
        elif name in (*_OBJECTIVE, "loss_function"):
            expected = None if isinstance(value, str) else "a text, the name of an objective"
        elif library == "lightgbm" and isinstance(value, Mapping):
            expected = "a number, a text, true or false, or a list of them"
        if expected is not None:
            raise section.error(f"params.{name}", repr(value), expected)


@dataclass(frozen=True, kw_only=True)
class _ObjectiveKeys:
    """Section ``objective`` of the libraries of trees."""

    of_objective: Mapping[str, Any] = given_of(LambdaObjective)
    of_positions: Mapping[str, Any] = given_of(UnbiasedObjective)


def _objective(
    section: Section, data: DataSection
) -> tuple[LambdaObjective, UnbiasedObjective | None]:
    """Objective, and unbiased LambdaMART if there are positions."""
    if section.has("loss"):
        raise section.error(
            "loss",
            repr(section.given["loss"]),
            "it with `library: torch` only; leave it out, or set model.library",
        )
    keys = read(_ObjectiveKeys, section)
    options = keys.of_positions
    if data.position is None and options:
        raise section.error(
            next(iter(options)), repr(next(iter(options.values()))), "it only with data.position"
        )
    objective = LambdaObjective(**keys.of_objective)
    if data.position is None:
        return objective, None
    try:
        return objective, UnbiasedObjective(objective=objective, **options)
    except OptionError as error:
        raise OptionError(f"{section.path}: objective: {error}") from None


def _refuse_clicks_without_objective(section: Section, config: "TrainingConfig") -> None:
    """Refuse clicks that no objective uses: among the libraries' own objectives, only LightGBM's
    lambdarank takes positions, and none takes propensities.
    """
    data = config.data
    library = config.model.library
    takes_positions = library == "lightgbm" and config.own_objective in _BY_PAIRS["lightgbm"]
    if config.objective is not None:
        return
    if data.propensity:
        key = "propensity"
        column = data.propensity
    elif data.position and not takes_positions:
        key = "position"
        column = data.position
    else:
        return
    if config.loss is not None:
        if data.propensity and config.loss.takes_weighted_clicks:
            return
        example = "`objective: {loss: SoftmaxLoss, labels: raw}`"
        raise section.error(
            key,
            repr(column),
            f"a column of propensities with {example}, which a neural ranker can weigh by",
        )
    if library == "catboost":
        raise section.error(
            key,
            repr(column),
            "nothing, as CatBoost takes no objective of idealrank; use LightGBM or XGBoost",
        )
    example = "`objective: {measure: pairs, gain: linear, damped: false}`"
    raise section.error(
        key,
        repr(column),
        f"it with a section objective, as in {example}; {config.own_objective} does not use it",
    )


def _evaluation(
    section: Section, model: ModelSection, objective: LambdaObjective | LossSection | None
) -> EvaluationSection:
    values = values_of(EvaluationSection, section)
    library_rounds = None
    if model.library != "torch":
        library_rounds = next(
            (model.params[name] for name in STOPPING_NAMES if name in model.params), None
        )
    measures = values.pop("measures", None) or _measures_of(section, model, objective)
    # 0 or less turns early stopping off
    after = library_rounds if library_rounds is not None and library_rounds > 0 else None
    measure = measures[0]
    stopping: _StoppingKeys | None = values.pop("stop_after", None)
    if stopping is not None:
        after = stopping.rounds
        measure = stopping.measure or measure
    if after is not None and measure not in measures:
        measures = (*measures, measure)
    return EvaluationSection(
        **values,
        measures=measures,
        stop_after=after,
        stop_measure=measure if after else None,
    )


def _measures_of(
    section: Section, model: ModelSection, objective: LambdaObjective | LossSection | None
) -> tuple[str, ...]:
    """Measures of the library's own parameters: its metrics, at its cutoffs, with its gains."""
    params = model.params
    cutoffs_key = next((name for name in _EVAL_AT if params.get(name) is not None), None)
    default = [(objective.cutoff if objective else None) or 10]
    cutoffs = default
    if cutoffs_key is not None:
        cutoffs = _numbers_of(section, cutoffs_key, params[cutoffs_key], _whole)
    gain = ""
    if params.get("label_gain"):
        gains = _numbers_of(section, "label_gain", params["label_gain"], float)
        by_grade = ",".join(f"{grade}:{number_text(value)}" for grade, value in enumerate(gains))
        gain = f"(gain={{{by_grade}}})"
    names = []
    for metric in _metrics(model):
        name, _, cutoff = metric.partition("@")
        measure = _LIBRARY_METRICS[model.library].get(_SAME_METRIC.get(name, name))
        if measure is None:
            continue
        metric_cutoffs = cutoffs
        if cutoff:
            metric_cutoffs = _numbers_of(section, "eval_metric", cutoff.rstrip("-"), _whole)
        with_gain = f"{measure}{gain}" if measure == "nDCG" else measure
        names += [f"{with_gain}@{metric_cutoff}" for metric_cutoff in metric_cutoffs]
    return tuple(dict.fromkeys(names)) or tuple(f"nDCG{gain}@{cutoff}" for cutoff in cutoffs)


def _metrics(model: ModelSection) -> list[str]:
    metrics = next(
        (model.params[name] for name in _METRIC[model.library] if model.params.get(name)), ()
    )
    return (
        [text.strip() for text in metrics.split(",")] if isinstance(metrics, str) else list(metrics)
    )


def _whole(value: Any) -> int:
    if isinstance(value, bool) or (isinstance(value, float) and value != int(value)):
        raise ValueError
    return int(value)


def _listed(value: Any) -> Sequence[Any]:
    """Values of a parameter of the library, which takes a list, a text with commas, or a single
    value.
    """
    if isinstance(value, str):
        return value.split(",")
    return value if isinstance(value, Sequence) else [value]


def _numbers_of(section: Section, key: str, value: Any, number: Callable[[Any], Any]) -> list[Any]:
    """Numbers of a parameter of the library."""
    try:
        numbers = [number(entry) for entry in _listed(value)]
    except (TypeError, ValueError, OverflowError):
        numbers = []
    if not numbers:
        kind = "whole numbers" if number is _whole else "numbers"
        raise OptionError(
            f"{section.path}: model.params.{key}: found {shown(repr(value))}, expected {kind}, as "
            "in 5 or [1, 3, 5]"
        )
    return numbers
