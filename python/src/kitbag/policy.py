"""Rules around a backend."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from .errors import KitbagError, shown


@dataclass(frozen=True)
class Permission:
    """A rule about paths. The first that matches decides."""

    operations: Sequence[Literal["read", "write"]]
    paths: Sequence[str]
    mode: Literal["allow", "deny", "ask"] = "allow"
    """`ask`: `on_ask` decides."""
    name: str | None = None


class PermissionLike(Protocol):
    """A rule of another library, such as deepagents' `FilesystemPermission`."""

    @property
    def operations(self) -> Sequence[Any]: ...
    @property
    def paths(self) -> Sequence[str]: ...
    @property
    def mode(self) -> str: ...


@dataclass(frozen=True)
class RateLimit:
    """At most so many operations in so many milliseconds."""

    operations: int
    per_ms: int
    kind: Literal["all", "reads", "writes"] = "all"


@dataclass(frozen=True)
class Quota:
    max_bytes: int | None = None
    max_files: int | None = None
    max_file_bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class LabelledRead:
    """Labelled content that a conversation has read."""

    label: str
    path: str
    """Of a command, which may read all files, the first one with the label."""
    operation: str = "read"


@dataclass(frozen=True, kw_only=True)
class Question:
    """An operation for which a rule or a flow has the mode `ask`."""

    operation: str
    called: str | None
    """The tool or the method that was called, if its name is another one."""
    path: str
    preview: str
    """The text that would be written, replaced or deleted, shortened; empty for a read."""
    rule: str | None
    """The name of the rule."""
    labels: tuple[str, ...] = ()
    """The labels that flows name; empty for a rule about paths."""
    reads: tuple[LabelledRead, ...] = ()
    """What was read with these labels."""


@dataclass(frozen=True, kw_only=True)
class Inspected:
    """What would be stored."""

    operation: str
    path: str
    body: bytes
    """The whole file."""
    is_text: bool


@dataclass(frozen=True)
class Deny:
    """A verdict: it is not stored, for this reason."""

    reason: str


@dataclass(frozen=True)
class Replace:
    """A verdict: this is stored instead."""

    content: str | bytes


@dataclass(frozen=True, kw_only=True)
class AuditRecord:
    """An operation that has ended. It has no content, no pattern and no command."""

    time: str
    """ISO 8601."""
    operation: str
    called: str | None
    path: str | None
    paths: tuple[str, ...]
    """All files of a batch, and of a move or copy."""
    bytes: int
    code: str
    """`ok`, or the code of the error."""
    rule: str | None
    """The rule that refused it."""
    duration_ms: float


OnAsk = Callable[[Question], bool]
"""Whether an operation may be done. Only `True` allows; what it raises is a refusal."""
Inspect = Callable[[Inspected], "Deny | Replace | None"]
"""Whether something may be stored; what it raises is a refusal."""
OnAudit = Callable[[AuditRecord], None]
"""What it raises changes nothing."""


def refused(message: str) -> KitbagError:
    return KitbagError("invalid_argument", message)


def whole(name: str, value: Any, *, bits: int = 64) -> Any:
    """A number that is whole and not negative, or None."""
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << bits:
        raise refused(f"{name} must be a whole number from 0 to {(1 << bits) - 1}, not {shown(value)}")
    return value


def one_of(name: str, value: Any, words: Sequence[str]) -> str:
    if value not in words:
        wanted = ", ".join(repr(word) for word in words)
        raise refused(f"{name} must be one of {wanted}, not {value!r}")
    return str(value)


def listed(name: str, value: Any, what: str = "str") -> list[Any]:
    """A list, whose elements may be wrong. A text is none."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise refused(f"{name} must be a list of {what}, not {shown(value)}")
    return list(value)


def texts(name: str, value: Any) -> list[str]:
    found = listed(name, value)
    for one in found:
        if not isinstance(one, str):
            raise refused(f"{name} must be a list of str; it has {shown(one)}")
    return found


_FIELDS = {"operations", "paths", "mode", "name"}


def _rule(at: int, given: Any) -> tuple[Any, ...]:
    what = f"permissions[{at}]"
    if isinstance(given, Mapping):
        unknown = set(given) - _FIELDS
        if unknown:
            raise refused(f"{what} has no field {sorted(map(str, unknown))[0]!r}")
        get = given.get
    else:

        def get(name: str, default: Any = None) -> Any:
            return getattr(given, name, default)

    mode = get("mode", "allow")
    if mode == "interrupt":
        raise refused(
            f"{what}.mode is 'interrupt': no rule here stops a graph; use deepagents' interrupt_on, or ask"
        )
    operations = texts(f"{what}.operations", get("operations"))
    for one in operations:
        one_of(f"{what}.operations", one, ("read", "write"))
    name = get("name")
    if name is not None and not isinstance(name, str):
        raise refused(f"{what}.name must be a str, not {name!r}")
    paths = texts(f"{what}.paths", get("paths"))
    return name, set(operations), paths, one_of(f"{what}.mode", mode, ("allow", "deny", "ask"))


def _rate(at: int, given: Any) -> tuple[Any, ...]:
    if not isinstance(given, RateLimit):
        raise refused(f"rate_limits[{at}] must be a RateLimit, not {given!r}")
    kind = one_of(f"rate_limits[{at}].kind", given.kind, ("all", "reads", "writes"))
    operations = whole(f"rate_limits[{at}].operations", given.operations, bits=32)
    per_ms = whole(f"rate_limits[{at}].per_ms", given.per_ms)
    if operations is None or per_ms is None:
        raise refused(f"rate_limits[{at}] needs operations and per_ms")
    return kind, operations, per_ms


def policy(
    *,
    read_only: bool,
    read_only_prefixes: Any,
    permissions: Any,
    default_mode: Any,
    rate_limits: Any,
    quota: Any,
    allow_execute: bool,
    allow_hidden_characters: bool,
    inspects: bool,
    audits: bool,
    host: str,
) -> tuple[Any, ...]:
    """The policy as the WIT has it; `host` is the name of its callbacks."""
    one_of("default_mode", default_mode, ("allow", "deny"))
    switches = {
        "read-only": read_only,
        "deny-by-default": default_mode == "deny",
        "allow-execute": allow_execute,
        "allow-hidden-characters": allow_hidden_characters,
        "inspects": inspects,
        "audits": audits,
    }
    for name, value in switches.items():
        if not isinstance(value, bool):
            raise refused(f"{name.replace('-', '_')} must be True or False, not {value!r}")
    if quota is not None and not isinstance(quota, Quota):
        raise refused(f"quota must be a Quota, not {quota!r}")
    limits = None
    if quota is not None:
        names = ("max_bytes", "max_files", "max_file_bytes")
        limits = tuple(whole(f"quota.{name}", getattr(quota, name)) for name in names)
    rates = [rate_limits] if isinstance(rate_limits, RateLimit) else rate_limits
    return (
        {name for name, is_on in switches.items() if is_on},
        texts("read_only_prefixes", read_only_prefixes),
        [_rule(at, one) for at, one in enumerate(permissions)],
        [_rate(at, one) for at, one in enumerate(rates)],
        limits,
        host,
    )
