"""The report of `idealrank train`: means with intervals on the data that decide, and the files."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from idealrank.reports.table.text import Part, columns, filled

_WORDS = {"test": "the test set", "valid": "the validation set, which chose the round", "train": "the training set, which is no result"}


def training_parts(report: Mapping[str, Any]) -> list[Part]:
    """The whole report.

    Parameters
    ----------
    report : mapping
        ``systems`` (a list of mappings with ``seed``, ``rounds``, ``part``, ``measures``, ``folder`` and ``files``), ``warnings`` and
        ``again``, the command that prints the numbers again.

    Examples
    --------
    >>> mean = {"mean": 0.5, "low": 0.4, "high": 0.6, "queries": 20}
    >>> one = {"seed": 0, "rounds": 7, "part": "test", "measures": {"RR": mean}, "folder": "out", "files": ["model.txt"]}
    >>> training_parts({"systems": [one], "warnings": [], "again": "", "convention": "lightgbm"})[0][1]
    'RR         0.5000  [0.4000, 0.6000]       20      7'
    """
    systems: Sequence[Mapping[str, Any]] = report["systems"]
    parts: list[Part] = []
    if report["warnings"]:
        parts.append(["cautions", *(line for warning in report["warnings"] for line in filled(warning, "  * "))])
    rows = [["measure", *(["seed"] if len(systems) > 1 else []), "mean", "95 % interval", "queries", "rounds"]]
    for system in systems:
        for text, found in system["measures"].items():
            seed = [str(system["seed"])] if len(systems) > 1 else []
            interval = f"[{found['low']:.4f}, {found['high']:.4f}]"
            rows.append([text, *seed, f"{found['mean']:.4f}", interval, str(found["queries"]), str(system["rounds"])])
    parts.append(columns(rows))
    parts.append(filled(f"On {_WORDS[systems[0]['part']]}, under convention {report['convention']}."))
    if report["again"]:
        parts.append(["the same numbers again", f"  {report['again']}"])
    return [*parts, *([f"{system['folder']}: {', '.join(system['files'])}"] for system in systems)]


def training_json(report: Mapping[str, Any]) -> str:
    r"""The report as JSON.

    Examples
    --------
    >>> training_json({"systems": []})[:14]
    '{\n "systems": '
    """
    return json.dumps(report, indent=1, ensure_ascii=False) + "\n"
