"""The folder of a store, which must not be on a network: SQLite's locks and shared memory are not
safe there.
"""

import re
from pathlib import Path

from idealrank.errors import InputError
from idealrank.store.database import NAME

_NETWORK = frozenset(
    (
        "9p",
        "acfs",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "coda",
        "davfs",
        "fuse.ceph",
        "fuse.davfs",
        "fuse.gcsfuse",
        "fuse.glusterfs",
        "fuse.goofys",
        "fuse.gvfsd-fuse",
        "fuse.mount.davfs",
        "fuse.rclone",
        "fuse.s3fs",
        "fuse.sshfs",
        "glusterfs",
        "gpfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "pvfs2",
        "virtiofs",
        "vboxsf",
    )
)
_MOUNTS = Path("/proc/mounts")


def network_mount(folder: Path, mounts: Path = _MOUNTS) -> tuple[str, str] | None:
    r"""Type and mount point of the network file system a folder lies on; None if it lies on none,
    or if unknown.
    """
    try:
        table = mounts.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None
    try:
        place = folder.resolve()
    except RuntimeError:
        raise InputError(f"{folder}: found a circle of links, expected a folder") from None
    # The mount point that is deepest above the folder is the one it lies on.
    nearest_kind = ""
    nearest_point = Path()
    depth = -1
    for line in table.splitlines():
        columns = line.split(" ")
        if len(columns) < 3:
            continue
        _device, mounted_at, kind = columns[:3]
        point = Path(_unescaped(mounted_at))
        # Of two mounts on one point the later one covers the earlier.
        if place.is_relative_to(point) and len(point.parts) >= depth:
            nearest_kind = kind
            nearest_point = point
            depth = len(point.parts)
    name = nearest_kind.lower()
    if name in _NETWORK or name.startswith(("smb", "nfs")):
        return nearest_kind, str(nearest_point)
    return None


def usable_folder(folder: Path, *, create: bool, mounts: Path = _MOUNTS) -> Path:
    """The folder of a store, made where it is missing."""
    if "\0" in str(folder):
        raise InputError(
            f"{str(folder)!r}: found a NUL byte in a path, expected the name of a folder"
        )
    if network := network_mount(folder, mounts):
        kind, point = network
        raise InputError(
            f"{folder}: found a network file system ({kind}, mounted at {point}), expected a local "
            "disk: SQLite's locks and shared memory are not safe over a network; keep the store on "
            "a local disk, and move evaluations as files (export_file, import_file)"
        )
    if not create and not (folder / NAME).is_file():
        raise InputError(
            f"{folder}: found no store, expected a folder with {NAME}; `idealrank evaluate ... "
            f"--store {folder}` creates one"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"{folder}: cannot become a store: {error.strerror or error}; expected a folder"
        ) from None
    return folder.absolute()  # a program may go to another folder while the store is open


def shown_folder(folder: Path) -> str:
    """A folder as a user would type it: relative if it is below the current folder."""
    here = Path.cwd()
    return str(folder.relative_to(here)) if folder.is_relative_to(here) else str(folder)


def _unescaped(text: str) -> str:
    """Decode the octal escapes of blanks in a mount point."""
    return re.sub(r"\\([0-7]{3})", lambda digits: chr(int(digits[1], 8)), text)
