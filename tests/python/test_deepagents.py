"""Agents of deepagents over backends of kitbag, sync and async, with a scripted model."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import deepagents.backends
import pytest
from deepagents import FilesystemPermission, create_deep_agent
from deepagents.backends import protocol
from deepagents.middleware.filesystem import FilesystemMiddleware
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langgraph.store.memory import InMemoryStore

import kitbag
import kitbag.deepagents as ours
from model import ScriptedModel, answers, check_work, work
from storages import DictStorage

GO = {"messages": [HumanMessage("Go on.")]}


def backends(folder: Path) -> dict[str, Any]:
    store = ours.StoreBackend(namespace=lambda _: ("files",), store=InMemoryStore())
    return {
        "state": ours.StateBackend(),
        "folder": ours.FilesystemBackend(folder / "files"),
        "shell": ours.LocalShellBackend(folder / "shell"),
        "custom": ours.CustomBackend(DictStorage()),
        "store": store,
        "composite": ours.CompositeBackend(ours.StateBackend(), {"/notes/": store}),
        "policy": ours.with_policy(ours.StateBackend(), read_only_prefixes=["/fixed"]),
        "adapted": ours.adapt(kitbag.StateBackend()),
        "in theirs": deepagents.backends.CompositeBackend(
            deepagents.backends.StateBackend(), {"/notes/": ours.StateBackend()}
        ),
    }


NAMES = list(backends(Path("unused")))


@pytest.mark.parametrize("name", NAMES)
def test_create_deep_agent(name: str, tmp_path: Path) -> None:
    backend = backends(tmp_path)[name]
    agent = create_deep_agent(model=ScriptedModel(turns=work("/notes/a.md")), backend=backend)
    check_work(agent.invoke(GO), "/notes/a.md")


@pytest.mark.parametrize("name", NAMES)
def test_filesystem_middleware_awaited(name: str, tmp_path: Path) -> None:
    backend = backends(tmp_path)[name]
    agent = create_agent(
        model=ScriptedModel(turns=work("/notes/a.md")),
        middleware=[FilesystemMiddleware(backend=backend)],
    )
    check_work(asyncio.run(agent.ainvoke(GO)), "/notes/a.md")


def test_an_agent_meets_rules_and_errors(tmp_path: Path) -> None:
    inner = ours.StateBackend(files={"/fixed/a.md": "one", "/secret/b.md": "two"})
    backend = ours.with_policy(
        inner,
        read_only_prefixes=["/fixed"],
        permissions=[FilesystemPermission(operations=["read"], paths=["/secret/**"], mode="deny")],
    )
    turns = [
        [
            ("write_file", {"file_path": "/fixed/b.md", "content": "x"}),
            ("read_file", {"file_path": "/fixed/a.md"}),
            ("read_file", {"file_path": "/secret/b.md"}),
            ("read_file", {"file_path": "/missing.md"}),
            ("grep", {"pattern": "t"}),
        ]
    ]
    agent = create_deep_agent(model=ScriptedModel(turns=turns), backend=backend)
    said = answers(agent.invoke(GO))
    assert said[0] == "Writes are not allowed under /fixed/b.md"
    assert "one" in said[1]
    assert "two" not in said[2] and "Error" in said[2]
    assert "not found" in said[3]
    assert "secret" not in said[4]


def test_a_large_result_is_moved_into_the_backend() -> None:
    def report() -> str:
        """A long one."""
        return "a line\n" * 20_000

    backend = ours.StateBackend()
    model = ScriptedModel(turns=[[("report", {})]])
    agent = create_deep_agent(model=model, backend=backend, tools=[report])
    said = answers(agent.invoke(GO))[0]
    moved = backend.ls("/large_tool_results").entries
    assert [one["path"] for one in moved] == ["/large_tool_results/call_0_0"]
    assert "/large_tool_results/call_0_0" in said


def test_commands_are_run_and_named_as_a_sandbox(tmp_path: Path) -> None:
    shell = ours.LocalShellBackend(tmp_path, env={"PATH": "/usr/bin:/bin"}, timeout=20)
    composite = ours.CompositeBackend(shell, {"/memories/": ours.StateBackend()})
    for backend in (shell, composite):
        assert isinstance(backend, protocol.SandboxBackendProtocol)
        assert backend.id
        found = backend.execute("echo out; echo err >&2; exit 3")
        assert (found.output, found.exit_code, found.truncated) == ("out\nerr\n", 3, False)
    found = shell.execute("sleep 30", timeout=1)
    assert found.exit_code == 124 and "after 1 seconds" in found.output
    assert shell.execute("yes | head -c 300000").truncated
    assert not isinstance(ours.StateBackend(), protocol.SandboxBackendProtocol)
    denied = ours.with_policy(shell, read_only=True).execute("ls")
    assert denied.code == "permission_denied" and denied.exit_code == 1
    asked = shell.execute
    assert asyncio.run(shell.aexecute("echo hi", timeout=5)).output == asked("echo hi").output


def test_results_are_those_of_deepagents_with_a_code() -> None:
    backend = ours.StateBackend(files={"/a.md": "one\ntwo\nthree\n", "/b.png": b"\x89PNG\0"})
    assert isinstance(backend, protocol.BackendProtocol)
    for found, kind in (
        (backend.ls("/"), protocol.LsResult),
        (backend.read("/a.md"), protocol.ReadResult),
        (backend.grep("one"), protocol.GrepResult),
        (backend.glob("*"), protocol.GlobResult),
        (backend.write("/c.md", "x"), protocol.WriteResult),
        (backend.edit("/c.md", "x", "y"), protocol.EditResult),
        (backend.delete("/c.md"), protocol.DeleteResult),
        (backend.upload_files([("/d", b"x")])[0], protocol.FileUploadResponse),
        (backend.download_files(["/d"])[0], protocol.FileDownloadResponse),
    ):
        assert isinstance(found, kind)
        assert found.error is None and found.code is None
    page = backend.read("/a.md", 1, 1)
    assert page.file_data["content"].rstrip("\n") == "two"
    assert (page.start_line, page.end_line, page.next_offset, page.total_lines) == (2, 2, 2, 3)
    assert backend.read("/a.md", 0, 0).no_lines_requested
    assert backend.read("/a.md", limit="all").code == "invalid_argument"
    assert backend.read("/b.png").file_data == {"content": "iVBORwA=", "encoding": "base64"}
    assert backend.read("/missing").code == "not_found"
    assert backend.write("/a.md", "x").code == "already_exists"
    assert backend.download_files(["/missing"])[0].error == "file_not_found"
    assert backend.upload_files([("/a/../../b", b"")])[0].error == "invalid_path"
    assert backend.grep("t", max_count=1).truncated
    again = ours.StateBackend(write_mode="overwrite", files={"/a.md": "x"})
    assert again.write("/a.md", "y").error is None


def test_awaited_methods_answer_the_same() -> None:
    backend = ours.StateBackend(files={"/a.md": "one"})

    async def ask() -> list[Any]:
        return [
            await backend.als("/"),
            await backend.aread("/a.md"),
            await backend.agrep("one", max_count=1),
            await backend.aglob("*"),
            await backend.aedit("/a.md", "one", "two"),
            await backend.awrite("/b.md", "x"),
            await backend.adelete("/b.md"),
            *await backend.aupload_files([("/c", b"x")]),
            *await backend.adownload_files(["/c"]),
        ]

    assert [one.error for one in asyncio.run(ask())] == [None] * 9
    assert backend.read("/a.md").file_data["content"] == "two"


def test_kitbag_alone_loads_neither_deepagents_nor_langgraph() -> None:
    program = """
