"""`idealrank clicks report`: a page of a click log."""

from functools import partial

import click

from idealrank.cli import console, headings, invocation, options
from idealrank.cli.progress import Watch
from idealrank.cli.result_options import check_extra, check_page, write_page_file
from idealrank.clicks.commands import log_options
from idealrank.clicks.files.click_logs import REWARDS, log_columns, read_columns
from idealrank.errors import OptionError
from idealrank.io.sources import input_files
from idealrank.reports.subject import Made

_EPILOG = """\
Examples:

\b
  idealrank clicks report log.csv -o clicks.html
  idealrank clicks report log.csv --rewards rewards.csv --clip 10 -o clicks.html

The page begins with the reasons, if any, why the log does not support a conclusion. Then it shows
the propensities with confidence bands, and the perplexity of click models on held-out lists. With
--rewards, it also shows overlap, weights and estimates. If the file has predictions of a model, the
estimates include the doubly robust estimate.

The page opens offline. The same input gives the same bytes.
"""

_DEFAULT_MODELS = ("pbm", "ubm", "sdbn")


@headings.command(epilog=_EPILOG, short_help="Write a report of a click log as one HTML page.")
@click.argument("log", metavar="LOG")
@click.option(
    "-o",
    "--output",
    "page_path",
    cls=options.OnceOption,
    metavar="FILE",
    required=True,
    help="HTML file to write; its name ends in .html.",
)
@click.option(
    "--rewards",
    "rewards_path",
    metavar="REWARDS",
    help="File of rewards and probabilities, as for clicks estimate.",
)
@click.option(
    "--model",
    "model_names",
    type=click.Choice(log_options.MODELS),
    multiple=True,
    help="Click model; may be repeated.  [default: pbm, ubm, sdbn]",
)
@log_options.iterations
@click.option(
    "--resamples",
    metavar="N",
    type=click.IntRange(1),
    default=200,
    show_default=True,
    help="Number of bootstrap replicates.",
)
@click.option(
    "--holdout",
    "held_out",
    metavar="SHARE",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.2,
    show_default=True,
    help="Share of lists held out to compute perplexity.",
)
@click.option(
    "--seed", metavar="N", type=click.IntRange(0), default=0, show_default=True, help="Random seed."
)
@click.option(
    "--clip",
    metavar="W",
    type=click.FloatRange(0, min_open=True),
    help="Also estimate with weights clipped at W.",
)
@click.option(
    "--switch",
    metavar="W",
    type=click.FloatRange(0, min_open=True),
    help="Also estimate with the model alone where a weight exceeds W; needs predictions in "
    "--rewards.",
)
@options.level
@click.option(
    "--reward-columns",
    "reward_columns_text",
    metavar="ROLE=NAME,...",
    cls=options.OnceOption,
    default="",
    help="Columns of --rewards by role: reward=, logged=, target=, target_b=, cluster= (or user=), "
    "predicted_logged=, predicted_target=, predicted_target_b=.  [default: by their usual names]",
)
@log_options.log_input
def report(
    *,
    inputs: log_options.LogInput,
    page_path: str,
    rewards_path: str | None,
    model_names: tuple[str, ...],
    iterations: int,
    resamples: int,
    held_out: float,
    seed: int,
    clip: float | None,
    switch: float | None,
    confidence: float,
    reward_columns_text: str,
) -> None:
    """Write a report of a click log as one HTML page: warnings, propensities, perplexity, weights
    and estimates.
    """
    paths = [path for path in (*inputs.paths, rewards_path) if path is not None]
    check_extra()
    check_page(page_path, paths, option="-o")
    from idealrank.clicks.inputs import click_page, reward_estimates  # noqa: PLC0415  (not for the help)
    from idealrank.pages.report.material import hashed  # noqa: PLC0415

    watch = Watch()
    estimates = None
    check = inputs.check(watch)
    if rewards_path is not None:
        column_names = log_columns(reward_columns_text, REWARDS, "--reward-columns")

        note = partial(console.say, "note")
        columns = watch.run(
            "rewards",
            lambda _: read_columns(rewards_path, REWARDS, columns=column_names, tell=note),
        )
        estimators: list[tuple[str, float | None]] = [("ips", None), ("snips", None)]
        if clip is not None:
            estimators.append(("clipped", clip))
        has_predictions = "predicted_logged" in columns and "predicted_target" in columns
        if has_predictions:
            estimators.append(("dr", None))
        if switch is not None and has_predictions:
            estimators.append(("switch", switch))
        elif switch is not None:
            raise OptionError(
                "--switch: found no predictions, expected columns predicted_logged and "
                "predicted_target in --rewards"
            )
        estimates = reward_estimates(columns, estimators=estimators, confidence=confidence)

    models = {
        name: log_options.model_of(name, iterations)
        for name in dict.fromkeys(model_names or _DEFAULT_MODELS)
    }
    made = Made(command=invocation.command_line(), inputs=hashed(input_files(paths)))
    page = watch.run(
        "page",
        lambda _: click_page(
            check,
            models,
            estimates,
            iterations=iterations,
            n_resamples=resamples,
            held_out=held_out,
            seed=seed,
            made=made,
        ),
    )
    write_page_file(page, page_path)
