"""Errors of kitbag: a `code` for programs, a sentence for people and models."""

from __future__ import annotations

import math
from typing import Any, Literal, get_args

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

_MOST_MS = (1 << 64) - 1


def wait_of(value: Any) -> int | None:
    """Milliseconds, rounded up; None for what is no number of them."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return math.ceil(value) if is_number and 0 <= value <= _MOST_MS else None


def said(error: BaseException) -> str:
    """What an exception says, which may fail too."""
    try:
        return str(error)
    except Exception:
        return "it cannot be shown"


def shown(value: Any) -> str:
    """A value as a message has it, shortened."""
    try:
        return repr(value)[:80]
    except Exception:
        return f"a {type(value).__name__} that cannot be shown"


class KitbagError(Exception):
    """Raised by constructors; operations return results with `error` and `code`.

    A `Storage` raises it to choose the code that a caller gets.
    """

    # For a class of yours whose constructor does not call this one.
    code: ErrorCode = "internal"
    message: str = ""
    retry_after_ms: int | None = None

    def __init__(
        self, code: ErrorCode, message: str, *, retry_after_ms: float | None = None
    ) -> None:
        """`retry_after_ms` is rounded up."""
        if code not in ERROR_CODES:
            raise ValueError(f"code must be one of {', '.join(ERROR_CODES)}, not {code!r}")
        if not isinstance(message, str):
            raise ValueError(f"message must be a str, not {shown(message)}")
        wait = wait_of(retry_after_ms)
        if wait is None and retry_after_ms is not None:
            raise ValueError(
                f"retry_after_ms must be a number from 0 to {_MOST_MS}, not {shown(retry_after_ms)}"
            )
        super().__init__(message)
        self.code = code
        self.message = message
        self.retry_after_ms = wait
