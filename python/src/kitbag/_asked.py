"""What rules ask: functions of the caller, as the component calls them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ._lent import carried, error_of
from ._instance import wit_error
from ._shapes import iso_of
from .errors import KitbagError
from .policy import (
    AuditRecord,
    Deny,
    Inspect,
    Inspected,
    LabelledRead,
    OnAsk,
    OnAudit,
    Question,
    Replace,
)


class Asked:
    def __init__(
        self, on_ask: OnAsk | None, inspect: Inspect | None, audit: OnAudit | None
    ) -> None:
        self._on_ask = on_ask
        self._inspect = inspect
        self._audit = audit

    def decide(self, given: tuple[Any, ...]) -> tuple[bool, Any]:
        on_ask = self._on_ask
        if on_ask is None:
            return True, False
        operation, called, path, preview, rule, labels, reads = given
        question = Question(
            operation=operation,
            called=called,
            path=path,
            preview=preview,
            rule=rule,
            labels=tuple(labels),
            reads=reads_of(reads),
        )
        # Only True allows.
        return _answered("on_ask", lambda: on_ask(question) is True)

    def inspect(self, given: tuple[Any, ...]) -> tuple[bool, Any]:
        inspect = self._inspect
        if inspect is None:
            return True, ("pass", None)
        operation, path, body, is_text = given
        seen = Inspected(operation=operation, path=path, body=body, is_text=is_text)
        return _answered("inspect", lambda: _verdict(inspect(seen)))

    def audit(self, given: tuple[Any, ...]) -> tuple[bool, Any]:
        audit = self._audit
        at, operation, called, path, paths, size, code, rule, micros = given
        record = AuditRecord(
            time=iso_of(at) or "",
            operation=operation,
            called=called,
            path=path,
            paths=tuple(paths),
            bytes=size,
            code=code,
            rule=rule,
            duration_ms=micros / 1000,
        )
        return _answered("audit", lambda: audit(record) if audit else None, lambda _: None)


def reads_of(found: Iterable[tuple[str, str, str]]) -> tuple[LabelledRead, ...]:
    return tuple(
        LabelledRead(label=label, path=path, operation=operation)
        for label, path, operation in found
    )


def _answered(
    what: str, call: Callable[[], Any], shape: Callable[[Any], Any] = lambda value: value
) -> tuple[bool, Any]:
    try:
        return True, shape(call())
    except Exception as raised:
        return False, wit_error(error_of(what, raised))


def _verdict(value: Any) -> tuple[str, Any]:
    if value is None:
        return "pass", None
    if isinstance(value, Deny):
        return "deny", str(value.reason).encode(errors="replace").decode()
    if isinstance(value, Replace) and isinstance(value.content, str):
        text = carried("The content of Replace", value.content.encode(errors="replace"))
        return "replace", ("text", text.decode())
    if isinstance(value, Replace) and isinstance(value.content, bytes):
        return "replace", ("bytes", carried("The content of Replace", value.content))
    raise KitbagError(
        "invalid_argument",
        f"inspect must return None, Deny or Replace with str or bytes, not {value!r:.80}",
    )
