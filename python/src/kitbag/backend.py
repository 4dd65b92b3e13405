"""Backends: files of an agent. Methods, arguments and results are those of deepagents' `BackendProtocol`.

No operation raises for what a file, a path or a storage is: it returns `error` and `code`. Constructors
raise `KitbagError`. Each method has a twin that is awaited (`als`, `aread`, …), which runs in a thread.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

from ._instance import Instance, error_of
from ._shapes import data_of, info_of, iso_of, matches_of
from ._thread import in_thread
from .errors import KitbagError, shown
from .policy import listed, refused
from .results import (
    Capability,
    DeleteResult,
    DownloadResult,
    EditResult,
    ExecuteResult,
    GlobResult,
    GrepResult,
    LsResult,
    Outcome,
    RawResult,
    ReadResult,
    UploadResult,
    WriteResult,
)

WriteMode = Literal["create", "overwrite"]

_R = TypeVar("_R", bound=Outcome)
_MOST_LINES = (1 << 32) - 1
_MOST_MS = (1 << 63) - 1


def failed(kind: type[_R], error: KitbagError, **fields: Any) -> _R:
    """The result of a call that failed."""
    return kind(
        error=error.message, code=error.code, retry_after_ms=error.retry_after_ms, **fields
    )


def answered(
    kind: type[_R],
    shape: Callable[[Any], _R],
    instance: Instance,
    name: str,
    given: Callable[[], tuple[Any, ...]],
) -> _R:
    """The result of a call with these arguments, which may be wrong."""
    try:
        return shape(instance.call(name, *given()))
    except KitbagError as error:
        return failed(kind, error)


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise refused(f"{name} must be a str, not {shown(value)}")
    return value


def _bytes(value: Any) -> bytes:
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise refused(f"the content of a file must be bytes, not {type(value).__name__}")
    return bytes(value)


def _pair(value: Any) -> tuple[str, bytes]:
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise refused(f"files must be pairs of a path and bytes; it has {shown(value)}")
    path, content = value
    return _text("path", path), _bytes(content)


def _path_in(pair: Any) -> Any:
    return pair[0] if isinstance(pair, (tuple, list)) and pair else ""


def _optional(name: str, value: Any) -> str | None:
    return None if value is None else _text(name, value)


def _lines(name: str, value: Any) -> int | None:
    """A number of lines. A negative one is 0, one beyond all files the largest."""
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool):
        raise refused(f"{name} must be a whole number, not {shown(value)}")
    return min(max(value, 0), _MOST_LINES)


def _milliseconds(timeout: Any) -> int | None:
    if timeout is None:
        return None
    is_number = isinstance(timeout, (int, float)) and not isinstance(timeout, bool)
    if not is_number or not 0 <= timeout < math.inf:
        raise refused(
            f"timeout must be a number of seconds that is not negative, or None, not {shown(timeout)}"
        )
    return int(min(timeout * 1000, _MOST_MS))


class Backend:
    """Files of an agent. Paths are canonical in every result: `notes.txt` is `/notes.txt`."""

    def __init__(self, instance: Instance, rep: int, *, keeps: Any = None) -> None:
        self._instance = instance
        self._rep = rep
        # What the WebAssembly calls, for as long as this backend is used.
        self._keeps = keeps
        instance.owns(self, "backend", rep)

    def _call(self, method: str, *given: Any) -> Any:
        return self._instance.call(f"[method]backend.{method}", self._rep, *given)

    @property
    def capability(self) -> Capability:
        create, update, directories, promises, size, notes = self._call("capability")
        return Capability(
            create=create,
            update=update,
            directories=directories,
            promises=frozenset(name.replace("-", "_") for name in promises),
            max_file_bytes=size,
            notes=tuple(notes),
        )

    @property
    def id(self) -> str | None:
        """The machine that runs its commands, if it runs any."""
        found: str | None = self._call("shell-id")
        return found

    def ls(self, path: str = "/") -> LsResult:
        """Files and directories in a directory."""
        try:
            return LsResult(entries=[info_of(one) for one in self._call("ls", _text("path", path))])
        except KitbagError as error:
            return failed(LsResult, error)

    def read(self, file_path: str, offset: int = 0, limit: int | None = 2000) -> ReadResult:
        """Lines of a text, without numbers; the whole of another file as base64."""
        try:
            content, mime_type, position = self._call(
                "read",
                _text("file_path", file_path),
                _lines("offset", offset),
                _lines("limit", limit),
            )
        except KitbagError as error:
            return failed(ReadResult, error)
        data = data_of(content)
        if position is None:
            return ReadResult(file_data=data, mime_type=mime_type)
        start, end, total, following = position
        return ReadResult(
            file_data=data,
            mime_type=mime_type,
            start_line=start,
            end_line=end,
            total_lines=total,
            next_offset=following,
        )

    def read_raw(self, file_path: str) -> RawResult:
        """A file as it is stored, with its times."""
        try:
            content, mime_type, form, created, modified = self._call(
                "read-raw", _text("file_path", file_path)
            )
        except KitbagError as error:
            return failed(RawResult, error)
        data = data_of(content)
        created_at = None if created is None else iso_of(created)
        modified_at = None if modified is None else iso_of(modified)
        if created_at is not None:
            data["created_at"] = created_at
        if modified_at is not None:
            data["modified_at"] = modified_at
        return RawResult(file_data=data, mime_type=mime_type, format=form)

    def grep(
        self,
        pattern: str,
        path: str | None = None,
        glob: str | None = None,
        *,
        max_count: int | None = None,
        max_per_file: int | None = None,
        regex: bool = False,
        ignore_case: bool = False,
        before: int = 0,
        after: int = 0,
    ) -> GrepResult:
        """Lines with a text; with `regex` those that match an expression (no Unicode classes)."""
        switches = {
            name for name, is_on in (("regex", regex), ("ignore-case", ignore_case)) if is_on
        }
        try:
            files, truncated, ignored = self._call(
                "grep",
                (
                    _text("pattern", pattern),
                    _optional("path", path),
                    _optional("glob", glob),
                    _lines("max_count", max_count),
                    _lines("max_per_file", max_per_file),
                    _lines("before", before) or 0,
                    _lines("after", after) or 0,
                    switches,
                ),
            )
        except KitbagError as error:
            return failed(GrepResult, error)
        matches = matches_of(files, has_context=bool(before or after))
        return GrepResult(matches=matches, truncated=truncated, ignored=ignored)

    def glob(self, pattern: str, path: str | None = None) -> GlobResult:
        """Files whose paths below `path` match: `*.md` in that directory, `**/*.md` at any depth."""
        try:
            files, truncated, ignored = self._call(
                "glob", _text("pattern", pattern), _optional("path", path)
            )
        except KitbagError as error:
            return failed(GlobResult, error)
        matches = [info_of(one) for one in files]
        return GlobResult(matches=matches, truncated=truncated, ignored=ignored)

    def write(self, file_path: str, content: str | bytes) -> WriteResult:
        """Creates a file; replaces one only with `write_mode="overwrite"`."""
        try:
            if not isinstance(content, (str, bytes)):
                raise refused(f"content must be str or bytes, not {type(content).__name__}")
            tag = "text" if isinstance(content, str) else "bytes"
            path = self._call("write", _text("file_path", file_path), (tag, content))
        except KitbagError as error:
            return failed(WriteResult, error)
        return WriteResult(path=path)

    def edit(
        self, file_path: str, old_string: str, new_string: str, replace_all: bool = False
    ) -> EditResult:
        """Replaces a text that occurs once, or all occurrences."""
        try:
            path, occurrences, is_crlf = self._call(
                "edit",
                _text("file_path", file_path),
                _text("old_string", old_string),
                _text("new_string", new_string),
                bool(replace_all),
            )
        except KitbagError as error:
            return failed(EditResult, error)
        endings: Literal["crlf"] | None = "crlf" if is_crlf else None
        return EditResult(path=path, occurrences=occurrences, line_endings=endings)

    def _changed(self, method: str, *last: bool, **texts: Any) -> WriteResult:
        try:
            given = [_text(name, text) for name, text in texts.items()]
            return WriteResult(path=self._call(method, *given, *last))
        except KitbagError as error:
            return failed(WriteResult, error)

    def append(self, file_path: str, text: str) -> WriteResult:
        """Adds a text at the end of a file that exists."""
        return self._changed("append", file_path=file_path, text=text)

    def move(self, from_path: str, to_path: str, *, overwrite: bool = False) -> WriteResult:
        return self._changed("move", bool(overwrite), from_path=from_path, to_path=to_path)

    def copy(self, from_path: str, to_path: str, *, overwrite: bool = False) -> WriteResult:
        return self._changed("copy", bool(overwrite), from_path=from_path, to_path=to_path)

    def delete(self, file_path: str) -> DeleteResult:
        """Deletes a file, or a directory with all that is in it."""
        try:
            return DeleteResult(path=self._call("delete", _text("file_path", file_path)))
        except KitbagError as error:
            return failed(DeleteResult, error)

    def upload_files(self, files: Sequence[tuple[str, bytes]]) -> list[UploadResult]:
        """Stores files, also in the place of others. One answer for each, in order."""
        given: list[Any] = [("", b"")]
        try:
            given = listed("files", files, "pairs of a path and bytes")
            answers = self._call("upload", [_pair(one) for one in given])
        except KitbagError as error:
            return [failed(UploadResult, error, path=_path_in(one)) for one in given]
        return [_each(UploadResult, path, error) for path, error in answers]

    def download_files(self, paths: Sequence[str]) -> list[DownloadResult]:
        """The bytes of files. One answer for each, in order."""
        given = [""]
        try:
            given = listed("paths", paths)
            answers = self._call("download", [_text("path", path) for path in given])
        except KitbagError as error:
            return [failed(DownloadResult, error, path=path) for path in given]
        return [
            DownloadResult(path=path, content=body[1])
            if body[0]
            else _each(DownloadResult, path, body[1])
            for path, body in answers
        ]

    def execute(self, command: str, *, timeout: float | None = None) -> ExecuteResult:
        """Runs a command, at most `timeout` seconds long, if the backend has a machine."""
        try:
            output, exit_code, truncated = self._call(
                "execute", _text("command", command), _milliseconds(timeout)
            )
        except KitbagError as error:
            return failed(ExecuteResult, error)
        return ExecuteResult(output=output, exit_code=exit_code, truncated=truncated)

    # The same, awaited.

    async def als(self, path: str = "/") -> LsResult:
        return await in_thread(self.ls, path)

    async def aread(
        self, file_path: str, offset: int = 0, limit: int | None = 2000
    ) -> ReadResult:
        return await in_thread(self.read, file_path, offset, limit)

    async def aread_raw(self, file_path: str) -> RawResult:
        return await in_thread(self.read_raw, file_path)

    async def agrep(
        self, pattern: str, path: str | None = None, glob: str | None = None, **options: Any
    ) -> GrepResult:
        return await in_thread(self.grep, pattern, path, glob, **options)

    async def aglob(self, pattern: str, path: str | None = None) -> GlobResult:
        return await in_thread(self.glob, pattern, path)

    async def awrite(self, file_path: str, content: str | bytes) -> WriteResult:
        return await in_thread(self.write, file_path, content)

    async def aedit(
        self, file_path: str, old_string: str, new_string: str, replace_all: bool = False
    ) -> EditResult:
        return await in_thread(self.edit, file_path, old_string, new_string, replace_all)

    async def aappend(self, file_path: str, text: str) -> WriteResult:
        return await in_thread(self.append, file_path, text)

    async def amove(
        self, from_path: str, to_path: str, *, overwrite: bool = False
    ) -> WriteResult:
        return await in_thread(self.move, from_path, to_path, overwrite=overwrite)

    async def acopy(
        self, from_path: str, to_path: str, *, overwrite: bool = False
    ) -> WriteResult:
        return await in_thread(self.copy, from_path, to_path, overwrite=overwrite)

    async def adelete(self, file_path: str) -> DeleteResult:
        return await in_thread(self.delete, file_path)

    async def aupload_files(self, files: Sequence[tuple[str, bytes]]) -> list[UploadResult]:
        return await in_thread(self.upload_files, files)

    async def adownload_files(self, paths: Sequence[str]) -> list[DownloadResult]:
        return await in_thread(self.download_files, paths)

    async def aexecute(self, command: str, *, timeout: float | None = None) -> ExecuteResult:
        return await in_thread(self.execute, command, timeout=timeout)


def _each(kind: Any, path: str, error: tuple[str, str, int | None] | None) -> Any:
    return kind(path=path) if error is None else failed(kind, error_of(error), path=path)
