"""The compiled module that is kept: only what can be of this user alone is loaded."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

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


def run(base: Path, **env: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "XDG_CACHE_HOME": str(base), **env},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("original")
    assert run(base) == "compiled"
    return base


@pytest.fixture
def base(original: Path, tmp_path: Path) -> Path:
    """A cache of this user, with a module."""
    (tmp_path / "kitbag").mkdir(mode=0o700)
    for file in (original / "kitbag").iterdir():
        copy = tmp_path / "kitbag" / file.name
        copy.write_bytes(file.read_bytes())
        copy.chmod(0o600)
    return tmp_path


def kept(base: Path) -> Path:
    (file,) = (base / "kitbag").iterdir()
    return file


def test_the_second_process_loads_what_the_first_compiled(base: Path) -> None:
    assert run(base) == "loaded"
    assert (base / "kitbag").stat().st_mode & 0o777 == 0o700
    assert kept(base).stat().st_mode & 0o777 == 0o600


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


def owned_by_another(file: Path) -> None:
    os.chown(file, 12345, 12345)


def fifo(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


SPOILED: list[Callable[[Path], None]] = [
    flipped,
    linked,
    doubled,
    owned_by_another,
    fifo,
    lambda file: file.write_bytes(file.read_bytes()[:-1]),
    lambda file: file.write_bytes(b""),
    lambda file: file.chmod(0o620),
    lambda file: file.chmod(0o602),
    lambda file: file.parent.chmod(0o770),
    lambda file: file.parent.chmod(0o701),
    lambda file: os.chown(file.parent, 12345, 12345),
]


@pytest.mark.parametrize("spoil", SPOILED)
def test_what_may_be_of_somebody_else_or_damaged_is_compiled_anew(
    base: Path, spoil: Callable[[Path], None]
) -> None:
    if os.geteuid() != 0 and spoil is owned_by_another:
        pytest.fail("changing an owner needs root")
    spoil(kept(base))
    assert run(base) == "compiled"


def test_a_directory_that_is_a_link_is_not_used(base: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "kitbag").symlink_to(base / "kitbag")
    assert run(other) == "compiled"
    assert (other / "kitbag").is_symlink()


def test_a_damaged_file_is_replaced(base: Path) -> None:
    flipped(kept(base))
    assert run(base) == "compiled"
    assert run(base) == "loaded"


def test_what_another_compiler_made_is_compiled_anew(base: Path) -> None:
    """A right checksum before bytes that wasmtime does not know."""
    import hashlib

    body = b"\x7fELF" + bytes(1000)
    kept(base).write_bytes(hashlib.sha256(body).digest() + body)
    assert run(base) == "compiled"


@pytest.mark.parametrize("name", ["relative", ""])
def test_a_relative_directory_is_not_used(name: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    assert run(tmp_path, XDG_CACHE_HOME=name, HOME=str(home)) == "compiled"
    assert (home / ".cache/kitbag").is_dir()


def test_a_directory_that_cannot_be_made_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert run(tmp_path / "file") == "compiled"


def test_files_of_other_versions_are_removed(base: Path) -> None:
    for at in range(20):
        (base / "kitbag" / f"old-{at}").write_text("")
        os.utime(base / "kitbag" / f"old-{at}", (at, at))
    kept_name = next(one for one in (base / "kitbag").iterdir() if not one.name.startswith("old"))
    kept_name.unlink()
    assert run(base) == "compiled"
    assert len(list((base / "kitbag").iterdir())) == 8
    assert run(base) == "loaded"
