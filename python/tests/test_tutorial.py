# SPDX-License-Identifier: BSD-2-Clause
"""The programs of doc/tutorial.md print what the page shows of their twins in C (tools/check-snippets runs those)."""
from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

from ritz import _core

pytest.importorskip("ufl")

ROOT = Path(__file__).parents[2]
PRINTED = re.findall(r"<!-- printed by: examples/tutorial/(step-\d-\w+)\.c -->\n```text\n(.*?)```",
                     (ROOT / "doc" / "tutorial.md").read_text(encoding="utf-8"), re.S)
pytestmark = pytest.mark.skipif(np.dtype(np.float32) == _core.SCALAR,
                                reason="the page shows numbers of double precision")


def test_there_are_seven_steps():
    assert len(PRINTED) == 7


@pytest.mark.parametrize("name, printed", PRINTED, ids=[name for name, _ in PRINTED])
def test_step(name, printed, capsys):
    program = ROOT / "python" / "examples" / "tutorial" / f"{name.replace('-', '_')}.py"
    runpy.run_path(str(program))["main"]()
    lines = capsys.readouterr().out
    assert lines and (lines == printed or name == "step-7-parts" and lines == printed.splitlines(True)[0])
