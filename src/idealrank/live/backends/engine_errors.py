"""Messages of engines and their clients, made fit for a message of ours."""

_LONGEST = 300


def reason(error: object) -> str:
    r"""Return the first line of a message as printable text of at most 300 characters."""
    lines = str(error).strip().splitlines()
    text = lines[0] if lines else type(error).__name__
    printable = "".join(
        letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text[: _LONGEST + 1]
    )
    return printable if len(printable) <= _LONGEST else f"{printable[: _LONGEST - 4]} ..."
