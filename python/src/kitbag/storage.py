"""A storage of your own: where bytes are kept. `CustomBackend` makes a backend of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol, runtime_checkable

Reach = Literal["storage", "instance", "never"]
FileFormat = Literal["v2", "v1"]


@dataclass(frozen=True, slots=True)
class StorageCapability:
    """What a storage guarantees. Say less if in doubt: the backend then does it by itself."""

    create: Reach = "instance"
    """`"storage"` if `put` checks that there is no file and stores in one step."""
    update: Reach = "instance"
    """`"storage"` if `put` and `delete` compare versions and change in one step."""
    directories: Literal["implied", "real"] = "implied"
    keeps_created: bool = False
    keeps_mime_type: bool = False
    keeps_format: bool = False
    keeps_modes: bool = False
    folds_case: bool = False
    """Whether names that differ in case alone are one file."""
    folds_composition: bool = False
    """Whether names that differ in Unicode's composition alone are one file."""
    max_file_bytes: int | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Metadata:
    """What is known of a file besides its bytes. What is None follows from its name and content."""

    size: int | None = None
    created: datetime | None = None
    modified: datetime | None = None
    mime_type: str | None = None
    format: FileFormat | None = None
    mode: int | None = None
    version: str | None = None
    """A text that no other state of this file has."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    body: bytes
    metadata: Metadata = field(default_factory=Metadata)


@dataclass(frozen=True, slots=True)
class FileToStore:
    body: bytes
    created: datetime
    modified: datetime
    mime_type: str
    format: FileFormat
    mode: int | None
    """Permission bits for a file that is created as a copy of another."""


@dataclass(frozen=True, slots=True)
class Condition:
    """`create`: only if there is none; `update`: only if the file has this `version`."""

    mode: Literal["create", "overwrite", "update"]
    version: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    path: str
    metadata: Metadata = field(default_factory=Metadata)


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a listing; `cursor` is passed to `list` for the next one."""

    entries: Iterable[Entry | str]
    cursor: str | None = None


@runtime_checkable
class Storage(Protocol):
    """Paths begin with `/` and are canonical. Methods answer at once; they may raise.

    A `KitbagError` keeps its code and `retry_after_ms`, `OSError`s keep their meaning (`FileNotFoundError`,
    `PermissionError`); any other exception is `unavailable` for the caller. Optional: `stat(path) -> Metadata
    | None`, instead of `get`, and the attribute `capability`, a `StorageCapability`.
    """

    def get(self, path: str) -> StoredFile | bytes | None:
        """The file, if there is one."""
        ...

    def list(self, prefix: str, cursor: str | None = None) -> Iterable[Entry | str] | Page:
        """Files whose paths begin with `prefix`, in any order."""
        ...

    def put(
        self, path: str, file: FileToStore, condition: Condition
    ) -> str | None | Literal[False]:
        """Stores a file and returns its version, if there are versions; `False` if the condition does not
        hold."""
        ...

    def delete(self, path: str, version: str | None = None) -> bool:
        """Deletes a file, with a version only that one. `False` if there was none."""
        ...
