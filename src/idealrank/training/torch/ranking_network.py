"""A neural ranker for rows of features: a multi-layer perceptron that scores each document alone,
fitted to a loss over lists.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from idealrank._files import write_bytes
from idealrank._sections import Section
from idealrank.data.types import FloatArray
from idealrank.errors import InputError, OptionError
from idealrank.io.formats.feature_rows import FeatureRows
from idealrank.training.neural_configuration import FINITE, IN_FLOAT32, NetworkSection
from idealrank.training.torch.tensors import ListLoss, torch

_FORMAT = "idealrank ranking network 1"
_ROWS = 1 << 14  # scored at a time; the same rows in the same blocks have the same bits
_MOST_WEIGHTS = 100_000_000  # of a network: 400 MB
_ACTIVATIONS = {
    "relu": torch.nn.ReLU,
    "leaky-relu": torch.nn.LeakyReLU,
    "elu": torch.nn.ELU,
    "gelu": torch.nn.GELU,
    "silu": torch.nn.SiLU,
    "tanh": torch.nn.Tanh,
    "sigmoid": torch.nn.Sigmoid,
}

# Takes an epoch and its scores by part of the data; returns whether to keep the weights of the
# epoch, and whether to stop
AfterEpoch = Callable[[int, Mapping[str, FloatArray]], tuple[bool, bool]]


class RankingNetwork(torch.nn.Module):
    """A multi-layer perceptron over the features of a document, with the transform of its features.

    Parameters
    ----------
    n_features : int
        Features of a document.
    shape : NetworkSection
        Layers and transform.
    names : sequence of str
        Names of the features, if they have any.

    Examples
    --------
    >>> network = RankingNetwork(3, NetworkSection(hidden=(4,)))
    >>> network.layers
    Sequential(
      (0): Linear(in_features=3, out_features=4, bias=True)
      (1): ReLU()
      (2): Linear(in_features=4, out_features=1, bias=True)
    )
    >>> network.score(np.ones((5, 3))).shape
    (5,)
    """

    def __init__(
        self, n_features: int, shape: NetworkSection, names: "tuple[str, ...]" = ()
    ) -> None:
        super().__init__()
        self.shape = shape
        self.names = tuple(names)
        _refuse_large(n_features, shape)
        layers: list[torch.nn.Module] = []
        width = n_features
        for units in shape.hidden:
            layers.append(torch.nn.Linear(width, units))
            if shape.normalisation == "layer":
                layers.append(torch.nn.LayerNorm(units))
            elif shape.normalisation == "batch":
                layers.append(torch.nn.BatchNorm1d(units))
            layers.append(_ACTIVATIONS[shape.activation]())
            if shape.dropout:
                layers.append(torch.nn.Dropout(shape.dropout))
            width = units
        self.layers = torch.nn.Sequential(*layers, torch.nn.Linear(width, 1))
        self.register_buffer("centre", torch.zeros(n_features, dtype=torch.float64))
        self.register_buffer("scale", torch.ones(n_features, dtype=torch.float64))

    def forward(self, features: "torch.Tensor") -> "torch.Tensor":
        """Return the score of each row, shape (...), of features of shape (..., n_features)."""
        scores: torch.Tensor = self.layers(self.transformed(features)).squeeze(-1)
        return scores

    def transformed(self, features: "torch.Tensor") -> "torch.Tensor":
        """Return the features that the first layer takes, in float32."""
        return ((self._logarithm(features.double()) - self.centre) / self.scale).float()

    def standardise(self, features: FloatArray) -> None:
        """Take mean and standard deviation from these rows, if the transform asks for it; a
        constant feature becomes 0.
        """
        if "standardise" not in self.shape.transform or not len(features):
            return
        rows = self._logarithm(torch.from_numpy(np.ascontiguousarray(features, np.float64)))
        # squares of the largest numbers overflow
        largest = rows.abs().amax(0).clamp(min=torch.finfo(torch.float64).tiny)
        mean = (rows / largest).mean(0)
        spread = (rows / largest).std(0, correction=0)
        constant = rows.amax(0) == rows.amin(0)
        self.centre = torch.where(constant, rows[0], mean * largest)
        self.scale = torch.where(
            constant | (spread == 0), torch.ones_like(spread), spread * largest
        )

    def _logarithm(self, features: "torch.Tensor") -> "torch.Tensor":
        if self.shape.transform.startswith("log1p"):
            return features.sign() * features.abs().log1p()
        return features

    def score(self, features: FloatArray) -> FloatArray:
        """Return the scores of rows.

        Parameters
        ----------
        features : float64 array, shape (n, n_features)

        Returns
        -------
        float64 array, shape (n,)
        """
        with _threads(self.shape.threads):
            return self.score_inputs(
                self.transformed(torch.from_numpy(np.ascontiguousarray(features, np.float64)))
            )

    def score_inputs(self, inputs: "torch.Tensor") -> FloatArray:
        """Return the scores of features that are transformed already, in blocks of rows."""
        was_training = self.training
        self.eval()
        with torch.no_grad():
            blocks = [self.layers(block).squeeze(-1) for block in inputs.split(_ROWS)]
        self.train(was_training)
        scores: FloatArray = torch.cat(blocks).double().numpy() if blocks else np.zeros(0)
        return scores

    def save(self, path: "str | Path") -> None:
        """Write the network: its weights, and the layers, transform and names of features that are
        needed to load it.

        Raises
        ------
        InputError
            The file cannot be written.
        """
        content = {
            "format": _FORMAT,
            "features": self.centre.numel(),
            "names": list(self.names),
            "shape": asdict(self.shape) | {"hidden": list(self.shape.hidden)},
            "state": self.state_dict(),
        }
        buffer = BytesIO()  # a file would enter its name
        torch.save(content, buffer)
        write_bytes([buffer.getvalue()], str(path))

    @classmethod
    def load(cls, path: "str | Path") -> "RankingNetwork":
        """Read a network that `save` wrote. No code of the file is run (``weights_only=True``).

        Raises
        ------
        InputError
            The file cannot be read, or is no such network.

        Examples
        --------
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "model.pt")
        >>> network = RankingNetwork(3, NetworkSection(hidden=(4,)))
        >>> network.save(path)
        >>> rows = np.arange(6.0).reshape(2, 3)
        >>> bool((RankingNetwork.load(path).score(rows) == network.score(rows)).all())
        True
        """
        try:
            content = torch.load(path, map_location="cpu", weights_only=True)
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
        except Exception:  # noqa: BLE001  (a changed byte makes its reader fail in any way)
            content = None
        expected = "expected the model.pt of `idealrank train` with `library: torch`"
        if not isinstance(content, dict) or content.get("format") != _FORMAT:
            raise InputError(f"{path}: found no ranking network, {expected}")
        try:
            shape = NetworkSection.of(Section(content["shape"], str(path), "shape"))
            features = content["features"]
            names = content["names"]
            state = content["state"]
            _refuse_names(features, names, state)
            network = cls(features, shape, tuple(names))
            _refuse_weights(state, network.state_dict())
            network.load_state_dict(state)
        except (InputError, OptionError) as error:
            message = str(error).removeprefix(f"{path}: ")
            raise InputError(f"{path}: {message}") from None
        except (
            RuntimeError,
            LookupError,
            TypeError,
            ValueError,
            AttributeError,
            OverflowError,
        ) as error:
            message = next(iter(str(error).splitlines()), type(error).__name__)
            raise InputError(f"{path}: found a damaged network ({message}), {expected}") from None
        network.eval()
        return network


def fit_network(
    shape: NetworkSection,
    loss: ListLoss,
    parts: Mapping[str, FeatureRows],
    *,
    seed: int,
    epochs: int,
    step: Callable[[int], Any],
    after: AfterEpoch,
) -> RankingNetwork:
    """Fit a network to the loss on ``train``, and score every part after each epoch.

    The seed alone decides weights, order of the queries and dropout, and PyTorch's own generator is
    left as it was.
    """
    train = parts["train"]
    if not train.features.shape[1]:
        raise InputError(
            f"{train.path}: found no features, expected at least one; a network scores documents "
            "by them"
        )
    with _threads(shape.threads), torch.random.fork_rng(devices=[]), _enough_memory():
        torch.manual_seed(seed)
        network = RankingNetwork(train.features.shape[1], shape, train.names)
        for rows in parts.values():
            rows.require(np.isfinite(rows.features), FINITE)
        network.standardise(train.features)
        inputs = {
            name: network.transformed(torch.from_numpy(np.ascontiguousarray(rows.features)))
            for name, rows in parts.items()
        }
        for name, rows in parts.items():
            rows.require(np.isfinite(inputs[name].numpy()), IN_FLOAT32)

        labels = torch.from_numpy(train.labels / train.beside.get("propensity", 1.0)).float()
        offsets = torch.from_numpy(np.ascontiguousarray(train.offsets))
        optimiser_class = torch.optim.Adam if shape.optimiser == "adam" else torch.optim.AdamW
        optimiser = optimiser_class(
            network.parameters(), lr=shape.learning_rate, weight_decay=shape.weight_decay
        )

        kept_weights: dict[str, torch.Tensor] = {}
        for epoch in range(1, epochs + 1):
            network.train()
            for queries in torch.randperm(len(train.queries)).split(shape.batch):
                step(epoch)
                rows, mask = _batch(offsets, queries)
                if rows.numel() < 2:  # one document has no order, and no spread for a normalisation
                    continue
                empty = torch.zeros(mask.shape)
                row_scores = network.layers(inputs["train"][rows]).squeeze(-1)
                scores = empty.masked_scatter(mask, row_scores)
                grades = empty.masked_scatter(mask, labels[rows])
                _descend(optimiser, loss(scores, grades, mask), epoch)
            epoch_scores = {name: network.score_inputs(rows) for name, rows in inputs.items()}
            keep, stop = after(epoch, epoch_scores)
            if keep:
                state = network.state_dict()
                kept_weights = {name: tensor.clone() for name, tensor in state.items()}
            if stop:
                break
        network.load_state_dict(kept_weights)
    network.eval()
    return network


def _descend(optimiser: "torch.optim.Optimizer", loss: "torch.Tensor", epoch: int) -> None:
    """Take one step down the gradient of a loss, which must be finite."""
    if not bool(torch.isfinite(loss)):
        expected = (
            "expected a finite number; lower model.params.learning_rate, or make labels smaller"
        )
        raise InputError(f"PyTorch: the loss of epoch {epoch}: found {loss.item()}, {expected}")
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()


def _batch(offsets: "torch.Tensor", queries: "torch.Tensor") -> "tuple[torch.Tensor, torch.Tensor]":
    """Rows of some queries, one query after another, shape (n,); and their places in lists that are
    padded, shape (queries, longest).
    """
    starts = offsets[queries]
    sizes = offsets[queries + 1] - starts
    place = torch.arange(int(sizes.max()))
    mask = place < sizes[:, None]
    return (starts[:, None] + place)[mask], mask


def _refuse_names(features: Any, names: Any, state: Mapping[str, Any]) -> None:
    """Refuse numbers of features that disagree, before memory is taken for them."""
    if type(features) is not int or features < 1 or state["centre"].numel() != features:
        raise ValueError(f"features: {features!r} of {state['centre'].numel()}")
    if (
        not isinstance(names, list)
        or not all(isinstance(name, str) for name in names)
        or len(names) not in (0, features)
    ):
        raise ValueError(f"names: expected none, or one for each of {features} features")


def _refuse_weights(state: Mapping[str, Any], expected: Mapping[str, "torch.Tensor"]) -> None:
    """Refuse weights of other types, which loading would convert, and numbers that no network
    has.
    """
    for name, tensor in state.items():
        if name in expected and tensor.dtype != expected[name].dtype:
            raise ValueError(f"{name}: {tensor.dtype} instead of {expected[name].dtype}")
        if not bool(torch.isfinite(tensor).all()):
            raise ValueError(f"{name}: not finite")
        not_above_0 = name == "scale" and not bool((tensor > 0).all())
        below_0 = name.endswith("running_var") and bool((tensor < 0).any())
        if not_above_0 or below_0:
            raise ValueError(f"{name}: not above 0")


def _refuse_large(n_features: int, shape: NetworkSection) -> None:
    widths = [n_features, *shape.hidden, 1]
    weights = sum(n_inputs * n_outputs for n_inputs, n_outputs in pairwise(widths))
    if weights > _MOST_WEIGHTS:
        size = f"{weights:,} weights of {n_features} features and layers of {list(shape.hidden)}"
        raise InputError(
            f"model.params.hidden: found {size}, expected at most {_MOST_WEIGHTS:,}; make the "
            "layers smaller"
        )


@contextmanager
def _threads(threads: int) -> Iterator[None]:
    """Set PyTorch's number of threads, on which the order of its sums depends, for a while."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def _enough_memory() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        if "allocate" not in str(error):
            raise
        expected = (
            "expected a network and lists that fit; make model.params.hidden or batch smaller, or "
            "objective.pairs_at_once"
        )
        raise InputError(f"PyTorch: found too little memory, {expected}") from None
