"""`idealrank judge run`: grades of a judge, such as a language model, for a list of pairs."""

from functools import partial
from types import ModuleType
from typing import Any

import click

from idealrank._sections import Section
from idealrank.cli import console, headings, options, output
from idealrank.cli.output import Formats
from idealrank.cli.progress import Watch
from idealrank.io.configuration_files import read_configuration, require_files

_EPILOG = """\
Examples:

\b
  idealrank judge run judge.yaml --check
  idealrank judge run judge.yaml -o model.qrels
  idealrank judge run judge.yaml -o model.qrels --qrels human.qrels --retry-failed

A configuration, here for a model on this machine:

\b
  judge:
    kind: openai             # any address with OpenAI's interface; or function, command
    url: http://127.0.0.1:11434/v1
    model: llama3.1:8b
    # key: ${OPENAI_API_KEY}  # for a service; read from the environment
    prompt: prompt.txt       # with {query}, {title}, {text}; a plain one by default
    params: {temperature: 0, max_tokens: 8}
  pairs: next.csv            # columns query, document, and optionally query_text, title, text, link, sampled
  queries: queries.tsv       # texts by id, unless the pairs have them
  documents: corpus.jsonl
  scale: {0: not relevant, 1: related, 2: relevant, 3: exact}
  repeats: 1
  concurrency: 4             # requests at the same time
  rate: 5                    # requests a second
  retries: 3
  price: {input: 0.15, output: 0.60}   # of a million tokens
  budget: 2.50
  qrels: human.qrels         # optional: grades of people, to compare with

Paths start at the current folder, not at that of the configuration.

A function is named as `{kind: function, function: judge.py:grade}` and called with the texts of
query and document. It returns a grade, probabilities by grade, or None. A program, as in `{kind:
command, command: [python, judge.py]}`, answers JSON lines with JSON lines.

Answers stand in OUTPUT.cache.jsonl as they come: the same command continues a run that was stopped,
and asks nothing twice. OUTPUT.labels.csv has a row for each request, those that failed too, and for
each grade of a person. OUTPUT has the grades of the judge alone; its second column is the judge.
"""  # noqa: E501


def _views() -> ModuleType:
    from idealrank.live.views import judge_run  # noqa: PLC0415  (NumPy; not for the help)

    return judge_run


_FORMATS = Formats(
    "A table to read;",
    views=_views,
    table="judge_run_parts",
    json="judge_run_json",
    rows="judge_run_rows",
)


def _schema() -> dict[str, Any]:
    from idealrank.live.judges.judge_configuration import JudgeConfig  # noqa: PLC0415  (help needs none of it)

    return JudgeConfig.schema()


@headings.command(
    epilog=_EPILOG, short_help="Let a judge, such as a language model, grade a list of pairs."
)
@click.argument("config")
@click.option(
    "-o",
    "--output",
    "qrels_path",
    cls=options.OnceOption,
    metavar="QRELS",
    help="Judgments to write, instead of `output` of the configuration: a table if the name ends "
    "in .csv, .tsv or .jsonl, whose ids may be any text; else TREC text.",
)
@click.option(
    "--qrels",
    metavar="FILE",
    cls=options.OnceOption,
    help="Judgments of people to compare with, instead of `qrels` of the configuration.",
)
@options.labels
@click.option("--restart", is_flag=True, help="Drop the cache, and ask for every pair again.")
@click.option(
    "--retry-failed",
    is_flag=True,
    help="Ask again where a request failed or its answer could not be read.",
)
@click.option(
    "--check",
    is_flag=True,
    help="Only check the configuration and its files, and count the requests to send.",
)
@options.schema(_schema)
@_FORMATS.option
def run(
    *,
    config: str,
    qrels_path: str | None,
    qrels: str | None,
    labels_text: str,
    restart: bool,
    retry_failed: bool,
    check: bool,
    layout: str,
) -> None:
    """Let the judge of CONFIG (YAML, TOML or JSON) grade pairs of query and document, and write
    judgments that name the judge.

    The judge gets a bounded number of requests at the same time and per second. Failed attempts are
    repeated after a pause. A pair without a readable answer has no grade, and if there are too many
    of these, no judgments are written.
    """
    from idealrank.live.judges.judge_configuration import JudgeConfig  # noqa: PLC0415  (help needs none of it)
    from idealrank.live.judges.judge_runs import JudgeWork  # noqa: PLC0415

    mapping = read_configuration(config)
    chosen = JudgeConfig.of(mapping, config)
    require_files(JudgeConfig, Section(mapping, config, ""), but=("qrels",) if qrels else ())
    work = JudgeWork.of(
        chosen,
        qrels_path,
        path=config,
        qrels=qrels,
        labels=labels_text,
        option="-o",
        tell=partial(console.say, "note"),
    )
    if check:
        remaining = work.remaining(retry_failed=retry_failed)
        tokens = remaining.tokens
        about = f", with about {tokens:,} tokens to read" if tokens else ""
        if chosen.price is not None and tokens:
            about += f" (cost {chosen.price.of(tokens, 0):.4g} before any answer)"
        work.judge.close()
        counts = f"{len(work.pairs)} pairs; {remaining.total} requests, {remaining.unsent} to send"
        output.write([f"{config}: {counts}{about}\n"], None)
        return

    def judged(count: Any) -> Any:
        def tell(done: int, total: int, note: str) -> None:
            count(done, total)
            count.note = note

        return work.run(restart=restart, retry_failed=retry_failed, tell=tell)

    finished = Watch().count("judging", judged)
    _FORMATS.write(layout, None, finished.to_dict())
