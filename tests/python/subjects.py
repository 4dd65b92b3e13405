"""Empty backends of each kind, on which cases are replayed."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import kitbag
from storages import DictStorage

ALLOWED = kitbag.Permission(["read", "write"], ["/**"], "allow")


def _folder(**options: str) -> kitbag.Backend:
    root = Path(tempfile.mkdtemp(prefix="kitbag-python-"))
    return kitbag.FilesystemBackend(root / "files", **options)


SUBJECTS: dict[str, Callable[..., kitbag.Backend]] = {
    "state": kitbag.StateBackend,
    "files below a router": lambda: kitbag.CompositeBackend(kitbag.StateBackend(), {}),
    "a policy that allows everything": lambda: kitbag.with_policy(
        kitbag.StateBackend(), permissions=[ALLOWED], quota=kitbag.Quota(max_bytes=1 << 30)
    ),
    "a storage in Python": lambda: kitbag.CustomBackend(DictStorage()),
    "a folder": _folder,
}
