"""A storage or a command that raises, lies or never ends: the caller gets an error, and the instance goes on."""

from __future__ import annotations

import gc
import itertools
import os
import signal
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from types import MappingProxyType
from typing import Any

import pytest

import kitbag
from kitbag import Entry, KitbagError, Metadata, Page, StoredFile
from storages import DictStorage


@pytest.fixture
def steady() -> Iterator[kitbag.StateBackend]:
    """Another backend of the same instance."""
    backend = kitbag.StateBackend(files={"/steady.txt": "as it was"})
    yield backend
    assert backend.read("/steady.txt").file_data["content"] == "as it was"
    assert backend.edit("/steady.txt", "was", "is").occurrences == 1


class Odd(DictStorage):
    """A storage with one file, whose methods can be replaced."""

    def __init__(self) -> None:
        super().__init__()
        self.backend = kitbag.CustomBackend(self)
        assert self.backend.write("/a.txt", "one\ntwo\n").error is None

    def answers(self, method: str, answer: Any) -> None:
        setattr(self, method, lambda *_: answer() if callable(answer) else answer)

    def heals(self) -> None:
        for method in ("stat", "get", "put", "delete", "list"):
            self.__dict__.pop(method, None)
        assert self.backend.read("/a.txt").file_data["content"] == "one\ntwo\n"
        assert self.backend.edit("/a.txt", "two", "2").occurrences == 1


CALLS: dict[str, Callable[[kitbag.Backend], Any]] = {
    "get": lambda backend: backend.read("/a.txt"),
    "put": lambda backend: backend.edit("/a.txt", "one", "1"),
    "delete": lambda backend: backend.delete("/a.txt"),
    "list": lambda backend: backend.ls("/"),
}


def raises(error: BaseException) -> Callable[[], Any]:
    def call() -> Any:
        raise error

    return call


@pytest.mark.parametrize("method", CALLS)
@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ValueError("on fire"), "unavailable"),
        (RecursionError("too deep"), "unavailable"),
        (MemoryError(), "unavailable"),
        (StopIteration(), "unavailable"),
        (PermissionError(13, "no"), "permission_denied"),
        (OSError(28, "full"), "quota_exceeded"),
        (TimeoutError("slow"), "timeout"),
        (KitbagError("rate_limited", "later", retry_after_ms=5), "rate_limited"),
        (ValueError("\ud800" * 100_000), "unavailable"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else value,
)
def test_an_exception_is_an_error_again_and_again(
    steady: Any, method: str, error: Exception, code: str
) -> None:
    odd = Odd()
    odd.answers(method, raises(error))
    for _ in range(30):
        found = CALLS[method](odd.backend)
        assert found.code == code
        assert found.error
        assert len(found.error) < 5000
    odd.heals()


class Mute(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


class Bare(KitbagError):
    def __init__(self) -> None:
        pass


def changed(**fields: Any) -> KitbagError:
    """An error whose fields were set to something else."""
    error = KitbagError("rate_limited", "later")
    for name, value in fields.items():
        setattr(error, name, value)
    return error


NO_WAITS = [-5, -0.5, float("inf"), float("nan"), 1 << 64, 2.0**64, "5", True, b"5"]


@pytest.mark.parametrize("method", [*CALLS, "execute"])
@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        *((changed(retry_after_ms=wait), "rate_limited", "later") for wait in (1.5, *NO_WAITS)),
        (changed(message=5), "rate_limited", "later"),
        (changed(message=None), "rate_limited", "later"),
        (changed(code="zzz"), "internal", "later"),
        (changed(code=[]), "internal", "later"),
        (Bare(), "internal", ""),
        (Mute(), "unavailable", "raised Mute: it cannot be shown"),
    ],
    ids=repr,
)
def test_an_error_with_wrong_fields_is_an_error(
    steady: Any, method: str, error: Exception, code: str, said: str
) -> None:
    odd = Odd()
    odd.answers(method, raises(error))
    shell = kitbag.with_shell(steady, lambda command, timeout: raises(error)())
    found = shell.execute("ls") if method == "execute" else CALLS[method](odd.backend)
    assert found.code == code
    assert said in found.error
    odd.heals()


def test_how_long_to_wait_is_passed_on(steady: Any) -> None:
    error = KitbagError("rate_limited", "later", retry_after_ms=250)
    for method, call in CALLS.items():
        odd = Odd()
        odd.answers(method, raises(error))
        assert call(odd.backend).retry_after_ms == 250
        odd.heals()
    for answer in (
        raises(error),
        lambda: kitbag.ExecuteResult(code="rate_limited", error="later", retry_after_ms=249.5),
    ):
        shell = kitbag.with_shell(steady, lambda *_, answer=answer: answer())
        assert shell.execute("ls").retry_after_ms == 250


