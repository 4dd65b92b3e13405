"""A model whose calls are given in advance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

Turns = Sequence[Sequence[tuple[str, dict[str, Any]]]]


class ScriptedModel(BaseChatModel):
    """Each turn is a list of calls of tools, made together; after the last one the model says "done"."""

    turns: Any

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **options: Any) -> BaseChatModel:
        return self

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any
    ) -> ChatResult:
        at = sum(isinstance(one, AIMessage) for one in messages)
        calls = self.turns[at] if at < len(self.turns) else []
        message = AIMessage(
            content="" if calls else "done",
            tool_calls=[
                {"name": name, "args": args, "id": f"call_{at}_{place}"}
                for place, (name, args) in enumerate(calls)
            ],
        )
        return ChatResult(generations=[ChatGeneration(message=message)])


def answers(result: dict[str, Any]) -> list[str]:
    """What the tools answered."""
    return [one.text for one in result["messages"] if isinstance(one, ToolMessage)]


def work(path: str) -> Turns:
    """Every tool for files, on one file."""
    directory = path.rpartition("/")[0] or "/"
    return [
        [("write_file", {"file_path": path, "content": "one\ntwo\nthree\n"})],
        [("read_file", {"file_path": path})],
        [("edit_file", {"file_path": path, "old_string": "two", "new_string": "zwei"})],
        [
            ("ls", {"path": directory}),
            ("grep", {"pattern": "zwei", "output_mode": "content"}),
            ("glob", {"pattern": "**/*.md"}),
        ],
    ]


def check_work(result: dict[str, Any], path: str) -> None:
    said = answers(result)
    assert len(said) == 6, said
    assert "Error" not in "\n".join(said), said
    assert path in said[0]
    assert "two" in said[1]
    assert all(path in one for one in said[3:]), said
    assert "zwei" in said[4]
    assert result["messages"][-1].text == "done"
