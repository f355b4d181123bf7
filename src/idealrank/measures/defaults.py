"""Default measures for each kind of judgments, for Python and the command line."""

from collections.abc import Collection

DEFAULT_MEASURES = ("nDCG@10", "nDCG", "AP", "RR", "P@10", "R@100")

_BY_TABLE = {"preferences": ("prefs_simp", "prefs_pair", "prefs_avgjg"), "assessors": ("AP_avgjg", "P_avgjg@10")}


def default_measures(tables: Collection[str] = ()) -> tuple[str, ...]:
    """Texts of the measures for judgments of this kind.

    Parameters
    ----------
    tables : collection of str
        What the judgments are, in the words of `Measure.needs`; nothing for plain grades.

    Examples
    --------
    >>> default_measures()[0], default_measures(["assessors"])
    ('nDCG@10', ('AP_avgjg', 'P_avgjg@10'))
    """
    return next((_BY_TABLE[table] for table in tables if table in _BY_TABLE), DEFAULT_MEASURES)
