"""The blocks of the documents, with kitbag's classes in the imports, a scripted model, and what the text
around a block declares. Each runs, or fails for a reason that is named here and checked."""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import deepagents
import langgraph.runtime
import pytest
from deepagents.backends.protocol import BackendProtocol
from langchain_core.messages import HumanMessage
from langgraph.store.memory import InMemoryStore

import kitbag
import kitbag.deepagents as ours
from model import ScriptedModel, answers, check_work, work

TEXT = (Path(__file__).parent / "blocks.md").read_text()
BLOCKS = dict(re.findall(r"^## (\w+)\n\n```python\n(.*?)```$", TEXT, re.M | re.S))

# Directories of the documents' authors.
ROOTS = ("/deepagents/myagent", "/path/to/project", "/Users/nh/Desktop/")

# What a sentence around a block declares.
NAMES = ("CompositeBackend", "FilesystemBackend", "LocalShellBackend", "StateBackend", "StoreBackend")


def ours_for_theirs(code: str) -> str:
    """The block with kitbag's classes in its imports. What kitbag has not stays deepagents'."""

    def replaced(found: re.Match[str]) -> str:
        names = [name.strip() for name in found[2].split(",")]
        own = [name for name in names if hasattr(ours, name)]
        rest = [name for name in names if not hasattr(ours, name)]
        lines = [f"from kitbag.deepagents import {', '.join(own)}"] if own else []
        lines += [f"from deepagents.backends import {', '.join(rest)}"] if rest else []
        return "\n".join(lines)

    places = r"^from deepagents\.backends(\.filesystem|\.local_shell)? import ([\w, ]+)$"
    return re.sub(places, replaced, code, flags=re.M)


class World:
    """Where a block runs: a directory of its own, a scripted model, and the runtime of a server."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.folder = folder
        self.turns: Any = []
        monkeypatch.chdir(folder)
        real = deepagents.create_deep_agent

        def create(**options: Any) -> Any:
            return real(**{**options, "model": ScriptedModel(turns=self.turns)})

        monkeypatch.setattr(deepagents, "create_deep_agent", create)
        self.create = create
        self.user = types.SimpleNamespace(identity="someone")
        runtime_of = langgraph.runtime.get_runtime
        platform = InMemoryStore()

        def get_runtime() -> Any:
            found = runtime_of()
            server = types.SimpleNamespace(user=self.user, assistant_id="assistant")
            return types.SimpleNamespace(
                server_info=server,
                context=types.SimpleNamespace(org_id="org", user_id="someone"),
                execution_info=types.SimpleNamespace(thread_id="thread"),
                store=found.store or platform,
            )

        monkeypatch.setattr(langgraph.runtime, "get_runtime", get_runtime)

    def run(self, name: str, *, theirs: bool = False, **more: Any) -> dict[str, Any]:
        code = BLOCKS[name] if theirs else ours_for_theirs(BLOCKS[name])
        for root in ROOTS:
            code = code.replace(root, str(self.folder / root.strip("/")))
        source = deepagents.backends if theirs else ours
        known = {each: getattr(source, each) for each in NAMES}
        names = {**known, "create_deep_agent": self.create, **more}
        exec(compile(code, name, "exec"), names)
        return names

    def agent(self, name: str, path: str, **more: Any) -> dict[str, Any]:
        """Runs the agent of a block: every tool, on one file."""
        self.turns = work(path)
        names = self.run(name, **more)
        result = names["agent"].invoke({"messages": [HumanMessage("Go on.")]})
        check_work(result, path)
        return names


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> World:
    return World(monkeypatch, tmp_path)


def runs(path: str, check: Callable[[World], None] | None = None) -> Callable[[World, str], None]:
    def run(world: World, name: str) -> None:
        world.agent(name, path)
        if check:
            check(world)

    return run


def is_at(place: str) -> Callable[[World], None]:
    def check(world: World) -> None:
        assert (world.folder / place).read_text() == "one\nzwei\nthree\n"

    return check


def removed(world: World, name: str) -> None:
    """Factories: deepagents 0.7 takes none, with classes of its own either."""
    for theirs in (False, True):
        with pytest.raises(TypeError, match="Backend factories were removed in deepagents 0.7"):
            world.run(name, theirs=theirs, store=InMemoryStore(), InMemoryStore=InMemoryStore)


def migrated(world: World, name: str) -> None:
    """The block shows the removed way first; what it shows after that runs."""
    removed(world, name)
    after = re.sub(r"(?s)(lambda rt: CompositeBackend\(.*?\n    \),\n\))", "None)", BLOCKS[name], count=1)
    BLOCKS["after"] = after.replace("backend=None)", "backend=StateBackend())", 1)
    world.agent("after", "/memories/agent.md")


def namespaces(world: World, name: str) -> None:
    """Backends of users, assistants and threads; each sees only its own files."""
    backend = world.run(name)["backend"]
    world.turns = work("/a.md")
    agent = world.create(backend=backend, store=InMemoryStore())
    check_work(agent.invoke({"messages": [HumanMessage("Go on.")]}), "/a.md")


def old_context(world: World, name: str) -> None:
    """The old argument of a namespace's function, whose block says that it is gone: an error, no exception."""
    first, second = re.split(r"\n\n+", BLOCKS[name].strip())
    BLOCKS["before"] = f"backend = {first}"
    BLOCKS["after"] = f"backend = {second}"
    world.turns = [[("ls", {"path": "/"})]]
    backend = world.run("before", StoreBackend=ours.StoreBackend)["backend"]
    result = world.create(backend=backend).invoke({"messages": [HumanMessage("Go on.")]})
    assert "object has no attribute 'runtime'" in answers(result)[0]
    world.turns = work("/a.md")
    backend = world.run("after", StoreBackend=ours.StoreBackend)["backend"]
    result = world.create(backend=backend).invoke({"messages": [HumanMessage("Go on.")]})
    check_work(result, "/a.md")


