"""Turns: what the component does is compared with the npm package in `tests/component`; here, what Python adds."""

from __future__ import annotations

import asyncio
import gc
import json
from dataclasses import asdict, replace
from typing import Any

import kitbag
import pytest
from kitbag import KitbagError, StateBackend, begin, undo
from kitbag import deepagents as deep

from storages import DictStorage

PLAN = "1. Measure\n2. Build\n3. Ship\n"


@pytest.fixture
def files() -> StateBackend:
    return StateBackend(files={"/plan.md": PLAN, "/old.txt": "old"}, instance=kitbag.Instance())


def text(backend: kitbag.Backend, path: str) -> str | None:
    data = backend.read(path).file_data
    return None if data is None else data["content"]


def test_a_turn_is_looked_at_committed_and_taken_back(files: StateBackend) -> None:
    turn = begin(files, by="agent-7")
    assert (turn.by, turn.commits) == ("agent-7", "transaction")
    assert turn.edit("/plan.md", "Measure", "Look").occurrences == 1
    assert turn.write("/new.txt", "new").error is None
    assert turn.delete("/old.txt").error is None
    assert text(files, "/plan.md") == PLAN
    changes = turn.diff().changes
    assert changes is not None
    assert [(one.path, one.kind) for one in changes] == [
        ("/new.txt", "created"),
        ("/old.txt", "deleted"),
        ("/plan.md", "changed"),
    ]
    hunk = changes[2].hunks[0]
    assert hunk.lines == ("-1. Measure", "+1. Look")
    assert (hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines) == (1, 1, 1, 1)
    assert changes[1].before == b"old" and changes[1].after is None
    done = turn.commit()
    assert done.error is None and done.receipt is not None
    assert done.receipt.by == "agent-7" and done.receipt.at.endswith("Z")
    assert [one.path for one in done.receipt.files] == ["/new.txt", "/old.txt", "/plan.md"]
    assert text(files, "/plan.md") == PLAN.replace("Measure", "Look")
    assert turn.diff().changes == []
    back = undo(files, done.receipt, by="person")
    assert back.receipt is not None and back.receipt.by == "person"
    assert text(files, "/plan.md") == PLAN and text(files, "/old.txt") == "old"
    assert files.read("/new.txt").code == "not_found"
    # A receipt is taken back once.
    again = undo(files, done.receipt)
    assert again.code == "conflict" and again.conflicts
    assert again.error is not None and "others changed these files" in again.error


def test_a_moved_file_says_where_it_was(files: StateBackend) -> None:
    turn = begin(files)
    turn.move("/old.txt", "/archive/old.txt")
    changes = turn.diff().changes
    assert changes is not None
    assert [(one.kind, one.moved_from, one.hunks) for one in changes] == [("moved", "/old.txt", ())]


def test_what_others_changed_is_a_conflict_until_it_is_merged(files: StateBackend) -> None:
    turn = begin(files)
    turn.edit("/plan.md", "Measure", "Look")
    files.edit("/plan.md", "Ship", "Sell")
    done = turn.commit()
    assert (done.code, done.receipt) == ("conflict", None)
    assert done.error is not None and "rebase()" in done.error
    assert done.conflicts is not None
    assert (done.conflicts[0].path, done.conflicts[0].operation) == ("/plan.md", "write")
    assert done.conflicts[0].before == PLAN.encode()
    rebased = turn.rebase()
    assert rebased.merged == ["/plan.md"] and rebased.conflicts == []
    assert turn.commit().error is None
    assert text(files, "/plan.md") == "1. Look\n2. Build\n3. Sell\n"

    turn.edit("/plan.md", "Look", "See")
    files.edit("/plan.md", "Look", "Ask")
    unmerged = turn.rebase().conflicts
    assert unmerged is not None and unmerged[0].ours == b"1. See\n2. Build\n3. Sell\n"
    assert unmerged[0].now == b"1. Ask\n2. Build\n3. Sell\n"
    assert turn.commit().code == "conflict"
    assert turn.rebase(keep=["/plan.md"]).conflicts == []
    assert turn.commit().error is None
    assert text(files, "/plan.md") == "1. See\n2. Build\n3. Sell\n"


def test_a_part_is_accepted_and_the_rest_discarded(files: StateBackend) -> None:
    turn = begin(files)
    turn.edit("/plan.md", "Measure", "Look")
    turn.edit("/plan.md", "Ship", "Sell")
    turn.write("/drafts/a.md", "a")
    changes = turn.diff().changes
    assert changes is not None
    assert turn.accept(changes[-1].hunks[1:]).paths == ["/plan.md"]
    assert turn.discard(["/drafts/**"]).paths == ["/drafts/a.md"]
    assert text(turn, "/plan.md") == "1. Measure\n2. Build\n3. Sell\n"
    assert turn.accept([]).paths == []


def test_receipts_are_plain_data(files: StateBackend) -> None:
    turn = begin(files, write_mode="overwrite")
    assert turn.write("/old.txt", b"\xff\x00").error is None
    receipt = turn.commit().receipt
    assert receipt is not None
    kept = json.dumps(asdict(receipt), default=lambda body: body.hex())

    def body(value: str | None) -> bytes | None:
        return None if value is None else bytes.fromhex(value)

    read = json.loads(kept)
    replaced = [
        kitbag.Replacement(
            path=one["path"], before=body(one["before"]), after=body(one["after"])
        )
        for one in read.pop("files")
    ]
    assert undo(files, kitbag.Receipt(**read, files=tuple(replaced))).error is None
    assert text(files, "/old.txt") == "old"


