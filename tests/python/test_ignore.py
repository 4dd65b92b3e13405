"""Searches that leave out ignored files: `tests/component` compares them with the npm package."""

from __future__ import annotations

import kitbag
import pytest
from kitbag import StateBackend, with_ignore
from kitbag import deepagents as deep

FILES = {
    "/.gitignore": "*.log\n/build/\n",
    "/a.txt": "word",
    "/a.log": "word",
    "/build/out.txt": "word",
    "/vendor/x.txt": "word",
}


@pytest.fixture
def state() -> StateBackend:
    return StateBackend(files=FILES, instance=kitbag.Instance())


def paths(found: kitbag.GrepResult | kitbag.GlobResult) -> list[str]:
    assert found.error is None and found.matches is not None
    return sorted(one["path"] for one in found.matches)


def test_searches_leave_out_what_ignore_files_and_patterns_name(state: StateBackend) -> None:
    files = with_ignore(state)
    found = files.grep("word")
    assert (paths(found), found.ignored) == (["/a.txt", "/vendor/x.txt"], 2)
    named = files.glob("**/*.txt")
    assert (paths(named), named.ignored) == (["/a.txt", "/vendor/x.txt"], 1)
    assert files.read("/a.log").error is None
    assert files.write("/build/new.txt", "word").error is None
    more = with_ignore(state, files=[], patterns=["vendor/"])
    assert "/vendor/x.txt" not in paths(more.grep("word"))
    assert "/a.log" in paths(more.grep("word"))
    assert state.grep("word").ignored == 0


def test_it_goes_with_rules_turns_tools_and_deepagents(state: StateBackend) -> None:
    files = kitbag.begin(with_ignore(kitbag.with_policy(state, read_only=True)))
    files.write("/new.log", "word")
    answer = kitbag.create_file_tools(with_ignore(state)).call("grep", {"pattern": "word"})
    assert "/a.log" not in answer.text and "/a.txt" in answer.text
    quiet = deep.with_ignore(deep.adapt(state), patterns=["a.txt"])
    matches = quiet.grep("word").matches
    assert matches is not None and [one["path"] for one in matches] == ["/vendor/x.txt"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"files": ["a/b"]}, "An ignore file is a name"),
        ({"files": ".gitignore"}, "files must be a list of str"),
        ({"patterns": ["a\nb"]}, "no line breaks"),
        ({"patterns": [7]}, "patterns must be a list of str; it has 7"),
    ],
)
def test_wrong_options_are_named(
    state: StateBackend, options: dict[str, list[str]], said: str
) -> None:
    with pytest.raises(kitbag.KitbagError) as raised:
        with_ignore(state, **options)
    assert raised.value.code == "invalid_argument" and said in raised.value.message
