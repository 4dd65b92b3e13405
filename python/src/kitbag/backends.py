"""How backends are made."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ._asked import Asked
from ._instance import Instance, Machine, default_instance, wit_error
from ._lent import LentStorage, carried, error_of
from .backend import Backend, WriteMode
from .errors import KitbagError, wait_of
from .policy import (
    Inspect,
    OnAsk,
    OnAudit,
    Permission,
    PermissionLike,
    Quota,
    RateLimit,
    one_of,
    policy,
    refused,
    texts,
    whole,
)
from .results import ExecuteResult
from .storage import FileFormat, Storage

Execute = Callable[[str, "float | None"], ExecuteResult]
"""Runs a command, at most so many seconds long."""


def _ways(write_mode: str, file_format: str, size: int | None, name: str) -> tuple[Any, ...]:
    return (
        one_of("write_mode", write_mode, ("create", "overwrite")),
        one_of("file_format", file_format, ("v2", "v1")),
        whole(name, size),
    )


def _backend(name: str, value: Any) -> Backend:
    if not isinstance(value, Backend):
        raise refused(f"{name} must be a backend of kitbag, not {type(value).__name__}")
    return value


class StateBackend(Backend):
    """Files in memory, for as long as the backend lives."""

    def __init__(
        self,
        *,
        files: Mapping[str, str | bytes] | None = None,
        write_mode: WriteMode = "create",
        file_format: FileFormat = "v2",
        max_bytes: int | None = None,
        instance: Instance | None = None,
    ) -> None:
        instance = instance or default_instance()
        options = _ways(write_mode, file_format, max_bytes, "max_bytes")
        super().__init__(instance, instance.made("[static]backend.state", options))
        for path, content in (files or {}).items():
            stored = self.write(path, content)
            if stored.code is not None:
                raise KitbagError(stored.code, f"files: {stored.error}")


class CustomBackend(Backend):
    """Files in a storage of your own: an object with `get`, `list`, `put` and `delete`."""

    def __init__(
        self,
        storage: Storage,
        *,
        write_mode: WriteMode = "create",
        file_format: FileFormat = "v2",
        max_file_bytes: int | None = None,
        instance: Instance | None = None,
    ) -> None:
        instance = instance or default_instance()
        options = _ways(write_mode, file_format, max_file_bytes, "max_file_bytes")
        number = instance.lend(LentStorage(storage))
        try:
            made = instance.made("[static]backend.lent", number, options)
        except KitbagError:
            instance.unlend(number)
            raise
        super().__init__(instance, made, keeps=storage)


class CompositeBackend(Backend):
    """One tree of several backends: the longest prefix wins. Commands run where `default` runs them."""

    def __init__(self, default: Backend, routes: Mapping[str, Backend]) -> None:
        parts = [_backend("default", default)]
        for prefix, part in routes.items():
            if not isinstance(prefix, str):
                raise refused(f"a prefix in routes must be a str, not {prefix!r}")
            parts.append(_backend(f"routes[{prefix!r}]", part))
        instance = default._instance
        if any(part._instance is not instance for part in parts):
            raise refused(
                "These backends are of different instances; make them all with the same `instance`"
            )
        mounts = [(prefix, part._rep) for prefix, part in routes.items()]
        made = instance.made("[static]backend.composite", default._rep, mounts)
        super().__init__(instance, made, keeps=parts)


def with_policy(
    backend: Backend,
    *,
    read_only: bool = False,
    read_only_prefixes: Iterable[str] = (),
    permissions: Iterable[Permission | PermissionLike | Mapping[str, Any]] = (),
    default_mode: str = "allow",
    rate_limits: RateLimit | Iterable[RateLimit] = (),
    quota: Quota | None = None,
    allow_execute: bool = False,
    allow_hidden_characters: bool = False,
    on_ask: OnAsk | None = None,
    inspect: Inspect | None = None,
    audit: OnAudit | None = None,
) -> Backend:
    """The same files behind rules, which the first matching permission decides, else `default_mode`.

    `on_ask` decides where a permission has the mode `ask`, `inspect` sees what is stored before it is, `audit` is
    told of every operation. They run in the thread of the call, and must not call a backend of the same instance.

    Under rules about files commands are refused unless `allow_execute`, because a shell follows no such rule.
    """
    inner = _backend("backend", backend)
    for name, given in (("on_ask", on_ask), ("inspect", inspect), ("audit", audit)):
        if given is not None and not callable(given):
            raise refused(f"{name} must be a function, not {type(given).__name__}")
    asked, host = Asked(on_ask, inspect, audit), str(uuid.uuid4())
    rules = policy(
        read_only=read_only,
        read_only_prefixes=read_only_prefixes,
        permissions=permissions,
        default_mode=default_mode,
        rate_limits=rate_limits,
        quota=quota,
        allow_execute=allow_execute,
        allow_hidden_characters=allow_hidden_characters,
        inspects=inspect is not None,
        audits=audit is not None,
        host=host,
    )
    if on_ask is None and any(rule[3] == "ask" for rule in rules[2]):
        raise refused("permissions has the mode 'ask', so with_policy needs on_ask")
    made = inner._instance.made("[method]backend.with-policy", inner._rep, rules)
    inner._instance.add_callbacks(host, asked)
    return Backend(inner._instance, made, keeps=(inner, asked))


def with_ignore(
    backend: Backend,
    *,
    files: Iterable[str] = (".gitignore",),
    patterns: Iterable[str] = (),
) -> Backend:
    """The same files; `glob` and `grep` leave out, by git's rules, what ignore files of these names and these patterns
    for the whole tree name, and count it. By its path an ignored file can be read and changed."""
    inner = _backend("backend", backend)
    given = texts("files", files), texts("patterns", patterns)
    made = inner._instance.made("[method]backend.with-ignore", inner._rep, *given)
    return Backend(inner._instance, made, keeps=inner)


def _executed(execute: Execute, command: str, timeout_ms: int | None) -> tuple[bool, Any]:
    try:
        found = execute(command, None if timeout_ms is None else timeout_ms / 1000)
        if not isinstance(found, ExecuteResult):
            raise KitbagError(
                "internal",
                f"execute returned a {type(found).__name__}; it must return an ExecuteResult",
            )
        if found.code is not None:
            if found.error is not None and not isinstance(found.error, str):
                raise KitbagError("internal", "execute returned an error that is no str")
            wait = wait_of(found.retry_after_ms)
            raise KitbagError(found.code, found.error or found.code, retry_after_ms=wait)
        if not isinstance(found.output, str):
            raise KitbagError("internal", "execute returned an output that is no str")
        code = found.exit_code
        if code is not None and (not isinstance(code, int) or not -(1 << 31) <= code < 1 << 31):
            raise KitbagError("internal", f"execute returned the exit code {code!r:.80}")
        output = carried("The output", found.output.encode(errors="replace"))
        return True, (output.decode(), code, bool(found.truncated))
    except Exception as raised:
        return False, wit_error(error_of("execute", raised))


def shelled(inner: Backend, execute: Execute, id: str | None) -> tuple[int, Any]:
    """The resource with a machine, and what it must keep."""
    if not callable(execute):
        raise refused(f"execute must be a function, not {type(execute).__name__}")
    machine = Machine(
        str(uuid.uuid4()) if id is None else id,
        lambda command, timeout_ms: _executed(execute, command, timeout_ms),
    )
    made = inner._instance.made("[method]backend.with-shell", inner._rep, machine.id)
    inner._instance.add_machine(machine)
    return made, (inner, machine)


def with_shell(backend: Backend, execute: Execute, *, id: str | None = None) -> Backend:
    """The same files, with commands that `execute` runs. `id` names the machine, once in an instance."""
    inner = _backend("backend", backend)
    made, keeps = shelled(inner, execute, id)
    return Backend(inner._instance, made, keeps=keeps)
