"""A folder: nothing leads outside, and of two changes at once none is lost."""

from __future__ import annotations

import contextlib
import itertools
import os
import resource
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import kitbag


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/b.txt").write_text("secret")
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.txt").write_text("one\n")
    return root


@pytest.fixture
def files(root: Path) -> kitbag.FilesystemBackend:
    return kitbag.FilesystemBackend(root)


@pytest.mark.parametrize(
    "path", ["/../secret.txt", "../secret.txt", "/a/../../secret.txt", "/./../outside/b.txt"]
)
def test_no_path_leads_outside(files: kitbag.Backend, path: str) -> None:
    for found in (files.read(path), files.write(path, "x"), files.delete(path), files.ls(path)):
        assert found.code == "invalid_path"


def test_no_link_is_followed_or_listed(files: kitbag.Backend, root: Path) -> None:
    (root / "link.txt").symlink_to(root.parent / "secret.txt")
    (root / "dir").symlink_to(root.parent / "outside")
    (root / "inside.txt").symlink_to("a.txt")
    for path in ("/link.txt", "/dir/b.txt", "/inside.txt"):
        assert files.read(path).code in ("permission_denied", "not_found")
        assert files.edit(path, "secret", "x").code in ("permission_denied", "not_found")
    assert files.write("/dir/new.txt", "x").code == "permission_denied"
    assert files.write("/link.txt", "x").code in ("permission_denied", "already_exists")
    assert [one["path"] for one in files.ls("/").entries] == ["/a.txt"]
    assert files.grep("secret").matches == []
    assert [one["path"] for one in files.glob("**/*").matches] == ["/a.txt"]
    assert (root.parent / "secret.txt").read_text() == "secret"
    assert sorted(one.name for one in (root.parent / "outside").iterdir()) == ["b.txt"]


def test_a_directory_that_is_exchanged_for_a_link_leads_nowhere(
    files: kitbag.Backend, root: Path
) -> None:
    """Somebody exchanges a directory for a link, again and again, while files are read and written."""
    (root / "d").mkdir()
    (root / "d/b.txt").write_text("inside")
    stop = threading.Event()
    turns = itertools.count()

    def exchange() -> None:
        while not stop.is_set():
            with contextlib.suppress(OSError):
                os.rename(root / "d", root / "e")
            with contextlib.suppress(OSError):
                os.symlink(root.parent / "outside", root / "d")
                next(turns)
            # A write may have made the directory meanwhile.
            if (root / "d").is_symlink():
                os.unlink(root / "d")
            else:
                shutil.rmtree(root / "d", ignore_errors=True)
            with contextlib.suppress(OSError):
                os.rename(root / "e", root / "d")

    thread = threading.Thread(target=exchange)
    thread.start()
    try:
        for at in range(300):
            found = files.read("/d/b.txt")
            assert found.code is not None or found.file_data["content"] == "inside"
            files.write(f"/d/new{at}.txt", "x")
    finally:
        stop.set()
        thread.join()
    assert next(turns) > 20
    assert sorted(one.name for one in (root.parent / "outside").iterdir()) == ["b.txt"]


def test_a_missing_folder_is_empty_until_something_is_written(tmp_path: Path) -> None:
    files = kitbag.FilesystemBackend(tmp_path / "none" / "deep")
    assert files.ls("/").entries == []
    assert not (tmp_path / "none").exists()
    assert files.write("/x/a.txt", "one").path == "/x/a.txt"
    assert (tmp_path / "none/deep/x/a.txt").read_text() == "one"


def test_permission_bits_stay(files: kitbag.Backend, root: Path) -> None:
    (root / "run.sh").write_text("echo one\n")
    (root / "run.sh").chmod(0o750)
    assert files.edit("/run.sh", "one", "two").occurrences == 1
    assert stat.S_IMODE((root / "run.sh").stat().st_mode) == 0o750
    assert files.copy("/run.sh", "/copy.sh").code is None
    assert stat.S_IMODE((root / "copy.sh").stat().st_mode) == 0o750


def test_pipes_devices_and_large_files_are_no_files(files: kitbag.Backend, root: Path) -> None:
    os.mkfifo(root / "pipe")
    (root / "large").write_bytes(bytes(11 << 20))
    assert files.read("/pipe").code == "not_found"
    assert files.read("/large").code == "too_large"
    assert files.write("/big.txt", "x" * (11 << 20)).code == "too_large"
    assert files.write("/a.txt/b", "x").code in ("invalid_path", "already_exists")
    assert [one["path"] for one in files.ls("/").entries] == ["/a.txt", "/large"]


