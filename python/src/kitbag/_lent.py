"""A storage in Python as a volume of the component. Its answers are checked here, so that a wrong one is
an error of the call and not a wrong value in the memory of the WebAssembly."""

from __future__ import annotations

import errno
import inspect
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta, timezone
from typing import Any

from ._instance import wit_error
from .errors import ErrorCode, KitbagError, said
from .storage import (
    Condition,
    Entry,
    FileToStore,
    Metadata,
    Page,
    Storage,
    StorageCapability,
    StoredFile,
)

# The memory of an instance has 4 GiB, and a file is in it more than once.
MAX_BODY = 512 << 20
MAX_NAMES = 256 << 20

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)

_OS_CODES: dict[int, ErrorCode] = {
    errno.ENOENT: "not_found",
    errno.EEXIST: "already_exists",
    errno.EACCES: "permission_denied",
    errno.EPERM: "permission_denied",
    errno.EROFS: "permission_denied",
    errno.EISDIR: "is_directory",
    errno.ENOSPC: "quota_exceeded",
    errno.EDQUOT: "quota_exceeded",
    errno.EFBIG: "too_large",
    errno.ENAMETOOLONG: "invalid_path",
    errno.ETIMEDOUT: "timeout",
}


def error_of(what: str, raised: Exception) -> KitbagError:
    """An exception of a storage or a command, with a code."""
    if isinstance(raised, KitbagError):
        return raised
    code: ErrorCode = "unavailable"
    if isinstance(raised, OSError):
        code = _OS_CODES.get(raised.errno or 0, _of_class(raised))
    return KitbagError(code, f"{what} raised {type(raised).__name__}: {said(raised)}")


def _of_class(raised: OSError) -> ErrorCode:
    """The code of one that was raised without a number."""
    classes: dict[type[OSError], ErrorCode] = {
        FileNotFoundError: "not_found",
        FileExistsError: "already_exists",
        PermissionError: "permission_denied",
        IsADirectoryError: "is_directory",
        TimeoutError: "timeout",
    }
    return next((code for kind, code in classes.items() if isinstance(raised, kind)), "unavailable")


def _wrong(method: str, value: Any, wanted: str) -> KitbagError:
    return KitbagError(
        "internal",
        f"The storage's {method} returned {_shown(value)}; it must return {wanted}",
    )


def _shown(value: Any) -> str:
    return "None" if value is None else f"a {type(value).__name__}"


def _micros(method: str, value: Any) -> int | None:
    if value is None:
        return None
    if not isinstance(value, datetime):
        raise _wrong(method, value, "a datetime, or None, as a time")
    if value.tzinfo is None:
        value = value.astimezone()
    since: timedelta = value - _EPOCH
    return since // _MICROSECOND


def _whole(method: str, value: Any, bits: int) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << bits:
        raise _wrong(method, value, "a whole number that is not negative, or None, as a size or mode")
    return value


