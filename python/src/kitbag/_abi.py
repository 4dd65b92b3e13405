"""The canonical ABI of WebAssembly components: how values of WIT lie in the memory of a module.

The binding of wasmtime for components passes a `list<u8>` as one boxed value for each byte and looks types
up in every call, so a file of a megabyte takes seconds. Here a list of bytes is one slice of the memory,
and types are read once. What a value of each type is in Python:

- numbers, `bool`, `string`, `list<u8>` as `bytes`, other lists as `list`
- `record` and `tuple`: a tuple, in the order of the fields
- `enum`: its name; `flags`: a set of names; `variant`: a tuple of name and payload
- `option`: the value or None; `result`: `(True, value)` or `(False, error)`
- a resource: a number, which `_instance.py` knows
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

# Flat parameters and results beyond these numbers go through memory.
MAX_FLAT_PARAMS = 16
MAX_FLAT_RESULTS = 1

_PAIR = struct.Struct("<II")


class Memory:
    """The linear memory of an instance. It may move when it grows, so `refresh` follows every call."""

    def __init__(
        self,
        size: Callable[[], int],
        address: Callable[[], int],
        allocate: Callable[[int, int], int],
    ):
        self._size = size
        self._address = address
        self._allocate = allocate
        self._known = 0
        self.view = memoryview(b"")
        self.refresh()

    def refresh(self) -> None:
        size = self._size()
        if size != self._known:
            self._known = size
            place = (ctypes.c_ubyte * size).from_address(self._address())
            self.view = memoryview(place).cast("B")

    def bytes_at(self, at: int, length: int) -> bytes:
        if at + length > len(self.view):
            raise IndexError("the WebAssembly named bytes outside of its memory")
        return self.view[at : at + length].tobytes()

    def put(self, data: bytes, align: int = 1) -> int:
        """Copies bytes to a new place."""
        at = self.room(len(data), align)
        self.view[at : at + len(data)] = data
        return at

    def room(self, size: int, align: int) -> int:
        at = self._allocate(size, align) & 0xFFFF_FFFF
        self.refresh()
        if at + size > len(self.view):
            raise IndexError("the WebAssembly gave room outside of its memory")
        return at


class Type:
    """A type of WIT: its layout in memory, and the core values that carry it."""

    size: int
    align: int
    flat: tuple[str, ...]

    def load(self, memory: Memory, at: int) -> Any:
        raise NotImplementedError

    def store(self, memory: Memory, at: int, value: Any) -> None:
        raise NotImplementedError

    def lift(self, memory: Memory, values: Iterator[int]) -> Any:
        raise NotImplementedError

    def lower(self, memory: Memory, value: Any, out: list[int]) -> None:
        raise NotImplementedError


def signed(value: int, bits: int) -> int:
    """The number that the signed core type of so many bits has for these bits."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


class Integer(Type):
    def __init__(self, code: str, name: str):
        self.struct = struct.Struct("<" + code)
        self.size = self.align = self.struct.size
        self.flat = ("i64" if self.size == 8 else "i32",)
        self.name = name
        self.is_signed = code.islower()
        self.bits = 64 if self.size == 8 else 32

    def load(self, memory: Memory, at: int) -> int:
        return int(self.struct.unpack_from(memory.view, at)[0])

    def store(self, memory: Memory, at: int, value: int) -> None:
        self.struct.pack_into(memory.view, at, value)

    def lift(self, memory: Memory, values: Iterator[int]) -> int:
        value = next(values)
        return value if self.is_signed else value & ((1 << (self.size * 8)) - 1)

    def lower(self, memory: Memory, value: int, out: list[int]) -> None:
        out.append(signed(value, self.bits))


class Bool(Integer):
    def load(self, memory: Memory, at: int) -> bool:
        return super().load(memory, at) != 0

    def lift(self, memory: Memory, values: Iterator[int]) -> bool:
        return super().lift(memory, values) != 0


class Handle(Integer):
    """`own` or `borrow`: what the number means is not decided here."""


