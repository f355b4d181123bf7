"""trec_eval's file of means and standard deviations, from which z-scores are made."""

import math

from idealrank.errors import FileFormatError
from idealrank.io.notes import Notes
from idealrank.io.numerals import parse_number
from idealrank.io.sources import AnyPath, open_sources

ZScores = dict[tuple[str, str], tuple[float, float]]

_EXPECTED = "4 fields: QUERY MEASURE MEAN DEVIATION"


def read_zscores(path: AnyPath, notes: Notes) -> ZScores:
    r"""Mean and standard deviation by query and printed name of the measure."""
    found: ZScores = {}
    for source in open_sources(path, notes):
        for number, line in enumerate(
            source.read().decode("utf-8", "surrogateescape").splitlines(), 1
        ):
            fields = line.split()
            if not fields or line.startswith("#"):
                continue
            if len(fields) != 4:
                raise FileFormatError(source.path, number, f"{len(fields)} fields", _EXPECTED)
            mean, deviation = parse_number(fields[2]), parse_number(fields[3])
            if (
                mean is None
                or deviation is None
                or not (math.isfinite(mean) and 0 <= deviation < math.inf)
            ):
                raise FileFormatError(
                    source.path,
                    number,
                    f"{fields[2]} {fields[3]}",
                    "a mean and a standard deviation of 0 or more",
                )
            if (fields[0], fields[1]) in found:
                raise FileFormatError(
                    source.path,
                    number,
                    f"{fields[1]} of query {fields[0]} a second time",
                    "each once",
                )
            found[fields[0], fields[1]] = (mean, deviation)
    return found