def _text(method: str, value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise _wrong(method, value, f"a str as {what}")
    if len(value) > MAX_NAMES:
        raise KitbagError("too_large", f"The storage's {method} returned a {what} that is too long")
    # A surrogate, as in names of files that are not UTF-8, has no encoding.
    return value.encode(errors="replace").decode()


def _optional(method: str, value: Any, what: str) -> str | None:
    return None if value is None else _text(method, value, what)


def _metadata(method: str, value: Any) -> tuple[Any, ...]:
    if not isinstance(value, Metadata):
        raise _wrong(method, value, "Metadata")
    if value.format not in (None, "v1", "v2"):
        raise _wrong(method, value.format, '"v1", "v2" or None as a format')
    return (
        _whole(method, value.size, 64),
        _micros(method, value.created),
        _micros(method, value.modified),
        _optional(method, value.mime_type, "type"),
        value.format,
        _whole(method, value.mode, 32),
        _optional(method, value.version, "version"),
    )


def _time(micros: int) -> datetime:
    try:
        return _EPOCH + micros * _MICROSECOND
    except OverflowError:
        return _EPOCH


def _capability(storage: Storage) -> tuple[Any, ...]:
    given = getattr(storage, "capability", None) or StorageCapability()
    if not isinstance(given, StorageCapability):
        raise KitbagError(
            "invalid_argument",
            f"capability must be a StorageCapability, not {_shown(given)}",
        )
    for name in ("create", "update"):
        if getattr(given, name) not in ("storage", "instance", "never"):
            raise KitbagError(
                "invalid_argument",
                f'capability.{name} must be "storage", "instance" or "never", '
                f"not {getattr(given, name)!r}",
            )
    if given.directories not in ("implied", "real"):
        raise KitbagError(
            "invalid_argument",
            f'capability.directories must be "implied" or "real", not {given.directories!r}',
        )
    promises = {"writable", "keeps-binary"}
    for name in ("created", "mime_type", "format", "modes"):
        if getattr(given, f"keeps_{name}"):
            promises.add(f"keeps-{name.replace('_', '-')}")
    promises |= {"folds-case"} if given.folds_case else set()
    promises |= {"folds-composition"} if given.folds_composition else set()
    notes = [_text("capability", note, "note") for note in given.notes]
    size = _whole("capability", given.max_file_bytes, 64)
    return given.create, given.update, given.directories, promises, size, notes


def checked(storage: Any) -> Storage:
    """A storage with all methods, none of which must be awaited."""
    for method in ("get", "list", "put", "delete"):
        found = getattr(storage, method, None)
        if not callable(found):
            raise KitbagError(
                "invalid_argument",
                f"The storage, {_shown(storage)}, has no method {method}; see kitbag.Storage",
            )
        if inspect.iscoroutinefunction(found):
            raise KitbagError(
                "invalid_argument",
                f"The storage's {method} is a coroutine; write it without async: the methods of the "
                "backend that are awaited run it in a thread",
            )
    return storage  # type: ignore[no-any-return]


class LentStorage:
    """The volume of a storage. Every answer but the capability is a result of the WIT."""

    def __init__(self, storage: Any) -> None:
        self._storage = checked(storage)
        self._known = _capability(self._storage)

    def capability(self) -> tuple[Any, ...]:
        return self._known

    def stat(self, path: str) -> tuple[bool, Any]:
        stat = getattr(self._storage, "stat", None)
        if stat is None:
            is_ok, value = self.get(path)
            return is_ok, value[0] if is_ok and value is not None else value
        return _answered("stat", lambda: _found("stat", stat(path)))

    def get(self, path: str) -> tuple[bool, Any]:
        return _answered("get", lambda: _file(self._storage.get(path)))

    def put(self, path: str, file: Any, condition: Any) -> tuple[bool, Any]:
        body, created, modified, mime_type, format, mode = file
        given = FileToStore(body, _time(created), _time(modified), mime_type, format, mode)
        name, version = condition
        when = Condition(name, version)
        return _answered("put", lambda: _stored(path, when, self._storage.put(path, given, when)))

    def delete(self, path: str, version: str | None) -> tuple[bool, Any]:
        return _answered("delete", lambda: _deleted(self._storage.delete(path, version)))

    def list(self, prefix: str, start: str | None) -> tuple[bool, Any]:
        return _answered("list", lambda: _listing(self._storage.list(prefix, start)))


def _answered(method: str, ask: Callable[[], Any]) -> tuple[bool, Any]:
    try:
        return True, ask()
    except Exception as raised:
        return False, wit_error(error_of(f"The storage's {method}", raised))


def _found(method: str, value: Any) -> Any:
    return None if value is None else _metadata(method, value)


def _file(value: Any) -> Any:
    if value is None:
        return None
    file = StoredFile(bytes(value)) if isinstance(value, (bytes, bytearray, memoryview)) else value
    if not isinstance(file, StoredFile):
        raise _wrong("get", value, "a StoredFile, bytes or None")
    if not isinstance(file.body, (bytes, bytearray, memoryview)):
        raise _wrong("get", file.body, "bytes as a body")
    return _metadata("get", file.metadata), carried("The file", bytes(file.body))


def carried(what: str, body: bytes) -> bytes:
    """Bytes that have room in the memory of an instance."""
    if len(body) > MAX_BODY:
        raise KitbagError(
            "too_large", f"{what} has {len(body)} bytes; {MAX_BODY} are the most that can be read"
        )
    return body


def _stored(path: str, condition: Condition, value: Any) -> str | None:
    if value is False and condition.mode == "create":
        raise KitbagError("already_exists", path)
    if value is False and condition.mode == "update":
        raise KitbagError("conflict", path)
    if value is False:
        raise _wrong("put", value, "a version or None where there is no condition")
    return _optional("put", value, "version")


def _deleted(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _wrong("delete", value, "a bool")
    return value


def _listing(value: Any) -> tuple[Any, ...]:
    page = value if isinstance(value, Page) else Page(value)
    if isinstance(page.entries, (str, bytes)) or not isinstance(page.entries, Iterable):
        raise _wrong("list", page.entries, "entries, paths or a Page")
    entries = []
    size = 0
    for one in page.entries:
        entry = Entry(one) if isinstance(one, str) else one
        if not isinstance(entry, Entry):
            raise _wrong("list", one, "an Entry or a str for each file")
        path = _text("list", entry.path, "path")
        size += len(path) + 128
        if size > MAX_NAMES:
            raise KitbagError(
                "too_large", "The storage's list returned too much at once; return a Page with a cursor"
            )
        entries.append((path, _metadata("list", entry.metadata)))
    return entries, _optional("list", page.cursor, "cursor")
