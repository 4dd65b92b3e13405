"""Histories and pins: what the component does is compared with the npm package in `tests/component`; here, what
Python adds."""

from __future__ import annotations

import asyncio
import gc
from datetime import datetime, timedelta, timezone
from typing import Any

import kitbag
import pytest
from deepagents import create_deep_agent
from kitbag import Keep, KeepIn, KitbagError, StateBackend, with_history
from kitbag import deepagents as deep

from model import ScriptedModel, check_work, work
from storages import DictStorage


@pytest.fixture
def instance() -> kitbag.Instance:
    return kitbag.Instance()


@pytest.fixture
def files(instance: kitbag.Instance) -> kitbag.History:
    base = StateBackend(files={"/plan.md": "1. Measure\n2. Build\n"}, instance=instance)
    return with_history(base, keep_in=StateBackend(instance=instance), by="agent-7")


def text(backend: kitbag.Backend | None, path: str) -> str | None:
    assert backend is not None
    data = backend.read(path).file_data
    return None if data is None else data["content"]


def test_a_change_is_noted_and_taken_back(files: kitbag.History) -> None:
    assert files.edit("/plan.md", "Measure", "Look").error is None
    assert files.delete("/plan.md").error is None
    entries = files.log("/plan.md").entries
    assert entries is not None
    assert [(one.operation, one.by, one.call) for one in entries] == [
        ("delete", "agent-7", ""),
        ("edit", "agent-7", ""),
    ]
    assert entries[0].at.endswith("Z") and entries[0].files[0].after is None
    assert entries[0].files[0].before == entries[1].files[0].after
    assert len(files.log(limit=1).entries or []) == 1
    assert files.restore("/plan.md", entries[1]).paths == ["/plan.md"]
    assert text(files, "/plan.md") == "1. Look\n2. Build\n"
    why = files.why("/plan.md")
    assert why.known is True and why.entries is not None
    # It was created by the restore.
    assert [one.operation for one in why.entries] == ["restore"]
    # The restore is taken back by the id of the entry before it.
    assert files.restore("/plan.md", entries[0].id).paths == ["/plan.md"]
    assert files.read("/plan.md").code == "not_found"


def test_a_moment_is_a_time(files: kitbag.History) -> None:
    before = datetime.now(timezone.utc) - timedelta(hours=1)
    files.edit("/plan.md", "Measure", "Look")
    ago = timezone(timedelta(hours=5))
    for moment in (
        before,
        before.astimezone(ago),
        before.astimezone().replace(tzinfo=None),
        before.isoformat(),
        "2001-02-03",
        "2001-02-03T04:05:06Z",
    ):
        changes = files.diff(moment).changes
        assert changes is not None and [one.path for one in changes] == ["/plan.md"], moment
        assert changes[0].hunks[0].lines == ("-1. Measure", "+1. Look")
    later = datetime.now(timezone.utc) + timedelta(hours=1)
    assert files.diff(later).changes == []
    assert files.diff(before, before).changes == []
    assert files.diff(datetime.min.replace(tzinfo=timezone.utc), datetime.max.replace(tzinfo=timezone.utc)).changes
    assert files.restore("/", before).paths == ["/plan.md"]
    assert text(files, "/plan.md") == "1. Measure\n2. Build\n"


def test_a_pin_names_the_state_of_all_files(files: kitbag.History) -> None:
    pinned = files.pin()
    assert pinned.error is None and pinned.pin is not None and len(pinned.pin) == 48
    assert pinned.at is not None and pinned.at.endswith("Z")
    files.edit("/plan.md", "Measure", "Look")
    files.write("/new.md", "new")
    then = files.open_pin(pinned.pin).backend
    assert text(then, "/plan.md") == "1. Measure\n2. Build\n"
    assert then is not None and then.write("/x.md", "x").code == "permission_denied"
    assert files.label("release", pinned.pin).error is None
    assert files.labelled("release").pin == pinned.pin
    assert files.labelled("none").code == "not_found"
    pins = files.pins().pins
    assert pins is not None and [one.pin for one in pins] == [pinned.pin]
    assert (files.verify().lost, files.verify(pinned.pin).drifted) == ([], [])
    assert files.restore("/", pins[0]).paths == ["/new.md", "/plan.md"]
    assert files.unpin(pinned.pin).pin == pinned.pin
    assert files.unpin(pinned.pin).code == "not_found"
    pruned = files.prune()
    assert pruned.error is None and (pruned.dropped, pruned.entries) == (0, 3)
    assert text(files, "/plan.md") == "1. Measure\n2. Build\n"


