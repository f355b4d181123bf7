"""Losses of `idealrank.training.torch` beside sentence-transformers' own: values, time and
memory of each.

``python experiments/torch_losses.py [--lists 8] [--documents 100 1000] [--repeats 5]`` needs
PyTorch and sentence-transformers. A model that looks its scores up takes the place of a cross
encoder, so that nothing but the loss is measured: forward, and backward to the scores. Memory is
the peak of the process over its size before, on Linux.
"""

import argparse
import ctypes
import gc
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from sentence_transformers.cross_encoder import losses as theirs

from idealrank.training import torch as losses

Maker = Callable[["Scores"], torch.nn.Module]
MMAP_THRESHOLD = -3  # of mallopt


class Scores(torch.nn.Module):
    """A cross encoder whose score of a document is a parameter; the text of a document is its
    number.
    """

    num_labels = 1
    device = torch.device("cpu")

    def __init__(self, values: torch.Tensor) -> None:
        super().__init__()
        self.values = torch.nn.Parameter(values)

    def preprocess(self, pairs: Sequence[tuple[str, str]], **_: Any) -> dict[str, torch.Tensor]:
        return {"numbers": torch.tensor([int(document) for _, document in pairs])}

    def forward(self, tokens: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        return {"scores": self.values[tokens["numbers"]]}


def ours(loss: losses.ListLoss) -> Maker:
    return lambda model: losses.CrossEncoderLoss(model, loss, mini_batch_size=1 << 20)


def of_lambda(scheme: type, name: str, k: int | None) -> tuple[Maker, Maker]:
    own = losses.LambdaLoss(name, cutoff=k, gain="exp2", reduction="pair-mean")
    return lambda model: theirs.LambdaLoss(
        model, weighting_scheme=scheme(), k=k, mini_batch_size=-1
    ), ours(own)


# By name: the loss of sentence-transformers and ours, of one definition.
PAIRS: dict[str, tuple[Maker, Maker]] = {
    "LambdaLoss, NDCG-Loss2++ @10": of_lambda(theirs.NDCGLoss2PPScheme, "ndcg-loss2++", 10),
    "LambdaLoss, NDCG-Loss2++": of_lambda(theirs.NDCGLoss2PPScheme, "ndcg-loss2++", None),
    "LambdaLoss, LambdaRank": of_lambda(theirs.LambdaRankScheme, "lambdarank", None),
    "RankNet": (
        lambda model: theirs.RankNetLoss(model, mini_batch_size=-1),
        ours(losses.RankNetLoss(log="binary", reduction="pair-mean")),
    ),
    "ListNet": (
        lambda model: theirs.ListNetLoss(model, mini_batch_size=-1),
        ours(losses.ListNetLoss()),
    ),
    "ListMLE": (
        lambda model: theirs.ListMLELoss(model, mini_batch_size=-1),
        ours(losses.ListMLELoss(order="input")),
    ),
    "p-ListMLE": (
        lambda model: theirs.PListMLELoss(model, mini_batch_size=-1),
        ours(losses.PListMLELoss(order="input")),
    ),
}


@dataclass(frozen=True)
class Measured:
    """One loss on one batch: its value, the gradient of the scores, processor seconds of a step,
    and bytes of memory at the peak.
    """

    value: float
    gradient: torch.Tensor
    seconds: float
    peak: int


@dataclass(frozen=True)
class Row:
    """Both losses of a name on lists of one length."""

    name: str
    documents: int
    theirs: Measured
    ours: Measured

    @property
    def difference(self) -> float:
        """Of the values, relative."""
        return abs(self.ours.value - self.theirs.value) / abs(self.theirs.value)

    @property
    def difference_of_gradients(self) -> float:
        """The largest, relative to the largest gradient."""
        return float(
            (self.ours.gradient - self.theirs.gradient).abs().max()
            / self.theirs.gradient.abs().max()
        )


def batch(lists: int, documents: int) -> tuple[torch.Tensor, list[Any], list[torch.Tensor]]:
    drawn = torch.Generator().manual_seed(1)
    values = torch.randn(lists * documents, generator=drawn)
    labels = torch.randint(0, 4, (lists, documents), generator=drawn).float()
    numbers = [
        [str(one) for one in range(at * documents, (at + 1) * documents)] for at in range(lists)
    ]
    return values, [[str(at) for at in range(lists)], numbers], list(labels)


def return_memory_at_once() -> None:
    """Have glibc give tensors back to the system when they are freed, so that the size before a
    step holds none of an earlier one.
    """
    libc = ctypes.CDLL(None)
    libc.mallopt(MMAP_THRESHOLD, 1 << 16)
    libc.malloc_trim(0)


def keep_memory() -> None:
    """Have glibc keep freed memory for the next tensor: faster, and what it does by itself after a
    few steps.
    """
    ctypes.CDLL(None).mallopt(MMAP_THRESHOLD, 1 << 25)


def _memory(key: str) -> int:
    line = next(
        line
        for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        if line.startswith(key)
    )
    return 1024 * int(line.split()[1])


def measured(make: Maker, lists: int, documents: int, repeats: int) -> Measured:
    values, inputs, labels = batch(lists, documents)
    model = Scores(values)
    loss = make(model)

    def step() -> float:
        model.zero_grad()
        value = loss(inputs, [grades.clone() for grades in labels])
        value.backward()
        return float(value.detach())

    value = step()
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        step()
        seconds.append(time.process_time() - start)
    return_memory_at_once()
    gc.collect()
    # the peak is that of what follows
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
    before = _memory("VmRSS")
    step()
    peak = max(_memory("VmHWM") - before, 0)
    keep_memory()
    assert model.values.grad is not None
    return Measured(value, model.values.grad.clone(), statistics.median(seconds), peak)


def rows(lists: int, documents: Sequence[int], repeats: int) -> Iterator[Row]:
    for length in documents:
        for name, (one, other) in PAIRS.items():
            yield Row(
                name,
                length,
                measured(one, lists, length, repeats),
                measured(other, lists, length, repeats),
            )


def main(argv: Sequence[str] | None = None) -> list[Row]:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lists", type=int, default=8)
    parser.add_argument("--documents", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--repeats", type=int, default=5)
    chosen = parser.parse_args(argv)
    torch.set_num_threads(1)
    keep_memory()
    print(
        f"{chosen.lists} lists, one thread: ms of processor and MB of a step, of "
        f"sentence-transformers and of idealrank;"
    )
    print("relative difference of values and gradients\n")
    print(
        f"{'':30}{'documents':>9}{'ms':>10}{'':>10}{'MB':>8}{'':>8}{'values':>10}{'gradients':>11}"
    )
    found = []
    for row in rows(chosen.lists, chosen.documents, chosen.repeats):
        times = "".join(f"{1e3 * one.seconds:10.1f}" for one in (row.theirs, row.ours))
        peaks = "".join(f"{one.peak / 1e6:8.0f}" for one in (row.theirs, row.ours))
        print(
            f"{row.name:30}{row.documents:9,}{times}{peaks}{row.difference:10.0e}{row.difference_of_gradients:11.0e}",
            flush=True,
        )
        found.append(row)
    return found


if __name__ == "__main__":
    main()