def test_an_error_waits_for_whole_milliseconds_or_is_not_made() -> None:
    for wait, kept in [(None, None), (0, 0), (250, 250), (1.5, 2), (2**64 - 1, 2**64 - 1)]:
        assert KitbagError("rate_limited", "later", retry_after_ms=wait).retry_after_ms == kept
    for wrong in NO_WAITS:
        with pytest.raises(ValueError, match="retry_after_ms must be a number from 0 to"):
            KitbagError("rate_limited", "later", retry_after_ms=wrong)
    with pytest.raises(ValueError, match="message must be a str, not 5"):
        KitbagError("rate_limited", 5)


@pytest.mark.parametrize("answer", [(True, 7), (True, ("x", "no code", False)), 7, (False, None)])
def test_an_answer_that_nobody_checked_is_an_error(
    steady: Any, monkeypatch: pytest.MonkeyPatch, answer: Any
) -> None:
    monkeypatch.setattr(kitbag.backends, "_executed", lambda *_: answer)
    found = kitbag.with_shell(steady, lambda *_: None).execute("ls")
    assert found.code == "internal"
    assert "has a wrong type" in found.error


def test_what_fails_before_a_storage_is_asked_is_an_error(steady: Any) -> None:
    class Shy(DictStorage):
        @property
        def stat(self) -> Any:
            raise RuntimeError("not now")

    found = kitbag.CustomBackend(Shy()).delete("/a.txt")
    assert (found.code, found.error) == ("unavailable", "The host raised RuntimeError: not now")


NOW = datetime.now(timezone.utc)


@pytest.mark.parametrize(
    ("method", "answer"),
    [
        *(("get", wrong) for wrong in (7, "text", [], {"body": b""}, object(), True)),
        ("get", StoredFile("text")),
        ("get", StoredFile(b"x", None)),
        *(("get", StoredFile(b"x", Metadata(size=size))) for size in (-1, 1 << 64, "1", 1.5, True)),
        ("get", StoredFile(b"x", Metadata(modified="2020-01-01"))),
        ("get", StoredFile(b"x", Metadata(mode=1 << 40))),
        ("get", StoredFile(b"x", Metadata(format="v3"))),
        ("get", StoredFile(b"x", Metadata(version=7))),
        *(("put", wrong) for wrong in (7, b"v", [], True)),
        *(("delete", wrong) for wrong in (None, 1, "yes")),
        *(("list", wrong) for wrong in (None, 7, "/a.txt", b"/a", [7], [None], [Entry(7)])),
        ("list", [Entry("/a", None)]),
        ("list", Page(["/a"], 7)),
        ("list", Page(7)),
    ],
    ids=repr,
)
def test_an_answer_of_another_type_is_refused(steady: Any, method: str, answer: Any) -> None:
    odd = Odd()
    odd.answers(method, lambda: answer)
    found = CALLS[method](odd.backend)
    assert found.code == "internal"
    assert f"The storage's {method} returned" in found.error
    odd.heals()


def test_texts_that_are_huge_or_no_unicode_are_carried_or_refused(steady: Any) -> None:
    odd = Odd()
    huge = "x" * (64 << 20)
    odd.answers("list", lambda: [f"/{huge}", "/b\ud800", "/c"])
    assert [one["path"] for one in odd.backend.ls("/").entries][-1:] == ["/c"]
    odd.answers("get", raises(KitbagError("unavailable", huge)))
    assert len(odd.backend.read("/a.txt").error) <= 4096
    odd.answers("get", lambda: StoredFile(bytes(700 << 20)))
    assert odd.backend.read("/a.txt").code == "too_large"
    odd.answers("get", lambda: StoredFile(b"x", Metadata(version=huge)))
    assert odd.backend.read("/a.txt").code is None
    odd.heals()


@pytest.mark.parametrize("huge", ["x" * 1001, b"x" * 1001, "é" * 501])
def test_what_would_fill_the_memory_is_refused(
    steady: Any, monkeypatch: pytest.MonkeyPatch, huge: Any
) -> None:
    monkeypatch.setattr(kitbag._lent, "MAX_BODY", 1000)
    files = kitbag.with_policy(steady, inspect=lambda _: kitbag.Replace(huge))
    found = files.write("/a.txt", "x")
    assert "had to be inspected, and that failed" in found.error
    assert steady.read("/a.txt").code == "not_found"
    if isinstance(huge, str):
        shell = kitbag.with_shell(steady, lambda *_: kitbag.ExecuteResult(output=huge))
        assert shell.execute("ls").code == "too_large"


