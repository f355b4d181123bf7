"""Values, gradients and a training of `CrossEncoderLoss` beside the listwise losses of
sentence-transformers, on a tiny model made here.
"""

from pathlib import Path
from typing import Any

import pytest
import torch

from idealrank.errors import IdealrankError
from idealrank.training import torch as losses

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("ignore")]

WORDS = [
    "red",
    "green",
    "blue",
    "warm",
    "cold",
    "dry",
    "wet",
    "north",
    "south",
    "east",
    "west",
    "river",
    "hill",
    "road",
    "town",
    "field",
]
QUERIES = ["red river", "cold hill town", "west road"]
DOCUMENTS = [
    ["red river north", "blue hill", "river road east town field", "dry"],
    ["cold town", "warm field wet river"],
    ["west", "road west town", "south east hill dry", "green", "field road road west north"],
]
LABELS = [[3.0, 0.0, 1.0, 0.0], [2.0, 0.0], [1.0, 3.0, 0.0, 0.0, 2.0]]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A cross encoder of two small layers, whose words are those above; it draws nothing at
    random.
    """
    from sentence_transformers import CrossEncoder
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    folder = tmp_path_factory.mktemp("model")
    Path(folder, "vocab.txt").write_text(
        "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]), encoding="utf-8"
    )
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=5 + len(WORDS),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        num_labels=1,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.5,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    return CrossEncoder(str(folder), num_labels=1, device="cpu")


def pairs() -> dict[str, tuple[Any, losses.ListLoss]]:
    """Their loss and ours, of one definition."""
    from sentence_transformers.cross_encoder import losses as theirs

    by_name = {
        "none": theirs.NoWeightingScheme,
        "ndcg-loss1": theirs.NDCGLoss1Scheme,
        "ndcg-loss2": theirs.NDCGLoss2Scheme,
        "lambdarank": theirs.LambdaRankScheme,
        "ndcg-loss2++": theirs.NDCGLoss2PPScheme,
    }
    found = {
        f"{name} {k}": (
            lambda m, scheme=scheme, k=k: theirs.LambdaLoss(m, weighting_scheme=scheme(), k=k),
            losses.LambdaLoss(name, cutoff=k, gain="exp2", reduction="pair-mean"),
        )
        for name, scheme in by_name.items()
        for k in (None, 2)
    }
    return found | {
        "RankNet": (theirs.RankNetLoss, losses.RankNetLoss(log="binary", reduction="pair-mean")),
        "ListNet": (theirs.ListNetLoss, losses.ListNetLoss()),
        "ListMLE": (theirs.ListMLELoss, losses.ListMLELoss(order="input")),
        "ListMLE by label": (
            lambda m: theirs.ListMLELoss(m, respect_input_order=False),
            losses.ListMLELoss(),
        ),
        "p-ListMLE": (theirs.PListMLELoss, losses.PListMLELoss(order="input")),
        "p-ListMLE by label": (
            lambda m: theirs.PListMLELoss(m, respect_input_order=False),
            losses.PListMLELoss(),
        ),
    }


NAMES = [
    *(
        f"{name} {k}"
        for name in ("none", "ndcg-loss1", "ndcg-loss2", "lambdarank", "ndcg-loss2++")
        for k in (None, 2)
    ),
    "RankNet",
    "ListNet",
    "ListMLE",
    "ListMLE by label",
    "p-ListMLE",
    "p-ListMLE by label",
]


def outcome(model: Any, loss: torch.nn.Module) -> tuple[float, torch.Tensor]:
    model.zero_grad()
    # Equal labels come in no order of their own: where labels order, these lists have theirs apart.
    value = loss([QUERIES, DOCUMENTS], [torch.tensor(labels) for labels in LABELS])
    value.backward()
    return float(value.detach()), torch.cat(
        [p.grad.flatten() for p in model.parameters() if p.grad is not None]
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_value_and_the_gradient_are_those_of_sentence_transformers(
    model: Any, name: str
) -> None:
    theirs, ours = pairs()[name]
    if "by label" in name:
        ours.ties = "input"
    wanted, gradient = outcome(model, theirs(model))
    found, ours_gradient = outcome(model, losses.CrossEncoderLoss(model, ours, mini_batch_size=3))
    # float32 throughout, with other mini-batches and so other sums inside the model.
    assert found == pytest.approx(wanted, rel=2e-5)
    assert torch.allclose(ours_gradient, gradient, rtol=1e-3, atol=1e-5)


def test_every_pair_of_losses_is_compared() -> None:
    assert set(pairs()) == set(NAMES)


def test_a_trainer_lowers_the_loss_and_raises_ndcg(model: Any, tmp_path: Path) -> None:
    from datasets import Dataset
    from sentence_transformers.cross_encoder import (
        CrossEncoderTrainer,
        CrossEncoderTrainingArguments,
    )

    rows = Dataset.from_dict({"query": QUERIES, "docs": DOCUMENTS, "labels": LABELS})
    loss = losses.CrossEncoderLoss(model, losses.ApproxNDCGLoss(temperature=0.1))
    inputs = ([QUERIES, DOCUMENTS], [torch.tensor(labels) for labels in LABELS])
    before = float(loss(*inputs).detach())
    arguments = CrossEncoderTrainingArguments(
        output_dir=str(tmp_path),
        num_train_epochs=15,
        per_device_train_batch_size=3,
        learning_rate=5e-3,
        report_to="none",
        save_strategy="no",
        disable_tqdm=True,
        use_cpu=True,
        seed=1,
    )
    CrossEncoderTrainer(model=model, args=arguments, train_dataset=rows, loss=loss).train()
    assert float(loss(*inputs).detach()) < before / 2


def test_wrong_inputs_are_refused_with_what_is_expected(model: Any) -> None:
    loss = losses.CrossEncoderLoss(model, losses.ListNetLoss())
    for inputs, labels in (
        ([QUERIES, DOCUMENTS], torch.zeros(3)),
        ([QUERIES], [torch.zeros(4)] * 3),
        ([QUERIES, DOCUMENTS], [torch.zeros(1)] * 3),
    ):
        with pytest.raises(IdealrankError, match="expected"):
            loss(inputs, labels)
    with pytest.raises(IdealrankError, match="expected a loss of idealrank"):
        losses.CrossEncoderLoss(model, torch.nn.MSELoss())
