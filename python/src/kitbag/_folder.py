"""Files of a folder as a storage: nothing leads outside, and no change of a Python process is lost."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import time
from collections.abc import Iterator
from contextvars import ContextVar
from datetime import datetime, timezone
from pathlib import Path
from typing import Literal

from .errors import KitbagError
from .storage import Condition, Entry, FileToStore, Metadata, StorageCapability, StoredFile

_SCRATCH = ".~kitbag-"
# A process that was killed left it behind.
_LEFT_SECONDS = 600
# A longer path is none of kitbag, so no directory is entered below one.
_MOST_PATH = 1024
# Unreadable directories that a call notes.
_NOTED = 16
_DIRECTORY = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_NOTE = (
    "Edits of processes that use kitbag for Python are not lost; a change by another program between "
    "the check and the rename is"
)


_unreadable: ContextVar[list[str] | None] = ContextVar("unreadable", default=None)


@contextlib.contextmanager
def noting() -> Iterator[list[str]]:
    """Notes the directories that folders could not read for the calls inside, as paths of the folder. Calls of
    a storage run in the thread of their caller."""
    noted: list[str] = []
    before = _unreadable.set(noted)
    try:
        yield noted
    finally:
        _unreadable.reset(before)


def _note(path: str) -> None:
    noted = _unreadable.get()
    if noted is not None and len(noted) < _NOTED:
        noted.append(path)


def _denied(path: str) -> KitbagError:
    return KitbagError("permission_denied", f"'{path}' leads through a link, which is not followed")


def _version(found: os.stat_result) -> str:
    return f"{found.st_ino}-{found.st_size}-{found.st_mtime_ns}-{found.st_ctime_ns}"


def _metadata(found: os.stat_result) -> Metadata:
    return Metadata(
        size=found.st_size,
        modified=datetime.fromtimestamp(found.st_mtime, timezone.utc),
        mode=stat.S_IMODE(found.st_mode) & 0o777,
        version=_version(found),
    )


class FolderStorage:
    """Files below a directory. Every step of a path is opened from the directory before it, and no link is
    followed, so no exchange of a directory leads outside."""

    def __init__(self, root: str | os.PathLike[str], max_file_bytes: int) -> None:
        if os.open not in os.supports_dir_fd or not hasattr(os, "O_NOFOLLOW"):
            raise KitbagError(
                "unsupported",
                "This system cannot open a file from a directory without following links, so a folder "
                "would not be confined; use deepagents' FilesystemBackend if that is acceptable",
            )
        self._root = str(Path(root).resolve())
        self._most = max_file_bytes
        self.capability = StorageCapability(
            create="storage",
            update="storage",
            directories="real",
            keeps_modes=True,
            folds_case=sys.platform == "darwin",
            folds_composition=sys.platform == "darwin",
            max_file_bytes=max_file_bytes,
            notes=(_NOTE,),
        )

    # Directories.

    @contextlib.contextmanager
    def _directory(self, path: str, *, create: bool = False) -> Iterator[tuple[int, str] | None]:
        """The directory of a file as a descriptor, and the file's name; None if there is no directory."""
        *parents, name = path.lstrip("/").split("/")
        if create:
            Path(self._root).mkdir(parents=True, exist_ok=True)
        fds: list[int] = []
        try:
            try:
                fds.append(os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
                for part in parents:
                    fds.append(self._step(fds[-1], part, path, create))
            except FileNotFoundError:
                yield None
                return
            except NotADirectoryError:
                if create:
                    raise KitbagError("invalid_path", f"A part of '{path}' is a file") from None
                yield None
                return
            yield fds[-1], name
        finally:
            for fd in fds:
                os.close(fd)

    @staticmethod
    def _step(parent: int, name: str, path: str, create: bool) -> int:
        if create:
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, dir_fd=parent)
        try:
            return os.open(name, os.O_RDONLY | _DIRECTORY | os.O_CLOEXEC, dir_fd=parent)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.EMLINK, errno.ENOTDIR) and _is_link(parent, name):
                raise _denied(path) from None
            if isinstance(error, PermissionError):
                _note(path)
            raise

    # The storage.

    def stat(self, path: str) -> Metadata | None:
        with self._directory(path) as place:
            if place is None:
                return None
            found = _status(*place)
            return _metadata(found) if found and stat.S_ISREG(found.st_mode) else None

    def get(self, path: str) -> StoredFile | None:
        with self._directory(path) as place:
            if place is None:
                return None
            home, name = place
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            try:
                fd = os.open(name, flags, dir_fd=home)
            except FileNotFoundError:
                return None
            except OSError as error:
                if error.errno in (errno.ELOOP, errno.EMLINK):
                    raise _denied(path) from None
                raise
            with os.fdopen(fd, "rb") as file:
                while True:
                    before = os.fstat(fd)
                    if not stat.S_ISREG(before.st_mode):
                        return None
                    if before.st_size > self._most:
                        raise KitbagError(
                            "too_large",
                            f"'{path}' has {before.st_size} bytes; max_file_bytes is {self._most}",
                        )
                    file.seek(0)
                    body = file.read(self._most + 1)
                    # One that is written in place meanwhile would be half old, half new.
                    if _version(os.fstat(fd)) == _version(before) and len(body) <= self._most:
                        return StoredFile(body, _metadata(before))

    def put(
        self, path: str, file: FileToStore, condition: Condition
    ) -> str | None | Literal[False]:
        with self._directory(path, create=True) as place:
            assert place is not None
            home, name = place
            with _locked(home):
                now = _status(home, name)
                if now and stat.S_ISDIR(now.st_mode):
                    raise KitbagError("is_directory", f"'{path}' is a directory")
                if now and not stat.S_ISREG(now.st_mode):
                    raise _denied(path)
                if condition.mode == "create" and now:
                    return False
                if condition.mode == "update" and (not now or _version(now) != condition.version):
                    return False
                mode = stat.S_IMODE(now.st_mode) & 0o777 if now else file.mode
                return self._stored(home, name, file.body, mode, condition.mode == "create")

    @staticmethod
    def _stored(
        home: int, name: str, body: bytes, mode: int | None, is_new: bool
    ) -> str | Literal[False]:
        scratch = f"{_SCRATCH}{os.getpid()}-{os.urandom(6).hex()}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(scratch, flags, 0o666, dir_fd=home)
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(body)
                file.flush()
                if mode is not None:
                    os.fchmod(fd, mode)
            if is_new:
                _link(home, scratch, name, body)
            else:
                os.rename(scratch, name, src_dir_fd=home, dst_dir_fd=home)
        except FileExistsError:
            os.unlink(scratch, dir_fd=home)
            return False
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(scratch, dir_fd=home)
            raise
        return _version(os.stat(name, dir_fd=home, follow_symlinks=False))

    def delete(self, path: str, version: str | None = None) -> bool:
        with self._directory(path) as place:
            if place is None:
                return False
            home, name = place
            with _locked(home):
                now = _status(home, name)
                if not now or not stat.S_ISREG(now.st_mode):
                    return False
                if version is not None and _version(now) != version:
                    raise KitbagError("conflict", f"'{path}' was changed meanwhile")
                os.unlink(name, dir_fd=home)
                return True

    def list(self, prefix: str, cursor: str | None = None) -> Iterator[Entry]:
        with self._directory(f"{prefix.rstrip('/')}/.") as place:
            if place is not None:
                yield from _walk(place[0], prefix.rstrip("/") + "/")


