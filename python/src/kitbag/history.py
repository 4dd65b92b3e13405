"""Histories: what changed files, who did, and the way back; pins, which name the state of all files.

```python
from kitbag import StateBackend, with_history

files = with_history(StateBackend(), keep_in=StateBackend(), by="agent-7")  # a backend itself
files.write("/plan.md", "1. Measure")
files.delete("/plan.md")
entries = files.log("/plan.md").entries  # the newest first: delete, write
files.restore("/plan.md", entries[1])  # right after the write
```
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Literal, TypeVar

from ._shapes import iso_of
from ._thread import in_thread
from .backend import Backend, WriteMode, answered, failed
from .errors import KitbagError, shown
from .keep import KeepIn, place_of
from .policy import one_of, refused, whole
from .results import Outcome
from .turns import DiffResult, PathsResult, change_of, files_of, name_of

_R = TypeVar("_R", bound=Outcome)
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True, kw_only=True)
class Keep:
    """What a history keeps. Older entries go after every 64 changes, and by `prune`."""

    count: int | None = None
    """Most entries."""
    age_ms: int | None = None
    """The greatest age of an entry."""
    bytes: int | None = None
    """Most bytes of contents."""


@dataclass(frozen=True, kw_only=True)
class NotedFile:
    """A file that a call changed: digests of its content. None: there was no file, or there is none any more."""

    path: str
    before: str | None
    after: str | None


@dataclass(frozen=True, kw_only=True)
class HistoryEntry:
    """A call that changed files. As a moment it is right after the call."""

    id: str
    by: str
    call: str
    operation: str
    at: str
    """ISO 8601."""
    files: tuple[NotedFile, ...]


@dataclass(frozen=True, kw_only=True)
class Pin:
    """A name of the state of all files."""

    pin: str
    """48 hexadecimal digits."""
    at: str
    """When it was made last, ISO 8601."""


@dataclass(frozen=True, kw_only=True)
class PinLoss:
    """What a pin names and is gone."""

    path: str
    """A file; of a part of the list of files, the text at which the paths in it begin."""
    what: Literal["content", "list"]
    reason: Literal["missing", "damaged"]
    digest: str


@dataclass(kw_only=True)
class LogResult(Outcome):
    entries: list[HistoryEntry] | None = None
    """The newest first."""


@dataclass(kw_only=True)
class WhyResult(Outcome):
    entries: list[HistoryEntry] | None = None
    """The newest first, back to the one that created the file."""
    known: bool | None = None
    """Whether the newest one left what the file holds now; otherwise it was changed past the history."""


@dataclass(kw_only=True)
class PruneResult(Outcome):
    dropped: int | None = None
    """Entries that were dropped."""
    entries: int | None = None
    """Entries that are left."""
    bytes: int | None = None
    """Bytes of contents that are left."""


@dataclass(kw_only=True)
class PinResult(Outcome):
    """Of `pin`, `unpin`, `label` and `labelled`."""

    pin: str | None = None
    at: str | None = None
    """Of `pin`: when it was made."""


@dataclass(kw_only=True)
class PinsResult(Outcome):
    pins: list[Pin] | None = None
    """The oldest first."""


@dataclass(kw_only=True)
class VerifyResult(Outcome):
    lost: list[PinLoss] | None = None
    """Reads of it answer `unavailable`."""
    drifted: list[str] | None = None
    """Files that were changed past the history."""


@dataclass(kw_only=True)
class OpenPinResult(Outcome):
    backend: Backend | None = None
    """The files of the pin, which cannot be changed."""


Moment = HistoryEntry | Pin | datetime | str
"""An entry or its id (right after it), a time, also in ISO 8601, and for `restore` a pin."""


def _moment(value: Any) -> tuple[str, Any]:
    if isinstance(value, HistoryEntry):
        return "named", value.id
    if isinstance(value, Pin):
        return "named", value.pin
    if isinstance(value, str):
        # An id is 16 digits with others behind them, a pin has only digits.
        if re.fullmatch(r"\d{16}-.*|[0-9a-f]{48}", value):
            return "named", value
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return "named", value
    if not isinstance(value, datetime):
        raise refused(f"a moment must be an entry, a pin or a time, not {shown(value)}")
    try:
        return "at", (value.astimezone(timezone.utc) - _EPOCH) // timedelta(microseconds=1)
    except (OverflowError, ValueError, OSError) as error:
        message = f"a moment must be a time that UTC has, not {value.isoformat()}"
        raise refused(message) from error


def _entry(found: tuple[Any, ...]) -> HistoryEntry:
    id, by, call, operation, at, files = found
    noted = (
        NotedFile(path=path, before=before, after=after) for path, before, after in files
    )
    return HistoryEntry(
        id=id, by=by, call=call, operation=operation, at=iso_of(at) or "", files=tuple(noted)
    )


def _loss(found: tuple[Any, ...]) -> PinLoss:
    path, is_list, is_missing, digest = found
    return PinLoss(
        path=path,
        what="list" if is_list else "content",
        reason="missing" if is_missing else "damaged",
        digest=digest,
    )


class History(Backend):
    """A backend whose changes are noted: what each replaced, who made it, when, and by which call.
    `with_history` makes one."""

    def __init__(self, base: Any, made: Callable[[], int]) -> None:
        instance = (base[0] if isinstance(base, tuple) else base)._instance
        self._history = made()
        files = instance.made("[method]history.files", self._history)
        super().__init__(instance, files, keeps=base)
        instance.owns(self, "history", self._history)

    def _answered(
        self,
        kind: type[_R],
        method: str,
        shape: Callable[[Any], _R],
        given: Callable[[], tuple[Any, ...]] = tuple,
    ) -> _R:
        name = f"[method]history.{method}"
        return answered(kind, shape, self._instance, name, lambda: (self._history, *given()))

    def for_author(self, by: str, call: str = "") -> History:
        """The same files and history for another author, or one call."""
        name_of(by), name_of(call)
        name = "[method]history.for-author"
        return History(
            self._keeps, lambda: self._instance.made(name, self._history, by, call)
        )

    def log(self, path: str = "/", *, limit: int = 100) -> LogResult:
        """The newest entries of a file, or of all files in a directory."""
        return self._answered(
            LogResult,
            "log",
            lambda found: LogResult(entries=[_entry(one) for one in found]),
            lambda: (path, whole("limit", limit, bits=32)),
        )

    def why(self, path: str) -> WhyResult:
        """The calls that made a file what it is."""
        return self._answered(
            WhyResult,
            "why",
            lambda found: WhyResult(entries=[_entry(one) for one in found[0]], known=found[1]),
            lambda: (path,),
        )

    def diff(self, since: Moment, until: Moment | None = None) -> DiffResult:
        """What changed between two moments; the second one is now if it is left out."""
        return self._answered(
            DiffResult,
            "diff",
            lambda found: DiffResult(changes=[change_of(one) for one in found]),
            lambda: (_moment(since), None if until is None else _moment(until)),
        )

    def restore(self, path: str, moment: Moment) -> PathsResult:
        """Gives a file, or all files in a directory, what they held at a moment. It is noted too, so it can be
        taken back."""
        return self._answered(
            PathsResult,
            "restore",
            lambda found: PathsResult(paths=found),
            lambda: (path, _moment(moment)),
        )

    def prune(self) -> PruneResult:
        """Drops what is more than `keep` says."""

        def shape(found: tuple[int, int, int]) -> PruneResult:
            dropped, entries, size = found
            return PruneResult(dropped=dropped, entries=entries, bytes=size)

        return self._answered(PruneResult, "prune", shape)

    def pin(self) -> PinResult:
        """Names the state of all files, and keeps it until `unpin`. Equal files have equal pins."""
        return self._answered(
            PinResult, "pin", lambda found: PinResult(pin=found[0], at=iso_of(found[1]))
        )

    def pins(self) -> PinsResult:
        def shape(found: list[tuple[str, int]]) -> PinsResult:
            return PinsResult(pins=[Pin(pin=pin, at=iso_of(at) or "") for pin, at in found])

        return self._answered(PinsResult, "pins", shape)

    def unpin(self, pin: str) -> PinResult:
        """Lets a pin go: the next `prune` deletes what only it names."""
        return self._answered(
            PinResult, "unpin", lambda _: PinResult(pin=pin), lambda: (pin,)
        )

    def label(self, label: str, pin: str) -> PinResult:
        """Gives a pin a name, in place of the pin that had it."""
        return self._answered(
            PinResult, "label", lambda _: PinResult(pin=pin), lambda: (label, pin)
        )

    def labelled(self, label: str) -> PinResult:
        """The pin that has a name."""
        return self._answered(
            PinResult, "labelled", lambda found: PinResult(pin=found), lambda: (label,)
        )

    def verify(self, pin: str | None = None) -> VerifyResult:
        """Reads all that a pin, or every pin, names, and all files."""

        def shape(found: tuple[list[Any], list[str]]) -> VerifyResult:
            lost, drifted = found
            return VerifyResult(lost=[_loss(one) for one in lost], drifted=drifted)

        return self._answered(VerifyResult, "verify", shape, lambda: (pin,))

    def open_pin(self, pin: str) -> OpenPinResult:
        """The files of a pin."""

        instance = self._instance
        try:
            made = instance.made("[method]history.open-pin", self._history, pin)
        except KitbagError as error:
            return failed(OpenPinResult, error)
        return OpenPinResult(backend=Backend(instance, made, keeps=self._keeps))

    # The same, awaited.

    async def alog(self, path: str = "/", *, limit: int = 100) -> LogResult:
        return await in_thread(self.log, path, limit=limit)

    async def awhy(self, path: str) -> WhyResult:
        return await in_thread(self.why, path)

    async def adiff(self, since: Moment, until: Moment | None = None) -> DiffResult:
        return await in_thread(self.diff, since, until)

    async def arestore(self, path: str, moment: Moment) -> PathsResult:
        return await in_thread(self.restore, path, moment)

    async def aprune(self) -> PruneResult:
        return await in_thread(self.prune)

    async def apin(self) -> PinResult:
        return await in_thread(self.pin)

    async def apins(self) -> PinsResult:
        return await in_thread(self.pins)

    async def aunpin(self, pin: str) -> PinResult:
        return await in_thread(self.unpin, pin)

    async def alabel(self, label: str, pin: str) -> PinResult:
        return await in_thread(self.label, label, pin)

    async def alabelled(self, label: str) -> PinResult:
        return await in_thread(self.labelled, label)

    async def averify(self, pin: str | None = None) -> VerifyResult:
        return await in_thread(self.verify, pin)

    async def aopen_pin(self, pin: str) -> OpenPinResult:
        return await in_thread(self.open_pin, pin)


def with_history(
    backend: Backend,
    *,
    keep_in: KeepIn | Backend,
    by: str = "",
    keep: Keep | None = None,
    write_mode: WriteMode = "create",
) -> History:
    """Notes each change of a backend in another one, `keep_in`. Make all changes through the result. Nothing is
    read. `by` says who makes the changes; without `keep` everything is kept."""
    base = files_of(backend)
    place, other = place_of(base, keep_in)
    if keep is not None and not isinstance(keep, Keep):
        raise refused(f"keep must be a Keep, not {type(keep).__name__}")
    limits = keep or Keep()
    mode = one_of("write_mode", write_mode, ("create", "overwrite"))
    options = (
        place,
        name_of(by),
        (
            whole("keep.count", limits.count, bits=32),
            whole("keep.age_ms", limits.age_ms),
            whole("keep.bytes", limits.bytes),
        ),
        mode,
    )
    instance = base._instance
    return History(
        (base, other), lambda: instance.made("[static]history.open", base._rep, options)
    )
