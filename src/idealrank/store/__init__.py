"""Results that stay: a folder with an SQLite file and value files, in which every number is found
again with what made it.
"""

from idealrank.store.monitoring import StoredAlarm, StoredNotice, StoredRound
from idealrank.store.record import Entry, Record
from idealrank.store.results import Stored, StoredVerdict
from idealrank.store.store import Store
from idealrank.store.value_files import Swept

__all__ = [
    "Entry",
    "Record",
    "Store",
    "Stored",
    "StoredAlarm",
    "StoredNotice",
    "StoredRound",
    "StoredVerdict",
    "Swept",
]