def outline(world: World, name: str) -> None:
    """Methods without bodies: a backend of one's own is made, and mounted beside kitbag's."""
    backend = world.run(name)["S3Backend"]("bucket", "prefix/")
    assert isinstance(backend, BackendProtocol)
    assert backend._key("/a") == "prefix/a"
    routes = {"/files/": ours.StateBackend()}
    world.turns = work("/files/a.md")
    world.create(backend=deepagents.backends.CompositeBackend(backend, routes))
    with pytest.raises(kitbag.KitbagError, match="deepagents' own CompositeBackend"):
        ours.CompositeBackend(ours.StateBackend(), {"/s3/": backend})


def guarded(world: World, name: str) -> None:
    """A subclass refuses; what it does not refuse reaches the disk."""
    backend = world.run(name)["GuardedBackend"](deny_prefixes=["/secret"], root_dir=".")
    world.turns = [
        [("write_file", {"file_path": "/secret/a.md", "content": "x"})],
        *work("/open.md"),
    ]
    result = world.create(backend=backend).invoke({"messages": [HumanMessage("Go on.")]})
    assert "Writes are not allowed under /secret/a.md" in answers(result)[0]
    assert (world.folder / "open.md").read_text() == "one\nzwei\nthree\n"
    assert not (world.folder / "secret").exists()


def wrapper(world: World, name: str) -> None:
    """Somebody's wrapper around a backend of kitbag."""
    backend = world.run(name)["PolicyWrapper"](ours.StateBackend(), ["/secret"])
    world.turns = [
        [("write_file", {"file_path": "/secret/a.md", "content": "x"})],
        *work("/open.md"),
    ]
    result = world.create(backend=backend).invoke({"messages": [HumanMessage("Go on.")]})
    assert "Writes are not allowed under /secret/a.md" in answers(result)[0]
    assert "zwei" in answers(result)[5]


def old_wrapper(world: World, name: str) -> None:
    """Names of methods that deepagents has no more: reads and writes work, the others are unknown."""
    backend = world.run(name)["PolicyWrapper"](ours.StateBackend(), ["/secret"])
    assert backend.write("/secret/a.md", "x").error == "Writes are not allowed under /secret/a.md"
    assert backend.write("/a.md", "x").path == "/a.md"
    assert backend.read("/a.md").file_data["content"] == "x"
    for theirs in (ours.StateBackend(), deepagents.backends.FilesystemBackend(root_dir=".")):
        with pytest.raises(AttributeError, match="ls_info"):
            world.run(name)["PolicyWrapper"](theirs).ls_info("/")


def hub(world: World, name: str) -> None:
    """A service of LangSmith: kitbag for Python has no such backend, so the import cannot be replaced."""
    code = BLOCKS[name].replace("deepagents.backends", "kitbag.deepagents")
    with pytest.raises((ImportError, NameError), match="ContextHubBackend"):
        exec(code, {"create_deep_agent": world.create})


