"""Record what pyNTCIREVAL says of random topics.

``python -m tests.parity.record_ntcir > tests/parity/ntcir_recorded.json``, with pyNTCIREVAL 0.0.3
and NumPy installed.
"""

import json
import sys

from tests.parity.ntcir_calls import peer_values, topics


def main() -> None:
    records = [{**topic, "values": peer_values(topic)} for topic in topics(2024, 12)]
    # One topic a line: a change can be read.
    sys.stdout.write("[\n" + ",\n".join(json.dumps(record) for record in records) + "\n]\n")


if __name__ == "__main__":
    main()
