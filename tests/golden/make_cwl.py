"""Record what cwl-eval says of some lists: ``python -m tests.golden.make_cwl``, in the environment
of `make test-peers`.
"""

import json
from importlib import metadata
from pathlib import Path

from tests.parity.cwl_calls import MEASURES_OF_BOTH, lists, numbers

RECORDED = Path(__file__).parent / "cwl.json"


def main() -> None:
    """Write the grades of the lists and the numbers of every measure."""
    made = lists(seed=0, count=14)
    values = {
        text: {name: numbers(text, grades) for name, grades in made.items()}
        for text in MEASURES_OF_BOTH
    }
    rows = ",\n ".join(
        f"{json.dumps(text)}: {{"
        + ",\n  ".join(
            f"{json.dumps(name)}: {json.dumps(found)}" for name, found in by_list.items()
        )
        + "}"
        for text, by_list in values.items()
    )
    head = {
        "about": __doc__.split(":")[0],
        "peer": f"cwl-eval {metadata.version('cwl-eval')}",
        "lists": made,
    }
    RECORDED.write_text(
        json.dumps(head, separators=(",", ":"))[:-1] + ',\n"values": {\n ' + rows + "}}\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