def test_listings_without_an_end_are_refused(steady: Any) -> None:
    odd = Odd()
    odd.answers("list", lambda: (f"/{n}".ljust(100_000, "x") for n in itertools.count()))
    assert odd.backend.ls("/").code == "too_large"
    odd.answers("list", lambda: Page([], "and so on"))
    found = odd.backend.ls("/")
    assert found.code == "unavailable"
    assert "round in circles" in found.error
    odd.heals()


def test_paths_that_are_none_or_elsewhere_are_in_no_listing(steady: Any) -> None:
    odd = Odd()
    wrong = ["", "a", "/a//b", "/../etc/passwd", "/x\0y", "\\x", "/b\\c", "/.kitbag/key"]
    odd.answers("list", lambda: [*wrong, "/z.txt", "/z.txt", "/dir/f"])
    assert [one["path"] for one in odd.backend.ls("/").entries] == ["/dir/", "/z.txt"]
    odd.heals()


def test_times_beyond_every_calendar_are_answered(steady: Any) -> None:
    odd = Odd()
    for at in (datetime.min, datetime.max, datetime.max.replace(tzinfo=timezone.utc)):
        odd.answers("list", lambda at=at: [Entry("/a.txt", Metadata(modified=at))])
        assert odd.backend.ls("/").code in (None, "unavailable")
    odd.heals()


def test_a_conflict_each_time_ends_after_a_number_of_tries(steady: Any) -> None:
    odd = Odd()
    tries = itertools.count()
    odd.answers("put", lambda: next(tries) < 0)
    assert odd.backend.edit("/a.txt", "one", "1").code == "conflict"
    assert 1 < next(tries) < 200
    odd.heals()


def test_a_storage_that_calls_its_own_instance_is_refused_and_loses_nothing(steady: Any) -> None:
    odd = Odd()
    inner: list[Any] = []
    real = type(odd).get

    def get(path: str) -> Any:
        inner.append(odd.backend.write("/b.txt", "x"))
        inner.append(steady.ls("/"))
        return real(odd, path)

    odd.get = get
    assert odd.backend.read("/a.txt").file_data["content"] == "one\ntwo\n"
    assert [one.code for one in inner] == ["unavailable", "unavailable"]
    assert "another Instance" in inner[0].error
    odd.heals()


def test_a_storage_may_call_another_instance() -> None:
    other = kitbag.StateBackend(instance=kitbag.Instance(), files={"/a.txt": "from elsewhere"})

    class Forwarding(DictStorage):
        def get(self, path: str) -> Any:
            found = other.download_files([path])[0]
            return found.content

    assert kitbag.CustomBackend(Forwarding()).read("/a.txt").file_data["content"] == "from elsewhere"


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interruption_reaches_the_caller_and_nothing_stays_locked(
    steady: Any, error: type[BaseException]
) -> None:
    odd = Odd()
    odd.answers("get", raises(error()))
    for _ in range(5):
        with pytest.raises(error):
            odd.backend.read("/a.txt")
    odd.heals()


def test_ctrl_c_while_a_storage_waits(steady: Any) -> None:
    odd = Odd()
    odd.answers("get", lambda: time.sleep(30))
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        odd.backend.read("/a.txt")
    assert time.monotonic() - start < 20
    odd.heals()


