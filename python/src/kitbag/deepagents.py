"""Backends for deepagents: each is a `BackendProtocol`, for `create_deep_agent(backend=…)`,
`FilesystemMiddleware(backend=…)` and deepagents' own `CompositeBackend`.

Results are those of deepagents, with `code` beside `error`. This module needs deepagents; the rest of kitbag
does not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from deepagents.backends import protocol
from deepagents.backends.protocol import BackendProtocol, SandboxBackendProtocol

from . import backend as core
from . import backends, disk, results
from ._folder import noting
from ._store import NamespaceFactory, StoreStorage
from .errors import ErrorCode
from .policy import (
    Inspect,
    OnAsk,
    OnAudit,
    Permission,
    PermissionLike,
    Quota,
    RateLimit,
    refused,
)
from .results import Capability

__all__ = [
    "CompositeBackend",
    "CustomBackend",
    "DeleteResult",
    "EditResult",
    "ExecuteResponse",
    "FileDownloadResponse",
    "FileUploadResponse",
    "FilesystemBackend",
    "GlobResult",
    "GrepResult",
    "KitbagBackend",
    "LocalShellBackend",
    "LsResult",
    "ReadResult",
    "StateBackend",
    "StoreBackend",
    "WriteResult",
    "adapt",
    "with_ignore",
    "with_policy",
]


@dataclass
class LsResult(protocol.LsResult):
    code: ErrorCode | None = None


@dataclass
class ReadResult(protocol.ReadResult):
    code: ErrorCode | None = None
    mime_type: str | None = None


@dataclass
class GrepResult(protocol.GrepResult):
    code: ErrorCode | None = None


@dataclass
class GlobResult(protocol.GlobResult):
    code: ErrorCode | None = None


@dataclass
class WriteResult(protocol.WriteResult):
    code: ErrorCode | None = None


@dataclass
class EditResult(protocol.EditResult):
    code: ErrorCode | None = None


@dataclass
class DeleteResult(protocol.DeleteResult):
    code: ErrorCode | None = None


@dataclass
class FileUploadResponse(protocol.FileUploadResponse):
    code: ErrorCode | None = None


@dataclass
class FileDownloadResponse(protocol.FileDownloadResponse):
    code: ErrorCode | None = None


@dataclass
class ExecuteResponse(protocol.ExecuteResponse):
    code: ErrorCode | None = None


_FILE_ERRORS: dict[str, str] = {
    "not_found": "file_not_found",
    "is_directory": "is_directory",
    "invalid_path": "invalid_path",
    "permission_denied": "permission_denied",
}


def _file_error(found: results.Outcome) -> str | None:
    """One of deepagents' words for the errors of a file, or the sentence of another one."""
    return None if found.code is None else _FILE_ERRORS.get(found.code, found.error)


