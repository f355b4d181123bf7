"""Numbers in measure texts: as short as can be, and the same number when read back."""


def number_text(value: float) -> str:
    """Shortest text of a number that reads back as the same number.

    Examples
    --------
    >>> number_text(2.0), number_text(0.1)
    ('2', '0.1')
    """
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e16 else repr(float(value))
