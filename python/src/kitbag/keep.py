"""Where a history and labels are kept: beside the files, where no call of a backend or a tool reaches them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .backend import Backend
from .policy import refused


@dataclass(frozen=True)
class KeepIn:
    """A directory of another backend than that of the files."""

    backend: Backend
    path: str | None = None
    """For labels a file."""
    key: bytes | str | None = None
    """16 random bytes or more: only what was written with them is believed."""

    def __repr__(self) -> str:
        return f"KeepIn({self.backend!r}, {self.path!r})"


def place_of(files: Backend, given: Any) -> tuple[tuple[int, str | None, bytes | None], Backend]:
    """The place as the WIT has it, and its backend."""
    place = KeepIn(given) if isinstance(given, Backend) else given
    if not isinstance(place, KeepIn) or not isinstance(place.backend, Backend):
        raise refused(f"keep_in must be a KeepIn or a backend of kitbag, not {type(given).__name__}")
    if place.backend._instance is not files._instance:
        raise refused(
            "keep_in is of another instance than the files; make both with the same `instance`"
        )
    key = place.key.encode() if isinstance(place.key, str) else place.key
    if key is not None and not isinstance(key, bytes):
        raise refused(f"the key of keep_in must be bytes or a str, not {type(key).__name__}")
    if place.path is not None and not isinstance(place.path, str):
        raise refused(f"the path of keep_in must be a str, not {type(place.path).__name__}")
    return (place.backend._rep, place.path, key), place.backend
