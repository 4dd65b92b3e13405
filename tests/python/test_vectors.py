"""The recorded cases of `tests/vectors`. A case departs only where the protocol says otherwise; it is then
named here with the reason."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest

import kitbag
from protocol import Protocol

VECTORS = Path(__file__).parent / "../vectors"

# The protocol has `[!a]` as the opposite of a class; the package of the records took `!` for a character.
OTHERWISE = {"[!a].*"}


def vectors(name: str) -> Any:
    return json.loads((VECTORS / f"{name}.json").read_text())


def holding(files: dict[str, Any]) -> Protocol:
    backend = Protocol(kitbag.StateBackend())
    batch = [(path, content.encode()) for path, content in files.items()]
    assert all(one["error"] is None for one in backend.uploadFiles(batch))
    return backend


def paths(answer: Any) -> list[str]:
    return sorted(file["path"] for file in answer["files"])


def numbered(name: str) -> Any:
    return pytest.mark.parametrize("case", vectors(name), ids=str_of)


def str_of(case: Any) -> str:
    return json.dumps(case)[:60]


@numbered("paging")
def test_paging(case: Any) -> None:
    backend = holding({"/f.txt": case["content"]})
    assert backend.read("/f.txt", case["offset"], case["limit"]) == case["result"]


@numbered("edit")
def test_edit(case: Any) -> None:
    backend = holding({"/x.txt": case["content"]})
    seen = backend.edit("/x.txt", case["old"], case["new"], case["replaceAll"])
    assert (seen.get("error"), seen.get("occurrences")) == (case["error"], case["occurrences"])
    after = backend.downloadFiles(["/x.txt"])[0]["content"].decode()
    assert after == (case["content"] if case["after"] is None else case["after"])


@pytest.mark.parametrize("case", vectors("glob")["cases"], ids=str_of)
def test_glob(case: Any) -> None:
    backend = holding({path: "x" for path in vectors("glob")["tree"]})
    seen = backend.glob(case["pattern"], case["path"])
    assert seen.get("error") == case["error"]
    wanted = sorted(case["paths"])
    if case["pattern"] in OTHERWISE:
        wanted = paths(backend.glob(case["pattern"].replace("!", "^"), case["path"]))
    assert paths(seen) == wanted


@pytest.mark.parametrize("case", vectors("grep")["cases"], ids=str_of)
def test_grep(case: Any) -> None:
    files = vectors("grep")["files"]
    backend = holding({path: one for path, one in files.items() if isinstance(one, str)})
    for path, one in files.items():
        if not isinstance(one, str):
            body = one["bytes"]
            data = base64.b64decode(body) if isinstance(body, str) else bytes(body)
            backend.uploadFiles([(path, data)])
    seen = backend.grep(case["pattern"], case["path"], case["glob"])
    assert seen.get("error") == case["error"]
    order = json.dumps
    assert sorted(seen["matches"], key=order) == sorted(
        ({name: one[name] for name in ("path", "line", "text")} for one in case["matches"]),
        key=order,
    )


@pytest.mark.parametrize("case", vectors("ls")["cases"], ids=str_of)
def test_ls(case: Any) -> None:
    backend = holding({path: "x" * size for path, size in vectors("ls")["files"].items()})
    seen = backend.ls(case["path"])
    assert seen.get("error") == case["error"]
    found = [{name: one[name] for name in ("path", "is_dir", "size")} for one in seen["files"]]
    by_path = lambda one: one["path"]
    assert sorted(found, key=by_path) == sorted(case["entries"], key=by_path)


@numbered("mime")
def test_mime(case: Any) -> None:
    seen = holding({case["path"]: "hi"}).read(case["path"])
    assert seen.get("error") == case["error"]
    assert seen["mimeType"] == case["mimeType"]
    assert isinstance(seen["content"], bytes) == case["binary"]


def same_step(backend: Protocol, step: Any) -> None:
    op, wanted = step["op"], step["result"]
    seen = getattr(backend, op)(*step["args"])
    if op == "write" and wanted["error"] is not None:
        # A refusal's sentence is ours to word; its beginning is the protocol's.
        assert re.match(r"Cannot write to \S+ because it already exists\. ", seen["error"])
    elif op in ("ls", "glob"):
        assert paths(seen) == sorted(wanted["paths"])
    elif op == "grep":
        order = json.dumps
        assert sorted(seen["matches"], key=order) == sorted(wanted["matches"], key=order)
    else:
        assert {name: seen.get(name) for name in wanted} == wanted


@pytest.mark.parametrize("write_mode", ["create_only", "overwrite"])
def test_sequences(write_mode: str, subtests: Any) -> None:
    mode = "overwrite" if write_mode == "overwrite" else "create"
    for at, sequence in enumerate(vectors(f"sequences_{write_mode}")):
        with subtests.test(f"sequence {at}"):
            backend = Protocol(kitbag.StateBackend(write_mode=mode))
            for step in sequence:
                same_step(backend, step)
