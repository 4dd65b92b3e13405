"""Errors of kitbag: a `code` for programs, a sentence for people and models."""

from __future__ import annotations

from typing import Literal, get_args

ErrorCode = Literal[
    "not_found",
    "already_exists",
    "ambiguous_edit",
    "no_match",
    "conflict",
    "invalid_path",
    "invalid_pattern",
    "invalid_argument",
    "permission_denied",
    "is_directory",
    "too_large",
    "quota_exceeded",
    "rate_limited",
    "unsupported",
    "timeout",
    "unavailable",
    "internal",
]
"""The codes of the npm package."""

ERROR_CODES: tuple[ErrorCode, ...] = get_args(ErrorCode)


class KitbagError(Exception):
    """Raised by constructors; operations return results with `error` and `code`.

    A `Storage` raises it to choose the code that a caller gets.
    """

    def __init__(
        self, code: ErrorCode, message: str, *, retry_after_ms: int | None = None
    ) -> None:
        if code not in ERROR_CODES:
            raise ValueError(f"code must be one of {', '.join(ERROR_CODES)}, not {code!r}")
        super().__init__(message)
        self.code: ErrorCode = code
        self.message = message
        self.retry_after_ms = retry_after_ms
