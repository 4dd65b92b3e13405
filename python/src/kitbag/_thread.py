"""Runs the twin of an awaited method. `asyncio` takes a third of the time in which this package loads, so it
is imported by those who await."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")


async def in_thread(call: Callable[_P, _T], *given: _P.args, **named: _P.kwargs) -> _T:
    """The answer of a call that may wait: for a storage, or for its turn."""
    import asyncio

    return await asyncio.to_thread(call, *given, **named)
