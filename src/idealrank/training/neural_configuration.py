"""Configuration of a neural ranker: the network with its optimiser, and the loss with its options,
as plain values without PyTorch.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, make_dataclass
from functools import cache
from typing import Any, get_args

from idealrank._keys import (
    amount,
    choice,
    key,
    read,
    schema_of,
    values_of,
    whole,
)
from idealrank._sections import Section
from idealrank.conventions.configuration_keys import convention_key, discount_key, gain_key
from idealrank.measures.rules import NoRelevant

# Limits of a network, and of every other whole number: more are taken for a mistake
_MOST_LAYERS = 32
_MOST_UNITS = 8192
_MOST_COUNT = 2**31 - 1
_MOST_REPEATED = 10_000  # Sinkhorn steps and drawn orders, each as long as the loss without it
_ACTIVATIONS = ("relu", "leaky-relu", "elu", "gelu", "silu", "tanh", "sigmoid")
_NDCG = ("cutoff", "gain", "discount", "no_relevant", "convention", "temperature")
_PAIRS = "pairs_at_once"

LOSSES: dict[str, tuple[str, ...]] = {
    "SoftmaxLoss": ("temperature", "labels"),
    "ListNetLoss": ("temperature", "label_temperature"),
    "ListMLELoss": ("temperature", "order", "ties"),
    "PListMLELoss": ("temperature", "order", "ties"),
    "RankNetLoss": ("sigma", "ties", "log", _PAIRS),
    "PairwiseLogisticLoss": ("temperature", "weights", _PAIRS),
    "LambdaLoss": (
        "weighting",
        "cutoff",
        "below_cutoff",
        "mu",
        "sigma",
        "log",
        "gain",
        "discount",
        "convention",
        _PAIRS,
    ),
    "ApproxNDCGLoss": (*_NDCG, "cutoff_temperature", _PAIRS),
    "NeuralNDCGLoss": (*_NDCG, "sinkhorn", "samples", "noise", _PAIRS),
    "PiRankLoss": (*_NDCG, "branching", "sorting", _PAIRS),
    "FastSoftRankNDCGLoss": (*_NDCG, "cutoff_temperature", _PAIRS),
    "DiffNDCGLoss": (*_NDCG, "network", "swap", _PAIRS),
    "LinearNDCGLoss": ("gain", "no_relevant", "convention", "temperature", "step", _PAIRS),
    "SoftSpearmanLoss": ("temperature", _PAIRS),
}
"""By name of a loss of `idealrank.training.torch`: its options beside ``reduction``. The first
is the default.
"""

CHOICES: dict[str, tuple[str, ...]] = {
    "SoftmaxLoss.labels": ("share", "raw"),
    "order": ("labels", "input"),
    "RankNetLoss.ties": ("ignore", "half"),
    "ties": ("input", "random"),
    "RankNetLoss.log": ("natural", "binary"),
    "log": ("binary", "natural"),
    "weights": ("one", "label-difference"),
    "weighting": ("ndcg-loss2++", "lambdarank", "ndcg-loss2", "ndcg-loss1", "none"),
    "below_cutoff": ("discounted", "zero"),
    "sorting": ("soft", "straight-through"),
    "network": ("odd-even", "bitonic"),
    "swap": ("cauchy", "logistic", "reciprocal"),
    "step": ("sigmoid", "logistic", "hinge"),
    "reduction": ("mean", "sum"),
}
"""Choices of an option, by its name or by that of its loss and its own; the first is the
default.
"""

ABOUT: dict[str, str] = {
    "temperature": "Temperature, in units of the scores.",
    "label_temperature": "Temperature of the labels, in units of the labels.",
    "cutoff_temperature": "Temperature of the soft cutoff, in ranks; default `temperature`.",
    "labels": "Labels divided by their sum, or as they are.",
    "order": "Wanted order: by descending label, or that of the file.",
    "RankNetLoss.ties": "Pairs of equal labels: left out, or with a target of one half.",
    "ties": "Order of documents with equal labels: that of the file, or drawn at every step.",
    "sigma": "Scale of score differences.",
    "log": "Logarithm of the loss.",
    _PAIRS: "Pairs of documents in memory at a time.",
    "weights": "Weight of a pair: 1, or the difference of its labels.",
    "weighting": "Weight of a pair.",
    "cutoff": "Cutoff of the measure; default all ranks.",
    "below_cutoff": "Discount of ranks below the cutoff, for `lambdarank`.",
    "mu": "Weight of `ndcg-loss2` in `ndcg-loss2++`.",
    "sinkhorn": "Steps of scaling rows and columns; 0 for none.",
    "samples": "Orders drawn for each list; 0 for the deterministic form.",
    "noise": "Scale of the Gumbel noise.",
    "branching": "Documents sorted at once, at least twice the cutoff; default all of a list.",
    "sorting": "Value of the loss: of the soft order, or of the hard order with soft gradients.",
    "network": "Sorting network; `bitonic` has fewer layers for long lists.",
    "swap": "Share of a swap that stays in order, as a function of the score difference.",
    "step": "Smooth function in place of the step function.",
    "reduction": "Combination of the losses of the lists.",
}
"""Sentences of the options, by the same names as the choices."""

FINITE = "expected a finite number for PyTorch; correct it, or fill it in"
IN_FLOAT32 = "expected a number that float32 holds; set model.params.transform to log1p"
"""End of the messages that refuse a feature."""

_BY_PAIRS = ("RankNetLoss", "PairwiseLogisticLoss", "LambdaLoss")
_COUNTS = {"cutoff": 1, "sinkhorn": 0, "samples": 0, "branching": 2, _PAIRS: 1}  # least numbers
_UNITS = {"type": "integer", "minimum": 1, "maximum": _MOST_UNITS}


def _hidden(section: Section, name: str) -> tuple[int, ...]:
    hidden = tuple(section.numbers(name, least=1))
    if len(hidden) > _MOST_LAYERS or max(hidden, default=1) > _MOST_UNITS:
        raise section.error(
            name,
            str(list(hidden)),
            f"at most {_MOST_LAYERS} layers of at most {_MOST_UNITS:,} units",
        )
    return hidden


@dataclass(frozen=True, kw_only=True)
class NetworkSection:
    """Section ``model.params`` of ``library: torch``: a multi-layer perceptron and how it is
    fitted.
    """

    hidden: tuple[int, ...] = key(
        (64, 32),
        about="Units of each hidden layer; empty for a linear model.",
        read=_hidden,
        schema=lambda: {
            "anyOf": [_UNITS, {"type": "array", "items": _UNITS, "maxItems": _MOST_LAYERS}]
        },
    )
    activation: str = choice(_ACTIVATIONS, "Function after each hidden layer.")
    dropout: float = amount(
        "Share of the units of each hidden layer that a step leaves out.", 0.0, most=0.95
    )
    normalisation: str = choice(("none", "layer", "batch"), "Normalisation before each activation.")
    transform: str = choice(
        ("standardise", "log1p", "log1p-standardise", "none"),
        "Transform of the features, with the mean and standard deviation of the training rows; "
        "`log1p` is sign times log(1 + absolute value).",
    )
    optimiser: str = choice(("adamw", "adam"), "Optimiser of PyTorch.")
    learning_rate: float = amount(
        "Learning rate of the optimiser.", 0.001, least=1e-12, most=1000.0
    )
    weight_decay: float = amount("Weight decay of the optimiser.", 0.0, most=1000.0)
    batch: int = whole("Queries of a step.", 32, most=_MOST_COUNT)
    threads: int = whole("Threads of PyTorch; the same number gives the same model.", 1, most=1024)

    @classmethod
    def of(cls, section: Section) -> "NetworkSection":
        """Read the section."""
        return read(cls, section)


def _option(loss: str, name: str) -> Any:
    """Field of an option, which has no value unless it is given."""
    about = ABOUT.get(f"{loss}.{name}", ABOUT.get(name, ""))
    choices = CHOICES.get(f"{loss}.{name}", CHOICES.get(name))
    if choices is not None:
        if name == "reduction" and loss in _BY_PAIRS:
            choices = (*choices, "pair-mean")
        return choice(choices, about, None)
    if name in _COUNTS:
        most = _MOST_REPEATED if name in ("sinkhorn", "samples") else _MOST_COUNT
        return whole(about, least=_COUNTS[name], most=most)
    if name == "convention":
        return convention_key(None)
    if name == "no_relevant":
        return choice(get_args(NoRelevant), "Value of a query without a relevant document.", None)
    if name in ("gain", "discount"):
        return gain_key() if name == "gain" else discount_key()
    return amount(about, least=1e-9, most=1e9)


@cache
def _keys_of_loss(loss: str) -> type:
    """Dataclass of the options of a loss."""
    options = [(name, Any, _option(loss, name)) for name in (*LOSSES[loss], "reduction")]
    return make_dataclass(loss, options, kw_only=True)


def loss_schema() -> dict[str, Any]:
    """Return the JSON Schema of a loss with its options; the first one may be left out or null."""
    schemas = []
    for place, loss in enumerate(LOSSES):
        schema = schema_of(_keys_of_loss(loss))
        name = {"const": loss} if place else {"enum": [loss, None]}
        named = {"description": "Name of the loss.", **name}
        properties = {"loss": named, **schema["properties"]}
        required = {"required": ["loss"]} if place else {}
        schemas.append({**schema, "properties": properties, **required})
    return {"oneOf": schemas}


@dataclass(frozen=True)
class LossSection:
    """Section ``objective`` of ``library: torch``: a loss of `idealrank.training.torch` and its
    options.
    """

    loss: str = next(iter(LOSSES))  # Name of the class
    # Its options, as they were given; of a `TrainingConfig` with the convention
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, section: Section) -> "LossSection":
        """Read the section."""
        loss = section.choice("loss", tuple(LOSSES))
        values = values_of(_keys_of_loss(loss), section, known=("loss",))
        options = {name: values[name] for name in section.given if name in values}
        if "branching" in options and options["branching"] < 2 * options.get("cutoff", _MOST_COUNT):
            sizes = f"{options['branching']} and cutoff {options.get('cutoff')}"
            raise section.error("branching", sizes, "a cutoff of at most half the branching")
        return cls(loss, options)

    @property
    def cutoff(self) -> int | None:
        """The 10 of nDCG@10; None for whole lists."""
        cutoff: int | None = self.options.get("cutoff")
        return cutoff

    @property
    def takes_gains(self) -> bool:
        """True if labels are grades with gains or shares, so that none may be negative."""
        return "gain" in LOSSES[self.loss] or self.loss == "SoftmaxLoss"

    @property
    def takes_weighted_clicks(self) -> bool:
        """True if the loss of clicks by inverse propensities is that of all relevant documents, in
        the mean.
        """
        return self.loss == "SoftmaxLoss" and self.options.get("labels") == "raw"

    def with_convention(self, convention: str) -> dict[str, Any]:
        """Return the options of the loss, with the evaluation's convention where they name none."""
        if "convention" not in LOSSES[self.loss] or "convention" in self.options:
            return dict(self.options)
        return {**self.options, "convention": convention}
