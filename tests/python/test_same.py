"""Routers, rules and tools against the npm package: the same calls, the same answers."""

from __future__ import annotations

import base64
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

import kitbag
from protocol import Protocol
from replay import given, plain, timeless

NPM = json.loads(Path(os.environ["KITBAG_NPM_ANSWERS"]).read_text())
CASES = json.loads((Path(__file__).parent / "../conformance/recorded.json").read_text())


def policy(options: dict[str, Any]) -> dict[str, Any]:
    """Options of `withPolicy` in Python."""
    quota, rate = options.get("quota"), options.get("rateLimit")
    known = {
        "read_only": options.get("readOnly", False),
        "read_only_prefixes": options.get("readOnlyPrefixes", []),
        "permissions": options.get("permissions", []),
        "default_mode": options.get("defaultMode", "allow"),
        "rate_limits": [kitbag.RateLimit(rate["operations"], rate["perMs"])] if rate else [],
        "quota": quota
        and kitbag.Quota(quota["maxBytes"], quota["maxFiles"], quota["maxFileBytes"]),
    }
    names = {"readOnly", "readOnlyPrefixes", "permissions", "defaultMode", "rateLimit", "quota"}
    assert set(options) <= names
    return known


def made(backend: dict[str, Any]) -> kitbag.Backend:
    if "inner" not in backend:
        return kitbag.StateBackend()
    inner = made(backend["inner"])
    if "policy" in backend:
        return kitbag.with_policy(inner, **policy(backend["policy"]))
    routes = {prefix: made(one) for prefix, one in backend["routes"].items()}
    return kitbag.CompositeBackend(inner, routes)


def comparable(method: str, answer: Any) -> Any:
    answer = timeless(method, answer)
    if isinstance(answer, list):
        return [{name: one.get(name) for name in ("path", "error", "content")} for one in answer]
    if "files" in answer:
        # Two routes may have written in the same millisecond.
        answer = {**answer, "files": sorted(answer["files"], key=lambda one: one["path"])}
    if "retryAfterMs" in answer:
        answer = {**answer, "retryAfterMs": "some"}
    if "error" in answer:
        answer = {**answer, "error": re.sub(r"again in \d+ ms", "again in some ms", answer["error"])}
    return answer


@pytest.mark.parametrize("at", range(len(CASES)), ids=[case["name"] for case in CASES])
@pytest.mark.parametrize("one", NPM["backends"], ids=lambda one: one["name"])
def test_answers_as_the_npm_package(one: Any, at: int) -> None:
    backend = Protocol(made(one["backend"]))
    for (method, args, _), wanted in zip(CASES[at]["calls"], one["answers"][at], strict=True):
        answer = plain(getattr(backend, method)(*[given(arg) for arg in args]))
        assert comparable(method, answer) == comparable(method, wanted), f"{method}({args})"


def shown(answer: kitbag.ToolAnswer) -> list[dict[str, Any]]:
    return [
        {"type": "text", "text": block.text}
        if isinstance(block, kitbag.TextBlock)
        else {
            "type": block.kind,
            "mimeType": block.mime_type,
            "data": base64.b64encode(block.data).decode(),
        }
        for block in answer.blocks
    ]


def picked(block: dict[str, Any]) -> dict[str, Any]:
    names = ("type", "text") if block["type"] == "text" else ("type", "mimeType", "data")
    return {name: block[name] for name in names}


def test_every_tool_call_is_answered_as_by_the_npm_package(subtests: Any) -> None:
    tools = kitbag.create_file_tools(kitbag.StateBackend(), tools=NPM["tools"]["every"])
    for at, call in enumerate(NPM["tools"]["calls"]):
        with subtests.test(call["name"], at=at):
            answer = tools.call(call["name"], call["arguments"], call_id=f"call_{at}")
            wanted = [picked(block) for block in call["content"]]
            assert (answer.is_error, shown(answer)) == (call["isError"], wanted)


def test_definitions_have_the_names_and_schemas_of_the_npm_package() -> None:
    tools = kitbag.create_file_tools(kitbag.StateBackend(), tools=NPM["tools"]["every"])
    seen = [{"name": one.name, "inputSchema": one.input_schema} for one in tools.definitions]
    assert seen == NPM["tools"]["definitions"]
