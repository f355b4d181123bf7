"""Locks of files, which the system frees when the process ends in any way."""

import os


def lock_file(handle: int) -> bool:
    """Lock an open file for this process; False if another process, or another handle, has the lock.

    Parameters
    ----------
    handle : int
        Descriptor of a file that is open for writing; the lock ends when it is closed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as first, open(first.name, "ab") as second:
    ...     lock_file(first.fileno()), lock_file(second.fileno())
    (True, False)
    """
    if os.name == "nt":
        import msvcrt  # noqa: PLC0415  (Windows)

        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        except OSError:
            return False
        return True
    import fcntl  # noqa: PLC0415  (not on Windows)

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
