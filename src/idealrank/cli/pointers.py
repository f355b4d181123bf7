"""The command that answers the next question, as it can be typed."""

import shlex
from collections.abc import Sequence

from idealrank.api.evaluation import can_be_attributed
from idealrank.cli.input_options import Inputs
from idealrank.measures.defaults import DEFAULT_MEASURES
from idealrank.measures.measure import Measure


def why_command(qrels: str, runs: Sequence[str], measures: Sequence[Measure], convention: str, inputs: Inputs) -> str:
    """`idealrank why` for the first of the measures that can be taken apart; empty where none can, or a file cannot be read again.

    Parameters
    ----------
    qrels, runs, convention, inputs
        As typed.
    measures : sequence of Measure
        What was compared.

    Examples
    --------
    >>> from idealrank.measures.parse import parse_measure
    >>> measures = [parse_measure(text) for text in ("AUC", "AP")]
    >>> why_command("qrels.txt", ["a b.run", "c.run"], measures, "standard", Inputs(more_qrels=("more.txt",)))
    "idealrank why qrels.txt 'a b.run' c.run -m AP --qrels more.txt"
    """
    measure = next((measure for measure in measures if can_be_attributed(measure, convention)), None)
    if measure is None or len(runs) != 2 or "-" in (qrels, *runs, *inputs.more_qrels, inputs.group):
        return ""
    words = ["idealrank", "why", qrels, *runs]
    words += [] if str(measure) == DEFAULT_MEASURES[0] else ["-m", str(measure)]
    words += [] if convention == "standard" else ["--convention", convention]
    words += [word for path in inputs.more_qrels for word in ("--qrels", path)]
    words += [] if inputs.file_format == "auto" else ["--input-format", inputs.file_format]
    words += ["--columns", inputs.columns_text] if inputs.columns_text else []
    words += [] if inputs.group is None else ["--group", inputs.group]
    return shlex.join(words)
