"""What the component answers, in the shapes of deepagents' results."""

from __future__ import annotations

import base64
from datetime import datetime, timedelta, timezone
from typing import Any

from .results import ContextLine, FileData, FileInfo, GrepMatch

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def iso_of(micros: int) -> str | None:
    try:
        time = _EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        return None
    return time.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def info_of(found: tuple[Any, ...]) -> FileInfo:
    path, is_directory, size, modified = found
    info = FileInfo(path=path, is_dir=is_directory, size=size or 0)
    at = None if modified is None else iso_of(modified)
    if at is not None:
        info["modified_at"] = at
    return info


def data_of(content: tuple[str, Any]) -> FileData:
    tag, value = content
    if tag == "text":
        return FileData(content=value, encoding="utf-8")
    return FileData(content=base64.b64encode(value).decode("ascii"), encoding="base64")


def matches_of(files: list[tuple[Any, ...]], has_context: bool) -> list[GrepMatch]:
    matches: list[GrepMatch] = []
    for path, text, numbers, kinds in files:
        lines = text.split("\n")
        if not kinds and not has_context:
            matches += [
                GrepMatch(path=path, line=number, text=line)
                for number, line in zip(numbers, lines, strict=True)
            ]
            continue
        before: list[ContextLine] = []
        for at, (number, line) in enumerate(zip(numbers, lines, strict=True)):
            kind = kinds[at] if kinds else "match"
            if kind == "before":
                before.append(ContextLine(line=number, text=line))
            elif kind == "match":
                matches.append(
                    GrepMatch(
                        path=path,
                        line=number,
                        text=line,
                        context_before=before,
                        context_after=[],
                    )
                )
                before = []
            else:
                matches[-1]["context_after"].append(ContextLine(line=number, text=line))
    return matches
