"""The compiled module that is kept: only what can be of this user alone is loaded."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kitbag import _cache

BODY = b"machine code" * 1000


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What was stored as "module"."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    _cache.save("module", BODY)
    return tmp_path / "kitbag" / "module"


def test_what_was_stored_is_loaded(file: Path) -> None:
    assert _cache.load("module") == BODY
    assert _cache.load("other") is None
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert file.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in file.parent.iterdir()] == ["module"]


def flipped(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def linked(file: Path) -> None:
    other = file.with_name("other")
    file.rename(other)
    file.symlink_to(other)


def doubled(file: Path) -> None:
    os.link(file, file.with_name("other"))


def fifo(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def folder_linked(file: Path) -> None:
    other = file.parent.with_name("other")
    file.parent.rename(other)
    file.parent.symlink_to(other)


SPOILED: dict[str, Callable[[Path], object]] = {
    "a bit is another": flipped,
    "a link": linked,
    "a file with two names": doubled,
    "a pipe": fifo,
    "a directory": lambda file: (file.unlink(), file.mkdir()),
    "a byte is missing": lambda file: file.write_bytes(file.read_bytes()[:-1]),
    "empty": lambda file: file.write_bytes(b""),
    "its group may write it": lambda file: file.chmod(0o620),
    "others may write it": lambda file: file.chmod(0o602),
    "a group may use the directory": lambda file: file.parent.chmod(0o770),
    "others may look into the directory": lambda file: file.parent.chmod(0o701),
    "the directory is a link": folder_linked,
}


@pytest.mark.parametrize("name", SPOILED)
def test_what_may_be_of_somebody_else_or_damaged_is_not_loaded(name: str, file: Path) -> None:
    SPOILED[name](file)
    assert _cache.load("module") is None


def test_what_belongs_to_another_user_is_neither_loaded_nor_written(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    assert _cache.load("module") is None
    _cache.save("another", BODY)
    assert [one.name for one in file.parent.iterdir()] == ["module"]


def test_a_directory_that_others_may_use_is_not_written(file: Path) -> None:
    file.parent.chmod(0o777)
    _cache.save("another", BODY)
    assert [one.name for one in file.parent.iterdir()] == ["module"]


def test_a_damaged_file_is_replaced(file: Path) -> None:
    flipped(file)
    _cache.save("module", BODY)
    assert _cache.load("module") == BODY


@pytest.mark.parametrize("name", ["relative", ""])
def test_a_relative_directory_is_not_used(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    assert _cache.folder() == tmp_path / ".cache/kitbag"


def test_a_directory_that_cannot_be_made_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    _cache.save("module", BODY)
    assert _cache.load("module") is None


def test_a_system_that_names_no_owners_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "geteuid")
    assert _cache.folder() is None
    _cache.save("module", BODY)
    assert _cache.load("module") is None


def test_files_of_other_versions_are_removed(file: Path) -> None:
    for at in range(20):
        (file.parent / f"old-{at}").write_text("")
        os.utime(file.parent / f"old-{at}", (at, at))
    _cache.save("module", BODY)
    assert len(list(file.parent.iterdir())) == 8
    assert _cache.load("module") == BODY


# Says whether the module was compiled, after it has used a backend.
PROGRAM = """
import wasmtime
compiled = []
real = wasmtime.Module.__init__
def init(self, engine, wasm):
    compiled.append(1)
    real(self, engine, wasm)
wasmtime.Module.__init__ = init
import kitbag
assert kitbag.StateBackend(files={"/a": "b"}).read("/a").file_data["content"] == "b"
print("compiled" if compiled else "loaded")
"""


def run(base: Path) -> str:
    env = {**os.environ, "XDG_CACHE_HOME": str(base)}
    program = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(program, env=env, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_process_loads_what_another_compiled_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(tmp_path) == "compiled"
    assert run(tmp_path) == "loaded"
    # A right checksum before bytes that wasmtime did not make.
    (file,) = (tmp_path / "kitbag").iterdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    _cache.save(file.name, b"\x7fELF" + bytes(1000))
    assert run(tmp_path) == "compiled"
    assert run(tmp_path) == "loaded"
