"""A place for the compiled module, so that only the first process compiles.

What wasmtime compiled is machine code, and wasmtime believes it: whoever can write the file runs code in
this process. So nothing is loaded unless the directory and the file belong to this user and nobody else may
write them, both looked at through the descriptors that are read from, not by name. Elsewhere, and where the
owner of a file cannot be told (Windows), every process compiles.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

# Of other versions and installations.
_MOST = 8
_DIGEST = hashlib.sha256().digest_size


def folder() -> Path | None:
    """The directory, which may not exist; None if this system has none that can be trusted."""
    if not hasattr(os, "geteuid"):
        return None
    if sys.platform == "darwin":
        base = Path("~/Library/Caches").expanduser()
    else:
        # A relative path there must be ignored, says the specification of these directories.
        given = Path(os.environ.get("XDG_CACHE_HOME", ""))
        base = given if given.is_absolute() else Path("~/.cache").expanduser()
    return base / "kitbag" if base.is_absolute() else None


def _is_own(found: os.stat_result, others: int) -> bool:
    return found.st_uid == os.geteuid() and found.st_mode & others == 0


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int | None]:
    """The directory as a descriptor, if it is a directory that only this user may use."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        yield None
        return
    try:
        yield fd if _is_own(os.fstat(fd), 0o077) else None
    finally:
        os.close(fd)


def load(name: str) -> bytes | None:
    """What was stored under a name, if it is whole and can only be of this user."""
    path = folder()
    if path is None:
        return None
    with _opened(path) as home:
        if home is None:
            return None
        try:
            fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=home)
        except OSError:
            return None
        found = os.fstat(fd)
        is_one = stat.S_ISREG(found.st_mode) and found.st_nlink == 1
        if not (is_one and _is_own(found, 0o022)):
            os.close(fd)
            return None
        with os.fdopen(fd, "rb") as file:
            digest, body = file.read(_DIGEST), file.read()
    return body if hashlib.sha256(body).digest() == digest else None


def save(name: str, body: bytes) -> None:
    """Stores under a name. Nothing is said if that is not possible: the next process compiles."""
    path = folder()
    if path is None:
        return
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=0o700, exist_ok=True)
        with _opened(path) as home:
            if home is None:
                return
            scratch = f".{name}.{os.getpid()}.{os.urandom(4).hex()}"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            fd = os.open(scratch, flags, 0o600, dir_fd=home)
            try:
                with os.fdopen(fd, "wb") as file:
                    file.write(hashlib.sha256(body).digest() + body)
                os.rename(scratch, name, src_dir_fd=home, dst_dir_fd=home)
            except OSError:
                os.unlink(scratch, dir_fd=home)
                raise
            _prune(home)


def _prune(home: int) -> None:
    with os.scandir(home) as found:
        ages = [(one.stat(follow_symlinks=False).st_mtime, one.name) for one in found]
    for _, name in sorted(ages, reverse=True)[_MOST:]:
        os.unlink(name, dir_fd=home)
