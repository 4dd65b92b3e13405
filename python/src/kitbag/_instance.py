"""An instance of the component: one memory, with the backends that were made in it.

An instance runs one call at a time. A call made while another thread's runs waits; a call made by what this
instance is asking (a storage, a command) is refused, because it would wait for itself.
"""

from __future__ import annotations

import collections
import ctypes
import itertools
import os
import struct
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any, Protocol, cast

import wasmtime

from . import _wit
from ._abi import Memory, Result, Type, signed
from ._call import caller
from ._module import compiled
from .errors import ERROR_CODES, ErrorCode, KitbagError, said, wait_of

# The code, its stack and some files.
_LEAST_BYTES = 4 << 20
_MAX_MESSAGE = 4096
# What a value of a wrong type makes the ABI raise.
_WRONG = (AttributeError, KeyError, TypeError, ValueError, struct.error)
# What the guest makes, and where.
_RESOURCES = {
    "backend": "backends",
    "tool-set": "tools",
    "turn": "turns",
    "history": "history",
    "conversation": "provenance",
}
_CORE = {"i32": wasmtime.ValType.i32, "i64": wasmtime.ValType.i64}


def wit_error(error: KitbagError) -> tuple[str, str, int | None]:
    """An error as the WIT has it. Its fields may have been set to anything."""
    code = error.code if error.code in ERROR_CODES else "internal"
    message = error.message if isinstance(error.message, str) else said(error)
    shown = message[:_MAX_MESSAGE].encode(errors="replace").decode()
    return code.replace("_", "-"), shown, wait_of(error.retry_after_ms)


def error_of(given: tuple[str, str, int | None]) -> KitbagError:
    """An error of the WIT."""
    code, message, retry = given
    return KitbagError(cast(ErrorCode, code.replace("-", "_")), message, retry_after_ms=retry)


class Volume(Protocol):
    """What the component asks a lent storage, in the types of the WIT. `_lent.py` makes one of a storage."""

    def capability(self) -> Any: ...
    def stat(self, path: str) -> Any: ...
    def get(self, path: str) -> Any: ...
    def put(self, path: str, file: Any, condition: Any) -> Any: ...
    def delete(self, path: str, version: str | None) -> Any: ...
    def list(self, prefix: str, start: str | None) -> Any: ...


class Callbacks(Protocol):
    """What rules ask, in the types of the WIT. `_asked.py` makes one."""

    def decide(self, question: Any) -> Any: ...
    def inspect(self, inspected: Any) -> Any: ...
    def audit(self, record: Any) -> Any: ...


Execute = Callable[[str, "int | None"], Any]


def _func_type(params: tuple[str, ...], results: tuple[str, ...]) -> wasmtime.FuncType:
    return wasmtime.FuncType([_CORE[one]() for one in params], [_CORE[one]() for one in results])


def _intrinsic(
    linker: wasmtime.Linker, module: str, name: str, call: Callable[[int], Any], *out: str
) -> None:
    def entered(number: int) -> int | None:
        answer = call(number)
        return int(answer) if out else None

    linker.define_func(module, name, _func_type(("i32",), out), entered)


def _volume_method(me: Instance, func: _wit.Func) -> Callable[..., Any]:
    method = func.name.rpartition(".")[2]

    def answer(number: int, *given: Any) -> Any:
        return getattr(me._volumes[number], method)(*given)

    return answer


def _store(func: _wit.Func, gives: Type, memory: Memory, at: int, answered: Any) -> None:
    """Stores an answer of this host; in the place of one of a wrong type an error."""
    try:
        gives.store(memory, at, answered)
    except _WRONG as error:
        if not isinstance(gives, Result):
            raise
        wrong = KitbagError("internal", f"The answer of {func.name} has a wrong type: {error}")
        gives.store(memory, at, (False, wit_error(wrong)))


def _define(
    me: Instance, linker: wasmtime.Linker, func: _wit.Func, answer: Callable[..., Any]
) -> None:
    """Lets the guest call a function of this host. What a storage raises is an answer: an exception would end
    the call in the midst of the guest's work."""
    takes, gives = func.takes, func.result
    assert gives is not None
    params = ("i32",) if func.is_spilled else func.flat_params
    params = (*params, "i32") if func.is_returned_in_memory else params
    results = () if func.is_returned_in_memory else gives.flat

    def answered_with(*values: int) -> int | None:
        memory = me._memory
        memory.refresh()
        given: tuple[Any, ...] = ()
        if takes is not None:
            if func.is_spilled:
                given = takes.load(memory, values[0] & 0xFFFF_FFFF)
            else:
                given = takes.lift(memory, iter(values))
        try:
            answered = answer(*given)
        except BaseException as error:
            # Of a storage or a command, whose answers are all results.
            answered = me._failed(error)
        memory.refresh()
        if func.is_returned_in_memory:
            _store(func, gives, memory, values[-1] & 0xFFFF_FFFF, answered)
            return None
        out: list[int] = []
        gives.lower(memory, answered, out)
        return out[0]

    def entered(*values: int) -> int | None:
        try:
            return answered_with(*values)
        except BaseException as error:
            # There was no room for the answer, or the process was interrupted here.
            me._raised = error
            raise wasmtime.WasmtimeError("the host failed") from error

    module = _wit.interface(func.interface)
    linker.define_func(module, func.name, _func_type(params, results), entered)