def test_a_turn_over_a_storage_has_a_journal() -> None:
    instance = kitbag.Instance()
    files = kitbag.CustomBackend(DictStorage(), instance=instance)
    files.write("/a.txt", "one")
    turn = begin(files)
    assert turn.commits == "journal"
    turn.edit("/a.txt", "one", "two")
    turn.write("/b.txt", "b")
    assert turn.commit().error is None
    assert text(files, "/a.txt") == "two"
    entries = files.ls("/").entries
    assert entries is not None and [one["path"] for one in entries] == ["/a.txt", "/b.txt"]


def test_rules_and_tools_work_over_a_turn(files: StateBackend) -> None:
    turn = begin(kitbag.with_policy(files, read_only_prefixes=["/plan.md"]))
    tools = kitbag.create_file_tools(turn)
    tools.call("read_file", {"file_path": "/plan.md"})
    tools.call("write_file", {"file_path": "/a.txt", "content": "a"})
    assert turn.commit().error is None
    tools.call(
        "edit_file", {"file_path": "/plan.md", "old_string": "Ship", "new_string": "Sell"}
    )
    refused = turn.commit()
    assert refused.code == "permission_denied"
    assert text(files, "/plan.md") == PLAN and text(files, "/a.txt") == "a"


def test_deepagents_takes_a_turn(files: StateBackend) -> None:
    turn = begin(files)
    backend = deep.adapt(turn)
    assert backend.write("/a.txt", "a").error is None
    assert asyncio.run(backend.aread("/a.txt")).error is None
    assert files.read("/a.txt").code == "not_found"
    assert asyncio.run(turn.acommit()).error is None
    assert text(files, "/a.txt") == "a"


def test_every_call_can_be_awaited(files: StateBackend) -> None:
    async def run() -> None:
        turn = begin(files)
        await turn.aedit("/plan.md", "Ship", "Sell")
        changes = (await turn.adiff()).changes
        assert changes is not None
        assert (await turn.aaccept(changes[0].hunks)).paths == ["/plan.md"]
        assert (await turn.arebase()).merged == []
        assert (await turn.adiscard(["/none/**"])).paths == []
        receipt = (await turn.acommit()).receipt
        assert receipt is not None
        assert (await kitbag.aundo(files, receipt)).error is None

    asyncio.run(run())
    assert text(files, "/plan.md") == PLAN


def test_a_turn_outlives_its_name_and_a_turn_in_a_turn_its_base(files: StateBackend) -> None:
    inner = begin(begin(files))
    gc.collect()
    files.ls("/")
    inner.write("/a.txt", "a")
    assert inner.commit().error is None
    assert text(inner, "/a.txt") == "a"
    freed = len(files._instance._dropped)
    del inner
    gc.collect()
    assert len(files._instance._dropped) > freed
    files.ls("/")
    assert not files._instance._dropped


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda files: begin({}), "backend must be a backend of kitbag, not dict"),
        (lambda files: begin(files, by=7), "by must be a str, not 7"),
        (lambda files: begin(files, write_mode="append"), "write_mode must be one of"),
        (lambda files: undo(files, {}), "receipt must be what a commit returned, not dict"),
        (lambda files: undo(None, None), "backend must be a backend of kitbag, not NoneType"),
    ],
)
def test_wrong_arguments_are_named(files: StateBackend, call: Any, said: str) -> None:
    with pytest.raises(KitbagError) as raised:
        call(files)
    assert raised.value.code == "invalid_argument"
    assert said in raised.value.message


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda turn: turn.accept(["x.0"]), "hunks must be hunks of a diff; it has 'x.0'"),
        (lambda turn: turn.accept("x.0"), "hunks must be a list of hunks of a diff, not 'x.0'"),
        (lambda turn: turn.accept(None), "hunks must be a list of hunks of a diff, not None"),
        (lambda turn: turn.discard("/**"), "patterns must be a list of str, not '/**'"),
        (lambda turn: turn.discard(None), "patterns must be a list of str, not None"),
        (lambda turn: turn.rebase(keep=[1]), "keep must be a list of str; it has 1"),
    ],
)
def test_wrong_arguments_of_a_turn_are_answered(
    files: StateBackend, call: Any, said: str
) -> None:
    turn = begin(files)
    turn.write("/a.txt", "x")
    answer = call(turn)
    assert (answer.code, answer.error) == ("invalid_argument", said)
    assert turn.commit().error is None


def test_a_receipt_that_was_made_up_is_refused(files: StateBackend) -> None:
    def receipt(*paths: str) -> kitbag.Receipt:
        replaced = (kitbag.Replacement(path=path, before=b"x", after=None) for path in paths)
        return kitbag.Receipt(id="x", by="y", at="", files=tuple(replaced))

    for made, code in [
        (receipt("/a", "/a"), "invalid_argument"),
        (receipt("/../plan.md"), "invalid_path"),
        (receipt("/.kitbag/turns/journal"), "invalid_path"),
        (receipt("/plan.md"), "conflict"),
    ]:
        assert undo(files, made).code == code
    wrong = kitbag.Receipt(id="x", by="y", at="", files=(kitbag.Replacement(path="/a", before=7, after=None),))  # type: ignore[arg-type]
    answer = undo(files, wrong)
    assert answer.code == "invalid_argument"
    for fields, said in [
        ({"files": None}, "the files of a receipt must be a list of Replacement, not None"),
        ({"files": [7]}, "the files of a receipt must be Replacement; it has 7"),
        ({"by": 7}, "by must be a str, not 7"),
        ({"id": 7}, "has a wrong type"),
    ]:
        answer = undo(files, replace(receipt("/plan.md"), **fields))
        assert answer.code == "invalid_argument" and said in (answer.error or "")
    assert text(files, "/plan.md") == PLAN
