"""Calls of exported core functions.

`wasmtime.Func` looks up its own type in every call, which takes ten times as long as the call. The C API
has a form without checks; it is used if this version of the binding shows it, with types that were read
from the module.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import wasmtime

Call = Callable[..., int]


def caller(store: wasmtime.Store, func: wasmtime.Func) -> Call:
    """Calls a function of integers with at most one result; without one it returns 0."""
    return _unchecked(store, func) or _checked(store, func)


def _checked(store: wasmtime.Store, func: wasmtime.Func) -> Call:
    def call(*values: int) -> int:
        answer = func(store, *values)
        return 0 if answer is None else int(answer)

    return call


def _unchecked(store: wasmtime.Store, func: wasmtime.Func) -> Call | None:
    try:
        from wasmtime import _ffi as ffi
        from wasmtime import _func as binding

        enter: Any = ffi.wasmtime_func_call_unchecked
        raw_value: Any = ffi.wasmtime_val_raw_t
        raw_trap: Any = ctypes.POINTER(ffi.wasm_trap_t)
        inner: Any = ctypes.byref(func._func)
        context: Any = store._context()
    except (ImportError, AttributeError):
        return None
    kind = func.type(store)
    count = len(kind.params)
    result = str(kind.results[0]) if kind.results else ""
    # A value has 16 bytes, of which integers use the first 4 or 8.
    if ctypes.sizeof(raw_value) != 16 or result not in ("", "i32", "i64"):
        return None
    room = max(count, 1)
    values: Any = (ctypes.c_int64 * (2 * room))()
    place = ctypes.cast(values, ctypes.POINTER(raw_value))
    is_32 = result == "i32"
    # Used again in each call: after a trap this instance is not called any more.
    trap = raw_trap()
    trap_place = ctypes.byref(trap)

    def call(*given: int) -> int:
        if len(given) != count:
            raise TypeError(f"{count} values are needed, not {len(given)}")
        values[0 : 2 * count : 2] = given
        error = enter(context, inner, place, room, trap_place)
        if error:
            raise wasmtime.WasmtimeError._from_ptr(error)
        if trap:
            # The binding would raise the exception of a host function at the next trap of anybody.
            binding.LAST_EXCEPTION = None
            raise wasmtime.Trap._from_ptr(trap)
        if not result:
            return 0
        answer = int(values[0])
        return ((answer & 0xFFFF_FFFF) ^ 0x8000_0000) - 0x8000_0000 if is_32 else answer

    return call
