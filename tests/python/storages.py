"""A storage in Python: a dict with versions, as a bucket would have them."""

from __future__ import annotations

import itertools

from kitbag import (
    Condition,
    Entry,
    FileToStore,
    Metadata,
    Page,
    StorageCapability,
    StoredFile,
)


class DictStorage:
    capability = StorageCapability(
        create="storage",
        update="storage",
        keeps_created=True,
        keeps_mime_type=True,
        keeps_format=True,
    )

    def __init__(self) -> None:
        self.files: dict[str, StoredFile] = {}
        self._versions = itertools.count(1)

    def _version(self, path: str) -> str | None:
        file = self.files.get(path)
        return file.metadata.version if file else None

    def get(self, path: str) -> StoredFile | None:
        return self.files.get(path)

    def put(self, path: str, file: FileToStore, condition: Condition) -> str | None:
        if condition.mode == "create" and path in self.files:
            return False
        if condition.mode == "update" and self._version(path) != condition.version:
            return False
        version = f"v{next(self._versions)}"
        metadata = Metadata(
            size=len(file.body),
            created=file.created,
            modified=file.modified,
            mime_type=file.mime_type,
            format=file.format,
            version=version,
        )
        self.files[path] = StoredFile(file.body, metadata)
        return version

    def delete(self, path: str, version: str | None = None) -> bool:
        return self.files.pop(path, None) is not None

    def list(self, prefix: str, cursor: str | None = None) -> Page:
        """Two pages, in the order in which files were stored."""
        found = [(path, file) for path, file in self.files.items() if path.startswith(prefix)]
        half = (len(found) + 1) // 2
        part = found[:half] if cursor is None else found[half:]
        entries = [Entry(path, file.metadata) for path, file in part]
        return Page(entries, "half" if cursor is None and len(found) > 1 else None)
