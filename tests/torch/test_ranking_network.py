"""The neural ranker of `idealrank train`: equal to one that is trained by hand in plain PyTorch,
and measured as `evaluate` measures.
"""

import inspect
import json
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import idealrank as ir
from idealrank.io.formats.feature_rows import FeatureRows
from idealrank.training import torch as losses
from idealrank.training.configuration import TrainingConfig
from idealrank.training.neural_configuration import CHOICES, LOSSES, NetworkSection
from idealrank.training.torch import LambdaLoss, RankingNetwork, SoftmaxLoss
from idealrank.training.torch.ranking_network import fit_network
from idealrank.training.training_checks import check_parts
from idealrank.training.training_folder import TrainedSystem, read_parts, train
from tests.training.test_train import rows

pytestmark = pytest.mark.peers

Given = dict[str, Any]


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """As the configuration's default: the order of sums depends on it."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, seed in (("train", 1), ("valid", 2), ("test", 3)):
        (tmp_path / f"{name}.svm").write_text(rows(30, seed, name), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def configured(
    objective: Given | None = None,
    data: Given | None = None,
    evaluation: Given | None = None,
    **given: Any,
) -> TrainingConfig:
    rounds, seed, output = given.pop("rounds", 4), given.pop("seed", 1), given.pop("output", "out")
    return TrainingConfig.of(
        {
            "data": {"train": "train.svm", "valid": "valid.svm", "test": "test.svm"} | (data or {}),
            "model": {
                "library": "torch",
                "rounds": rounds,
                "params": {"hidden": [8], "batch": 8} | given,
            },
            "objective": objective or {},
            "evaluation": evaluation or {},
            "seed": seed,
            "output": output,
        }
    )


def trained(config: TrainingConfig) -> TrainedSystem:
    parts = read_parts(config)
    check_parts(config, parts)
    (system,) = train(config, parts)
    return system


def by_hand(
    data: FeatureRows,
    normalisation: str,
    epochs: int,
    seed: int,
    batch: int,
    loss: Callable[..., torch.Tensor],
) -> torch.nn.Module:
    """Train the same network by PyTorch alone, which also pads the lists."""
    x = torch.tensor(data.features, dtype=torch.float32)
    y = torch.tensor(data.labels, dtype=torch.float32)
    torch.manual_seed(seed)
    norm: list[torch.nn.Module] = {
        "none": [],
        "layer": [torch.nn.LayerNorm(8)],
        "batch": [torch.nn.BatchNorm1d(8)],
    }[normalisation]
    network = torch.nn.Sequential(
        torch.nn.Linear(4, 8), *norm, torch.nn.ReLU(), torch.nn.Dropout(0.25), torch.nn.Linear(8, 1)
    )
    optimiser = torch.optim.AdamW(network.parameters(), lr=0.01, weight_decay=0.1)
    n = len(data.queries)
    for _ in range(epochs):
        order = torch.randperm(n).tolist()
        for begin in range(0, n, batch):
            lists = [
                torch.arange(int(data.offsets[query]), int(data.offsets[query + 1]))
                for query in order[begin : begin + batch]
            ]
            scores = network(x[torch.cat(lists)])[:, 0].split([len(one) for one in lists])
            pad = partial(torch.nn.utils.rnn.pad_sequence, batch_first=True)
            mask = pad([torch.ones(len(one), dtype=torch.bool) for one in lists])
            optimiser.zero_grad()
            loss(pad(list(scores)), pad([y[one] for one in lists]), mask).backward()
            optimiser.step()
    return network.eval()


@pytest.mark.parametrize("normalisation", ["none", "layer", "batch"])
def test_weights_are_those_of_a_network_trained_by_hand(folder: Path, normalisation: str) -> None:
    data = read_parts(configured())["train"]
    shape = NetworkSection(
        hidden=(8,),
        dropout=0.25,
        normalisation=normalisation,
        transform="none",
        learning_rate=0.01,
        weight_decay=0.1,
        batch=8,
    )
    found = fit_network(
        shape,
        SoftmaxLoss(),
        {"train": data},
        seed=5,
        epochs=3,
        step=lambda _: None,
        after=lambda _, scores: (bool(scores), False),
    )
    with torch.random.fork_rng(devices=[]):
        wanted = by_hand(data, normalisation, 3, 5, 8, SoftmaxLoss())
    assert found.layers.state_dict().keys() == wanted.state_dict().keys()
    for name, tensor in found.layers.state_dict().items():
        torch.testing.assert_close(tensor, wanted.state_dict()[name], rtol=0, atol=0)


def cross_entropy(scores: torch.Tensor, labels: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Softmax cross entropy of PyTorch itself, over lists with a label above 0."""
    relevant = labels.sum(-1) > 0
    shares = (labels / labels.sum(-1, keepdim=True).clamp(min=1))[relevant]
    return torch.nn.functional.cross_entropy(scores.masked_fill(~mask, -1e9)[relevant], shares)


