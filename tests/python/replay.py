"""Recorded answers: how they are read, and how ours are shown like them."""

from __future__ import annotations

import base64
from typing import Any


def given(value: Any) -> Any:
    """A recorded argument."""
    if isinstance(value, list):
        return [given(one) for one in value]
    if isinstance(value, dict) and "base64" in value:
        return base64.b64decode(value["base64"])
    return value


def plain(value: Any) -> Any:
    """An answer as it is recorded."""
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    return value


def _without_times(fields: Any) -> Any:
    return {name: one for name, one in fields.items() if name not in ("modified_at", "created_at")}


def timeless(method: str, answer: Any) -> Any:
    """An answer without times, and without the order that depends on them."""
    if isinstance(answer, dict) and "files" in answer:
        files = [_without_times(one) for one in answer["files"]]
        if method == "glob":
            files.sort(key=lambda one: one["path"].encode())
        return {**answer, "files": files}
    if isinstance(answer, dict) and "data" in answer:
        return {**answer, "data": _without_times(answer["data"])}
    return answer
