"""Pages and docstrings show `check_measure` as a user calls it; here it tries as many inputs as
other tests do.
"""

import pytest

from idealrank.testing import property_checks
from tests.conftest import examples


@pytest.fixture(autouse=True)
def fewer_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    for function in (property_checks.check_measure, property_checks.faults_of):
        monkeypatch.setitem(function.__kwdefaults__, "max_examples", examples(100))