import sys
import tempfile
for name in ("deepagents", "langgraph", "langchain_core"):
    sys.modules[name] = None
import kitbag
assert kitbag.StateBackend(files={"/a": "b"}).read("/a").code is None
try:
    import kitbag.deepagents
except ImportError:
    print("fine")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "fine\n", done.stderr


TYPED = '''
from deepagents import create_deep_agent
from deepagents.backends.protocol import BackendProtocol, ReadResult
from deepagents.middleware.filesystem import FilesystemMiddleware
import kitbag
from kitbag.deepagents import CompositeBackend, StateBackend, with_policy

backend: BackendProtocol = CompositeBackend(StateBackend(), {"/a/": with_policy(StateBackend())})
page: ReadResult = backend.read("/a.md")
create_deep_agent(backend=backend)
FilesystemMiddleware(backend=StateBackend())
code: kitbag.ErrorCode | None = StateBackend().read("/a").code

class Memory:
    def get(self, path: str) -> bytes | None: ...
    def list(self, prefix: str, cursor: str | None = None) -> list[str]: ...
    def put(self, path: str, file: kitbag.FileToStore, condition: kitbag.Condition) -> None: ...
    def delete(self, path: str, version: str | None = None) -> bool: ...

kitbag.CustomBackend(Memory())
kitbag.CustomBackend(7)  # wrong
StateBackend().read(7)  # wrong
'''


