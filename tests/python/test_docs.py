"""The programs in the documentation of this package print what they say."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import deepagents
import pytest

from model import ScriptedModel

ROOT = Path(__file__).parent / "../.."
BLOCKS = [
    pytest.param(code, id=f"{page.name} {at}")
    for page in (ROOT / "docs/python.md", ROOT / "python/README.md")
    for at, code in enumerate(re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.M | re.S))
]


@pytest.mark.parametrize("code", BLOCKS)
def test_prints_what_it_says(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    real = deepagents.create_deep_agent

    def create(*, model: str, **options: object) -> object:
        return real(model=ScriptedModel(turns=[]), **options)

    monkeypatch.setattr(deepagents, "create_deep_agent", create)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "block", "exec"), {"__name__": "block"})
    wanted = re.findall(r"^print\(.*\)  # (.*)$", code, re.M)
    assert printed.getvalue().splitlines() == wanted
