"""Nearly ERR from its continuation functions alone, as in `naive_cwl`."""

from tests.twins.naive_cwl import Continue, gain, insq, value_of
from tests.twins.naive_query import Gain, Value

CONTINUE: dict[str, Continue] = {
    "NERR8": lambda options, rank, gained, total, deepest: (1 - gained) * (rank < deepest),
    "NERR9": lambda options, rank, gained, total, deepest: (
        rank / (rank + 1) * (1 - gained) * (rank < deepest)
    ),
    "NERR10": lambda options, rank, gained, total, deepest: (
        float(options.get("p", "0.9")) * (1 - gained)
    ),
    "NERR11": lambda options, rank, gained, total, deepest: (
        insq(options, rank, gained, total, deepest) * (1 - gained)
    ),
}
VALUES: dict[str, Value] = {name: value_of(going) for name, going in CONTINUE.items()}
GAINS: dict[str, Gain] = dict.fromkeys(CONTINUE, gain)
