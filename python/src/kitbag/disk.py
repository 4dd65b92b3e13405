"""A folder of this machine, and its commands."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ._folder import FolderStorage
from ._instance import Instance
from .backend import Backend, WriteMode
from .backends import CustomBackend, shelled
from .errors import KitbagError
from .policy import refused, whole
from .results import ExecuteResult


class FilesystemBackend(CustomBackend):
    """A folder of this machine, which no path and no link leads out of. A missing one is empty; the first
    write creates it. Not on Windows."""

    def __init__(
        self,
        root_dir: str | os.PathLike[str] | None = None,
        virtual_mode: bool = True,
        *,
        max_file_bytes: int = 10 << 20,
        write_mode: WriteMode = "create",
        instance: Instance | None = None,
    ) -> None:
        if virtual_mode is not True:
            raise KitbagError(
                "unsupported",
                "virtual_mode=False would let paths lead out of root_dir; this package always confines",
            )
        root = Path.cwd() if root_dir is None else Path(root_dir)
        if root.exists() and not root.is_dir():
            raise refused(f"root_dir must be a directory; '{root}' is none")
        size = whole("max_file_bytes", max_file_bytes)
        super().__init__(
            FolderStorage(root, 10 << 20 if size is None else size),
            write_mode=write_mode,
            instance=instance,
        )
        self.cwd = root.resolve()


class Shell:
    """Runs commands in a folder, without any confinement: they can do what this process can."""

    def __init__(
        self,
        directory: Path,
        *,
        timeout: float,
        max_output_bytes: int,
        env: Mapping[str, str] | None,
        inherit_env: bool,
    ) -> None:
        self._directory = directory
        self._timeout = timeout
        self._most = max_output_bytes
        self._env = {**(os.environ if inherit_env else {}), **(env or {})}

    def __call__(self, command: str, timeout: float | None) -> ExecuteResult:
        limit = self._timeout if timeout is None else timeout
        # A file, because a pipe is full or stays open as long as a process in the background.
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(
                command,
                shell=True,
                cwd=self._directory,
                env=self._env,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                code = process.wait(limit or None)
            except subprocess.TimeoutExpired:
                _kill(process)
                text, truncated = self._read(output.fileno())
                said = f"{text}\nThe command was ended after {limit:g} seconds"
                return ExecuteResult(output=said.lstrip("\n"), exit_code=124, truncated=truncated)
            except BaseException:
                _kill(process)
                raise
            text, truncated = self._read(output.fileno())
            return ExecuteResult(output=text, exit_code=code, truncated=truncated)

    def _read(self, fd: int) -> tuple[str, bool]:
        os.lseek(fd, 0, os.SEEK_SET)
        data = b""
        while len(data) <= self._most:
            part = os.read(fd, self._most + 1 - len(data))
            if not part:
                break
            data += part
        return data[: self._most].decode(errors="replace"), len(data) > self._most


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class LocalShellBackend(Backend):
    """A folder with commands of this machine. Commands are not confined: use it only where an agent may do
    whatever you may."""

    def __init__(
        self,
        root_dir: str | os.PathLike[str] | None = None,
        *,
        virtual_mode: bool = True,
        timeout: float = 120,
        max_output_bytes: int = 100_000,
        env: Mapping[str, str] | None = None,
        inherit_env: bool = False,
        write_mode: WriteMode = "create",
        instance: Instance | None = None,
    ) -> None:
        files = FilesystemBackend(
            root_dir, virtual_mode, write_mode=write_mode, instance=instance
        )
        if not isinstance(timeout, (int, float)) or isinstance(timeout, bool) or not timeout > 0:
            raise refused(f"timeout must be a number of seconds above 0, not {timeout!r}")
        shell = Shell(
            files.cwd,
            timeout=timeout,
            max_output_bytes=whole("max_output_bytes", max_output_bytes),
            env=env,
            inherit_env=inherit_env,
        )
        made, keeps = shelled(files, shell, None)
        super().__init__(files._instance, made, keeps=keeps)
        self.cwd = files.cwd
