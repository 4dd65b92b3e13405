"""Files in a store of LangGraph, in the form in which deepagents keeps them there."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from typing import Any

from .errors import KitbagError
from .storage import Condition, Entry, FileToStore, Metadata, StorageCapability, StoredFile

NamespaceFactory = Callable[[Any], "tuple[str, ...]"]
"""Which namespace, from LangGraph's `Runtime`."""

_PAGE = 100
_SAFE = frozenset("-_.@+:~")


class StoreStorage:
    """A store has no conditional writes: only the calls of one backend take turns."""

    capability = StorageCapability(keeps_created=True)

    def __init__(self, namespace: NamespaceFactory, store: Any = None) -> None:
        if not callable(namespace):
            raise KitbagError(
                "invalid_argument",
                f"namespace must be a function of the runtime, not {namespace!r:.80}",
            )
        self._namespace = namespace
        self._store = store

    def _place(self) -> tuple[Any, tuple[str, ...]]:
        from langgraph.runtime import get_runtime

        try:
            runtime = get_runtime()
        except (RuntimeError, KeyError):
            # Outside of a graph. A factory that needs the runtime fails with an exception of its own.
            runtime = None
        store = self._store if self._store is not None else getattr(runtime, "store", None)
        if store is None:
            raise KitbagError(
                "unavailable",
                "There is no store: pass store= to StoreBackend, or to the agent that runs",
            )
        parts = self._namespace(runtime)
        is_valid = isinstance(parts, tuple) and parts and all(map(_is_safe, parts))
        if not is_valid:
            raise KitbagError(
                "invalid_argument",
                "namespace must return a tuple of texts of letters, digits and any of "
                f"{' '.join(sorted(_SAFE))}, not {parts!r:.80}",
            )
        return store, parts

    def get(self, path: str) -> StoredFile | None:
        store, namespace = self._place()
        item = store.get(namespace, path)
        return None if item is None else _file(item)

    def put(self, path: str, file: FileToStore, condition: Condition) -> None:
        store, namespace = self._place()
        store.put(namespace, path, _value(file), index=False)

    def delete(self, path: str, version: str | None = None) -> bool:
        store, namespace = self._place()
        if store.get(namespace, path) is None:
            return False
        store.delete(namespace, path)
        return True

    def list(self, prefix: str, cursor: str | None = None) -> Iterator[Entry]:
        store, namespace = self._place()
        offset = 0
        while True:
            items = store.search(namespace, limit=_PAGE, offset=offset)
            for item in items:
                # A search also finds what is in namespaces below this one.
                if tuple(item.namespace) == namespace and item.key.startswith(prefix):
                    yield Entry(item.key, _file(item).metadata)
            if len(items) < _PAGE:
                return
            offset += len(items)


def _is_safe(part: Any) -> bool:
    return (
        isinstance(part, str)
        and part != ""
        and all((one.isascii() and one.isalnum()) or one in _SAFE for one in part)
    )


def _value(file: FileToStore) -> dict[str, Any]:
    try:
        content, encoding = file.body.decode(), "utf-8"
    except UnicodeDecodeError:
        content, encoding = base64.b64encode(file.body).decode("ascii"), "base64"
    return {
        "content": content.split("\n") if file.format == "v1" else content,
        "encoding": encoding,
        "created_at": file.created.isoformat(),
        "modified_at": file.modified.isoformat(),
    }


def _time(value: Any, otherwise: Any) -> datetime | None:
    try:
        time = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return otherwise if isinstance(otherwise, datetime) else None
    return time if time.tzinfo else time.replace(tzinfo=timezone.utc)


def _file(item: Any) -> StoredFile:
    value = item.value
    content = value.get("content") if isinstance(value, dict) else None
    is_lines = isinstance(content, list) and all(isinstance(line, str) for line in content)
    text = "\n".join(content) if isinstance(content, list) and is_lines else content
    if not isinstance(text, str):
        raise KitbagError("unavailable", f"The item '{item.key}' of the store is no file")
    body = text.encode(errors="replace")
    if value.get("encoding") == "base64":
        try:
            body = base64.b64decode(text, validate=True)
        except binascii.Error:
            raise KitbagError(
                "unavailable", f"The item '{item.key}' of the store has broken base64"
            ) from None
    state = json.dumps([text, value.get("encoding"), str(value.get("modified_at"))])
    return StoredFile(
        body,
        Metadata(
            size=len(body),
            created=_time(value.get("created_at"), item.created_at),
            modified=_time(value.get("modified_at"), item.updated_at),
            format="v1" if is_lines else "v2",
            version=hashlib.sha256(state.encode()).hexdigest()[:32],
        ),
    )