def test_calls_of_several_threads_take_turns() -> None:
    backend = kitbag.CustomBackend(DictStorage())
    backend.write("/n.txt", "0")
    lost: list[Any] = []

    def count() -> None:
        for _ in range(100):
            found = backend.append("/n.txt", "x")
            if found.code:
                lost.append(found)

    threads = [threading.Thread(target=count) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert lost == []
    assert backend.read("/n.txt").file_data["content"] == "0" + "x" * 800


def test_a_fork_has_files_and_locks_of_its_own() -> None:
    backend = kitbag.StateBackend(files={"/a.txt": "one"})
    child = os.fork()
    if child == 0:
        is_right = backend.edit("/a.txt", "one", "2").occurrences == 1
        os._exit(0 if is_right else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert backend.read("/a.txt").file_data["content"] == "one"


def test_what_nobody_uses_is_freed() -> None:
    instance = kitbag.Instance()
    found = weakref.ref(instance)
    storage = DictStorage()
    backend = kitbag.CustomBackend(storage, instance=instance)
    storage.backend = backend
    for _ in range(50):
        kitbag.with_policy(backend, read_only=True)
        kitbag.create_file_tools(backend)
    gc.collect()
    assert backend.ls("/").entries == []
    assert len(instance._volumes) == 1
    del instance, backend, storage
    gc.collect()
    assert found() is None


def test_a_full_memory_ends_its_instance_and_no_other(steady: Any) -> None:
    instance = kitbag.Instance(max_bytes=64 << 20)
    first = kitbag.StateBackend(instance=instance, files={"/a.txt": "x"})
    codes = [first.upload_files([(f"/{n}", bytes(10 << 20))])[0].code for n in range(8)]
    assert codes[0] is None
    assert codes[-1] == "unavailable"
    assert instance.is_broken
    assert "make a new backend" in first.read("/a.txt").error
    with pytest.raises(KitbagError, match="make a new"):
        kitbag.StateBackend(instance=instance)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (raises(RuntimeError("no")), "unavailable"),
        (raises(TimeoutError("slow")), "timeout"),
        (raises(KitbagError("permission_denied", "not that")), "permission_denied"),
        (lambda: "text", "internal"),
        (lambda: None, "internal"),
        (lambda: kitbag.ExecuteResult(output=7), "internal"),
        (lambda: kitbag.ExecuteResult(output="", exit_code=1 << 40), "internal"),
        (lambda: kitbag.ExecuteResult(code="not_found", error=5), "internal"),
        (lambda: kitbag.ExecuteResult(code="rate_limited", retry_after_ms=1.5), "rate_limited"),
        (lambda: kitbag.ExecuteResult(code="rate_limited", retry_after_ms="5"), "rate_limited"),
        (lambda: kitbag.ExecuteResult(output="a\ud800\0"), None),
    ],
)
def test_commands(steady: Any, answer: Any, code: str | None) -> None:
    backend = kitbag.with_shell(steady, lambda command, timeout: answer())
    assert backend.execute("ls").code == code


def test_what_a_caller_gives_is_checked() -> None:
    backend = kitbag.StateBackend(files={"/a.txt": "x"})
    wrong: list[Any] = [7, None, b"/a.txt", ["/a.txt"]]
    for value in wrong:
        for found in (
            backend.ls(value),
            backend.read(value),
            backend.write(value, "x"),
            backend.write("/b", value if not isinstance(value, bytes) else 7),
            backend.edit("/a.txt", value, "y"),
            backend.append("/a.txt", value),
            backend.move("/a.txt", value),
            backend.delete(value),
            backend.glob(value),
            backend.grep(value),
            backend.execute(value),
            backend.upload_files([(value, b"x")])[0],
            backend.download_files([value])[0],
        ):
            assert found.code == "invalid_argument", found
    assert backend.write("/\ud800", "x").code == "invalid_argument"
    assert backend.write("/b", "\udfff").code == "invalid_argument"
    assert backend.read("/a.txt", "1").code == "invalid_argument"
    assert backend.read("/a.txt", -5, 1 << 70).file_data["content"] == "x"
    assert backend.upload_files([]) == backend.download_files([]) == []


class Unshown:
    def __repr__(self) -> str:
        raise ValueError("no words")


@pytest.mark.parametrize(
    ("call", "paths", "said"),
    [
        (lambda files: files.upload_files(None), [""], "files must be a list of pairs of a path and bytes, not None"),
        (lambda files: files.upload_files("/b"), [""], "files must be a list of pairs of a path and bytes, not '/b'"),
        (lambda files: files.upload_files([("/b", b""), ("/c",)]), ["/b", "/c"], "it has ('/c',)"),
        (lambda files: files.upload_files([("/b", b""), 7]), ["/b", ""], "it has 7"),
        (lambda files: files.upload_files({"/b": b""}), [""], "must be pairs of a path and bytes; it has '/b'"),
        (lambda files: files.download_files(None), [""], "paths must be a list of str, not None"),
        (lambda files: files.download_files("/a.txt"), [""], "paths must be a list of str, not '/a.txt'"),
    ],
)
def test_what_is_no_list_of_files_is_answered(call: Any, paths: list[str], said: str) -> None:
    backend = kitbag.StateBackend(files={"/a.txt": "x"})
    answers = call(backend)
    assert [one.path for one in answers] == paths
    for one in answers:
        assert one.code == "invalid_argument" and said in one.error
    assert [one["path"] for one in backend.ls("/").entries] == ["/a.txt"]