def test_programs_are_typed(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(TYPED)
    config = Path(__file__).parent / "../../python/pyproject.toml"
    command = [sys.executable, "-m", "mypy", "--config-file", str(config)]
    command.append("--disable-error-code=empty-body")
    done = subprocess.run(
        [*command, "--cache-dir", str(tmp_path / "cache"), "program.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    lines = [line for line in done.stdout.splitlines() if ": error:" in line]
    wrong = [at for at, line in enumerate(TYPED.splitlines(), 1) if line.endswith("# wrong")]
    assert [int(line.split(":")[1]) for line in lines] == wrong, done.stdout


UNREADABLE = "Narrowing the search will NOT reveal the missing files"


# Root reads everything, so the process gives its rights up.
SEARCHES = """
import json, os, sys

import kitbag
import kitbag.deepagents as ours
from deepagents import create_deep_agent
from langchain_core.messages import HumanMessage
from model import ScriptedModel, answers

folder = ours.FilesystemBackend(sys.argv[1])
hides = [{"operations": ["read"], "paths": ["/**/closed/**"], "mode": "deny"}]
mounted = ours.CompositeBackend(ours.StateBackend(), {"/m/": folder})
backends = {
    "folder": folder,
    "policy": ours.with_policy(folder, read_only=True),
    "mounted": mounted,
    "policy over it": ours.with_policy(mounted, read_only=True),
    "hidden": ours.with_policy(folder, permissions=hides),
    "hidden in a mount": ours.with_policy(mounted, permissions=hides),
    "adapted": ours.adapt(kitbag.FilesystemBackend(sys.argv[1])),
}
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
told = {}
for name, backend in backends.items():
    found = {}
    for pattern in ("**/*.md", "*.md", "*/*.md"):
        one = backend.glob(pattern)
        found[pattern] = [one.error, one.truncated, one.truncation_reason]
    turns = [[("glob", {"pattern": "**/*.md"})]]
    agent = create_deep_agent(model=ScriptedModel(turns=turns), backend=backend)
    found["said"] = answers(agent.invoke({"messages": [HumanMessage("Go on.")]}))[0]
    told[name] = found
print(json.dumps(told))
"""


def test_a_directory_that_cannot_be_read_makes_a_search_incomplete_unless_rules_hide_it(
    tmp_path: Path,
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder) / "files"
        (files / "open").mkdir(parents=True)
        (files / "closed").mkdir()
        for name in ("a.md", "open/b.md", "closed/c.md"):
            (files / name).write_text("x")
        (files / "closed").chmod(0)
        Path(folder).chmod(0o755)
        modules = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
        done = subprocess.run(
            [sys.executable, "-c", SEARCHES, str(files)],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, modules))},
        )
        (files / "closed").chmod(0o755)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert len(told) == 7
    for name, found in told.items():
        said = found.pop("said")
        assert "b.md" in said and "c.md" not in said
        is_hidden = name.startswith("hidden")
        assert (UNREADABLE in said) is not is_hidden, name
        assert "closed" not in said
        whole = [None, False, None]
        cut = whole if is_hidden else [None, True, "unreadable"]
        assert found == {"**/*.md": cut, "*.md": whole, "*/*.md": cut}, name