def sandbox(world: World, name: str) -> None:
    """`sandbox` is a product that the text names; here it is kitbag's shell."""
    world.turns = [[("execute", {"command": "echo hi > a; cat a"})]]
    box = ours.LocalShellBackend(root_dir=".", env={"PATH": "/usr/bin:/bin"})
    result = world.run(name, sandbox=box)["agent"].invoke({"messages": [HumanMessage("Go on.")]})
    assert "hi" in answers(result)[0]


def shell(world: World, name: str) -> None:
    world.agent(name, "/a.md")
    world.turns = [[("execute", {"command": "cat a.md; echo $PATH"})]]
    agent = world.run(name)["agent"]
    said = answers(agent.invoke({"messages": [HumanMessage("Go on.")]}))[0]
    assert "zwei" in said and "/usr/bin:/bin" in said


def no_namespace(world: World, name: str) -> None:
    """deepagents 0.7 requires a namespace, and so does kitbag."""
    for theirs in (False, True):
        with pytest.raises(TypeError, match="namespace"):
            world.run(name, theirs=theirs)


def namespace_type(world: World, name: str) -> None:
    """The type of a function; it is that of `StoreBackend`."""
    assert "tuple" in BLOCKS[name]
    assert "tuple[str, ...]" in str(ours.NamespaceFactory)


def demo(world: World, name: str) -> None:
    """The program of the tool layer, with stand-ins for the model's package and for dotenv."""
    world.turns = [
        [("execute", {"command": "rm -rf test_dir && mkdir test_dir"})],
        [
            ("write_file", {"file_path": "/test_dir/hello.py", "content": 'print("Hello World")\n'}),
            *(
                ("write_file", {"file_path": f"/test_dir/file{n}.txt", "content": f"content {n}"})
                for n in (1, 2, 3)
            ),
        ],
        [
            ("ls", {"path": "/test_dir"}),
            ("read_file", {"file_path": "/test_dir/hello.py"}),
            ("execute", {"command": f"{sys.executable} test_dir/hello.py"}),
        ],
    ]
    openai, dotenv = types.ModuleType("langchain_openai"), types.ModuleType("dotenv")
    openai.ChatOpenAI = lambda model: ScriptedModel(turns=world.turns)
    dotenv.load_dotenv = lambda: True
    stands = {"langchain_openai": openai, "dotenv": dotenv}
    with pytest.MonkeyPatch.context() as patch:
        for module, stand in stands.items():
            patch.setitem(sys.modules, module, stand)
        world.run(name)
    names = sorted(one.name for one in (world.folder / "test_dir").iterdir())
    assert names == ["file1.txt", "file2.txt", "file3.txt", "hello.py"]


DONE: dict[str, Callable[[World, str], None]] = {
    "factory_state": removed,
    "folder": runs("/a.md", is_at("a.md")),
    "factory_store": removed,
    "factory_composite": removed,
    "factory_route": removed,
    "outline_v1": outline,
    "guarded_v1": guarded,
    "wrapper_v1": old_wrapper,
    "state": runs("/a.md"),
    "folder_virtual": runs("/a.md", is_at("a.md")),
    "workspace": runs("/workspace/a.md", is_at("path/to/project/a.md")),
    "shell": shell,
    "store": runs("/a.md"),
    "namespace_type": namespace_type,
    "namespaces": namespaces,
    "hub": hub,
    "composite": runs("/memories/agent.md"),
    "route": runs("/memories/agent.md", is_at("deepagents/myagent/agent.md")),
    "outline": outline,
    "permissions": runs("/memories/agent.md"),
    "guarded": guarded,
    "wrapper": wrapper,
    "migration": migrated,
    "context": old_context,
    "quick_default": runs("/a.md"),
    "quick_folder": runs("/a.md", is_at("Users/nh/Desktop/a.md")),
    "quick_store": no_namespace,
    "quick_hub": hub,
    "quick_sandbox": sandbox,
    "quick_shell": shell,
    "factory_state_3": removed,
    "folder_3": runs("/a.md", is_at("a.md")),
    "shell_3": shell,
    "factory_store_3": removed,
    "factory_composite_3": removed,
    "demo": demo,
}


def test_every_block_is_run() -> None:
    assert set(BLOCKS) - {"before", "after"} == set(DONE)


@pytest.mark.parametrize("name", DONE)
def test_block(world: World, name: str) -> None:
    DONE[name](world, name)


def test_a_rule_of_the_permissions_holds(world: World) -> None:
    world.turns = [[("write_file", {"file_path": "/policies/a.md", "content": "x"})]]
    agent = world.run("permissions")["agent"]
    said = answers(agent.invoke({"messages": [HumanMessage("Go on.")]}))[0]
    assert "permission denied" in said.lower()