def test_weights_are_those_of_pytorchs_own_cross_entropy(folder: Path) -> None:
    data = read_parts(configured())["train"]
    shape = NetworkSection(
        hidden=(8,), dropout=0.25, transform="none", learning_rate=0.01, weight_decay=0.1, batch=8
    )
    found = fit_network(
        shape,
        SoftmaxLoss(),
        {"train": data},
        seed=5,
        epochs=3,
        step=lambda _: None,
        after=lambda *_: (True, False),
    )
    with torch.random.fork_rng(devices=[]):
        wanted = by_hand(data, "none", 3, 5, 8, cross_entropy)
    for name, tensor in found.layers.state_dict().items():
        # a shift of all scores has the gradient 0, of which Adam makes steps of rounding errors
        if name != "3.bias":
            torch.testing.assert_close(tensor, wanted.state_dict()[name], rtol=1e-3, atol=1e-5)


def test_the_value_of_each_epoch_is_that_of_evaluate_to_the_bit(folder: Path) -> None:
    config = configured(
        {"loss": "ApproxNDCGLoss", "cutoff": 5, "temperature": 0.1},
        evaluation={"measures": ["nDCG@5", "AP"], "early_stopping": 3},
        rounds=40,
        learning_rate=0.02,
        dropout=0.2,
        normalisation="layer",
    )
    system = trained(config)
    curves = json.loads(Path("out/curve.json").read_text())["curves"]
    assert len(curves["valid"]["nDCG@5"]) < 40
    assert np.argmax(curves["valid"]["nDCG@5"]) + 1 == system.rounds
    for part in ("train", "valid"):
        again = ir.evaluate(f"{part}.svm", f"out/{part}.run", ["nDCG@5", "AP"], "standard").mean()
        assert {text: values[system.rounds - 1] for text, values in curves[part].items()} == dict(
            again
        )
    scores = np.loadtxt("out/test.scores")
    loaded = RankingNetwork.load("out/model.pt")
    np.testing.assert_array_equal(loaded.score(read_parts(config)["test"].features), scores)
    names = {path.name for path in system.files}
    assert names >= {
        "model.pt",
        "config.json",
        "evaluation.json",
        "per-query.csv",
        "curve.html",
        "curve.json",
        "test.run",
        "test.scores",
    }
    assert {path.name for path in Path("out").iterdir()} == names
    assert system.intervals()["nDCG@5"].interval[0] < system.evaluations["test"].mean()["nDCG@5"]


def test_a_trained_network_ranks_better_than_an_untrained_one(folder: Path) -> None:
    config = configured({"loss": "LambdaLoss"}, rounds=30, learning_rate=0.01)
    system = trained(config)
    torch.manual_seed(0)  # its first weights decide how well an untrained network ranks
    untrained = RankingNetwork(4, NetworkSection(hidden=(8,))).score(
        read_parts(config)["test"].features
    )
    data = read_parts(config)["test"]
    before = ir.evaluate(data.labels, untrained, "nDCG@10", group=data.group).mean()["nDCG@10"]
    assert system.evaluations["test"].mean()["nDCG@10"] > before + 0.1


