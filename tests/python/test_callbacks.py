"""What rules ask: `tests/component` compares it with the npm package; here, what Python adds."""

from __future__ import annotations

import asyncio
import gc
import re
from typing import Any

import kitbag
import pytest
from kitbag import Deny, KitbagError, Permission, Replace, StateBackend, with_policy
from kitbag import deepagents as deep

ASKED = Permission(["write"], ["/asked/**"], mode="ask", name="mine")


@pytest.fixture
def state() -> StateBackend:
    return StateBackend(instance=kitbag.Instance())


def test_a_person_decides(state: StateBackend) -> None:
    questions: list[kitbag.Question] = []

    def on_ask(question: kitbag.Question) -> bool:
        questions.append(question)
        return question.path.endswith("yes.txt")

    files = with_policy(state, permissions=[ASKED], on_ask=on_ask)
    assert files.write("/asked/yes.txt", "hello").error is None
    refused = files.write("/asked/no.txt", "hello")
    assert refused.code == "permission_denied"
    assert refused.error is not None and "not allowed (rule 'mine')" in refused.error
    assert files.write("/other.txt", "x").error is None
    assert [(one.operation, one.path, one.preview, one.rule) for one in questions] == [
        ("write", "/asked/yes.txt", "hello", "mine"),
        ("write", "/asked/no.txt", "hello", "mine"),
    ]
    tools = kitbag.create_file_tools(files)
    answer = tools.call("write_file", {"file_path": "/asked/no.md", "content": "x"})
    assert answer.is_error and questions[-1].called == "write_file"
    assert state.read("/asked/no.txt").code == "not_found"


@pytest.mark.parametrize("said", [1, "yes", None, [True]])
def test_only_true_allows(state: StateBackend, said: Any) -> None:
    files = with_policy(state, permissions=[ASKED], on_ask=lambda question: said)
    assert files.write("/asked/a.txt", "x").code == "permission_denied"


def test_what_is_stored_is_inspected(state: StateBackend) -> None:
    def inspect(seen: kitbag.Inspected) -> Deny | Replace | None:
        if re.search(rb"AKIA[A-Z0-9]{16}", seen.body):
            return Deny("it has a key")
        if b"\0" in seen.body:
            return Replace(b"none")
        return Replace(seen.body.decode().upper()) if seen.path == "/loud.txt" else None

    files = with_policy(state, inspect=inspect)
    refused = files.write("/a.txt", "AKIA" + "A" * 16)
    assert refused.code == "permission_denied"
    assert refused.error is not None and "it has a key" in refused.error
    assert files.write("/loud.txt", "quiet").error is None
    assert files.write("/b.bin", b"a\0b").error is None
    downloads = state.download_files(["/loud.txt", "/b.bin", "/a.txt"])
    assert [one.content for one in downloads] == [b"QUIET", b"none", None]
    # An edit cannot bring together what is refused.
    assert files.write("/c.txt", "AKIA" + "A" * 15 + "-").error is None
    assert files.edit("/c.txt", "-", "A").code == "permission_denied"


def test_every_operation_is_told(state: StateBackend) -> None:
    told: list[kitbag.AuditRecord] = []
    files = with_policy(
        state, permissions=[Permission(["read"], ["/hidden/**"], mode="deny", name="closed")],
        audit=told.append,
    )
    files.write("/a.txt", "four")
    files.read("/hidden/b.txt")
    files.move("/a.txt", "/b.txt")
    kitbag.create_file_tools(files).call("read_file", {"file_path": "/b.txt"})
    assert [(one.operation, one.path, one.code, one.rule) for one in told[:3]] == [
        ("write", "/a.txt", "ok", None),
        ("read", "/hidden/b.txt", "permission_denied", "closed"),
        ("move", "/a.txt", "ok", None),
    ]
    assert told[0].bytes == 4 and told[0].time.endswith("Z") and told[0].duration_ms >= 0
    assert told[2].paths == ("/a.txt", "/b.txt")
    assert told[3].called == "read_file"