class Instance:
    """Backends that are combined, by `CompositeBackend`, must be of one instance. All are of the same if
    none is named. Another one has a memory and a lock of its own: for tenants that must not share memory,
    or for storages that are slow.
    """

    def __init__(self, *, max_bytes: int | None = None) -> None:
        """`max_bytes`: the most memory of the instance, at most 4 GiB. A call that needs more ends it."""
        if max_bytes is not None and (not isinstance(max_bytes, int) or max_bytes < _LEAST_BYTES):
            raise KitbagError(
                "invalid_argument",
                f"max_bytes must be a whole number of at least {_LEAST_BYTES}, not {max_bytes!r:.80}",
            )
        engine, module = compiled()
        self._store = wasmtime.Store(engine)
        if max_bytes is not None:
            self._store.set_limits(memory_size=max_bytes)
        # The thread whose call runs.
        self._owner = 0
        self._lock = threading.Lock()
        self._is_broken = False
        self._raised: BaseException | None = None
        self._numbers = itertools.count(1)
        # Resources: what the guest made, by handle; what it was lent, by number.
        self._held: dict[int, int] = {}
        self._volumes: dict[int, Volume] = {}
        self._machines: weakref.WeakValueDictionary[str, Machine] = weakref.WeakValueDictionary()
        self._callbacks: weakref.WeakValueDictionary[str, Callbacks] = (
            weakref.WeakValueDictionary()
        )
        # Handles of backends that were collected, perhaps in the midst of a call.
        self._dropped: collections.deque[tuple[str, int]] = collections.deque()
        exports = self._linked(engine, module)
        self._exports = exports
        self._realloc = caller(self._store, exports["cabi_realloc"])
        memory = exports["memory"]
        assert isinstance(memory, wasmtime.Memory)
        self._memory = Memory(
            lambda: memory.data_len(self._store),
            lambda: ctypes.addressof(memory.data_ptr(self._store).contents),
            self._allocate,
        )
        self._calls = {name: self._caller(func) for name, func in _wit.EXPORTS.items()}
        _ALL.add(self)

    # Linking.

    def _linked(self, engine: wasmtime.Engine, module: wasmtime.Module) -> Any:
        linker = wasmtime.Linker(engine)
        # The binding keeps functions for as long as the store lives, which this instance must not outlive.
        me: Instance = weakref.proxy(self)
        answers: dict[str, Callable[..., Any]] = {
            "now": lambda: time.time_ns() // 1000,
            "bits": lambda: int.from_bytes(os.urandom(8), "little"),
            "execute": lambda *given: me._execute(*given),
            **{
                name: (lambda which: lambda *given: me._asked(which, *given))(name)
                for name in ("decide", "inspect", "audit")
            },
        }
        for func in _wit.IMPORTS:
            _define(me, linker, func, answers.get(func.name) or _volume_method(me, func))
        storage = _wit.interface("storage")
        _intrinsic(linker, storage, "[resource-drop]volume", lambda at: me._volumes.pop(at))
        for resource, interface in _RESOURCES.items():
            owner = f"[export]{_wit.interface(interface)}"
            _intrinsic(linker, owner, f"[resource-new]{resource}", lambda at: me._hold(at), "i32")
            _intrinsic(linker, owner, f"[resource-rep]{resource}", lambda at: me._held[at], "i32")
            _intrinsic(linker, owner, f"[resource-drop]{resource}", lambda at: me._held.pop(at))
        return linker.instantiate(self._store, module).exports(self._store)

    def _hold(self, rep: int) -> int:
        handle = next(self._numbers)
        self._held[handle] = rep
        return handle

    def _failed(self, error: BaseException) -> tuple[bool, Any]:
        """The error of an exception. One that is no `Exception`, such as Ctrl-C, reaches the caller when the
        guest has ended its call."""
        if isinstance(error, KitbagError):
            return False, wit_error(error)
        if isinstance(error, Exception):
            message = f"The host raised {type(error).__name__}: {said(error)}"
            return False, wit_error(KitbagError("unavailable", message))
        self._raised = error
        return False, ("unavailable", "The call was interrupted", None)

    def _execute(self, machine: str, command: str, timeout_ms: int | None) -> Any:
        found = self._machines.get(machine)
        if found is None:
            return False, ("unavailable", "The machine of this backend is gone", None)
        return found.execute(command, timeout_ms)

    def _asked(self, what: str, policy: str, given: Any) -> Any:
        found = self._callbacks.get(policy)
        if found is None:
            return False, ("unavailable", "The callbacks of this policy are gone", None)
        return getattr(found, what)(given)

    # Calls.

    def _allocate(self, size: int, align: int) -> int:
        return self._realloc(0, 0, align, signed(size, 32))

    def _caller(self, func: _wit.Func) -> Callable[..., Any]:
        name = f"{_wit.interface(func.interface)}#{func.name}"
        call = caller(self._store, self._exports[name])
        post = self._exports.get(f"cabi_post_{name}")
        after = None if post is None else caller(self._store, post)
        takes, gives = func.takes, func.result
        memory = self._memory

        def run(*given: Any) -> Any:
            flat: list[int] = []
            try:
                if takes is not None:
                    if func.is_spilled:
                        at = memory.room(takes.size, takes.align)
                        takes.store(memory, at, given)
                        flat.append(signed(at, 32))
                    else:
                        takes.lower(memory, given, flat)
            except UnicodeEncodeError as error:
                raise KitbagError("invalid_argument", _SURROGATE) from error
            except _WRONG as error:
                message = f"An argument of {func.name} has a wrong type: {error}"
                raise KitbagError("invalid_argument", message) from error
            answer = call(*flat)
            memory.refresh()
            if gives is None:
                return None
            if not func.is_returned_in_memory:
                return gives.lift(memory, iter((answer,)))
            value = gives.load(memory, answer & 0xFFFF_FFFF)
            if after is not None:
                after(answer)
            return value

        return run

    def call(self, name: str, *given: Any) -> Any:
        """Calls a function of the WIT. A `result` that is an error is raised as a `KitbagError`."""
        me = threading.get_ident()
        if self._owner == me:
            raise KitbagError(
                "unavailable",
                "This instance is asking a storage or a command and cannot be called by it; "
                "use a backend of another Instance there",
            )
        with self._lock:
            self._owner = me
            try:
                if self._is_broken:
                    raise KitbagError("unavailable", _BROKEN)
                answer = self._entered(name, given)
            finally:
                self._owner = 0
        if not isinstance(_wit.EXPORTS[name].result, Result):
            return answer
        is_ok, value = answer
        if is_ok:
            return value
        raise error_of(value)

    def _entered(self, name: str, given: tuple[Any, ...]) -> Any:
        self._raised = None
        try:
            if self._dropped:
                self._drop_all()
            answer = self._calls[name](*given)
        except KitbagError:
            raise
        except BaseException as error:
            self._is_broken = True
            cause = self._raised or error
            if not isinstance(cause, Exception):
                raise cause from None
            raise KitbagError("unavailable", _BROKEN) from cause
        if self._raised is not None:
            raised, self._raised = self._raised, None
            raise raised
        return answer

    # Resources.

    def made(self, name: str, *given: Any) -> int:
        """Calls a function that makes a resource; the resource as the guest knows it."""
        return self._held.pop(self.call(name, *given))

    def lend(self, volume: Volume) -> int:
        number = next(self._numbers)
        self._volumes[number] = volume
        return number

    def unlend(self, number: int) -> None:
        self._volumes.pop(number, None)

    def add_machine(self, machine: Machine) -> None:
        self._machines[machine.id] = machine

    def add_callbacks(self, name: str, callbacks: Callbacks) -> None:
        self._callbacks[name] = callbacks

    def owns(self, owner: object, resource: str, rep: int) -> None:
        """Frees a resource before the next call after its owner was collected."""
        # Not a method: it would keep this instance, and so what its storages refer to.
        weakref.finalize(owner, self._dropped.append, (resource, rep)).atexit = False

    def _drop_all(self) -> None:
        while self._dropped:
            resource, rep = self._dropped.popleft()
            interface = _wit.interface(_RESOURCES[resource])
            self._exports[f"{interface}#[dtor]{resource}"](self._store, rep)

    def _forked(self) -> None:
        if self._lock.locked():
            # A thread that is not in this process was in the midst of a call.
            self._is_broken = True
        self._owner = 0
        self._lock = threading.Lock()

    @property
    def is_broken(self) -> bool:
        """Whether a call was ended in the midst of its work, so that nothing runs here any more."""
        return self._is_broken


_SURROGATE = "A text has a surrogate, which is no character; replace it, or pass bytes"
_BROKEN = (
    "The WebAssembly of this backend was interrupted, by a lack of memory or a mistake in it; "
    "make a new backend"
)


class Machine:
    """What runs the commands of a backend."""

    def __init__(self, id: str, execute: Execute) -> None:
        self.id = id
        self.execute = execute


_ALL: weakref.WeakSet[Instance] = weakref.WeakSet()
_default: Instance | None = None
_default_lock = threading.Lock()


def default_instance() -> Instance:
    """The instance of all backends that name none; a new one if the last is broken."""
    global _default
    with _default_lock:
        if _default is None or _default.is_broken:
            _default = Instance()
        return _default


def _after_fork() -> None:
    global _default_lock
    _default_lock = threading.Lock()
    for instance in list(_ALL):
        instance._forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
