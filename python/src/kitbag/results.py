"""What operations return: the fields of deepagents' results, and `code`.

`error` and `code` are None if the operation succeeded; nothing was changed if it did not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NotRequired, TypedDict

from .errors import ErrorCode


class FileInfo(TypedDict):
    path: str
    """Absolute; that of a directory ends with `/`."""
    is_dir: NotRequired[bool]
    size: NotRequired[int]
    modified_at: NotRequired[str]
    """ISO 8601; absent if it is not known."""


class ContextLine(TypedDict):
    line: int
    text: str


class GrepMatch(TypedDict):
    path: str
    line: int
    text: str
    context_before: NotRequired[list[ContextLine]]
    context_after: NotRequired[list[ContextLine]]


class FileData(TypedDict):
    content: str
    """The text, or the base64 of other bytes."""
    encoding: str
    """`"utf-8"` or `"base64"`."""
    created_at: NotRequired[str]
    modified_at: NotRequired[str]


@dataclass(kw_only=True)
class Outcome:
    error: str | None = None
    """What was wrong and what to do, for a person or a model."""
    code: ErrorCode | None = None
    retry_after_ms: int | None = None
    """After how many milliseconds the call can succeed, for `rate_limited`."""


@dataclass(kw_only=True)
class LsResult(Outcome):
    entries: list[FileInfo] | None = None


@dataclass(kw_only=True)
class ReadResult(Outcome):
    """A page of a text, or all of another file. Lines count from 1, offsets from 0."""

    file_data: FileData | None = None
    total_lines: int | None = None
    start_line: int | None = None
    end_line: int | None = None
    next_offset: int | None = None
    mime_type: str | None = None


@dataclass(kw_only=True)
class RawResult(Outcome):
    """A file as it is stored; with the format `v1` its text was stored as a list of lines."""

    file_data: FileData | None = None
    mime_type: str | None = None
    format: Literal["v2", "v1"] | None = None


@dataclass(kw_only=True)
class GrepResult(Outcome):
    matches: list[GrepMatch] | None = None
    truncated: bool = False
    ignored: int = 0
    """How many files `with_ignore` left out."""


@dataclass(kw_only=True)
class GlobResult(Outcome):
    """Files, the newest first."""

    matches: list[FileInfo] | None = None
    truncated: bool = False
    ignored: int = 0
    """How many files `with_ignore` left out."""


@dataclass(kw_only=True)
class WriteResult(Outcome):
    """Of `write`, `append`, `move` and `copy`."""

    path: str | None = None


@dataclass(kw_only=True)
class EditResult(Outcome):
    path: str | None = None
    occurrences: int | None = None
    line_endings: Literal["crlf"] | None = None
    """Set if the text was found with the line endings of the file, which `old_string` had not."""


@dataclass(kw_only=True)
class DeleteResult(Outcome):
    path: str | None = None


@dataclass(kw_only=True)
class UploadResult(Outcome):
    path: str


@dataclass(kw_only=True)
class DownloadResult(Outcome):
    path: str
    content: bytes | None = None


@dataclass(kw_only=True)
class ExecuteResult(Outcome):
    output: str = ""
    exit_code: int | None = None
    """None if it is not known."""
    truncated: bool = False


@dataclass(frozen=True, kw_only=True)
class Capability:
    """What a backend guarantees."""

    create: Literal["storage", "instance", "never"]
    """Who guarantees that two writers never create the same file."""
    update: Literal["storage", "instance", "never"]
    """Who guarantees that an edit loses no other change."""
    directories: Literal["implied", "real"]
    promises: frozenset[str]
    max_file_bytes: int | None
    notes: tuple[str, ...]
    missing: frozenset[str] = frozenset(
        {
            *("hooks", "kept_turns", "change_tools"),
            *("index", "unicode_classes"),
        }
    )
    """What the npm package has and this one has not."""
