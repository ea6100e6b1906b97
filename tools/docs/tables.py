# SPDX-License-Identifier: BSD-2-Clause
"""Writes the pages of reference that are no header's: commands, variables of the environment, resources, errors.

Called by tools/build-docs, in the top folder, after reference.py: `tables.py FOLDER` writes FOLDER/*.rst from what build/ritz and
build/ritz-bench print, and from the enumerators of codes in the public headers.
"""
from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from reference import Item, Writer, enumerators, indented, parse_headers, roles_of, title, write

BENCHMARKS = ([], ["--multigrid"], ["--batched"], ["--routes"])
CODES = {"ceed/types.h": "CeedErrorType", "ritz/solver.h": "RitzSolverReason", "ritz/newton.h": "RitzNewtonReason"}
HEADINGS = {"CeedErrorType": "Codes that functions return", "RitzSolverReason": "How a solve ended",
            "RitzNewtonReason": "How Newton's method ended"}


def printed(program: str, *arguments: str) -> str:
    """In an empty environment: pages do not depend on who makes them."""
    return subprocess.run([f"build/{program}", *arguments], env={}, check=True, capture_output=True, text=True).stdout


def literal(text: str) -> list[str]:
    return [".. code-block:: none", "", *indented(text.rstrip().splitlines()), ""]


def commands_page() -> str:
    overview = printed("ritz", "help")
    names = re.findall(r"^  (\w+)  +\w", overview, re.M)
    calls = [("ritz", [name]) for name in names if name not in ("bench", "help")] + [("ritz-bench", mode) for mode in BENCHMARKS]
    lines = [*title("Commands", "="), "What ``ritz help`` and ``ritz COMMAND --help`` print. ``man ritz`` and ``man ritz-bench`` have the same; "
             "completion for bash, zsh and fish is installed beside them.", "", *literal(overview)]
    for program, words in calls:
        text = printed(program, *words, "--help")
        name = re.match(r"usage: (ritz[a-z -]*[a-z])", text)[1]
        lines += [*title(name, "-"), *literal(text)]
    return "\n".join(lines) + "\n"


def definitions(text: str, directive: str, writer: Writer) -> list[str]:
    """Of what `ritz help TOPIC` prints: groups at the margin, terms two blanks in, their meaning six."""
    lines = list[str]()
    opening, *groups = re.split(r"\n\n(?=\S)", text.rstrip())
    lines += [*writer.text(opening.splitlines()), ""]
    for group in groups:
        heading, _, rest = group.partition("\n\n")
        lines += title(heading, "-")
        for entry in re.split(r"\n(?=  \S)", rest):
            term, *meaning = entry.splitlines()
            meaning = [line.strip() for line in meaning if not line.strip().startswith("now: ")]
            name, _, values = term.strip().partition("=")
            if not meaning:
                lines += [f"* {writer.inline(term.strip())}"]
            elif directive:
                lines += [f".. {directive}:: {name}", "", f"   ``{values}``: " + writer.inline(" ".join(meaning)), ""]
            else:
                lines += [f"``{term.strip()}``", "   " + writer.inline(" ".join(meaning)), ""]
        lines.append("")
    return lines


def topic_page(topic: str, heading: str, writer: Writer, directive: str = "") -> str:
    remark = f"What ``ritz help {topic}`` prints."
    return "\n".join([*title(heading, "="), remark, "", *definitions(printed("ritz", "help", topic), directive, writer)]) + "\n"


def codes(items: list[Item], header: str, enum: str, writer: Writer) -> list[str]:
    """A table: name, value, meaning, what to do."""
    item = next(item for item in items if any(d.name == enum for d in item.declarations))
    declaration = next(d for d in item.declarations if d.name == enum)
    lines = [*title(HEADINGS[enum], "-"), f":c:enum:`{enum}` of :doc:`{header} <{header.removesuffix('.h').replace('/', '-')}>`. "
             + writer.inline(" ".join(item.comment)), "", ".. list-table::", "   :header-rows: 1", "   :widths: 24 6 40 40", "",
             "   * - code", "     - value", "     - meaning", "     - what to do"]
    for name, value, notes in enumerators(declaration):
        meaning, _, advice = " ".join(notes).partition(" Do: ")
        cells = [f":c:enumerator:`{name}`", value.removeprefix("= "), writer.inline(meaning),
                 writer.inline(advice[:1].upper() + advice[1:])]
        lines += [("   * - " if i == 0 else "     - ") + cell for i, cell in enumerate(cells)]
    return [*lines, ""]


def errors_page(parsed: dict[str, list[Item]], writer: Writer) -> str:
    lines = [*title("Errors", "="), "Codes and what to do about each, from the public headers. Programs exit with 0 (done), 1 (the computation failed or "
             "did not converge) or 2 (wrong usage). Routines on batches of matrices have an ``info`` for each matrix: "
             ":doc:`ritz/batched.h <ritz-batched>`. Who gets the message: :doc:`handlers </doc/ceed-api>`.", ""]
    return "\n".join(lines + [line for header, enum in CODES.items() for line in codes(parsed[header], header, enum, writer)]) + "\n"


if __name__ == "__main__":
    folder, parsed = Path(sys.argv[1]), parse_headers()
    writer = Writer(roles_of(parsed))
    write(folder / "commands.rst", commands_page())
    write(folder / "environment.rst", topic_page("environment", "Variables of the environment", writer, "envvar"))
    write(folder / "resources.rst", topic_page("resources", "Resources and their options", writer))
    write(folder / "errors.rst", errors_page(parsed, writer))