def test_what_is_lost_or_changed_past_it_is_told() -> None:
    instance = kitbag.Instance()
    storage = DictStorage()
    base = StateBackend(files={"/a.md": "one\n", "/b.md": "two\n"}, instance=instance)
    kept = kitbag.CustomBackend(storage, instance=instance)
    files = with_history(base, keep_in=KeepIn(kept, "/notes", b"sixteen bytes or more"))
    pin = files.pin().pin
    assert pin is not None and all(path.startswith("/notes/.kitbag/") for path in storage.files)
    bodies = sorted(path for path in storage.files if "/bodies/" in path)
    files.edit("/a.md", "one", "1")
    base.edit("/b.md", "two", "2")
    del storage.files[bodies[0]]
    found = files.verify()
    assert found.drifted == ["/b.md"] and found.lost is not None and len(found.lost) == 1
    assert (found.lost[0].what, found.lost[0].reason) == ("content", "missing")
    then = files.open_pin(pin).backend
    assert then is not None and then.read(found.lost[0].path).code == "unavailable"


def test_a_change_that_cannot_be_noted_is_not_made() -> None:
    class Away(DictStorage):
        is_away = False

        def put(self, *given: Any) -> Any:
            if self.is_away:
                raise OSError("the disk is away")
            return super().put(*given)

    instance, storage = kitbag.Instance(), Away()
    base = StateBackend(instance=instance)
    files = with_history(base, keep_in=kitbag.CustomBackend(storage, instance=instance))
    assert files.write("/a.md", "a").error is None
    storage.is_away = True
    answer = files.edit("/a.md", "a", "b")
    assert answer.code == "unavailable"
    assert answer.error is not None and "the disk is away" in answer.error
    assert files.pin().code == "unavailable"
    storage.is_away = False
    assert text(base, "/a.md") == "a"
    # Files that hold something else than a record are set aside.
    for path, file in list(storage.files.items()):
        storage.files[path] = kitbag.StoredFile(b"\xff planted", file.metadata)
    assert files.log().entries == []
    assert files.why("/a.md").known is False
    assert files.write("/b.md", "b").error is None
    assert [one.operation for one in files.log().entries or []] == ["write"]


def test_other_authors_and_what_is_kept() -> None:
    instance = kitbag.Instance()
    base, kept = StateBackend(instance=instance), StateBackend(instance=instance)
    files = with_history(base, keep_in=kept, by="one", keep=Keep(count=2), write_mode="overwrite")
    other = files.for_author("person", "toolu_01")
    del files
    gc.collect()
    assert other.write("/a.md", "a").error is None and other.write("/a.md", "b").error is None
    entries = other.log().entries
    assert entries is not None and {(one.by, one.call) for one in entries} == {
        ("person", "toolu_01")
    }
    other.write("/a.md", "c")
    pruned = other.prune()
    assert (pruned.dropped, pruned.entries) == (1, 2)


def test_a_turn_and_rules_work_over_it(files: kitbag.History) -> None:
    turn = kitbag.begin(kitbag.with_policy(files, read_only_prefixes=["/closed"]), by="turn")
    turn.write("/a.md", "a")
    turn.edit("/plan.md", "Measure", "Look")
    assert files.log().entries == []
    assert turn.commit().error is None
    changed = files.log().entries
    assert changed is not None
    assert sorted(file.path for one in changed for file in one.files) == ["/a.md", "/plan.md"]


def test_deepagents_works_over_it_and_its_calls_are_noted(instance: kitbag.Instance) -> None:
    base = StateBackend(instance=instance)
    files = with_history(base, keep_in=StateBackend(instance=instance), by="agent")
    agent = create_deep_agent(
        model=ScriptedModel(turns=work("/notes/a.md")), backend=deep.adapt(files)
    )
    check_work(agent.invoke({"messages": [("user", "go")]}), "/notes/a.md")
    entries = files.log("/notes").entries
    assert entries is not None
    assert [(one.operation, one.by) for one in entries] == [("edit", "agent"), ("write", "agent")]
    assert files.restore("/", entries[1]).paths == ["/notes/a.md"]
    assert text(base, "/notes/a.md") == "one\ntwo\nthree\n"


