"""Turns: changes of several files that are looked at, made together or not at all, and taken back.

```python
from kitbag import StateBackend, begin, undo

files = StateBackend(files={"/plan.md": "1. Measure\n2. Build\n"})
turn = begin(files, by="agent-7")  # a backend itself: give it to tools
turn.edit("/plan.md", "Measure", "Look")
print(turn.diff().changes[0].hunks[0].lines)  # ['-1. Measure', '+1. Look']
done = turn.commit()
undo(files, done.receipt)
```
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from ._shapes import iso_of
from ._thread import in_thread
from .backend import Backend, WriteMode, answered, failed
from .errors import KitbagError, shown
from .policy import listed, one_of, refused, texts
from .results import Outcome

_R = TypeVar("_R", bound=Outcome)


@dataclass(frozen=True, kw_only=True)
class Replacement:
    """A file before and after a commit. None: there was no file, or there is none any more."""

    path: str
    before: bytes | None
    after: bytes | None
    mode: int | None = None
    """Permission bits of a file that was created or deleted, if they are known."""


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """What a commit has replaced: plain data, to be kept for `undo`."""

    id: str
    by: str
    at: str
    """ISO 8601."""
    files: tuple[Replacement, ...]


@dataclass(frozen=True, kw_only=True)
class Conflict:
    """Something that others have changed since the turn read it."""

    path: str
    """A file, or the directory of a listing or a search."""
    operation: str
    """What found something else; `write` for a file that the turn changes."""
    before: bytes | None
    now: bytes | None


@dataclass(frozen=True, kw_only=True)
class Hunk:
    """Lines that differ, counted from 1; without lines, the one above."""

    id: str
    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: tuple[str, ...]
    """The lines before with `-` in front, then those after with `+`."""


@dataclass(frozen=True, kw_only=True)
class FileChange:
    """A file that a turn changes."""

    path: str
    kind: Literal["created", "changed", "deleted", "moved"]
    moved_from: str | None
    before: bytes | None
    after: bytes | None
    hunks: tuple[Hunk, ...]
    """Empty for other files than texts, and for one that was only moved."""


@dataclass(frozen=True, kw_only=True)
class Unmerged:
    """A file that two sides have changed in the same place."""

    path: str
    before: bytes | None
    """Its content when the turn first changed it."""
    now: bytes | None
    """Its content below the turn."""
    ours: bytes | None
    """Its content in the turn."""


@dataclass(kw_only=True)
class DiffResult(Outcome):
    changes: list[FileChange] | None = None
    """By path."""


@dataclass(kw_only=True)
class CommitResult(Outcome):
    """Of `commit` and `undo`. With the code `conflict` nothing was changed, and `conflicts` says why."""

    receipt: Receipt | None = None
    conflicts: list[Conflict] | None = None


@dataclass(kw_only=True)
class PathsResult(Outcome):
    """Of `accept` and `discard`."""

    paths: list[str] | None = None


@dataclass(kw_only=True)
class RebaseResult(Outcome):
    merged: list[str] | None = None
    """Files whose changes were merged by lines."""
    read: list[str] | None = None
    """Files and directories that the turn has read, and that are different now."""
    conflicts: list[Unmerged] | None = None
    """Files that keep the turn's content. Drop them, or name them in `keep`; a commit refuses them."""


_CHANGED = "Nothing was done: others changed what this turn read or changes. See conflicts; rebase()"
_NEWER = "Nothing was done: others changed these files since. See conflicts; undo that"


def _outcome(found: tuple[str, Any], conflict: str) -> CommitResult:
    tag, value = found
    if tag == "conflicts":
        return CommitResult(
            error=conflict,
            code="conflict",
            conflicts=[
                Conflict(path=path, operation=operation, before=before, now=now)
                for path, operation, before, now in value
            ],
        )
    id, by, at, files = value
    replaced = (
        Replacement(path=path, before=before, after=after, mode=mode)
        for path, before, after, mode in files
    )
    return CommitResult(
        receipt=Receipt(id=id, by=by, at=iso_of(at) or "", files=tuple(replaced))
    )


def _lines_of(body: bytes | None) -> list[str]:
    return (body or b"").decode(errors="replace").split("\n")


def change_of(found: tuple[Any, ...]) -> FileChange:
    path, (kind, moved_from), before, after, hunks = found
    old, new = (_lines_of(before), _lines_of(after)) if hunks else ([], [])

    def hunk(id: str, was: tuple[int, int], now: tuple[int, int]) -> Hunk:
        (first, count), (start, more) = was, now
        return Hunk(
            id=id,
            old_start=first + (count > 0),
            old_lines=count,
            new_start=start + (more > 0),
            new_lines=more,
            lines=(
                *(f"-{line}" for line in old[first : first + count]),
                *(f"+{line}" for line in new[start : start + more]),
            ),
        )

    return FileChange(
        path=path,
        kind=kind,
        moved_from=moved_from,
        before=before,
        after=after,
        hunks=tuple(hunk(*one) for one in hunks),
    )


