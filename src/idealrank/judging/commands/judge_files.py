"""Files of `idealrank judge check` and `correct`: judgments of a human and of named judges, and
runs.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from idealrank.cli import input_options, options
from idealrank.cli.progress import Watch
from idealrank.conventions import Convention
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run, name_of
from idealrank.errors import OptionError, shown
from idealrank.judging import ScaleTable


@dataclass(frozen=True, kw_only=True)
class JudgeFiles:
    """Files of a command that holds judges against a human."""

    qrels: str  # Path of the human's judgments
    judges: dict[str, str]  # Paths by name of the judge
    runs: dict[str, str]  # Paths by name of the run
    tables: dict[str, ScaleTable]  # Tables of grades, by name of the judge or ``human``
    inputs: input_options.Inputs  # How files are read, and further judgments of the human

    @classmethod
    def of(
        cls,
        qrels: str,
        judges: Sequence[str],
        runs: Sequence[str],
        tables: Sequence[str],
        inputs: input_options.Inputs,
        output: str | None,
        *others: str | None,
    ) -> "JudgeFiles":
        """Name the files; a judge without a name has the stem of its file."""
        named = named_texts(
            [text if "=" in text else f"{name_of(text)}={text}" for text in judges],
            "--judge",
            "model=model.qrels",
        )
        options.refuse_to_replace(output, (*named.values(), *others))
        input_options.refuse_standard_input_twice(qrels, *inputs.more_qrels, *named.values(), *runs)
        found = {
            name: ScaleTable.of(text)
            for name, text in named_texts(tables, "--table", "model=0:0,1:2,2:4").items()
        }
        stray = next((name for name in found if name not in {"human", *named}), None)
        if stray is not None:
            raise OptionError(
                f"--table {shown(stray)}: expected the name of a judge, or human: "
                f"{', '.join(named)}"
            )
        return cls(
            qrels=qrels,
            judges=named,
            runs=dict(zip(input_options.run_names(runs), runs, strict=True)),
            tables=found,
            inputs=inputs,
        )

    def read(
        self, convention: Convention, watch: Watch
    ) -> tuple[Qrels, dict[str, Qrels], dict[str, Run]]:
        """Read the judgments of the human, of each judge, and the runs."""

        def judge(path: str) -> Qrels:
            return cast(
                "Qrels", watch.run("judgments", lambda _: self.inputs.open_judge(path, convention))
            )

        def run(name: str, path: str) -> Run:
            return watch.run(name, lambda _: self.inputs.open_run(path, name, self.qrels))

        def mapped(name: str, qrels: Qrels) -> Qrels:
            return self.tables[name].map(qrels, source=name) if name in self.tables else qrels

        human = mapped(
            "human",
            watch.run("judgments", lambda _: self.inputs.open_qrels(self.qrels, convention)),
        )
        judges = {name: mapped(name, judge(path)) for name, path in self.judges.items()}
        return human, judges, {name: run(name, path) for name, path in self.runs.items()}


def named_texts(texts: Sequence[str], option: str, example: str) -> dict[str, str]:
    """Names and what stands behind their equals sign."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals or not value:
            raise OptionError(
                f"{option} {shown(text)}: expected a name and a value, as in {example}"
            )
        if name in found:
            raise OptionError(
                f"{option} {shown(text)}: found the name {shown(name)} twice, expected each once"
            )
        found[name] = value
    return found


def refuse_unknown(families: Mapping[str, str], known: Collection[str]) -> None:
    """Refuse the family of a name that no judge and no run has."""
    for name, family in families.items():
        if name not in known:
            raise OptionError(
                f"--family {shown(name)}={shown(family)}: expected the name of a judge or "
                f"run: {', '.join(sorted(known))}"
            )