def boom(_: Any) -> Any:
    raise RuntimeError("boom \ud800")


def test_what_they_raise_is_a_refusal_or_nothing(state: StateBackend) -> None:
    asked = with_policy(state, permissions=[ASKED], on_ask=boom)
    answer = asked.write("/asked/a.txt", "x")
    assert answer.code == "permission_denied"
    assert answer.error is not None and "asking failed" in answer.error
    inspected = with_policy(state, inspect=boom)
    assert inspected.write("/a.txt", "x").code is not None
    odd: Any = lambda seen: "pass"  # noqa: E731
    assert with_policy(state, inspect=odd).write("/a.txt", "x").code is not None
    assert state.read("/a.txt").code == "not_found"
    audited = with_policy(state, audit=boom)
    assert audited.write("/a.txt", "x").error is None


def test_an_interruption_reaches_the_caller(state: StateBackend) -> None:
    def on_ask(_: kitbag.Question) -> bool:
        raise KeyboardInterrupt

    files = with_policy(state, permissions=[ASKED], on_ask=on_ask)
    with pytest.raises(KeyboardInterrupt):
        files.write("/asked/a.txt", "x")
    assert files.write("/a.txt", "x").error is None
    assert state.read("/asked/a.txt").code == "not_found"


def test_they_must_not_call_their_own_instance(state: StateBackend) -> None:
    said: list[str | None] = []

    def audit(_: kitbag.AuditRecord) -> None:
        said.append(state.read("/a.txt").code)

    files = with_policy(state, audit=audit)
    assert files.write("/a.txt", "x").error is None
    assert said == ["unavailable"]
    other = StateBackend(instance=kitbag.Instance())
    kept = with_policy(state, audit=lambda one: other.write(f"/{one.operation}.log", one.code) and None)
    kept.read("/a.txt")
    assert other.read("/read.log").error is None


def test_they_live_as_long_as_what_is_made_of_their_backend(state: StateBackend) -> None:
    questions: list[str] = []

    def on_ask(question: kitbag.Question) -> bool:
        questions.append(question.path)
        return True

    turn = kitbag.begin(
        kitbag.CompositeBackend(with_policy(state, permissions=[ASKED], on_ask=on_ask), {})
    )
    gc.collect()
    turn.write("/asked/a.txt", "x")
    assert turn.commit().error is None
    assert questions[-1] == "/asked/a.txt"


def test_deepagents_has_them(state: StateBackend) -> None:
    told: list[str] = []
    files = deep.with_policy(
        deep.adapt(state),
        permissions=[ASKED],
        on_ask=lambda question: question.path == "/asked/yes.txt",
        inspect=lambda seen: Deny("no") if b"no" in seen.body else None,
        audit=lambda record: told.append(record.operation),
    )
    assert files.write("/asked/yes.txt", "yes").error is None
    assert files.write("/asked/other.txt", "yes").code == "permission_denied"
    assert asyncio.run(files.awrite("/a.txt", "no")).code == "permission_denied"
    assert told == ["write"] * 3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"permissions": [ASKED]}, "so with_policy needs on_ask"),
        ({"on_ask": 7}, "on_ask must be a function, not int"),
        ({"inspect": "x"}, "inspect must be a function, not str"),
        ({"audit": []}, "audit must be a function, not list"),
        (
            {"permissions": [{"operations": ["read"], "paths": ["/a"], "mode": "interrupt"}]},
            "use deepagents' interrupt_on, or ask",
        ),
        (
            {"permissions": [{"operations": ["read"], "paths": ["/a"], "mode": "maybe"}]},
            "'allow', 'deny', 'ask'",
        ),
    ],
)
def test_wrong_options_are_named(
    state: StateBackend, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(KitbagError) as raised:
        with_policy(state, **options)
    assert raised.value.code == "invalid_argument" and said in raised.value.message
