"""Start of the labelling page: its files, its file of answers, its socket and its server."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from idealrank.errors import InputError, OptionError, shown
from idealrank.inputs.evaluation import to_qrels
from idealrank.io.complaints import Tell
from idealrank.io.judgment_files import (
    origin_files,
    refuse_same_files,
    refuse_to_replace_judgments,
    refuse_to_replace_table,
)
from idealrank.io.judgment_layouts import check_ids
from idealrank.io.label_grades import parse_labels
from idealrank.io.sources import refusal_text
from idealrank.judging.files.judgment_pairs import JudgmentPair, read_pairs, with_texts
from idealrank.live.judges.judge_answers import Scale
from idealrank.live.judges.judge_runs import table_path
from idealrank.live.judges.label_plan import LabelPlan
from idealrank.live.judges.label_store import LabelStore, raters_path
from idealrank.store.web.server import bound, check_token, load_web, run_server

_LONGEST_GUIDELINES = 1 << 17  # characters


@dataclass(frozen=True, kw_only=True)
class LabelServing:
    """Options of the labelling page."""

    pairs: str
    output: str
    state: str
    queries: str | None = None
    documents: str | None = None
    scale: str = "0,1,2,3"
    double: float = 0.0
    gold: str | None = None
    model: str | None = None
    model_name: str = "model"
    labels: str = ""  # Grades of labels that are words in both, as the option takes them
    guidelines: str | None = None
    seed: int = 0
    host: str = "127.0.0.1"
    port: int = 8766
    token: str = field(default="", repr=False)
    names: Sequence[str] = ()

    def __post_init__(self) -> None:
        check_token(self.host, self.token)
        _ = self.grades  # refuses a bad scale now

    @property
    def grades(self) -> Scale:
        """Grades with their words."""
        try:
            return Scale.of(self.scale)
        except ValueError:
            message = (
                f"scale: found {shown(repr(self.scale))}, expected two or more finite grades, each "
                "once"
            )
            raise OptionError(f"{message}, as in 0,1,2 or 0=no,1=yes") from None

    def plan(self, tell: Tell | None = None) -> LabelPlan:
        """Read the files; `tell` gets notes about them, which are warnings without it."""
        pairs = read_pairs(self.pairs, self.queries, self.documents, tell=tell)
        gold = {} if self.gold is None else self._grades_of(self.gold)
        listed = {pair.key for pair in pairs}
        added = [
            JudgmentPair(query=query, document=document)
            for query, document in gold
            if (query, document) not in listed
        ]
        more = with_texts(added, self.queries, self.documents)
        keys = [pair.key for pair in (*pairs, *more)]
        check_ids(self.output, keys, where=self.pairs)
        model = {} if self.model is None else self._grades_of(self.model)
        return LabelPlan(
            pairs=[*pairs, *more],
            scale=self.grades,
            double=self.double,
            gold=gold,
            model=model,
            model_name=self.model_name,
            seed=self.seed,
        )

    def _grades_of(self, path: str) -> Mapping[tuple[str, str], float]:
        qrels = to_qrels(path, labels=parse_labels(self.labels))
        return {
            (query, document): float(grade)
            for query in qrels.queries
            for document, grade in qrels[query].items()
        }

    def guidelines_text(self) -> str:
        """Read the guidelines; empty without a file."""
        if self.guidelines is None:
            return ""
        try:
            with Path(self.guidelines).open(encoding="utf-8-sig") as file:
                text = file.read(_LONGEST_GUIDELINES + 1)
        except OSError as error:
            raise InputError(refusal_text(self.guidelines, error)) from None
        except ValueError:
            raise InputError(
                f"{self.guidelines}: found bytes that are no UTF-8, expected text; save it as UTF-8"
            ) from None
        if len(text) > _LONGEST_GUIDELINES:
            raise InputError(
                f"{self.guidelines}: found a longer text, expected guidelines of at most "
                f"{_LONGEST_GUIDELINES:,} characters"
            )
        return text.strip()


def serve_labels(
    serving: LabelServing, started: Callable[[str], None], tell: Tell | None = None
) -> None:
    """Serve the labelling page until a signal ends the process."""
    load_web("`idealrank judge ui`")
    from idealrank.live.web.label_pages import Labelling, label_application  # noqa: PLC0415
    from idealrank.store.web.guard import Guard  # noqa: PLC0415  (Starlette)

    _check_output(serving)
    plan = serving.plan(tell)
    guidelines = serving.guidelines_text()
    with bound(serving.host, serving.port) as listening:
        store = LabelStore(serving.state, plan, serving.output)
        try:
            app = label_application(
                Labelling(store, guidelines),
                Guard(serving.host, serving.token, tuple(serving.names)),
            )
            run_server(app, listening, serving.host, serving.token, started)
        finally:
            store.close()


def _check_output(serving: LabelServing) -> None:
    """Refuse to write over judgments that did not come from the file of answers."""
    raters_table = raters_path(serving.output)
    table = table_path(serving.output)
    written = {
        "-o": serving.output,
        "the judgments of each person": raters_table,
        "the label table": table,
        "--state": serving.state,
    }
    written["the lock of --state"] = f"{serving.state}.lock"
    for judgments in (serving.output, raters_table):
        written |= {f"the origin of {judgments}": file for file in origin_files(judgments)}
    inputs = (
        serving.pairs,
        serving.queries,
        serving.documents,
        serving.gold,
        serving.model,
        serving.guidelines,
    )
    refuse_same_files(written, inputs)
    for path in (serving.output, raters_table):
        refuse_to_replace_judgments(path, ("people",), option="-o")
    refuse_to_replace_table(table, option="-o")
    for path in (serving.output, raters_table, table):
        has_content = Path(path).is_file() and Path(path).stat().st_size
        if has_content and not Path(serving.state).exists():
            problem = f"found judgments without their answers {serving.state}"
            raise OptionError(
                f"-o {path}: {problem}, expected both or none; name the file of the answers with "
                "--state"
            )
