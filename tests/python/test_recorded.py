"""The recorded cases of `kitbag/conformance`: the same answers as the npm package gave."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from protocol import Protocol
from replay import given, plain, timeless
from subjects import SUBJECTS

CASES = json.loads((Path(__file__).parent / "../conformance/recorded.json").read_text())


PROMISES = {
    "writable": "writable",
    "keepsBinary": "keeps_binary",
    "keepsCreated": "keeps_created",
    "keepsMime": "keeps_mime_type",
    "keepsFormat": "keeps_format",
}


def has(capability: Any, needs: dict[str, list[Any]]) -> bool:
    """Whether a case is about backends with these promises."""
    for name, values in needs.items():
        promised = getattr(capability, name, PROMISES.get(name) in capability.promises)
        if promised not in values:
            return False
    return True


def pairs() -> list[Any]:
    return [
        pytest.param(subject, case, id=f"{subject}: {case['name']}")
        for subject, make in SUBJECTS.items()
        for capability in [make().capability]
        for case in CASES
        if has(capability, case.get("needs") or {})
    ]


@pytest.mark.parametrize(("subject", "case"), pairs())
def test_as_recorded(subject: str, case: Any) -> None:
    backend = Protocol(SUBJECTS[subject]())
    for method, args, wanted in case["calls"]:
        answer = getattr(backend, method)(*[given(arg) for arg in args])
        assert plain(timeless(method, answer)) == wanted, f"{method}({json.dumps(args)})"
