"""Click models by maximum likelihood, values of policies with intervals, and their bootstrap over
clusters, on the clock.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from jobs_stats import within
from measuring import Contender, Timing, in_turns, require_equal
from report import Row, faster

FOLDER = Path(__file__).resolve().parent
SCRIPT, PEERS = FOLDER / "contenders" / "clicks.py", FOLDER / "contenders" / "clicks_peers.py"
COMPARED = {"obp": 1_000_000, "clax": 5_000}  # rows, and lists
SESSIONS, ROWS, CHECKED = 1_000_000, 10_000_000, 2000
PBM_SECONDS, UBM_SECONDS, ESTIMATE_SECONDS, BOOTSTRAP_SECONDS = 3.0, 10.0, 0.5, 2.0


def rows(*, quick: bool, **_: bool) -> Iterator[Row]:
    """Values against plain NumPy, then times; the quick run takes a tenth of the sizes, and
    promises nothing.
    """
    require_same_values()
    sessions, decisions = (SESSIONS // 10, ROWS // 10) if quick else (SESSIONS, ROWS)
    subject = f"position-based model, to convergence, {sessions:,} sessions x 10"
    yield timed(subject, call("pbm", sessions), None if quick else PBM_SECONDS)
    subject = f"user browsing model, to convergence, {sessions:,} sessions x 10"
    yield timed(subject, call("ubm", sessions), None if quick else UBM_SECONDS)
    subject = f"IPS, SNIPS and clipped, each with its interval, together, {decisions:,} rows"
    yield timed(subject, call("estimates", decisions, calls=3), None if quick else ESTIMATE_SECONDS)
    subject = f"SNIPS with a bootstrap of 1,000 replicates over 10,000 clusters, {decisions:,} rows"
    yield timed(subject, call("bootstrap", decisions), None if quick else BOOTSTRAP_SECONDS)
    if not quick:
        yield from beside_peers()


def beside_peers() -> Iterator[Row]:
    """Compare with other programs on equal values, if `make test-peers-clicks` has made their
    environments.
    """
    sb_obp, clax = (FOLDER.parent / f".venv-peers-{name}" for name in ("obp", "models"))
    if is_installed(sb_obp):
        subject = f"IPS with a bootstrap of 100 replicates over {COMPARED['obp']:,} rows"
        theirs = (sb_obp / "bin" / "python", "obp")
        yield beside(
            subject,
            "sb-obp 0.5.10",
            call("rows", COMPARED["obp"]),
            theirs,
            lambda value: 1e-2 * abs(value),
        )
    if is_installed(clax):
        subject = f"position-based model and its log-likelihood, {COMPARED['clax']:,} sessions x 10"
        theirs = (clax / "bin" / "python", "clax")
        yield beside(
            subject,
            "clax-models 0.1.1",
            call("model", COMPARED["clax"]),
            theirs,
            lambda value: 2e-3 * abs(value),
        )


def is_installed(environment: Path) -> bool:
    """Return whether make has finished an environment: its interpreter exists minutes before its
    packages.
    """
    return (environment / ".installed").exists()


def beside(
    subject: str,
    peer: str,
    ours: Contender,
    theirs: tuple[Path, str],
    tolerance: Callable[[float], float],
) -> Row:
    """Equal values first: of drawn means, and of likelihoods of which one program goes nearer to
    the maximum, nearly; then times.
    """
    python, name = theirs
    with TemporaryDirectory() as folder:
        arrays = str(Path(folder, "arrays.npz"))
        Contender((sys.executable, str(SCRIPT), "arrays", str(COMPARED[name]), arrays), 1).run()
        samples = in_turns(
            {"ours": ours, "theirs": Contender((str(python), str(PEERS), name, arrays), 1)}
        )
    own, other = (samples[one][0].reported()["values"] for one in ("ours", "theirs"))
    shared = next(iter(own))
    require_equal(subject, own, {shared: other[shared]}, tolerance(own[shared]))
    row = faster(
        subject,
        f"{peer} / idealrank",
        1.0,
        *(Timing.of_calls(samples[one]) for one in ("ours", "theirs")),
    )
    return replace(
        row,
        behind=f"{row.behind}; {other['steps']:,.0f} steps of Adam"
        if "steps" in other
        else row.behind,
    )


def call(name: str, size: int, *, calls: int = 1) -> Contender:
    """One process, which makes its data before the clock starts."""
    return Contender((sys.executable, str(SCRIPT), name, str(size), str(calls)), 2)


def timed(subject: str, contender: Contender, at_most: float | None) -> Row:
    """Two processes on the clock."""
    samples = in_turns({"ours": contender})["ours"]
    return within(subject, at_most, Timing.of_calls(samples), samples)


def require_same_values() -> None:
    """Compare with plain NumPy.

    Plain steps approach the maximum of a likelihood. Estimates agree to the last digits; ends of
    bootstrap intervals, which are drawn, agree within a tenth of their width.
    """
    for name, tolerance in (("pbm", 0.2), ("ubm", 0.2), ("estimates", 1e-9), ("bootstrap", None)):
        ours, theirs = (
            call(each, CHECKED).run().reported()["values"] for each in (name, f"plain-{name}")
        )
        require_equal(
            name,
            ours,
            theirs,
            (theirs["high"] - theirs["low"]) / 10 if tolerance is None else tolerance,
        )