def _link(home: int, scratch: str, name: str, body: bytes) -> None:
    """Gives a file its name. Unlike a rename, a link never replaces a file of another program."""
    try:
        os.link(scratch, name, src_dir_fd=home, dst_dir_fd=home, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS):
            raise
        # A file system without links: others may see a part of the file.
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(name, flags, 0o666, dir_fd=home), "wb") as file:
            file.write(body)
    os.unlink(scratch, dir_fd=home)


def _is_link(parent: int, name: str) -> bool:
    found = _status(parent, name)
    return bool(found and stat.S_ISLNK(found.st_mode))


def _status(home: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=home, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return None


@contextlib.contextmanager
def _locked(home: int) -> Iterator[None]:
    """Lets processes that change files of a directory take turns, where its file system has locks."""
    import fcntl

    try:
        fcntl.flock(home, fcntl.LOCK_EX)
    except OSError:
        yield
        return
    try:
        yield
    finally:
        fcntl.flock(home, fcntl.LOCK_UN)


def _walk(home: int, prefix: str) -> Iterator[Entry]:
    """Files below a directory, however deep. Links, and what the process may not read, are left out."""
    ways = [(home, prefix, _names(home))]
    try:
        while ways:
            home, prefix, names = ways[-1]
            name, is_directory = next(names, ("", False))
            if not name:
                _leave(ways)
            elif name.startswith(_SCRATCH):
                _sweep(home, name)
            elif is_directory:
                fd = _entered(home, name, prefix) if len(prefix) < _MOST_PATH else None
                if fd is not None:
                    ways.append((fd, f"{prefix}{name}/", _names(fd)))
            else:
                status = _status(home, name)
                if status and stat.S_ISREG(status.st_mode) and _is_text(name):
                    yield Entry(prefix + name, _metadata(status))
    finally:
        while ways:
            _leave(ways)


def _leave(ways: list[tuple[int, str, Iterator[tuple[str, bool]]]]) -> None:
    """Closes the last directory. The first one is closed by who has opened it."""
    fd, _, _ = ways.pop()
    if ways:
        os.close(fd)


def _names(home: int) -> Iterator[tuple[str, bool]]:
    """What is in a directory, and whether it is one, as it is when the first is asked for."""
    with os.scandir(home) as found:
        names = [(one.name, one.is_dir(follow_symlinks=False)) for one in found]
    yield from names


def _entered(home: int, name: str, prefix: str) -> int | None:
    """A directory in another, if it can be opened."""
    try:
        return os.open(name, os.O_RDONLY | _DIRECTORY | os.O_CLOEXEC, dir_fd=home)
    except PermissionError:
        _note(f"{prefix}{name}")
    except OSError as error:
        # One that is gone is left out; without descriptors nothing is known of it.
        if error.errno in (errno.EMFILE, errno.ENFILE):
            raise
    return None


def _is_text(name: str) -> bool:
    """Whether a name is UTF-8, as all paths of kitbag are."""
    return not any("\ud800" <= one <= "\udfff" for one in name)


def _sweep(home: int, name: str) -> None:
    status = _status(home, name)
    if status and time.time() - status.st_mtime > _LEFT_SECONDS:
        with contextlib.suppress(OSError):
            os.unlink(name, dir_fd=home)
