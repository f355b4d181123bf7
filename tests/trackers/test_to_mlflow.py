"""Results in MLflow, on a store of SQLite and a local folder, read back through MLflow's own
client.
"""

import csv
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import idealrank as ir
from idealrank.errors import OptionError
from tests.offline import no_network

pytestmark = [
    pytest.mark.slow,  # its own library takes seconds to start
    pytest.mark.filterwarnings("ignore::DeprecationWarning:(mlflow|alembic|sqlalchemy|pydantic).*"),
]
QRELS = {f"q{i}": {"x": 2, "y": 1} for i in range(8)}


def evaluated(name: str, ranking: list[str]) -> ir.Evaluation:
    return ir.evaluate(
        QRELS, ir.Run(dict.fromkeys(QRELS, ranking), name=name), ["nDCG(gain=exp2)@10", "RR"]
    )


OLD, NEW = ["u", "y", "x"], ["x", "y"]


@pytest.fixture(scope="module")
def mlflow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """MLflow with a store of its own; making the tables costs a second, so that all tests share
    it.
    """
    folder = tmp_path_factory.mktemp("mlflow")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
        patch.setenv("GIT_PYTHON_REFRESH", "quiet")
        package = pytest.importorskip("mlflow")
        before = package.get_tracking_uri()
        with no_network():
            package.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
            package.set_experiment(
                experiment_id=package.create_experiment(
                    "ranking", artifact_location=(folder / "files").as_uri()
                )
            )
            yield package
        package.set_tracking_uri(before)


def files_of(mlflow: Any, run_id: str, folder: str = "idealrank") -> dict[str, Path]:
    path = Path(mlflow.artifacts.download_artifacts(run_id=run_id, artifact_path=folder))
    return {str(file.relative_to(path)): file for file in path.rglob("*") if file.is_file()}


def test_an_evaluation_is_read_back_as_it_was(mlflow: Any) -> None:
    evaluation = evaluated("new", NEW)
    with mlflow.start_run() as run:
        ir.log_to_mlflow(evaluation)

    data = mlflow.get_run(run.info.run_id).data
    low, high = ir.intervals(evaluation)["RR"].interval
    assert (data.metrics["RR"], data.metrics["RR_low"], data.metrics["RR_high"]) == (
        evaluation.mean()["RR"],
        low,
        high,
    )
    names = json.loads(data.tags["idealrank.measures"])
    assert {names[name] for name in data.metrics if name in names} == {"nDCG(gain=exp2)@10", "RR"}
    assert data.tags["idealrank.run"] == "new"
    assert data.params["idealrank.convention"] == "standard"
    assert data.params["idealrank.convention_fingerprint"] == evaluation.convention.fingerprint
    files = files_of(mlflow, run.info.run_id)
    rows = list(csv.DictReader(io.StringIO(files["per_query.csv"].read_text(encoding="utf-8"))))
    assert [float(row["value"]) for row in rows if row["measure"] == "RR"] == evaluation[
        "RR"
    ].tolist()


def test_the_per_query_table_is_a_table_of_mlflow_where_pandas_is(
    mlflow: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluation = evaluated("new", NEW)
    with mlflow.start_run() as run:
        ir.log_to_mlflow(evaluation)
        monkeypatch.setitem(sys.modules, "pandas", None)
        ir.log_to_mlflow(evaluation, prefix="without/")
        monkeypatch.undo()

    table = mlflow.load_table("idealrank/per_query_table.json", run_ids=[run.info.run_id])
    assert table["query"].tolist() == list(evaluation.queries)
    assert table["RR"].tolist() == evaluation["RR"].tolist()
    assert "per_query_table.json" not in files_of(mlflow, run.info.run_id, "idealrank/without")


def test_steps_and_prefixes_share_a_run(mlflow: Any) -> None:
    with mlflow.start_run() as run:
        for step, ranking in enumerate([OLD, NEW], 1):
            ir.log_to_mlflow(evaluated("model", ranking), step=step, prefix="dev/")

    history = mlflow.MlflowClient().get_metric_history(run.info.run_id, "dev/RR")
    assert [(one.step, one.value) for one in history] == [(1, 0.5), (2, 1.0)]
    assert {"dev/step-1/per_query.csv", "dev/step-2/per_query.csv"} <= set(
        files_of(mlflow, run.info.run_id)
    )


def test_comparisons_and_gates_go_into_a_run_that_is_named(mlflow: Any) -> None:
    old, new = evaluated("old", OLD), evaluated("new", NEW)
    with mlflow.start_run() as run:
        pass

    ir.log_to_mlflow(ir.compare(old, new), evaluations=(old, new), run_id=run.info.run_id)
    ir.log_to_mlflow(ir.gate(old, new), run_id=run.info.run_id, prefix="gate/")

    data = mlflow.get_run(run.info.run_id).data
    assert data.metrics["RR_difference"] == 0.5
    assert data.metrics["gate/gate_passed"] == 0
    assert data.tags["gate/idealrank.gate"] == "closed"
    assert "is better than old" in data.tags["idealrank.verdicts"]
    files = files_of(mlflow, run.info.run_id)
    assert {
        "comparison.json",
        "comparison.csv",
        "per_query.parquet",
        "report.html",
        "gate/gate.txt",
    } <= set(files)


def test_without_an_active_run_nothing_is_begun(mlflow: Any) -> None:
    with pytest.raises(
        OptionError,
        match=r"found no active run of MLflow; expected a call within `with mlflow\.start_run",
    ):
        ir.log_to_mlflow(evaluated("new", NEW))
    assert mlflow.active_run() is None
