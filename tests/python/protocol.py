"""A backend of the Python package with the methods and answers of the npm package, so that both can be asked
the same."""

from __future__ import annotations

import base64
from typing import Any

import kitbag
from kitbag.results import Outcome

_FILE_ERRORS = {
    "not_found": "file_not_found",
    "is_directory": "is_directory",
    "invalid_path": "invalid_path",
    "invalid_argument": "invalid_path",
}


def _present(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _answered(found: Outcome, shape: Any) -> dict[str, Any]:
    if found.code is None:
        return shape()
    return _present(error=found.error, code=found.code, retryAfterMs=found.retry_after_ms)


def _content(data: Any) -> Any:
    if data["encoding"] == "base64":
        return base64.b64decode(data["content"])
    return data["content"]


def _file(info: Any) -> dict[str, Any]:
    return {"modified_at": "", **info}


def _match(match: Any) -> dict[str, Any]:
    shown = {name: match[name] for name in ("path", "line", "text")}
    for side in ("before", "after"):
        context = match.get(f"context_{side}")
        if context:
            shown[side] = [line["text"] for line in context]
    return shown


def _file_error(found: Outcome) -> str | None:
    return None if found.code is None else _FILE_ERRORS.get(found.code, "permission_denied")


class Protocol:
    def __init__(self, inner: kitbag.Backend) -> None:
        self.inner = inner

    def ls(self, path: Any) -> Any:
        found = self.inner.ls(path)
        return _answered(found, lambda: {"files": [_file(one) for one in found.entries]})

    def read(self, path: Any, offset: Any = None, limit: Any = None) -> Any:
        found = self.inner.read(path, 0 if offset is None else offset, limit)
        return _answered(
            found,
            lambda: _present(
                content=_content(found.file_data),
                mimeType=found.mime_type,
                startLine=found.start_line,
                endLine=found.end_line,
                totalLines=found.total_lines,
                nextOffset=found.next_offset,
            ),
        )

    def readRaw(self, path: Any) -> Any:
        found = self.inner.read_raw(path)

        def shape() -> Any:
            data = found.file_data
            times = {"created_at": data.get("created_at"), "modified_at": data.get("modified_at")}
            if found.format == "v1":
                return {"data": {"content": data["content"].split("\n"), **times}}
            return {"data": {"content": _content(data), "mimeType": found.mime_type, **times}}

        return _answered(found, shape)

    def grep(
        self, pattern: Any, path: Any = None, glob: Any = None, count: Any = None, options: Any = None
    ) -> Any:
        options = options or {}
        found = self.inner.grep(
            pattern,
            path,
            glob,
            max_count=count,
            max_per_file=options.get("maxPerFile"),
            regex=options.get("regex", False),
            ignore_case=options.get("ignoreCase", False),
            before=options.get("before", 0),
            after=options.get("after", 0),
        )
        return _answered(
            found,
            lambda: _present(
                matches=[_match(one) for one in found.matches], truncated=found.truncated or None
            ),
        )

    def glob(self, pattern: Any, path: Any = None) -> Any:
        found = self.inner.glob(pattern, path)
        return _answered(found, lambda: {"files": [_file(one) for one in found.matches]})

    def _path(self, found: Any) -> Any:
        return _answered(found, lambda: {"path": found.path})

    def write(self, path: Any, content: Any) -> Any:
        return self._path(self.inner.write(path, content))

    def edit(self, path: Any, old: Any, new: Any, replace_all: Any = False) -> Any:
        found = self.inner.edit(path, old, new, replace_all or False)
        endings = found.line_endings and {"lineEndings": found.line_endings}
        return _answered(
            found,
            lambda: _present(path=found.path, occurrences=found.occurrences, metadata=endings),
        )

    def append(self, path: Any, text: Any) -> Any:
        return self._path(self.inner.append(path, text))

    def delete(self, path: Any) -> Any:
        return self._path(self.inner.delete(path))

    def move(self, start: Any, end: Any, options: Any = None) -> Any:
        return self._path(self.inner.move(start, end, **(options or {})))

    def copy(self, start: Any, end: Any, options: Any = None) -> Any:
        return self._path(self.inner.copy(start, end, **(options or {})))

    def uploadFiles(self, files: Any) -> Any:
        answers = self.inner.upload_files([tuple(one) for one in files])
        return [{"path": one.path, "error": _file_error(one)} for one in answers]

    def downloadFiles(self, paths: Any) -> Any:
        return [
            {"path": one.path, "content": one.content, "error": _file_error(one)}
            for one in self.inner.download_files(paths)
        ]

    def execute(self, command: Any, options: Any = None) -> Any:
        found = self.inner.execute(command)
        return _answered(
            found,
            lambda: {
                "output": found.output,
                "exit_code": found.exit_code,
                "truncated": found.truncated,
            },
        )
