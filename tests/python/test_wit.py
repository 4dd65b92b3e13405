"""The package's description of the WIT against the types of the component itself, and both ways of calling."""

from __future__ import annotations

from typing import Any

import pytest
import wasmtime
import wasmtime.component as wit

import kitbag
from kitbag import _abi, _call, _module, _wit

ENGINE = wasmtime.Engine()
TYPE = wit.Component(ENGINE, _module.component()).type

SIMPLE = {wit.U32: "u32", wit.U64: "u64", wit.S32: "s32", wit.S64: "s64"}


def theirs(kind: Any) -> Any:
    """A type of the component, as data."""
    if kind is None:
        return None
    if type(kind) in SIMPLE:
        return SIMPLE[type(kind)]
    if isinstance(kind, wit.Bool):
        return "bool"
    if isinstance(kind, wit.String):
        return "string"
    if isinstance(kind, wit.OwnType):
        return "own"
    if isinstance(kind, wit.BorrowType):
        return "borrow"
    if isinstance(kind, wit.ListType):
        inner = kind.element
        return "bytes" if isinstance(inner, wit.U8) else ["list", theirs(inner)]
    if isinstance(kind, wit.RecordType):
        return ["record", [[name, theirs(one)] for name, one in kind.fields]]
    if isinstance(kind, wit.TupleType):
        return ["record", [[str(at), theirs(one)] for at, one in enumerate(kind.elements)]]
    if isinstance(kind, wit.EnumType):
        return ["enum", list(kind.names)]
    if isinstance(kind, wit.FlagsType):
        return ["flags", list(kind.names)]
    if isinstance(kind, wit.OptionType):
        return ["option", theirs(kind.payload)]
    if isinstance(kind, wit.ResultType):
        return ["result", theirs(kind.ok), theirs(kind.err)]
    if isinstance(kind, wit.VariantType):
        return ["variant", [[name, theirs(one)] for name, one in kind.cases]]
    raise TypeError(kind)


def ours(kind: _abi.Type | None) -> Any:
    """A type of the package, as data."""
    if kind is None:
        return None
    if isinstance(kind, _abi.Enum):
        return ["enum", list(kind.names)]
    if isinstance(kind, _abi.Flags):
        return ["flags", list(kind.names)]
    if isinstance(kind, _abi.Integer):
        return kind.name
    if isinstance(kind, _abi.String):
        return "string"
    if isinstance(kind, _abi.Bytes):
        return "bytes"
    if isinstance(kind, _abi.List):
        return ["list", ours(kind.element)]
    if isinstance(kind, _abi.Record):
        return ["record", [[name, ours(one)] for name, one in kind.fields]]
    if isinstance(kind, _abi.Option):
        return ["option", ours(kind.cases[1][1])]
    if isinstance(kind, _abi.Result):
        return ["result", ours(kind.cases[0][1]), ours(kind.cases[1][1])]
    assert isinstance(kind, _abi.Variant)
    return ["variant", [[name, ours(one)] for name, one in kind.cases]]


def functions(interfaces: dict[str, Any]) -> dict[str, Any]:
    found = {}
    for name, interface in interfaces.items():
        for each, item in interface.ty.exports(ENGINE).items():
            if isinstance(item.ty, wit.FuncType):
                params = [[param, theirs(kind)] for param, kind in item.ty.params]
                found[f"{name}#{each}"] = [params, theirs(item.ty.result)]
    return found


def described(funcs: Any) -> dict[str, Any]:
    return {
        f"{_wit.interface(func.interface)}#{func.name}": [
            [[name, ours(kind)] for name, kind in func.params],
            ours(func.result),
        ]
        for func in funcs
    }


def test_exports_are_those_of_the_component() -> None:
    assert described(_wit.EXPORTS.values()) == functions(TYPE.exports(ENGINE))


def test_imports_are_those_of_the_component_and_no_others() -> None:
    wanted = functions(TYPE.imports(ENGINE))
    own = described(_wit.IMPORTS)
    assert {name: one for name, one in own.items() if name in wanted} == wanted
    # What this version never calls is not in the binary.
    assert set(own) - set(wanted) <= {"kitbag:files/random@0.1.0#bits"}


def test_nothing_else_is_imported() -> None:
    modules = {one.module for one in _module.compiled()[1].imports}
    allowed = {"clock", "random", "rules", "shell", "storage"}
    names = ("backends", "tools", "turns", "history", "provenance")
    exported = {f"[export]{_wit.interface(name)}" for name in names}
    assert modules <= {_wit.interface(name) for name in allowed} | exported


def test_the_module_is_in_the_component_as_published() -> None:
    data = _module.component()
    assert data[:8] == b"\0asm\x0d\0\1\0"
    assert _module.core_module(data)[:8] == b"\0asm\1\0\0\0"
    with pytest.raises(ValueError, match="no module"):
        _module.core_module(data[:8])


def test_without_the_unchecked_form_of_the_binding_calls_are_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_call, "_unchecked", lambda store, func: None)
    backend = kitbag.StateBackend(instance=kitbag.Instance(), files={"/a.txt": "one"})
    assert backend.edit("/a.txt", "one", "two").occurrences == 1
    assert backend.read("/a.txt").file_data["content"] == "two"
    assert backend.read("/b.txt").code == "not_found"