@pytest.fixture
def deep(root: Path) -> Iterator[str]:
    """Directories in one another, each with a file. The deepest one whose path kitbag has."""
    at = os.open(root, os.O_RDONLY)
    for _ in range(sys.getrecursionlimit() + 200):
        os.mkdir("d", dir_fd=at)
        inner = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(os.open("f", os.O_CREAT, dir_fd=inner))
        os.close(at)
        at = inner
    os.close(at)
    yield "/d" * 511 + "/f"
    subprocess.run(["rm", "-rf", root / "d"], check=True)


@pytest.fixture
def open_files() -> Iterator[Callable[[int], None]]:
    """Limits how many files the process has open."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield lambda most: resource.setrlimit(resource.RLIMIT_NOFILE, (most, before[1]))
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_tree_may_be_deeper_than_any_path(
    files: kitbag.Backend, root: Path, deep: str, open_files: Callable[[int], None]
) -> None:
    opened = len(os.listdir("/dev/fd"))
    open_files(1024)
    assert [one["path"] for one in files.ls("/").entries] == ["/a.txt", "/d/"]
    assert [one["path"] for one in files.grep("one").matches] == ["/a.txt"]
    found = [one["path"] for one in files.glob("**/*").matches]
    assert len(found) == 512 and max(found, key=len) == deep
    assert files.read(deep).error is None
    assert len(os.listdir("/dev/fd")) == opened
    # What is not listed for a lack of descriptors is an error.
    open_files(opened + 20)
    listed = files.ls("/")
    assert listed.code == "unavailable" and "Too many open files" in listed.error
    assert len(os.listdir("/dev/fd")) == opened


def test_the_order_is_that_of_the_directories(root: Path) -> None:
    """A directory is walked where it is named, as by a function that calls itself."""

    def walked(at: str) -> list[str]:
        found = []
        for one in os.scandir(f"{root}{at}"):
            path = f"{at}{one.name}"
            found += walked(f"{path}/") if one.is_dir() else [path]
        return found

    for name in ("b/1", "b/c/2", "b/3", "e/4", "f"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    (root / "empty").mkdir()
    storage = kitbag.disk.FolderStorage(root, 1 << 20)
    assert [one.path for one in storage.list("/")] == walked("/")


def test_names_that_are_not_utf_8_are_left_out(files: kitbag.Backend, root: Path) -> None:
    (Path(os.fsdecode(os.fsencode(root) + b"/\xff.txt"))).write_text("x")
    assert [one["path"] for one in files.ls("/").entries] == ["/a.txt"]


def test_what_a_killed_process_left_is_hidden_and_removed(
    files: kitbag.Backend, root: Path
) -> None:
    old, new = root / ".~kitbag-1-a", root / ".~kitbag-1-b"
    for file in (old, new):
        file.write_text("x")
    os.utime(old, (1, 1))
    assert [one["path"] for one in files.ls("/").entries] == ["/a.txt"]
    assert not old.exists()
    assert new.exists()


APPENDS = """
import sys, kitbag
files = kitbag.FilesystemBackend(sys.argv[1])
for _ in range(50):
    assert files.append("/n.txt", "x").code is None
"""

CREATES = """
import sys, kitbag
files = kitbag.FilesystemBackend(sys.argv[1])
print(sum(files.write(f"/{n}.txt", "x").code is None for n in range(50)))
"""


def processes(program: str, root: Path) -> list[str]:
    command = [sys.executable, "-c", program, str(root)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    said = [one.communicate(timeout=120)[0] for one in running]
    assert [one.returncode for one in running] == [0, 0, 0]
    return said


def test_edits_of_several_processes_are_not_lost(root: Path) -> None:
    (root / "n.txt").write_text("")
    processes(APPENDS, root)
    assert (root / "n.txt").read_text() == "x" * 150


def test_of_several_processes_one_creates_a_file(root: Path) -> None:
    assert sum(map(int, processes(CREATES, root))) == 50


@pytest.mark.parametrize(("link", "code"), [(True, "unsupported"), (False, "invalid_argument")])
def test_options(root: Path, link: bool, code: str) -> None:
    with pytest.raises(kitbag.KitbagError) as found:
        kitbag.FilesystemBackend(root, False) if link else kitbag.FilesystemBackend(root / "a.txt")
    assert found.value.code == code
