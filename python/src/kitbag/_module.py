"""The WebAssembly of this package, compiled once in a process."""

from __future__ import annotations

import functools
import hashlib
import platform
from pathlib import Path

import wasmtime

from . import _cache

COMPONENT = "kitbag.component.wasm"


def component() -> bytes:
    """The component, as it is published for all languages."""
    return Path(__file__).with_name(COMPONENT).read_bytes()


def _number(data: bytes, at: int) -> tuple[int, int]:
    """An unsigned LEB128 number, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if byte < 0x80:
            return value, at


def core_module(data: bytes) -> bytes:
    """The first module in a component, which has all of its code; others only link it."""
    at = 8
    while at < len(data):
        size, start = _number(data, at + 1)
        if data[at] == 1:
            return data[start : start + size]
        at = start + size
    raise ValueError("there is no module in this component")


@functools.cache
def compiled() -> tuple[wasmtime.Engine, wasmtime.Module]:
    """The engine and the module, from the cache if it has them."""
    engine = wasmtime.Engine()
    wasm = component()
    # Each installation of wasmtime has its own: it refuses what another version compiled.
    binding = Path(wasmtime.__file__)
    which = f"{binding} {binding.stat().st_mtime_ns} {platform.machine()}"
    name = hashlib.sha256(wasm + which.encode()).hexdigest()
    kept = _cache.load(name)
    if kept is not None:
        try:
            return engine, wasmtime.Module.deserialize(engine, kept)
        except wasmtime.WasmtimeError:
            pass  # Compiled for another processor or with other settings.
    module = wasmtime.Module(engine, core_module(wasm))
    _cache.save(name, bytes(module.serialize()))
    return engine, module
