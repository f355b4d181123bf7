"""Parameters of click models have the same bits for any number of threads, and for any order of the
sessions.
"""

import os
import subprocess
import sys

import numpy as np
import pytest

from idealrank.clicks import PBM, UBM, simulate

FITTED = """
import hashlib
import numpy as np
from idealrank.clicks import DBN, PBM, UBM, simulate
log = simulate(np.random.default_rng(1).beta(1, 2, (300, 12)), 5000, ranks=10, policy="random", rng=2)
for model in (PBM(10), UBM(10), DBN(3)):
    found = model.fit(log)
    last = found.satisfaction if isinstance(model, DBN) else found.propensity
    print(hashlib.sha256(found.attractiveness_values.tobytes() + np.ascontiguousarray(last).tobytes()).hexdigest())
"""  # noqa: E501
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def hashes(threads: int) -> list[str]:
    command = [sys.executable, "-c", FITTED]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **dict.fromkeys(THREADS, str(threads))},
    )
    return done.stdout.split()


def test_the_number_of_threads_changes_no_bit() -> None:
    alone, several = hashes(1), hashes(4)
    assert len(alone) == 3
    assert alone == several


@pytest.mark.parametrize("model", [PBM(20), UBM(20)])
def test_the_order_of_sessions_changes_no_bit(model: PBM) -> None:
    """Sessions are counted before anything else, and counts are whole numbers."""
    log = simulate(
        np.random.default_rng(3).beta(1, 2, (30, 6)), 3000, ranks=5, policy="random", rng=4
    )
    mixed = log.select(np.random.default_rng(5).permutation(len(log)))
    first, second = model.fit(log), model.fit(mixed)
    assert first.attractiveness_values.tobytes() == second.attractiveness_values.tobytes()
    assert first.propensity.tobytes() == second.propensity.tobytes()