class Enum(Integer):
    def __init__(self, *names: str):
        super().__init__("B", "enum")
        self.names = names
        self.index = {name: at for at, name in enumerate(names)}

    def load(self, memory: Memory, at: int) -> Any:
        return self.names[super().load(memory, at)]

    def store(self, memory: Memory, at: int, value: Any) -> None:
        super().store(memory, at, self.index[value])

    def lift(self, memory: Memory, values: Iterator[int]) -> Any:
        return self.names[super().lift(memory, values)]

    def lower(self, memory: Memory, value: Any, out: list[int]) -> None:
        out.append(self.index[value])


class Flags(Integer):
    def __init__(self, *names: str):
        super().__init__("B" if len(names) <= 8 else "H", "flags")
        self.names = names
        self.bit = {name: 1 << at for at, name in enumerate(names)}

    def _named(self, bits: int) -> set[str]:
        return {name for name, bit in self.bit.items() if bits & bit}

    def _bits(self, names: Any) -> int:
        return sum(self.bit[name] for name in set(names))

    def load(self, memory: Memory, at: int) -> Any:
        return self._named(super().load(memory, at))

    def store(self, memory: Memory, at: int, value: Any) -> None:
        super().store(memory, at, self._bits(value))

    def lift(self, memory: Memory, values: Iterator[int]) -> Any:
        return self._named(super().lift(memory, values))

    def lower(self, memory: Memory, value: Any, out: list[int]) -> None:
        out.append(self._bits(value))


class _Slice(Type):
    """What is stored elsewhere: a pointer and a length."""

    size = 8
    align = 4
    flat = ("i32", "i32")

    def _load(self, memory: Memory, at: int, length: int) -> Any:
        raise NotImplementedError

    def _store(self, memory: Memory, value: Any) -> tuple[int, int]:
        raise NotImplementedError

    def load(self, memory: Memory, at: int) -> Any:
        return self._load(memory, *_PAIR.unpack_from(memory.view, at))

    def store(self, memory: Memory, at: int, value: Any) -> None:
        pair = self._store(memory, value)
        _PAIR.pack_into(memory.view, at, *pair)

    def lift(self, memory: Memory, values: Iterator[int]) -> Any:
        at = next(values) & 0xFFFF_FFFF
        return self._load(memory, at, next(values) & 0xFFFF_FFFF)

    def lower(self, memory: Memory, value: Any, out: list[int]) -> None:
        out.extend(signed(number, 32) for number in self._store(memory, value))


class String(_Slice):
    def _load(self, memory: Memory, at: int, length: int) -> str:
        return memory.bytes_at(at, length).decode()

    def _store(self, memory: Memory, value: str) -> tuple[int, int]:
        data = value.encode()
        return memory.put(data), len(data)


class Bytes(_Slice):
    def _load(self, memory: Memory, at: int, length: int) -> bytes:
        return memory.bytes_at(at, length)

    def _store(self, memory: Memory, value: bytes) -> tuple[int, int]:
        return memory.put(value), len(value)


class List(_Slice):
    def __init__(self, element: Type):
        self.element = element

    def _load(self, memory: Memory, at: int, length: int) -> list[Any]:
        element = self.element
        if isinstance(element, Integer) and type(element) is Integer:
            data = memory.bytes_at(at, length * element.size)
            return list(struct.unpack(f"<{length}{element.struct.format[1:]}", data))
        return [element.load(memory, at + place * element.size) for place in range(length)]

    def _store(self, memory: Memory, value: Sequence[Any]) -> tuple[int, int]:
        element = self.element
        at = memory.room(len(value) * element.size, element.align)
        for place, one in enumerate(value):
            element.store(memory, at + place * element.size, one)
        return at, len(value)


def _aligned(at: int, align: int) -> int:
    return (at + align - 1) // align * align