class KitbagBackend(BackendProtocol):
    """A backend of kitbag, `files`, with the protocol of deepagents. `files` has what that lacks: `append`,
    `move`, `copy`, expressions for `grep`."""

    files: core.Backend
    _mounts: tuple[str, ...] = ("",)
    """Below which directories a folder may be."""

    @property
    def capability(self) -> Capability:
        return self.files.capability

    def ls(self, path: str) -> LsResult:
        found = self.files.ls(path)
        return LsResult(error=found.error, entries=found.entries, code=found.code)

    def read(self, file_path: str, offset: int = 0, limit: int = 2000) -> ReadResult:
        if isinstance(limit, int) and limit <= 0:
            empty = protocol.FileData(content="", encoding="utf-8")
            return ReadResult(file_data=empty, no_lines_requested=True)
        found = self.files.read(file_path, offset, limit)
        return ReadResult(
            error=found.error,
            file_data=found.file_data,
            total_lines=found.total_lines,
            start_line=found.start_line,
            end_line=found.end_line,
            next_offset=found.next_offset,
            code=found.code,
            mime_type=found.mime_type,
        )

    def grep(
        self,
        pattern: str,
        path: str | None = None,
        glob: str | None = None,
        *,
        max_count: int | None = None,
    ) -> GrepResult:
        found = self.files.grep(pattern, path, glob, max_count=max_count)
        return GrepResult(
            error=found.error,
            matches=found.matches,
            truncated=found.truncated,
            code=found.code,
        )

    async def agrep(
        self,
        pattern: str,
        path: str | None = None,
        glob: str | None = None,
        *,
        max_count: int | None = None,
    ) -> GrepResult:
        return await asyncio.to_thread(self.grep, pattern, path, glob, max_count=max_count)

    def glob(self, pattern: str, path: str | None = None) -> GlobResult:
        with noting() as unreadable:
            found = self.files.glob(pattern, path)
        # A pattern without "/" looks into no other directory.
        misses = found.error is None and "/" in pattern and self._shows(unreadable)
        return GlobResult(
            error=found.error,
            matches=found.matches,
            truncated=misses or found.truncated,
            truncation_reason="unreadable" if misses else "budget" if found.truncated else None,
            code=found.code,
        )

    def _shows(self, unreadable: list[str]) -> bool:
        """Whether the rules let a caller as far as one of these directories: a folder fails at it again. Of
        one that they hide nothing is said."""
        for path in unreadable:
            for mount in self._mounts:
                with noting() as again:
                    self.files.ls(f"{mount}{path}")
                if again:
                    return True
        return False

    def write(self, file_path: str, content: str) -> WriteResult:
        found = self.files.write(file_path, content)
        return WriteResult(error=found.error, path=found.path, code=found.code)

    def edit(
        self, file_path: str, old_string: str, new_string: str, replace_all: bool = False
    ) -> EditResult:
        found = self.files.edit(file_path, old_string, new_string, replace_all)
        return EditResult(
            error=found.error, path=found.path, occurrences=found.occurrences, code=found.code
        )

    def delete(self, file_path: str) -> DeleteResult:
        found = self.files.delete(file_path)
        return DeleteResult(error=found.error, path=found.path, code=found.code)

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[protocol.FileUploadResponse]:
        return [
            FileUploadResponse(path=one.path, error=_file_error(one), code=one.code)
            for one in self.files.upload_files(files)
        ]

    def download_files(self, paths: list[str]) -> list[protocol.FileDownloadResponse]:
        return [
            FileDownloadResponse(
                path=one.path, content=one.content, error=_file_error(one), code=one.code
            )
            for one in self.files.download_files(paths)
        ]


class _WithShell(KitbagBackend, SandboxBackendProtocol):
    """One that runs commands, which deepagents knows by this class."""

    @property
    def id(self) -> str:
        return self.files.id or ""

    def execute(self, command: str, *, timeout: int | None = None) -> ExecuteResponse:
        found = self.files.execute(command, timeout=timeout)
        if found.error is not None:
            return ExecuteResponse(output=found.error, exit_code=1, code=found.code)
        return ExecuteResponse(
            output=found.output, exit_code=found.exit_code, truncated=found.truncated
        )


def adapt(files: core.Backend) -> KitbagBackend:
    """Any backend of kitbag for deepagents."""
    if not isinstance(files, core.Backend):
        raise refused(f"files must be a backend of kitbag, not {type(files).__name__}")
    adapted = _WithShell() if files.id is not None else KitbagBackend()
    adapted.files = files
    return adapted


def _mounts_of(backend: Any) -> tuple[str, ...]:
    return backend._mounts if isinstance(backend, KitbagBackend) else ("",)


def _files(name: str, backend: Any) -> core.Backend:
    if isinstance(backend, KitbagBackend):
        return backend.files
    if isinstance(backend, core.Backend):
        return backend
    if isinstance(backend, BackendProtocol):
        raise refused(
            f"{name} is a {type(backend).__name__} that kitbag did not make; "
            "mount both kinds in deepagents' own CompositeBackend"
        )
    raise refused(f"{name} must be a backend of kitbag, not {type(backend).__name__}")


