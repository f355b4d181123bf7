"""Record what tar_eval of CLEF TAR says of random lists.

``python tests/parity/record_total_recall.py PROGRAM > tests/parity/total_recall_recorded.json``

PROGRAM is scripts/measures/eval_measures.py of the repository CLEF-TAR/tar. A list is written as
the ranks of its relevant documents and its length; ``total`` counts those that were not returned
too. The recorded values come from the two classes named below, retyped from a stored copy of that
file, not from an installation.
"""

import json
import random
import runpy
import sys


def values(program: dict[str, type], length: int, ranks: list[int], total: int) -> dict[str, float]:
    """Its counts and its area, every document shown."""
    measures = [
        program[name]("q", length, total) for name in ("CountBasedMeasures", "AreaBasedMeasures")
    ]
    for measure in measures:
        for rank in range(1, length + 1):
            relevant = int(rank in ranks)
            measure.update(relevant, relevant, "NF")
        measure.finalize()
    count, area = measures
    return {
        "last_rel": count.last_rel,
        "wss_95": count.wss_95,
        "wss_100": count.wss_100,
        "norm_area": area.norm_area,
    }


def main() -> None:
    program, rng, lines = runpy.run_path(sys.argv[1]), random.Random(2006), []
    for number in range(30):
        length = rng.randint(5, 300)
        ranks = sorted(rng.sample(range(1, length + 1), rng.randint(1, min(length, 45))))
        total = len(ranks) + (rng.randint(1, 3) if number % 5 == 4 else 0)
        lines.append(
            json.dumps(
                {
                    "length": length,
                    "ranks": ranks,
                    "total": total,
                    "values": values(program, length, ranks, total),
                }
            )
        )
    sys.stdout.write("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
