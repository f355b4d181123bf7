"""Results that stay: a folder with an SQLite file and value files, in which every number is found again with what made it."""

from idealrank.store.record import Entry, Record
from idealrank.store.store import Store
from idealrank.store.stored import Stored, StoredVerdict
from idealrank.store.sweeping import Swept

__all__ = ["Entry", "Record", "Store", "Stored", "StoredVerdict", "Swept"]
