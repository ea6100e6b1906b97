# SPDX-License-Identifier: BSD-2-Clause
"""The programs of doc/python-ceed.md run, one after the other."""
import pathlib
import re


def test_programs_of_the_documentation():
    page = pathlib.Path(__file__).parents[2] / "doc" / "python-ceed.md"
    programs = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
    assert len(programs) == 4
    exec(compile("\n".join(programs), str(page), "exec"), {})
