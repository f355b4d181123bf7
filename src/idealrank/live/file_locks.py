"""Locks of files, which the system frees when the process ends in any way."""

import os


def lock_file(handle: int) -> bool:
    """Lock an open file for this process; False if another process, or another handle, has the
    lock.
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