class StateBackend(KitbagBackend):
    """Files in memory of this process, for as long as the backend lives; not in the state of a graph. The
    options are those of `kitbag.StateBackend`."""

    def __init__(self, **options: Any) -> None:
        self.files = backends.StateBackend(**options)


class FilesystemBackend(KitbagBackend):
    """A folder, which no path and no link leads out of. The options are those of
    `kitbag.FilesystemBackend`."""

    def __init__(self, root_dir: Any = None, virtual_mode: bool = True, **options: Any) -> None:
        files = disk.FilesystemBackend(root_dir, virtual_mode, **options)
        self.files = files
        self.cwd = files.cwd


class LocalShellBackend(_WithShell):
    """A folder with commands of this machine, which are not confined. The options are those of
    `kitbag.LocalShellBackend`."""

    def __init__(self, root_dir: Any = None, **options: Any) -> None:
        files = disk.LocalShellBackend(root_dir, **options)
        self.files = files
        self.cwd = files.cwd


class CustomBackend(KitbagBackend):
    """Files in a storage of your own. The options are those of `kitbag.CustomBackend`."""

    def __init__(self, storage: Any, **options: Any) -> None:
        self.files = backends.CustomBackend(storage, **options)


class StoreBackend(KitbagBackend):
    """Files in a store of LangGraph: `store`, or that of the running graph. `namespace` chooses whose."""

    def __init__(
        self, *, namespace: NamespaceFactory, store: Any = None, **options: Any
    ) -> None:
        self.files = backends.CustomBackend(StoreStorage(namespace, store), **options)


class CompositeBackend(KitbagBackend):
    """One tree of several backends of kitbag: the longest prefix wins."""

    def __new__(cls, default: Any, routes: Any) -> CompositeBackend:
        runs = isinstance(default, SandboxBackendProtocol) and cls is CompositeBackend
        return super().__new__(_CompositeWithShell if runs else cls)

    def __init__(
        self,
        default: BackendProtocol | core.Backend,
        routes: Mapping[str, BackendProtocol | core.Backend],
    ) -> None:
        mounts = {prefix: _files(f"routes[{prefix!r}]", one) for prefix, one in routes.items()}
        self.files = backends.CompositeBackend(_files("default", default), mounts)
        below = [
            prefix.rstrip("/") + mount
            for prefix, one in routes.items()
            for mount in _mounts_of(one)
        ]
        self._mounts = (*_mounts_of(default), *below)


class _CompositeWithShell(CompositeBackend, _WithShell):
    pass


def with_policy(
    backend: BackendProtocol | core.Backend,
    *,
    read_only: bool = False,
    read_only_prefixes: Iterable[str] = (),
    permissions: Iterable[Permission | PermissionLike | Mapping[str, Any]] = (),
    default_mode: str = "allow",
    rate_limits: RateLimit | Iterable[RateLimit] = (),
    quota: Quota | None = None,
    allow_execute: bool = False,
    allow_hidden_characters: bool = False,
    on_ask: OnAsk | None = None,
    inspect: Inspect | None = None,
    audit: OnAudit | None = None,
) -> KitbagBackend:
    """The same files behind rules, as `kitbag.with_policy`."""
    ruled = adapt(
        backends.with_policy(
            _files("backend", backend),
            read_only=read_only,
            read_only_prefixes=read_only_prefixes,
            permissions=permissions,
            default_mode=default_mode,
            rate_limits=rate_limits,
            quota=quota,
            allow_execute=allow_execute,
            allow_hidden_characters=allow_hidden_characters,
            on_ask=on_ask,
            inspect=inspect,
            audit=audit,
        )
    )
    ruled._mounts = _mounts_of(backend)
    return ruled


def with_ignore(
    backend: BackendProtocol | core.Backend,
    *,
    files: Iterable[str] = (".gitignore",),
    patterns: Iterable[str] = (),
) -> KitbagBackend:
    """The same files, and searches without ignored ones, as `kitbag.with_ignore`."""
    inner = _files("backend", backend)
    quiet = adapt(backends.with_ignore(inner, files=files, patterns=patterns))
    quiet._mounts = _mounts_of(backend)
    return quiet
