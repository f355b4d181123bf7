"""Text of `idealrank trec-eval -h` and `-v`."""

from idealrank.cli.trec.trec_measures import measure_of
from idealrank.cli.trec.trec_names import NAMES, NICKNAMES, chosen
from idealrank.cli.trec.trec_options import Request
from idealrank.version import __version__

_USAGE = """\
Usage: idealrank trec-eval [OPTIONS] QRELS RUN

Takes the command line of trec_eval 10.0 and prints what it prints. Files may be compressed; - is standard input.

Options, clustered and attached as getopt has them (-qc, -M100), before or after the files:
  -h, --help                      this text; with -m, the measures named are described too
  -v, --version                   the version
  -q, --query_eval_wanted         the values of each query before the summary
  -n, --nosummary                 no summary
  -c, --complete_rel_info_wanted  average over all queries of QRELS; one that RUN does not answer counts 0
  -l, --level_for_rel LEVEL       least grade that is relevant, default 1
  -J, --Judged_docs_only          leave out documents that are unjudged, or have a negative grade
  -M, --Max_retrieved_per_topic N look at the first N documents of each query only
  -N, --Number_docs_in_coll N     documents in the collection; utility counts with it
  -m, --measure NAME[.PARAMETERS] a measure, or a set of them; repeat it for more, default official
  -R, --Rel_info_format FORMAT    of QRELS: qrels (default), prefs, qrels_prefs, qrels_jg
  -T, --Results_format FORMAT     of RUN: trec_results
  -Z, --Zscore FILE               z-scores in place of values; lines of FILE: QUERY MEASURE MEAN DEVIATION
  -D LEVEL, -o                    accepted with a notice; they change nothing here

And two of our own:
  --convention NAME               trec_eval-10 (default), or trec_eval-9 for the numbers of 9.0.8
  --threads N                     0 uses all cores; the numbers are the same for any N
"""
_MORE = """\
`idealrank trec-eval -h -m all_trec` describes measures; `idealrank measures NAME` gives formula and source of what it calls "here".
Exit codes: 0 fine, 2 bad input or usage, 70 a fault of idealrank.
"""


def version_text() -> str:
    r"""One line for ``-v``.

    Examples
    --------
    >>> version_text().strip()  # doctest: +ELLIPSIS
    'idealrank ... in the place of trec_eval 10.0'
    """
    return f"idealrank {__version__} in the place of trec_eval 10.0\n"


def help_text(request: Request) -> str:
    """Usage, the sets of measures, and what the measures named with ``-m`` are.

    Examples
    --------
    >>> "share of the first k ranks" in help_text(Request(measures=["P"]))
    True
    """
    parts = [_USAGE, _nicknames()]
    parts += [_described(request)] if request.measures else []
    return "\n".join([*parts, _MORE])


def _nicknames() -> str:
    return "Sets of measures:\n" + "".join(_wrapped(nickname, " ".join(names)) for nickname, names in NICKNAMES.items())


def _described(request: Request) -> str:
    lines = [_wrapped(name, _about(name, parameters)) for name, parameters in chosen(request.measures).items()]
    return "Measures:\n" + "".join(lines)


def _about(name: str, parameters: tuple[str, ...]) -> str:
    if name == "runid":
        return "the tag of the run: the last field of its lines"
    measure = measure_of(name, parameters[0] if parameters else "")
    given = f"; parameters {','.join(parameters)}" if parameters and NAMES[name].parameters != "none" else ""
    return f"{measure.summary}{given}; here {measure}"


def _wrapped(head: str, text: str, indent: int = 26, width: int = 100) -> str:
    lines = [f"  {head:<{indent - 4}}  "]
    for word in text.split():
        if len(lines[-1]) + len(word) >= width:
            lines.append(" " * indent)
        lines[-1] += word + " "
    return "".join(line.rstrip() + "\n" for line in lines)