def test_a_time_without_an_end_is_refused_and_a_long_one_is_not() -> None:
    backend = kitbag.with_shell(
        kitbag.StateBackend(), lambda _, timeout: kitbag.ExecuteResult(output=repr(timeout))
    )
    for wrong in (float("inf"), float("nan"), -1, -(10**5000), True, "1", Unshown()):
        found = backend.execute("x", timeout=wrong)
        assert found.code == "invalid_argument"
        assert "timeout must be a number of seconds" in found.error
    for long in (1.7e308, 10**400, 1e300):
        assert backend.execute("x", timeout=long).output == "9223372036854776.0"
    assert backend.execute("x", timeout=0.25).output == "0.25"


def test_what_cannot_be_shown_is_refused_too() -> None:
    backend = kitbag.StateBackend()
    for found in (backend.read(Unshown()), backend.read("/a", Unshown())):
        assert found.code == "invalid_argument"
        assert "a Unshown that cannot be shown" in found.error


CIRCLE: dict[str, Any] = {}
CIRCLE["path"] = CIRCLE


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"arguments": {"content": b"x"}}, "no form in JSON: Object of type bytes"),
        ({"arguments": {"content": {1}}}, "no form in JSON: Object of type set"),
        ({"arguments": {("a", "b"): "x"}}, "no form in JSON: keys must be str"),
        ({"arguments": {"content": float("nan")}}, "no form in JSON: Out of range float"),
        ({"arguments": CIRCLE}, "no form in JSON: Circular reference"),
        ({"arguments": b"{}"}, "no form in JSON: Object of type bytes"),
        ({"arguments": {"file_path": "/q", "content": "\ud800"}}, "A text has a surrogate"),
        ({"arguments": {"file_path": "/q\udfff", "content": ""}}, "A text has a surrogate"),
        ({"arguments": '{"content": "\ud800"}'}, "A text has a surrogate"),
        ({"arguments": {}, "call_id": 5}, "call_id must be a str, not 5"),
        ({"arguments": {}, "name": 5}, "name must be a str, not 5"),
        ({"arguments": {}, "name": "\ud800"}, "A text has a surrogate"),
    ],
)
def test_a_call_of_a_tool_never_raises(given: dict[str, Any], said: str) -> None:
    backend = kitbag.StateBackend()
    tools: Any = kitbag.create_file_tools(backend)
    answer = tools.call(**{"name": "write_file", **given})
    assert answer.is_error
    assert answer.text.startswith("Error: ") and said in answer.text
    assert backend.ls("/").entries == []
    given_as_mapping = MappingProxyType({"file_path": "/q", "content": "☃😀"})
    assert not tools.call("write_file", given_as_mapping).is_error
    assert backend.read("/q").file_data["content"] == "☃😀"


def test_a_tool_of_an_instance_that_ended_says_so() -> None:
    instance = kitbag.Instance(max_bytes=64 << 20)
    backend = kitbag.StateBackend(instance=instance)
    tools = kitbag.create_file_tools(backend)
    for at in range(8):
        backend.upload_files([(f"/{at}", bytes(10 << 20))])
    assert instance.is_broken
    assert "make a new backend" in tools.call("ls", {}).text


@pytest.mark.parametrize(
    "make",
    [
        lambda: kitbag.StateBackend(write_mode="replace"),
        lambda: kitbag.StateBackend(max_bytes=-1),
        lambda: kitbag.StateBackend(max_bytes=1 << 40),
        lambda: kitbag.CustomBackend(object()),
        lambda: kitbag.CompositeBackend({}, {}),
        lambda: kitbag.CompositeBackend(kitbag.StateBackend(), {7: kitbag.StateBackend()}),
        lambda: kitbag.CompositeBackend(
            kitbag.StateBackend(), {"/a": kitbag.StateBackend(instance=kitbag.Instance())}
        ),
        lambda: kitbag.with_policy(kitbag.StateBackend(), permissions=[{"path": "/a"}]),
        lambda: kitbag.with_policy(
            kitbag.StateBackend(), permissions=[kitbag.Permission(["read"], ["/a"], "ask")]
        ),
        lambda: kitbag.with_policy(kitbag.StateBackend(), default_mode="no"),
        lambda: kitbag.with_policy(kitbag.StateBackend(), rate_limits=[kitbag.RateLimit(1, 0)]),
        lambda: kitbag.with_shell(kitbag.StateBackend(), "ls"),
        lambda: kitbag.create_file_tools(kitbag.StateBackend(), tools=["format_disk"]),
        lambda: kitbag.create_file_tools(object()),
    ],
)
def test_a_wrong_option_is_refused_with_what_is_allowed(make: Callable[[], Any]) -> None:
    with pytest.raises(KitbagError) as found:
        make()
    assert found.value.code == "invalid_argument"
    assert len(found.value.message) > 20