@pytest.mark.parametrize("threads", [1, 2])
def test_a_seed_decides_every_bit_and_the_generator_and_threads_of_pytorch_are_left_alone(
    folder: Path, threads: int
) -> None:
    options: Given = {"dropout": 0.3, "normalisation": "batch", "threads": threads, "rounds": 3}
    objective = {"loss": "NeuralNDCGLoss", "samples": 3, "sinkhorn": 5}
    state, before = torch.get_rng_state(), torch.get_num_threads()
    files = []
    for name, seed in (("one", 3), ("two", 3), ("three", 4)):
        trained(configured(objective, seed=seed, output=name, **options))
        files.append(
            [Path(name, file).read_bytes() for file in ("model.pt", "test.run", "curve.json")]
        )
        torch.manual_seed(99)
    assert files[0] == files[1]
    assert files[0][0] != files[2][0]
    torch.set_rng_state(state)
    trained(configured(objective, output="four", **options))
    assert bool((torch.get_rng_state() == state).all())
    assert torch.get_num_threads() == before


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_trains_and_has_the_options_of_its_class(folder: Path, loss: str) -> None:
    kind = getattr(losses, loss)
    own = {
        name
        for base in kind.__mro__
        if "__init__" in vars(base)
        for name in inspect.signature(base.__init__).parameters
    }
    own -= {"self", "args", "kwargs", "options", "generator", "reduction"}
    if loss == "LinearNDCGLoss":
        own -= {"cutoff", "discount"}  # it refuses them
    assert set(LOSSES[loss]) == own
    trained(configured({"loss": loss}, rounds=2))
    assert Path("out/model.pt").is_file()


@pytest.mark.parametrize(
    ("loss", "option"),
    [(loss, one) for loss, many in LOSSES.items() for one in (*many, "reduction")],
)
def test_choices_and_ranges_are_those_of_the_loss(loss: str, option: str) -> None:
    kind = getattr(losses, loss)
    choices = CHOICES.get(f"{loss}.{option}", CHOICES.get(option))
    others: Given = {"cutoff": 3} if option == "branching" else {}
    if choices is not None:
        for choice in choices:
            kind(**{option: choice})
        with (
            pytest.raises(ir.OptionError, match="none")
            if option == "reduction"
            else pytest.raises(ir.OptionError) as refused
        ):
            kind(**{option: "no such"})
        listed = (
            str(refused.value).partition("expected ")[2].split(" | ")
            if option != "reduction"
            else []
        )
        assert option == "reduction" or set(listed) == set(choices)
    elif option not in ("gain", "discount", "no_relevant", "convention"):
        kind(
            **{
                option: 20
                if option in ("branching", "cutoff", "sinkhorn", "samples", "pairs_at_once")
                else 0.5
            },
            **others,
        )
        with pytest.raises(ir.OptionError):
            kind(**{option: -1}, **others)


def test_the_loss_has_the_options_of_the_configuration(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Given] = []

    class Kept(LambdaLoss):
        def __init__(self, **options: Any) -> None:
            seen.append(options)
            super().__init__(**options)

    monkeypatch.setattr(losses, "LambdaLoss", Kept)
    objective = {
        "loss": "LambdaLoss",
        "weighting": "lambdarank",
        "cutoff": 4,
        "sigma": 2,
        "gain": "exp2",
    }
    trained(configured(objective, evaluation={"convention": "lightgbm"}, rounds=1))
    assert seen == [
        {
            "weighting": "lambdarank",
            "cutoff": 4,
            "sigma": 2.0,
            "gain": "exp2",
            "convention": "lightgbm",
        }
    ]


