"""Tools for a model, of any SDK: definitions with JSON Schema, and calls that never raise."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ._thread import in_thread
from .backend import Backend
from .errors import KitbagError, said, shown
from .policy import refused, texts, whole

_USUAL_TOKENS = 20_000


@dataclass(frozen=True)
class ToolDefinition:
    name: str
    description: str
    input_schema: dict[str, Any]
    """JSON Schema of the arguments."""


@dataclass(frozen=True)
class TextBlock:
    text: str


@dataclass(frozen=True)
class MediaBlock:
    kind: Literal["image", "audio", "video", "file"]
    mime_type: str
    data: bytes


@dataclass(frozen=True)
class ToolAnswer:
    """What a model is answered."""

    blocks: tuple[TextBlock | MediaBlock, ...]
    is_error: bool

    @property
    def text(self) -> str:
        return "\n".join(block.text for block in self.blocks if isinstance(block, TextBlock))


class FileTools:
    """Tools over a backend, which know what a model has read: one set for each conversation."""

    def __init__(self, backend: Backend, options: tuple[Any, ...]) -> None:
        self._backend = backend
        instance = backend._instance
        self._rep = instance.made("[static]tool-set.create", options)
        instance.owns(self, "tool-set", self._rep)

    def _call(self, method: str, *given: Any) -> Any:
        name = f"[method]tool-set.{method}"
        return self._backend._instance.call(name, self._rep, self._backend._rep, *given)

    @property
    def system_prompt(self) -> str:
        text: str = self._call("system-prompt")
        return text

    @property
    def definitions(self) -> list[ToolDefinition]:
        return [
            ToolDefinition(name, description, json.loads(schema))
            for name, description, schema in self._call("definitions")
        ]

    def call(
        self, name: str, arguments: Mapping[str, Any] | str, *, call_id: str | None = None
    ) -> ToolAnswer:
        """Calls a tool with an object or the JSON that a model sent."""
        id = call_id or uuid.uuid4().hex
        try:
            for what, value in (("name", name), ("call_id", id)):
                if not isinstance(value, str):
                    raise refused(f"{what} must be a str, not {shown(value)}")
            blocks, is_error = self._call("call", name, _json(arguments), id)
        except KitbagError as error:
            return ToolAnswer((TextBlock(f"Error: {error.message}"),), is_error=True)
        return ToolAnswer(tuple(_block(*one) for one in blocks), is_error)

    async def acall(
        self, name: str, arguments: Mapping[str, Any] | str, *, call_id: str | None = None
    ) -> ToolAnswer:
        return await in_thread(self.call, name, arguments, call_id=call_id)


def _json(arguments: Any) -> str:
    """Arguments as a model sends them."""
    if isinstance(arguments, str):
        return arguments
    given = dict(arguments) if isinstance(arguments, Mapping) else arguments
    try:
        # A surrogate stays what it is, and is refused as one.
        return json.dumps(given, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise refused(f"The arguments have no form in JSON: {said(error)}") from error


def _block(tag: str, value: Any) -> TextBlock | MediaBlock:
    return TextBlock(value) if tag == "text" else MediaBlock(*value)


def create_file_tools(
    backend: Backend,
    *,
    tools: Iterable[str] | None = None,
    custom_tool_descriptions: Mapping[str, str] | None = None,
    system_prompt: str | None = None,
    tool_token_limit_before_evict: int | None = _USUAL_TOKENS,
    max_execute_timeout: int = 3600,
    require_read_before_edit: bool = True,
) -> FileTools:
    """Tools over a backend. `tools`: names; without it all but `move_file`, `copy_file`, `append_file`.

    Larger results than `tool_token_limit_before_evict` are moved into a file; None turns that off.
    """
    if not isinstance(backend, Backend):
        raise refused(f"backend must be a backend of kitbag, not {type(backend).__name__}")
    limit = whole("tool_token_limit_before_evict", tool_token_limit_before_evict, bits=32)
    descriptions = dict(custom_tool_descriptions or {})
    for text in (*descriptions, *descriptions.values()):
        if not isinstance(text, str):
            raise refused(f"custom_tool_descriptions must have texts by names; it has {text!r:.80}")
    if not isinstance(require_read_before_edit, bool):
        raise refused(
            f"require_read_before_edit must be True or False, not {require_read_before_edit!r:.80}"
        )
    options = (
        None if tools is None else texts("tools", tools),
        list(descriptions.items()),
        system_prompt,
        ("unlimited", None) if limit is None else ("at-most", limit),
        whole("max_execute_timeout", max_execute_timeout, bits=32),
        not require_read_before_edit,
    )
    return FileTools(backend, options)
