"""Provenance: labels for files, such as `untrusted`, and rules about where labelled content may go.

```python
from kitbag import FlowRule, PathLabel, StateBackend, with_provenance

files = with_provenance(
    StateBackend(),
    labels=[PathLabel(["/web/**"], "untrusted")],
    flows=[FlowRule("untrusted", ["/AGENTS.md", "/memories/**"])],
    on_ask=lambda question: input(f"{question.path} after {question.reads[0].path}? ") == "y",
)
```
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ._asked import Asked, reads_of
from ._thread import in_thread
from .backend import Backend, answered
from .keep import KeepIn, place_of
from .policy import LabelledRead, OnAsk, one_of, refused, texts
from .results import Outcome
from .turns import files_of


@dataclass(frozen=True)
class PathLabel:
    """Files at these paths have a label. Patterns are of whole paths: `/web/**` also matches `/web`."""

    paths: Sequence[str]
    label: str
    """Letters, digits, `.`, `_` and `-`, at most 64."""


@dataclass(frozen=True)
class FlowRule:
    """Where content with a label may not go by itself."""

    label: str
    to: Sequence[str]
    mode: Literal["refuse", "ask"] = "ask"
    """`ask`: `on_ask` decides. If several rules apply, `refuse` wins."""


@dataclass(kw_only=True)
class LabelsResult(Outcome):
    labels: list[str] | None = None
    """Those of its path, and those that it got by being written."""


@dataclass(kw_only=True)
class TrustResult(Outcome):
    path: str | None = None


class Conversation(Backend):
    """A backend as one conversation sees it: what it reads decides which labels its files get, and where it may
    write. `with_provenance` makes one."""

    def __init__(self, base: tuple[Any, ...], made: Callable[[], int]) -> None:
        instance = base[0]._instance
        self._conversation = made()
        files = instance.made("[method]conversation.files", self._conversation)
        super().__init__(instance, files, keeps=base)
        instance.owns(self, "conversation", self._conversation)

    @property
    def reads(self) -> tuple[LabelledRead, ...]:
        """What it has read with a label, the oldest first."""
        name = "[method]conversation.reads"
        return reads_of(self._instance.call(name, self._conversation))

    def clear(self) -> None:
        """Forgets what it has read. Only a person can decide that: give it to no agent."""
        self._instance.call("[method]conversation.clear", self._conversation)

    def conversation(self, reads: Iterable[LabelledRead] = ()) -> Conversation:
        """Another one over the same files, rules and labels; with stored `reads` one that goes on."""
        given = [_read(one) for one in reads]
        name = "[method]conversation.another"
        return Conversation(
            self._keeps, lambda: self._instance.made(name, self._conversation, given)
        )

    def labels(self, path: str) -> LabelsResult:
        """The labels of a file now."""
        return answered(
            LabelsResult,
            lambda found: LabelsResult(labels=found),
            self._instance,
            "[method]conversation.labels",
            lambda: (self._conversation, path),
        )

    def trust(self, path: str) -> TrustResult:
        """Removes the labels that files at and below a path got by being written. Only a person can decide that."""
        return answered(
            TrustResult,
            lambda _: TrustResult(path=path),
            self._instance,
            "[method]conversation.trust",
            lambda: (self._conversation, path),
        )

    async def alabels(self, path: str) -> LabelsResult:
        return await in_thread(self.labels, path)

    async def atrust(self, path: str) -> TrustResult:
        return await in_thread(self.trust, path)


def _read(value: Any) -> tuple[str, str, str]:
    if not isinstance(value, LabelledRead):
        raise refused(f"reads must be a list of LabelledRead; it has {value!r:.80}")
    return value.label, value.path, value.operation


def _label(at: int, given: Any) -> tuple[list[str], str]:
    if not isinstance(given, PathLabel):
        raise refused(f"labels[{at}] must be a PathLabel, not {given!r:.80}")
    return texts(f"labels[{at}].paths", given.paths), given.label


def _flow(at: int, given: Any) -> tuple[str, list[str], str]:
    if not isinstance(given, FlowRule):
        raise refused(f"flows[{at}] must be a FlowRule, not {given!r:.80}")
    mode = one_of(f"flows[{at}].mode", given.mode, ("refuse", "ask"))
    return given.label, texts(f"flows[{at}].to", given.to), mode


def with_provenance(
    backend: Backend,
    *,
    labels: Iterable[PathLabel],
    flows: Iterable[FlowRule] = (),
    on_ask: OnAsk | None = None,
    keep_in: KeepIn | Backend | None = None,
) -> Conversation:
    """Gives files labels. Reading labelled bytes taints the conversation until `clear`; what it writes then carries
    the label, and `flows` decide where that may go. `on_ask` can be that of `with_policy`. Labels of written files are
    in memory, or in a file of `keep_in`."""
    base = files_of(backend)
    if on_ask is not None and not callable(on_ask):
        raise refused(f"on_ask must be a function, not {type(on_ask).__name__}")
    place, other = (None, None) if keep_in is None else place_of(base, keep_in)
    asked, host = Asked(on_ask, None, None), str(uuid.uuid4())
    options = (
        [_label(at, one) for at, one in enumerate(labels)],
        [_flow(at, one) for at, one in enumerate(flows)],
        None if on_ask is None else host,
        place,
    )
    if on_ask is None and any(mode == "ask" for _, _, mode in options[1]):
        raise refused("flows has the mode 'ask', so with_provenance needs on_ask")
    instance = base._instance
    made = Conversation(
        (base, other, asked),
        lambda: instance.made("[static]conversation.begin", base._rep, options),
    )
    instance.add_callbacks(host, asked)
    return made
