"""Folds that were given as folders, as LETOR and MSLR have them, and the result of their test sets
together, with the spread of the seeds.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from glob import glob, has_magic
from pathlib import Path
from typing import Any

import numpy as np

from idealrank._files import write_bytes
from idealrank.data.types import FloatArray
from idealrank.errors import InputError, OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.io.formats.feature_rows import FeatureRows
from idealrank.stats.intervals import mean_interval
from idealrank.training.configuration import TrainingConfig
from idealrank.training.training_folder import TrainedSystem, convention_record

_LEVEL = 0.95
_NEEDS_QUOTES = frozenset('",\n\r')


def folds_of(config: TrainingConfig) -> dict[str, TrainingConfig]:
    """Return the configuration of each fold by the name of its folder; of data without folds, the
    configuration itself under an empty name.
    """
    data = config.data
    if not data.folds:
        return {"": config}
    folders: list[Path] = []
    for pattern in data.folds:
        folders += _folders(pattern)
    by_name: dict[str, TrainingConfig] = {}
    for folder in folders:
        if folder.name in by_name:
            raise OptionError(
                f"data.folds: found two folders {folder.name}, expected a name for each fold"
            )
        in_folder = replace(
            data,
            folds=(),
            train=str(folder / data.train),
            valid=None if data.valid is None else str(folder / data.valid),
            test=None if data.test is None else str(folder / data.test),
        )
        files = filter(None, (in_folder.train, in_folder.valid, in_folder.test))
        missing = next((file for file in files if not Path(file).is_file()), None)
        if missing is not None:
            raise InputError(
                f"data.folds: found no file {missing}; name the files of a fold by data.train, "
                "data.valid and data.test, as in `valid: valid.txt`"
            )
        by_name[folder.name] = replace(
            config,
            data=in_folder,
            output=str(Path(config.output) / folder.name),
        )
    if len(by_name) < 2:
        raise OptionError(f"data.folds: found one folder, {folders[0]}, expected two or more")
    return by_name


def _folders(pattern: str) -> list[Path]:
    """Return the folders of a pattern; Fold10 comes after Fold9."""
    # A pattern may be absolute, which `Path.glob` refuses.
    paths = map(Path, glob(pattern) if has_magic(pattern) else [pattern])  # noqa: PTH207
    folders = [path for path in paths if path.is_dir()]
    if not folders:
        raise InputError(
            f"data.folds: found no folder {pattern}, expected the folders of the folds, or a "
            "pattern such as MSLR/Fold*"
        )
    return sorted(folders, key=lambda path: [*map(_in_order, re.split(r"(\d+)", path.name))])


def _in_order(part: str) -> tuple[int, str]:
    return (int(part), "") if part.isdecimal() else (-1, part)


def refuse_shared_tests(tested: dict[str, str], fold: str, rows: FeatureRows) -> None:
    """Refuse a query in the test sets of two folds, which would count twice; `tested` has the fold
    of each earlier query, and is filled.
    """
    if rows.numbered:  # a number in each file is not an id
        return
    for query in rows.queries:
        other = tested.setdefault(query, fold)
        if other != fold:
            raise InputError(
                f"data.folds: found query {query} in the test sets of {other} and of {fold}, "
                "expected each query in one of them; pool folds whose test sets are parts of one "
                "collection"
            )


@dataclass(frozen=True, kw_only=True, eq=False)
class PooledSystems:
    """Trained systems of every fold and seed; each fold has the same seeds."""

    by_fold: Mapping[str, Sequence[TrainedSystem]]

    @property
    def is_pooled(self) -> bool:
        """Return whether there are several models, so that there is something to pool."""
        return sum(map(len, self.by_fold.values())) > 1

    @property
    def seeds(self) -> list[int]:
        """Seeds of each fold."""
        return [system.seed for system in self._first]

    @property
    def _first(self) -> Sequence[TrainedSystem]:
        return next(iter(self.by_fold.values()))

    def record(self) -> dict[str, Any]:
        """Return the pooled result as plain values, by text of a measure."""
        part, evaluation = self._first[0].final
        measures = {}
        for column, measure in enumerate(evaluation.measures):
            if measure.aggregate == "mean":
                measures[str(measure)] = self._of_measure(column)
        return {
            "part": part,
            "folds": [name for name in self.by_fold if name],
            "seeds": self.seeds,
            "level": _LEVEL,
            "measures": measures,
        }

    def _of_measure(self, column: int) -> dict[str, Any]:
        by_seed = np.array([self._values(number, column) for number in range(len(self.seeds))])
        numbers: dict[str, Any] = {"queries": by_seed.shape[1]}
        if not numbers["queries"]:
            return {**numbers, "mean": None, "low": None, "high": None}
        seed_means = by_seed.mean(axis=1)
        # A query has one value, its mean over the seeds: so the interval is that of new queries for
        # these seeds, and the spread of the seeds is a number of its own.
        interval = mean_interval(by_seed.mean(axis=0), level=_LEVEL)
        numbers |= {
            "mean": float(interval.estimate),
            "low": float(interval.low),
            "high": float(interval.high),
        }
        if len(seed_means) > 1:
            numbers |= {
                "seed_means": seed_means.tolist(),
                "seed_sd": float(seed_means.std(ddof=1)),
            }
        return numbers | self._beside(column)

    def _values(self, number: int, column: int) -> FloatArray:
        """Values of all queries that count, one fold after the other."""
        evaluations = [systems[number].final[1] for systems in self.by_fold.values()]
        return np.concatenate([_counted(evaluation, column) for evaluation in evaluations])

    def _beside(self, column: int) -> dict[str, Any]:
        """Value of a random order, and the number of queries without a relevant document."""
        firsts = [systems[0] for systems in self.by_fold.values()]
        text = str(firsts[0].final[1].measures[column])
        beside = [system.references.get(text, {}) for system in firsts]
        if not all("random_order" in numbers for numbers in beside):
            return {}
        sizes = [_counted(system.final[1], column).size for system in firsts]
        orders = [numbers["random_order"] for numbers in beside]
        # A fold without a query that counts has no value.
        sums = [size * order for size, order in zip(sizes, orders, strict=True) if size]
        return {
            "random_order": sum(sums) / sum(sizes),
            "no_relevant": sum(numbers["no_relevant"] for numbers in beside),
        }

    def query_rows(self) -> Iterator[list[str]]:
        """Yield the titles, and a row for each query of each fold and seed."""
        measures = self._first[0].final[1].measures
        yield ["fold", "seed", "query", *map(str, measures)]
        for fold, systems in self.by_fold.items():
            for system in systems:
                _, evaluation = system.final
                for query, values in zip(
                    evaluation.queries, evaluation.values.tolist(), strict=True
                ):
                    yield [fold, str(system.seed), query, *map(repr, values)]


def _counted(evaluation: Evaluation, column: int) -> FloatArray:
    counts = evaluation.scored[:, column]
    values: FloatArray = evaluation.values[counts, column].astype(np.float64)
    return values[~np.isnan(values)]


def write_pooled(config: TrainingConfig, pooled: PooledSystems) -> list[str]:
    """Write the result of several models: means, values per query, and of folds the configuration
    and a run of all test sets for each seed. Return the names of the files.
    """
    result = {**convention_record(config), **pooled.record()}
    texts: dict[str, Iterator[str]] = {
        "pooled.json": iter([_json(result)]),
        "pooled-per-query.csv": _csv(pooled.query_rows()),
    }
    if any(pooled.by_fold):
        texts["config.json"] = iter([_json(config.to_dict())])
        for number, seed in enumerate(pooled.seeds):
            name = "pooled.run" if len(pooled.seeds) == 1 else f"pooled-seed-{seed}.run"
            texts[name] = _runs([systems[number] for systems in pooled.by_fold.values()])
    for name, lines in texts.items():
        path = str(Path(config.output) / name)
        write_bytes((line.encode("utf-8", "surrogatepass") for line in lines), path)
    return [*texts]


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False, default=str) + "\n"


def _csv(rows: Iterator[list[str]]) -> Iterator[str]:
    for row in rows:
        yield ",".join(map(_csv_cell, row)) + "\n"


def _csv_cell(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if _NEEDS_QUOTES & set(cell) else cell


def _runs(systems: Sequence[TrainedSystem]) -> Iterator[str]:
    """Yield the run of each test set, one after the other."""
    for system in systems:
        part, _ = system.final
        path = next(path for path in system.files if path.name == f"{part}.run")
        yield path.read_text("utf-8", "surrogatepass")