class Record(Type):
    """A record or a tuple."""

    def __init__(self, *fields: tuple[str, Type]):
        self.fields = fields
        places, at = [], 0
        for _, kind in fields:
            at = _aligned(at, kind.align)
            places.append((kind, at))
            at += kind.size
        self.places = places
        self.align = max(kind.align for _, kind in fields)
        self.size = _aligned(at, self.align)
        self.flat = tuple(core for _, kind in fields for core in kind.flat)

    def load(self, memory: Memory, at: int) -> tuple[Any, ...]:
        return tuple([kind.load(memory, at + place) for kind, place in self.places])

    def store(self, memory: Memory, at: int, value: Sequence[Any]) -> None:
        for (kind, place), one in zip(self.places, value, strict=True):
            kind.store(memory, at + place, one)

    def lift(self, memory: Memory, values: Iterator[int]) -> tuple[Any, ...]:
        return tuple(kind.lift(memory, values) for kind, _ in self.places)

    def lower(self, memory: Memory, value: Sequence[Any], out: list[int]) -> None:
        for (kind, _), one in zip(self.places, value, strict=True):
            kind.lower(memory, one, out)


class Variant(Type):
    def __init__(self, *cases: tuple[str, Type | None]):
        self.cases = cases
        self.index = {name: at for at, (name, _) in enumerate(cases)}
        payloads = [kind for _, kind in cases if kind is not None]
        self.align = max([1, *(kind.align for kind in payloads)])
        self.offset = _aligned(1, self.align)
        self.size = _aligned(self.offset + max([0, *(k.size for k in payloads)]), self.align)
        joined: list[str] = []
        for kind in payloads:
            for at, core in enumerate(kind.flat):
                if at == len(joined):
                    joined.append(core)
                elif joined[at] != core:
                    joined[at] = "i64"
        self.flat = ("i32", *joined)

    def _out(self, name: str, payload: Any) -> Any:
        return name, payload

    def _in(self, value: Any) -> tuple[str, Any]:
        name, payload = value
        return name, payload

    def load(self, memory: Memory, at: int) -> Any:
        name, kind = self.cases[memory.view[at]]
        return self._out(name, None if kind is None else kind.load(memory, at + self.offset))

    def store(self, memory: Memory, at: int, value: Any) -> None:
        name, payload = self._in(value)
        index = self.index[name]
        memory.view[at] = index
        kind = self.cases[index][1]
        if kind is not None:
            kind.store(memory, at + self.offset, payload)

    def lift(self, memory: Memory, values: Iterator[int]) -> Any:
        name, kind = self.cases[next(values)]
        rest = [next(values) for _ in self.flat[1:]]
        return self._out(name, None if kind is None else kind.lift(memory, iter(rest)))

    def lower(self, memory: Memory, value: Any, out: list[int]) -> None:
        name, payload = self._in(value)
        index = self.index[name]
        wanted = len(out) + len(self.flat)
        out.append(index)
        kind = self.cases[index][1]
        if kind is not None:
            kind.lower(memory, payload, out)
        out.extend([0] * (wanted - len(out)))


class Option(Variant):
    def __init__(self, some: Type):
        super().__init__(("none", None), ("some", some))
        self.some = some

    def load(self, memory: Memory, at: int) -> Any:
        return self.some.load(memory, at + self.offset) if memory.view[at] else None

    def _out(self, name: str, payload: Any) -> Any:
        return payload

    def _in(self, value: Any) -> tuple[str, Any]:
        return ("none", None) if value is None else ("some", value)


class Result(Variant):
    def __init__(self, ok: Type | None, error: Type | None):
        super().__init__(("ok", ok), ("error", error))

    def load(self, memory: Memory, at: int) -> Any:
        kind = self.cases[memory.view[at]][1]
        value = None if kind is None else kind.load(memory, at + self.offset)
        return memory.view[at] == 0, value

    def _out(self, name: str, payload: Any) -> Any:
        return name == "ok", payload

    def _in(self, value: Any) -> tuple[str, Any]:
        return ("ok" if value[0] else "error"), value[1]


BOOL = Bool("B", "bool")
U32 = Integer("I", "u32")
U64 = Integer("Q", "u64")
S32 = Integer("i", "s32")
S64 = Integer("q", "s64")
OWN = Handle("I", "own")
BORROW = Handle("I", "borrow")
STRING = String()
BYTES = Bytes()
