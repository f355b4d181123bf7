"""Configuration of a neural ranker: the network with its optimiser, and the loss with its options,
as plain values without PyTorch.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from idealrank._sections import Section
from idealrank.conventions import Convention
from idealrank.errors import OptionError

# Limits of a network, and of every other whole number: more are taken for a mistake
_MOST_LAYERS, _MOST_UNITS, _MOST_COUNT = 32, 8192, 2**31 - 1
_MOST_REPEATED = 10_000  # Sinkhorn steps and drawn orders, each as long as the loss without it
_ACTIVATIONS = ("relu", "leaky-relu", "elu", "gelu", "silu", "tanh", "sigmoid")
_SWITCHES = ("gain", "discount", "no_relevant")
_NDCG = ("cutoff", *_SWITCHES, "convention", "temperature")
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

FINITE = "expected a finite number for PyTorch; correct it, or fill it in"
IN_FLOAT32 = "expected a number that float32 holds; set model.params.transform to log1p"
"""End of the messages that refuse a feature."""

_BY_PAIRS = ("RankNetLoss", "PairwiseLogisticLoss", "LambdaLoss")
_COUNTS = {"cutoff": 1, "sinkhorn": 0, "samples": 0, "branching": 2, _PAIRS: 1}


@dataclass(frozen=True, kw_only=True)
class NetworkSection:
    """Section ``model.params`` of ``library: torch``: a multi-layer perceptron and how it is
    fitted.
    """

    hidden: tuple[int, ...] = (64, 32)  # Units of each hidden layer; empty for a linear model
    activation: str = "relu"  # Function after each hidden layer
    dropout: float = 0.0  # Share of the units of each hidden layer that a step leaves out
    normalisation: str = "none"  # ``none``, ``layer`` or ``batch``, before each activation
    # Of the features: ``standardise`` by mean and standard deviation of the training rows,
    # ``log1p`` (sign times log(1 + absolute value)), ``log1p-standardise`` or ``none``
    transform: str = "standardise"
    optimiser: str = "adamw"  # ``adamw`` or ``adam``
    # learning_rate, weight_decay: Of the optimiser
    learning_rate: float = 0.001
    weight_decay: float = 0.0
    batch: int = 32  # Queries of a step
    threads: int = 1  # Threads of PyTorch; the same number gives the same model

    @classmethod
    def of(cls, section: Section) -> "NetworkSection":
        """Read the section."""
        section.refuse_unknown(*cls.__dataclass_fields__)
        hidden = (
            tuple(section.numbers("hidden", least=1))
            if section.given.get("hidden") is not None
            else cls.hidden
        )
        if len(hidden) > _MOST_LAYERS or max(hidden, default=1) > _MOST_UNITS:
            raise section.error(
                "hidden",
                str(list(hidden)),
                f"at most {_MOST_LAYERS} layers of at most {_MOST_UNITS:,} units",
            )
        return cls(
            hidden=hidden,
            activation=section.choice("activation", _ACTIVATIONS),
            dropout=section.amount("dropout", cls.dropout, most=0.95),
            normalisation=section.choice("normalisation", ("none", "layer", "batch")),
            transform=section.choice(
                "transform", ("standardise", "log1p", "log1p-standardise", "none")
            ),
            optimiser=section.choice("optimiser", ("adamw", "adam")),
            learning_rate=section.amount(
                "learning_rate", cls.learning_rate, least=1e-12, most=1000
            ),
            weight_decay=section.amount("weight_decay", cls.weight_decay, most=1000),
            batch=_number(section, "batch", cls.batch),
            threads=_number(section, "threads", cls.threads, most=1024),
        )


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
        section.refuse_unknown("loss", *LOSSES[loss], "reduction")
        options = {
            name: _option(section, loss, name)
            for name in section.given
            if name != "loss" and section.has(name)
        }
        if "branching" in options and options["branching"] < 2 * options.get("cutoff", _MOST_COUNT):
            sizes = f"{options['branching']} and cutoff {options.get('cutoff')}"
            raise section.error("branching", sizes, "a cutoff of at most half the branching")
        try:
            switches = {name: options[name] for name in _SWITCHES if name in options}
            Convention.of(options.get("convention", "standard"), **switches)
        except (OptionError, TypeError, ValueError) as error:
            raise OptionError(f"{section.path}: {section.name}: {error}") from None
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

    def under(self, convention: str) -> dict[str, Any]:
        """Return the options of the loss, with the evaluation's convention where they name none."""
        default = {"convention": convention} if "convention" in LOSSES[self.loss] else {}
        return {**self.options, **default, **self.options}


def _number(
    section: Section, key: str, default: int, *, least: int = 1, most: int = _MOST_COUNT
) -> int:
    number = section.number(key, default, least=least)
    if number > most:
        raise section.error(key, str(number), f"a whole number from {least} to {most:,}")
    return number


def _option(section: Section, loss: str, name: str) -> Any:
    choices = CHOICES.get(f"{loss}.{name}", CHOICES.get(name))
    if choices is not None:
        if name == "reduction" and loss in _BY_PAIRS:
            choices = (*choices, "pair-mean")
        return section.choice(name, choices)
    if name in _COUNTS:
        most = _MOST_REPEATED if name in ("sinkhorn", "samples") else _MOST_COUNT
        return _number(section, name, 1, least=_COUNTS[name], most=most)
    if name == "convention":
        return section.text(name, None)
    if name in _SWITCHES:
        return section.given[name]
    return section.amount(name, 1.0, least=1e-9, most=1e9)
