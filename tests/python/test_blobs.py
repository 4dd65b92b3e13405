"""Agents of deepagents that keep binary content by its digest, in `/blobs/<sha256>` of backends of kitbag."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from pathlib import Path
from typing import Any

import deepagents.backends
import pytest
from deepagents import create_deep_agent
from deepagents.middleware.filesystem import FilesystemMiddleware
from langchain.agents import create_agent
from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.outputs import ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore

import kitbag.deepagents as ours
from model import ScriptedModel
from storages import DictStorage

PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
PAYLOAD = base64.b64encode(PICTURE).decode()
DIGEST = hashlib.sha256(PICTURE).hexdigest()
BLOB = f"/blobs/{DIGEST}"
GONE = "no longer available"


class Watched(ScriptedModel):
    """Keeps what it was shown at each call."""

    seen: Any

    def _generate(self, messages: list[BaseMessage], *rest: Any, **options: Any) -> ChatResult:
        self.seen.append(messages)
        return super()._generate(messages, *rest, **options)


def payloads(messages: list[BaseMessage]) -> list[str]:
    """The base64 of all blocks."""
    blocks = [one for message in messages if isinstance(message.content, list) for one in message.content]
    return [one["base64"] for one in blocks if isinstance(one, dict) and "base64" in one]


def references(messages: list[BaseMessage]) -> list[str]:
    blocks = [one for message in messages if isinstance(message.content, list) for one in message.content]
    return [
        one["deepagents_blob"]
        for one in blocks
        if isinstance(one, dict) and "deepagents_blob" in one
    ]


class Agent:
    """An agent with a thread. Each turn is a process of its own: only the checkpoints and the files last."""

    def __init__(self, backend: Any, awaited: bool = False) -> None:
        self.backend, self.awaited, self.saver = backend, awaited, InMemorySaver()
        self.calls: list[list[tuple[str, dict[str, Any]]]] = []

    def turn(
        self, calls: list[tuple[str, dict[str, Any]]], content: Any = "Go on."
    ) -> tuple[list[BaseMessage], list[BaseMessage]]:
        """What the model was shown last, and what the state keeps."""
        self.calls += [calls, []] if calls else [[]]
        model = Watched(turns=self.calls, seen=[])
        agent = create_agent(
            model=model,
            middleware=[FilesystemMiddleware(backend=self.backend, offload_binary_content=True)],
            checkpointer=self.saver,
        )
        config: Any = {"configurable": {"thread_id": "one"}}
        asked: Any = {"messages": [HumanMessage(content)]}
        if self.awaited:
            result = asyncio.run(agent.ainvoke(asked, config))
        else:
            result = agent.invoke(asked, config)
        return model.seen[-1], result["messages"]


READ = [("read_file", {"file_path": "/p.png"})]


def inner() -> Any:
    return ours.StateBackend(files={"/p.png": PICTURE, "/q.png": PICTURE})


def stored(backend: Any) -> list[str]:
    found = backend.glob("**/*", "/blobs").matches or []
    return [one["path"] for one in found]


def uploaded(backend: Any) -> Any:
    for one in backend.upload_files([("/p.png", PICTURE), ("/q.png", PICTURE)]):
        assert one.error is None
    return backend


def backends(folder: Path) -> dict[str, Any]:
    store = ours.StoreBackend(namespace=lambda _: ("files",), store=InMemoryStore())
    return {
        "state": ours.StateBackend(),
        "folder": ours.FilesystemBackend(folder / "files"),
        "custom": ours.CustomBackend(DictStorage()),
        "store": store,
        "composite with a policy": ours.CompositeBackend(
            ours.StateBackend(),
            {"/blobs/": ours.with_policy(ours.CustomBackend(DictStorage()), rate_limits=())},
        ),
        "policy": ours.with_policy(ours.StateBackend(), read_only_prefixes=["/fixed"]),
    }


@pytest.mark.parametrize("awaited", [False, True])
@pytest.mark.parametrize("name", list(backends(Path("unused"))))
def test_a_picture_is_kept_once_by_its_digest_and_comes_back(
    name: str, awaited: bool, tmp_path: Path
) -> None:
    backend = uploaded(backends(tmp_path)[name])
    agent = Agent(backend, awaited)
    shown, kept = agent.turn(READ)
    assert payloads(shown) == [PAYLOAD]
    assert references(kept) == [DIGEST] and payloads(kept) == []
    assert stored(backend) == [BLOB]
    assert backend.download_files([BLOB])[0].content == PICTURE
    # The same bytes under another name are the same blob.
    shown, kept = agent.turn([("read_file", {"file_path": "/q.png"})])
    assert payloads(shown) == [PAYLOAD, PAYLOAD]
    assert references(kept) == [DIGEST, DIGEST]
    assert stored(backend) == [BLOB]
    # It comes from the blob: the files are gone.
    for path in ("/p.png", "/q.png"):
        assert backend.delete(path).error is None
    shown, kept = agent.turn([])
    assert payloads(shown) == [PAYLOAD, PAYLOAD]
    assert payloads(kept) == []


def test_a_picture_of_a_user_is_kept_too() -> None:
    backend = ours.StateBackend()
    agent = Agent(backend)
    block = {"type": "image", "base64": PAYLOAD, "mime_type": "image/png"}
    shown, kept = agent.turn([], [{"type": "text", "text": "Look."}, block])
    assert payloads(shown) == [PAYLOAD]
    assert references(kept) == [DIGEST]
    assert stored(backend) == [BLOB]
    shown, _ = agent.turn([])
    assert payloads(shown) == [PAYLOAD]


@pytest.mark.parametrize("damage", [b"", PICTURE[:-1], b"\x00" + PICTURE[1:], b"text"])
def test_a_damaged_blob_is_shown_as_missing(damage: bytes) -> None:
    backend = inner()
    agent = Agent(backend)
    agent.turn(READ)
    assert backend.upload_files([(BLOB, damage)])[0].error is None
    shown, kept = agent.turn([])
    assert payloads(shown) == []
    assert GONE in str([one.content for one in shown])
    assert references(kept) == [DIGEST]
    # Reading the file again mends it, for the messages before it too.
    shown, _ = agent.turn(READ)
    assert payloads(shown) == [PAYLOAD, PAYLOAD]
    assert backend.download_files([BLOB])[0].content == PICTURE


def test_a_deleted_blob_is_shown_as_missing() -> None:
    backend = inner()
    agent = Agent(backend)
    agent.turn(READ)
    assert backend.delete(BLOB).error is None
    shown, _ = agent.turn([])
    assert payloads(shown) == [] and GONE in str([one.content for one in shown])


def deny(*operations: str) -> list[dict[str, Any]]:
    return [{"operations": list(operations), "paths": ["/blobs/**"], "mode": "deny"}]


def test_where_rules_refuse_the_blob_the_content_stays_in_the_message() -> None:
    for rules in (
        {"read_only": True},
        {"read_only_prefixes": ["/blobs"]},
        {"permissions": deny("write")},
    ):
        files = inner()
        agent = Agent(ours.with_policy(files, **rules))  # type: ignore[arg-type]
        _, kept = agent.turn(READ)
        assert payloads(kept) == [PAYLOAD] and references(kept) == [], rules
        assert stored(files) == []
        shown, _ = agent.turn([])
        assert payloads(shown) == [PAYLOAD]


def test_a_quota_refuses_the_blob_and_no_more() -> None:
    from kitbag import Quota

    files = inner()
    agent = Agent(ours.with_policy(files, quota=Quota(max_files=2)))
    _, kept = agent.turn(READ)
    assert payloads(kept) == [PAYLOAD]
    assert stored(files) == []


def test_a_blob_that_may_not_be_read_does_not_come_back() -> None:
    files = inner()
    agent = Agent(files)
    agent.turn(READ)
    agent.backend = ours.with_policy(files, permissions=deny("read"))
    shown, _ = agent.turn([])
    assert payloads(shown) == [] and GONE in str([one.content for one in shown])
    # Nor for tools of the agent.
    shown, _ = agent.turn([("read_file", {"file_path": BLOB}), ("ls", {"path": "/blobs"})])
    assert PAYLOAD not in str(shown) and DIGEST not in str(shown[-1].content)


def test_a_hidden_picture_reaches_neither_the_model_nor_a_blob() -> None:
    files = inner()
    rules = [{"operations": ["read"], "paths": ["/p.png"], "mode": "deny"}]
    agent = Agent(ours.with_policy(files, permissions=rules))
    shown, kept = agent.turn(READ)
    assert payloads(shown) == [] and references(kept) == []
    assert stored(files) == []


def test_their_composite_says_where_blobs_are() -> None:
    blobs = ours.CustomBackend(DictStorage())
    backend = deepagents.backends.CompositeBackend(
        inner(), {"/kept/": blobs}, artifacts_root="/kept"
    )
    agent = Agent(backend)
    _, kept = agent.turn(READ)
    assert references(kept) == [DIGEST]
    assert blobs.download_files([BLOB])[0].content == PICTURE
    shown, _ = agent.turn([])
    assert payloads(shown) == [PAYLOAD]


def test_a_deep_agent_keeps_a_picture_in_its_messages_unless_it_is_told() -> None:
    backend = inner()
    agent = create_deep_agent(model=ScriptedModel(turns=[READ]), backend=backend)
    result = agent.invoke({"messages": [HumanMessage("Go on.")]})
    assert payloads(result["messages"]) == [PAYLOAD]
    assert stored(backend) == []