def test_every_call_can_be_awaited(files: kitbag.History) -> None:
    async def run() -> None:
        assert (await files.awrite("/a.md", "a")).error is None
        entries = (await files.alog("/a.md")).entries
        assert entries is not None and (await files.awhy("/a.md")).known is True
        assert (await files.adiff(entries[0])).changes == []
        pin = (await files.apin()).pin
        assert pin is not None and len((await files.apins()).pins or []) == 1
        assert (await files.alabel("a", pin)).error is None
        assert (await files.alabelled("a")).pin == pin
        assert (await files.averify()).lost == []
        assert text((await files.aopen_pin(pin)).backend, "/a.md") == "a"
        assert (await files.aunpin(pin)).error is None
        assert (await files.aprune()).dropped == 0
        assert (await files.arestore("/", "2001-01-01")).paths == ["/a.md"]

    asyncio.run(run())


def test_they_are_freed_with_their_names(files: kitbag.History) -> None:
    files.ls("/")
    files.for_author("x")
    gc.collect()
    assert sorted(kind for kind, _ in files._instance._dropped) == ["backend", "history"]
    files.ls("/")
    assert not files._instance._dropped


def test_wrong_arguments_are_named(instance: kitbag.Instance) -> None:
    base, kept = StateBackend(instance=instance), StateBackend(instance=instance)
    make: Any = with_history
    for given, said in [
        ({"keep_in": {}}, "keep_in must be a KeepIn or a backend of kitbag, not dict"),
        ({"keep_in": KeepIn("x")}, "keep_in must be a KeepIn or a backend of kitbag"),  # type: ignore[arg-type]
        ({"keep_in": base}, "must be another one than that of the files"),
        ({"keep_in": StateBackend(instance=kitbag.Instance())}, "of another instance"),
        ({"keep_in": KeepIn(kept, key=b"short")}, "16 bytes or more"),
        ({"keep_in": KeepIn(kept, key=7)}, "the key of keep_in must be bytes or a str, not int"),  # type: ignore[arg-type]
        ({"keep_in": KeepIn(kept, path="/a/../b")}, "must be a directory such as"),
        ({"keep_in": KeepIn(kept, path=7)}, "the path of keep_in must be a str, not int"),  # type: ignore[arg-type]
        ({"keep_in": kept, "by": 7}, "by must be a str, not 7"),
        ({"keep_in": kept, "keep": 7}, "keep must be a Keep, not int"),
        ({"keep_in": kept, "keep": Keep(count=-1)}, "keep.count must be a whole number"),
        ({"keep_in": kept, "write_mode": "append"}, "write_mode must be one of"),
    ]:
        with pytest.raises(KitbagError) as raised:
            make(base, **given)
        assert raised.value.code == "invalid_argument"
        assert said in raised.value.message, raised.value.message
    assert "secret" not in repr(KeepIn(kept, "/a", "secret secret secret"))
    files: Any = with_history(base, keep_in=kept)
    for answer, said in [
        (files.restore("/", 7), "a moment must be an entry, a pin or a time, not 7"),
        (files.restore("/", datetime.min), "must be a time that UTC has, not 0001-01-01T00:00:00"),
        (files.restore("/", "0001-01-01T00:00+14:00"), "must be a time that UTC has"),
        (files.diff(datetime.max.replace(tzinfo=timezone(timedelta(hours=-1)))), "must be a time that UTC has"),
        (files.restore("/", "yesterday"), "'yesterday' is no moment"),
        (files.restore(7, "2001-01-01"), "has a wrong type"),
        (files.log(limit=-1), "limit must be a whole number"),
        (files.log(7), "has a wrong type"),
        (files.open_pin("no pin"), "'no pin' is no pin"),
        (files.open_pin(None), "has a wrong type"),
        (files.label("a\ud800", "0" * 48), "has a surrogate"),
    ]:
        assert answer.code == "invalid_argument"
        assert said in answer.error, answer.error
    assert files.write("/a.md", "a").error is None
