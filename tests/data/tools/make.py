"""Makes the files of this folder with the tools themselves, in an environment that holds them.

    pip install label-studio-sdk==2.1.2 tqdm
    pip install --no-deps beir==2.2.0 nuggetizer==0.0.5
    python tests/data/tools/make.py

What the other files are, and where they are from, is in README.md.
"""

import importlib.metadata
import json
import random
import tempfile
from pathlib import Path
from typing import Any

from beir.datasets.data_loader import GenericDataLoader
from label_studio_sdk.converter import Converter
from label_studio_sdk.label_interface import LabelInterface
from nuggetizer.core.metrics import calculate_global_metrics, calculate_nugget_scores

HERE = Path(__file__).parent
CONTROLS = {
    "number": '<Number name="grade" toName="document" min="0" max="3"/>',
    "rating": '<Rating name="grade" toName="document" maxRating="3"/>',
    "choices": '<Choices name="grade" toName="document"><Choice value="0"/><Choice '
    'value="1"/><Choice '
    'value="2"/></Choices>',
}
USERS = [{"id": 3, "email": "ann@example.com"}, {"id": 4, "email": "ben@example.com"}]


def label_studio(kind: str) -> None:
    """Tasks with annotations that the tool's own interface made and checked, and what its converter
    reads in them.
    """
    random.seed(kind)
    config = (
        f'<View><Header name="h" value="$query"/><Text name="document" '
        f'value="$document"/>{CONTROLS[kind]}</View>'
    )
    interface = LabelInterface(config)
    tasks = []
    for number in range(6):
        data = {
            "query_id": f"q{number // 3}",
            "query": f"text of q{number // 3}",
            "doc_id": number,
            "document": f"Text of {number}.",
        }
        annotations = []
        for place, user in enumerate(USERS[: 1 + number % 2]):
            annotation = interface.generate_sample_annotation()
            assert interface.validate_annotation(annotation)
            annotation |= {
                "id": 10 * number + place,
                "completed_by": user,
                "was_cancelled": number == 5,
            }
            for result in annotation["result"]:
                result["id"] = f"r{number}{place}"
            annotations.append(annotation)
        assert interface.validate_task({"data": data})
        tasks.append({"id": number, "annotations": annotations, "predictions": [], "data": data})
    (HERE / f"label-studio-{kind}.json").write_text(
        json.dumps(tasks, indent=1) + "\n", encoding="utf-8"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tasks.json")
        path.write_text(json.dumps(tasks), encoding="utf-8")
        Converter(config, folder).convert_to_json_min(str(path), folder, is_dir=False)
        found = json.loads(Path(folder, "result.json").read_text(encoding="utf-8"))
    rows = sorted(
        [one["query_id"], str(one["doc_id"]), one["annotator"], value(one["grade"], kind)]
        for one in found
        if "grade" in one
    )
    (HERE / f"label-studio-{kind}-rows.json").write_text(json.dumps(rows) + "\n", encoding="utf-8")


def value(given: Any, kind: str) -> float:
    """The grade as the converter writes it: a value, or a list of one value or record."""
    one = given[0] if isinstance(given, list) else given
    return float(one[kind] if isinstance(one, dict) else one)


def beir() -> None:
    """Record what BEIR's loader reads from a file that `idealrank convert` wrote."""
    loader = GenericDataLoader(qrels_file=str(HERE / "beir.tsv"))
    loader._load_qrels()
    (HERE / "beir.json").write_text(
        json.dumps(loader.qrels, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
    )


def nuggets() -> None:
    """Assignments, and the scores that the tool's script computes for them."""
    random.seed(7)
    records = []
    for number in range(30):
        words = [
            {
                "text": f"fact {place}",
                "importance": random.choice(["vital", "okay", "okay"]),
                "assignment": random.choice(
                    ["support", "partial_support", "not_support", "not_support", "failed"][
                        : 4 + (number > 20)
                    ]
                ),
            }
            for place in range(number % 13)
        ]
        records.append(
            {
                "query": f"query {number}",
                "qid": f"q{number}",
                "answer_text": "",
                "response_length": 0,
                "run_id": "a",
                "nuggets": words,
            }
        )
    with (HERE / "nuggets.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)
    scores = [vars(calculate_nugget_scores(record["qid"], record["nuggets"])) for record in records]
    (HERE / "nugget-scores.json").write_text(
        json.dumps([*scores, calculate_global_metrics(records)], indent=1) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    for kind in CONTROLS:
        label_studio(kind)
    beir()
    nuggets()
    for package in ("label-studio-sdk", "beir", "nuggetizer"):
        print(package, importlib.metadata.version(package))