@pytest.mark.parametrize(
    "activation", ["relu", "leaky-relu", "elu", "gelu", "silu", "tanh", "sigmoid"]
)
def test_every_activation_trains(folder: Path, activation: str) -> None:
    assert trained(configured(activation=activation, optimiser="adam", rounds=1)).rounds == 1


@pytest.mark.parametrize(
    ("transform", "wanted"),
    [
        ("none", lambda x: x),
        ("log1p", lambda x: np.sign(x) * np.log1p(abs(x))),
        ("standardise", lambda x: (x - x.mean(0)) / x.std(0)),
        (
            "log1p-standardise",
            lambda x: ((z := np.sign(x) * np.log1p(abs(x))) - z.mean(0)) / z.std(0),
        ),
    ],
)
def test_features_are_transformed_by_the_training_rows(
    transform: str, wanted: Callable[[Any], Any]
) -> None:
    table = np.random.default_rng(1).normal(size=(50, 4)) * [1, 10, 1e3, 1e-3]
    network = RankingNetwork(4, NetworkSection(transform=transform))
    network.standardise(table)
    np.testing.assert_allclose(
        network.transformed(torch.from_numpy(table)).numpy(), wanted(table), rtol=2e-6, atol=1e-6
    )


def test_scikit_learn_standardises_the_same() -> None:
    preprocessing = pytest.importorskip("sklearn.preprocessing")  # sentence-transformers brings it
    table = np.random.default_rng(2).normal(3, 5, size=(40, 3))
    table[:, 1] = 0.1  # a constant, whose computed spread is not 0
    network = RankingNetwork(3, NetworkSection())
    network.standardise(table)
    wanted = preprocessing.StandardScaler().fit_transform(table)
    wanted[:, 1] = 0
    np.testing.assert_allclose(
        network.transformed(torch.from_numpy(table)).numpy(), wanted, rtol=1e-6, atol=1e-6
    )


def test_the_largest_numbers_keep_their_order() -> None:
    table = np.array([[1e300], [2e300], [3e300]])
    network = RankingNetwork(1, NetworkSection())
    network.standardise(table)
    np.testing.assert_allclose(
        network.transformed(torch.from_numpy(table)).numpy()[:, 0],
        [-1.2247449, 0, 1.2247449],
        rtol=1e-6,
    )


@pytest.mark.parametrize(
    ("line", "given", "message"),
    [
        (
            "1 qid:x 1:nan\n",
            {},
            "train.svm: feature 1 of row 0: found nan, expected a finite number for PyTorch",
        ),
        (
            "1 qid:x 1:1 2:inf\n",
            {},
            "train.svm: feature 2 of row 0: found inf, expected a finite number for PyTorch",
        ),
        (
            "1 qid:x 1:1e300\n",
            {"transform": "none"},
            r"feature 1 of row 0: found 1e\+300, expected a number that float32 holds; set",
        ),
        (
            "",
            {"learning_rate": 1000, "transform": "none", "rounds": 60},
            "the loss of epoch .* expected a finite number; lower",
        ),
        (
            "1 qid:x 100000:1\n",
            {"hidden": [8000]},
            r"model.params.hidden: found 800,\d+,\d+ weights of 100001 features",
        ),
    ],
)
def test_what_a_network_cannot_learn_is_refused_with_its_place(
    folder: Path, line: str, given: Given, message: str
) -> None:
    objective: Given = {}
    if "learning_rate" in given:  # labels that overflow float32 as gains
        objective = {"loss": "ApproxNDCGLoss", "gain": "exp2"}
        text = Path("train.svm").read_text()
        Path("train.svm").write_text(f"200{text[1:]}")
    Path("train.svm").write_text(line + Path("train.svm").read_text())
    with pytest.raises(ir.InputError, match=message):
        trained(configured(objective, **given))
    assert not Path("out").exists()


