"""The public Python API as data, kept in a file that `tests.contract` writes; see `containment`.

A difference here is a change that other programs see: a name, a parameter, a default, a key, or a
number of a preset.
"""

import inspect
from dataclasses import fields
from pathlib import Path
from typing import Any

import idealrank as ir
from idealrank.training import torch

FILE = Path(__file__).with_name("api.json")
CLASSES = (ir.Convention, ir.Coverage, ir.Evaluation, ir.Lists, ir.Measure, ir.Qrels, ir.Run)
FUNCTIONS = (
    "dcg",
    "evaluate",
    "kendall",
    "ndcg",
    "parse_measure",
    "rank_dcg",
    "read_qrels",
    "read_run",
    "spearman",
)


def snapshot() -> dict[str, Any]:
    """Everything that section by section other programs depend on."""
    return {
        "names": sorted(ir.__all__),
        "functions": {name: parameters(getattr(ir, name)) for name in FUNCTIONS},
        "stats": {name: parameters(getattr(ir.stats, name)) for name in sorted(ir.stats.__all__)},
        "clicks": {
            name: parameters(getattr(ir.clicks, name)) for name in sorted(ir.clicks.__all__)
        },
        "judging": {
            name: parameters(getattr(ir.judging, name)) for name in sorted(ir.judging.__all__)
        },
        "training": {
            name: parameters(getattr(ir.training, name)) for name in sorted(ir.training.__all__)
        },
        "theory": {
            name: parameters(getattr(ir.theory, name)) for name in sorted(ir.theory.__all__)
        },
        "torch": sorted(torch.__all__),  # parameters need PyTorch: tests/torch has them
        "classes": {
            cls.__name__: members(cls) for cls in dict.fromkeys([*CLASSES, *ir.MEASURES.values()])
        },
        "measures": {name: facts(cls) for name, cls in ir.MEASURES.items()},
        "presets": {
            name: [preset.fingerprint, preset.proof, preset.tool]
            for name, preset in ir.PRESETS.items()
        },
        "evaluation": example(),
    }


def recorded(found: dict[str, Any]) -> dict[str, Any]:
    """The part that the file keeps: of a measure, without the members that it has from `Measure` as
    they are.
    """
    base = found["classes"]["Measure"].items()
    measures = {cls.__name__ for cls in ir.MEASURES.values()}
    own = {
        name: dict(
            member for member in members.items() if name not in measures or member not in base
        )
        for name, members in found["classes"].items()
    }
    return {**found, "classes": own}


def parameters(function: Any) -> list[str]:
    """Names with defaults, ``*`` before those by keyword only; annotations may change without
    anybody noticing.
    """
    given = list(inspect.signature(function).parameters.values())
    by_keyword = next(
        (
            place
            for place, parameter in enumerate(given)
            if parameter.kind is parameter.KEYWORD_ONLY
        ),
        None,
    )
    texts = [str(parameter.replace(annotation=parameter.empty)) for parameter in given]
    return texts if by_keyword is None else [*texts[:by_keyword], "*", *texts[by_keyword:]]


def members(cls: type) -> dict[str, Any]:
    """Constructor, methods and properties."""
    public = {name: value for name, value in inspect.getmembers(cls) if not name.startswith("_")}
    found: dict[str, Any] = {"()": parameters(cls)}
    for name, value in public.items():
        is_function = inspect.isfunction(value) or inspect.ismethod(value)
        found[name] = (
            parameters(value) if is_function else type(inspect.getattr_static(cls, name)).__name__
        )
    return found


def facts(cls: type[ir.Measure]) -> dict[str, Any]:
    """What a measure's class states, and the options that can be set on it."""
    stated = {
        name: getattr(cls, name)
        for name in ("kind", "aggregate", "direction", "ties", "from_convention")
    }
    return {
        **stated,
        "bounds": [str(bound) for bound in cls.bounds],
        "options": sorted(field.name for field in fields(cls)),
    }


def example() -> dict[str, Any]:
    """One evaluation in JSON: keys of means and queries, the resolved measures, the coverage."""
    evaluation = ir.evaluate(
        {"q1": {"d1": 2, "d2": 1, "d3": 0}, "q2": {"d1": 1}},
        {"q1": {"d2": 0.9, "d1": 0.4, "d9": 0.1}},
        [
            "ndcg_cut_10",
            "NDCG",
            "MAP",
            "recip_rank",
            "P.10",
            "recall_100",
            "nDCG(gain=exp2)@3",
            "num_q",
        ],
    )
    return {
        "mean": dict(evaluation.mean()),
        "per_query": evaluation.per_query(),
        "coverage": evaluation.coverage.as_dict(),
        "convention": str(evaluation.convention),
        "measures": evaluation.provenance.measures,
        "trec_names": [measure.trec_name for measure in evaluation.measures],
    }