class Turn(Backend):
    """Changes over a backend, which is not changed before `commit`. As a backend it shows the files as if
    the changes were made. `begin` makes one."""

    def __init__(self, base: Backend, by: str, write_mode: WriteMode) -> None:
        instance = base._instance
        self._turn = instance.made("[static]turn.begin", base._rep, by, write_mode)
        self.by = by
        """Who makes the changes."""
        super().__init__(instance, instance.made("[method]turn.files", self._turn), keeps=base)
        instance.owns(self, "turn", self._turn)

    def _answered(
        self,
        kind: type[_R],
        method: str,
        shape: Callable[[Any], _R],
        *given: Callable[[], list[str]],
    ) -> _R:
        name = f"[method]turn.{method}"
        return answered(
            kind,
            shape,
            self._instance,
            name,
            lambda: (self._turn, *(one() for one in given)),
        )

    @property
    def commits(self) -> Literal["transaction", "together", "journal", "one_by_one"]:
        """How a commit is made one step. `transaction`: everybody sees all of it or nothing. `together`: the same,
        but what the turn has read is only checked against other commits. `journal`: a commit that is broken off
        is finished or taken back by the next turn. `one_by_one`: files are compared and written in turn."""
        found: str = self._instance.call("[method]turn.commits", self._turn)
        return found.replace("-", "_")  # type: ignore[return-value]

    def diff(self) -> DiffResult:
        """All that the turn changes."""
        return self._answered(
            DiffResult, "diff", lambda found: DiffResult(changes=[change_of(one) for one in found])
        )

    def commit(self) -> CommitResult:
        """Makes all changes, if nothing that the turn read or replaces was changed since; else none. The turn is
        empty then, and can go on."""
        return self._answered(CommitResult, "commit", lambda found: _outcome(found, _CHANGED))

    def accept(self, hunks: Iterable[Hunk]) -> PathsResult:
        """Of each file with one of these hunks of the last diff, keeps these only. Other files stay as they are."""
        return self._answered(
            PathsResult, "accept", lambda found: PathsResult(paths=found), lambda: _ids(hunks)
        )

    def discard(self, patterns: Iterable[str]) -> PathsResult:
        """Drops the changes of files that match one of the patterns, such as `/drafts/**`."""
        return self._answered(
            PathsResult,
            "discard",
            lambda found: PathsResult(paths=found),
            lambda: texts("patterns", patterns),
        )

    def rebase(self, *, keep: Iterable[str] = ()) -> RebaseResult:
        """Merges what others have changed below. Where that fails, the turn's content wins for files that match
        one of the patterns `keep`."""

        def shape(found: tuple[Any, ...]) -> RebaseResult:
            merged, read, conflicts = found
            unmerged = [
                Unmerged(path=path, before=before, now=now, ours=ours)
                for path, before, now, ours in conflicts
            ]
            return RebaseResult(merged=merged, read=read, conflicts=unmerged)

        return self._answered(RebaseResult, "rebase", shape, lambda: texts("keep", keep))

    async def adiff(self) -> DiffResult:
        return await in_thread(self.diff)

    async def acommit(self) -> CommitResult:
        return await in_thread(self.commit)

    async def aaccept(self, hunks: Iterable[Hunk]) -> PathsResult:
        return await in_thread(self.accept, hunks)

    async def adiscard(self, patterns: Iterable[str]) -> PathsResult:
        return await in_thread(self.discard, patterns)

    async def arebase(self, *, keep: Iterable[str] = ()) -> RebaseResult:
        return await in_thread(self.rebase, keep=keep)


def _ids(hunks: Any) -> list[str]:
    found = listed("hunks", hunks, "hunks of a diff")
    for one in found:
        if not isinstance(one, Hunk):
            raise refused(f"hunks must be hunks of a diff; it has {shown(one)}")
    return [one.id for one in found]


def _replaced(receipt: Receipt) -> list[tuple[Any, ...]]:
    found = listed("the files of a receipt", receipt.files, "Replacement")
    for one in found:
        if not isinstance(one, Replacement):
            raise refused(f"the files of a receipt must be Replacement; it has {shown(one)}")
    return [(one.path, one.before, one.after, one.mode) for one in found]


def files_of(backend: Any) -> Backend:
    if not isinstance(backend, Backend):
        raise refused(f"backend must be a backend of kitbag, not {type(backend).__name__}")
    return backend


def name_of(by: Any) -> str:
    if not isinstance(by, str):
        raise refused(f"by must be a str, not {by!r:.80}")
    return by


def begin(backend: Backend, *, by: str = "", write_mode: WriteMode = "create") -> Turn:
    """Begins a turn over a backend, also over another turn: its commit goes into that one. Nothing is read.
    `by` says who makes the changes."""
    mode: Any = one_of("write_mode", write_mode, ("create", "overwrite"))
    return Turn(files_of(backend), name_of(by), mode)


def undo(backend: Backend, receipt: Receipt, *, by: str | None = None) -> CommitResult:
    """Takes back a commit: each file gets its content before, unless one was changed since. The receipt of the
    result takes back the undo."""
    base = files_of(backend)
    if not isinstance(receipt, Receipt):
        raise refused(f"receipt must be what a commit returned, not {type(receipt).__name__}")
    try:
        who = name_of(receipt.by if by is None else by)
        given = receipt.id, receipt.by, 0, _replaced(receipt)
        found = base._instance.call("undo", base._rep, given, who)
    except KitbagError as error:
        return failed(CommitResult, error)
    return _outcome(found, _NEWER)


async def aundo(backend: Backend, receipt: Receipt, *, by: str | None = None) -> CommitResult:
    return await in_thread(undo, backend, receipt, by=by)