@pytest.mark.parametrize("normalisation", ["none", "batch"])
def test_queries_of_one_document_teach_nothing(folder: Path, normalisation: str) -> None:
    Path("train.svm").write_text("".join(f"1 qid:s{number} 1:{number}\n" for number in range(5)))
    system = trained(
        configured(batch=1, normalisation=normalisation, data={"valid": None, "test": None})
    )
    before = json.loads(Path("out/curve.json").read_text())["curves"]["train"]["nDCG@10"]
    assert (system.rounds, before) == (4, [1.0] * 4)


def test_a_file_without_features_is_refused(folder: Path) -> None:
    Path("train.svm").write_text("0 qid:t\n2 qid:t\n")
    with pytest.raises(
        ir.InputError, match=r"train\.svm: found no features, expected at least one"
    ):
        trained(configured(data={"valid": None, "test": None}))


def test_clicks_are_weighed_by_inverse_propensities(folder: Path) -> None:
    data = read_parts(configured())["train"]
    shares = np.random.default_rng(4).uniform(0.2, 1, data.labels.size)
    Path("shares").write_text("\n".join(map(repr, shares.tolist())) + "\n")
    raw = {"loss": "SoftmaxLoss", "labels": "raw"}
    trained(configured(raw, {"propensity": "shares"}, rounds=3))
    found = RankingNetwork.load("out/model.pt")
    shape = NetworkSection(hidden=(8,), batch=8)
    weighed = {"train": replace(data, labels=data.labels / shares[data.places])}
    wanted = fit_network(
        shape,
        SoftmaxLoss(labels="raw"),
        weighed,
        seed=1,
        epochs=3,
        step=lambda _: None,
        after=lambda *_: (True, False),
    )
    for name, tensor in found.state_dict().items():
        torch.testing.assert_close(tensor, wanted.state_dict()[name], rtol=0, atol=0)


def test_columns_of_parquet_keep_their_names(folder: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")  # datasets brings it
    from pyarrow import parquet

    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(20), 6)
    price = rng.normal(size=qid.size)
    columns = {
        "qid": qid,
        "label": np.clip(np.round(price), 0, 3).astype(int),
        "price": price,
        "stock": rng.normal(size=qid.size),
    }
    parquet.write_table(pyarrow.table(columns), "rows.parquet")
    trained(
        configured(data={"train": "rows.parquet", "valid": None, "test": None, "test_share": 0.3})
    )
    assert RankingNetwork.load("out/model.pt").names == ("price", "stock")


def test_a_file_that_is_no_network_is_refused(folder: Path) -> None:
    trained(configured(rounds=1))
    whole = Path("out/model.pt").read_bytes()
    Path("cut.pt").write_bytes(whole[:200])
    Path("empty.pt").write_bytes(b"")
    torch.save({"format": "other"}, "other.pt")
    shutil.copy("out/model.pt", "damaged.pt")
    content = torch.load("damaged.pt", weights_only=True)
    torch.save(content | {"features": 7}, "damaged.pt")
    torch.save(content | {"shape": content["shape"] | {"hidden": [10**9]}}, "huge.pt")
    for name, message in (
        ("none.pt", "none.pt: cannot be read: No such file"),
        ("cut.pt", "cut.pt: found no ranking network, expected the model.pt of"),
        ("empty.pt", "empty.pt: found no ranking network"),
        ("other.pt", "other.pt: found no ranking network"),
        ("damaged.pt", "damaged.pt: found a damaged network"),
        ("huge.pt", "huge.pt: shape.hidden: found"),
    ):
        with pytest.raises(ir.IdealrankError, match=message):
            RankingNetwork.load(name)


@pytest.mark.filterwarnings("ignore:Detected pickle protocol:UserWarning")
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"names": ["a"]}, "names: expected none, or one for each of 3 features"),
        ({"names": ["a", "b", "c", "d"]}, "names: expected none, or one for each of 3 features"),
        ({"names": [1, 2, 3]}, "names: expected none, or one for each of 3 features"),
        ({"names": "abc"}, "names: expected none, or one for each of 3 features"),
        ({"features": 3.0}, "features: 3.0 of 3"),
        ({"features": 10**7}, "features: 10000000 of 3"),
        ({"scale": torch.tensor([1.0, 0.0, 1.0]).double()}, "scale: not above 0"),
        ({"scale": torch.ones(3)}, "scale: torch.float32 instead of torch.float64"),
        ({"centre": torch.tensor([1.0, float("inf"), 1.0]).double()}, "centre: not finite"),
        ({"layers.0.weight": torch.full((2, 3), float("nan"))}, "layers.0.weight: not finite"),
        (
            {"layers.0.weight": torch.ones(2, 3, dtype=torch.complex64)},
            "layers.0.weight: torch.complex64 instead of torch.float32",
        ),
        ({"layers.1.running_var": torch.tensor([1.0, -1.0])}, "layers.1.running_var: not above 0"),
        ({"layers.0.bias": [1.0, 2.0]}, "'list' object has no attribute 'dtype'"),
    ],
)
def test_a_network_that_nobody_trained_is_refused(
    folder: Path, changes: Given, message: str
) -> None:
    RankingNetwork(3, NetworkSection(hidden=(2,), normalisation="batch"), ("a", "b", "c")).save(
        "whole.pt"
    )
    content = torch.load("whole.pt", weights_only=True)
    for name, value in changes.items():
        (content if name in content else content["state"])[name] = value
    torch.save(content, "changed.pt")
    with pytest.raises(
        ir.InputError,
        match=rf"^changed\.pt: found a damaged network \({re.escape(message)}\), expected the model.pt",  # noqa: E501
    ):
        RankingNetwork.load("changed.pt")
    assert RankingNetwork.load("whole.pt").names == ("a", "b", "c")


def test_a_file_with_changed_bytes_is_read_or_refused(folder: Path) -> None:
    RankingNetwork(3, NetworkSection(hidden=(2,)), ("a", "b", "c")).save("whole.pt")
    whole = np.frombuffer(Path("whole.pt").read_bytes(), np.uint8)
    pickled = whole.tobytes().index(b"idealrank ranking network 1")
    rng, refused = np.random.default_rng(7), []
    for number in range(600):
        changed = whole.copy()
        span = (0, whole.size) if number % 3 == 0 else (pickled - 60, pickled + 900)
        changed[rng.integers(*span, size=rng.integers(1, 4))] = rng.integers(0, 256)
        Path("changed.pt").write_bytes(changed.tobytes())
        try:
            RankingNetwork.load("changed.pt")
        except ir.InputError as error:
            refused.append(str(error))
    assert len(refused) > 300
    assert all(message.startswith("changed.pt: ") for message in refused)


class Payload:
    """An object that creates a file when it is unpickled."""

    def __reduce__(self) -> Any:
        return (Path.touch, (Path("was run"),))


def test_no_code_of_a_file_is_run(folder: Path) -> None:
    torch.save(Payload(), "hostile.pt")
    with pytest.raises(ir.InputError, match=r"hostile\.pt: found no ranking network"):
        RankingNetwork.load("hostile.pt")
    assert not Path("was run").exists()


def test_the_configuration_of_the_guide_trains_and_its_model_is_read_as_the_guide_reads_it(
    folder: Path,
) -> None:
    guide = (Path(__file__).resolve().parents[2] / "docs" / "training" / "training.md").read_text(
        encoding="utf-8"
    )
    text = next(
        block for block in re.findall(r"```json\n(.*?)```", guide, re.DOTALL) if '"torch"' in block
    )
    config = TrainingConfig.of(json.loads(text))
    assert trained(config).evaluations["test"].mean()["nDCG@10"] > 0.8
    (read,) = re.findall(
        r"```text\n(from idealrank.integrations.torch import RankingNetwork.*?)```",
        guide,
        re.DOTALL,
    )
    names: Given = {"features": read_parts(config)["test"].features}
    exec(read, names)
    np.testing.assert_array_equal(names["scores"], np.loadtxt("neural/test.scores"))
