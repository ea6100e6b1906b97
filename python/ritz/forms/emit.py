# SPDX-License-Identifier: BSD-2-Clause
"""Scalar expressions (dag.py) as C, in the subset that CPUs and devices take (doc/gpu.md). Called by
integrals.py, which knows what the function around it gets and gives."""
from __future__ import annotations

import math
from typing import Any, Callable, Dict, List, Sequence, Tuple

from .dag import LOGICAL, Graph, Node, uses

_LONGEST = 90  # characters of an expression that stands in another one


class NotFinite(ValueError):
    """A constant that is no number."""


def write_number(value: float) -> str:
    """A literal of CeedScalar's type."""
    if not math.isfinite(value):
        raise NotFinite(f"the form has a constant {value}")
    return f"{int(value)}" if value == int(value) and abs(value) < 1e9 else f"(CeedScalar){value!r}"


def _write(node: Node, a: Sequence[str]) -> str:
    """The operation of a node on the texts of its arguments; sums and what is like them in parentheses."""
    op = node.op
    if op == "+":
        for i in (1, 0):  # a - b for a + (-b)
            if node.args[i].op == "neg" and a[i].startswith("(-"):  # not one whose value is known
                return f"({a[1 - i]} - {a[i][2:-1]})"
        return f"({a[0]} + {a[1]})"
    if op == "*":
        return f"{a[0]} * {a[1]}"
    if op == "/":
        return f"({a[0]} / ({a[1]}))"
    if op == "neg":
        return f"(-{a[0]})"
    if op in ("min", "max"):
        return f"({a[0]} {'<' if op == 'min' else '>'} {a[1]} ? {a[0]} : {a[1]})"
    if op == "cond":
        return f"({a[0]} ? {a[1]} : {a[2]})"
    if op == "not":
        return f"(!{a[0]})"
    if op in LOGICAL:
        return f"({a[0]} {dict([('and', '&&'), ('or', '||')]).get(op, op)} {a[1]})"
    if op in ("pow", "atan2"):  # of two numbers of one type, for OpenCL
        return f"{op}((CeedScalar)({a[0]}), (CeedScalar)({a[1]}))"
    return f"{op}({', '.join(a)})"


def write_lines(outs: Sequence[Tuple[str, Node]], text_of: Callable[[Any], str],
                stored: Dict[int, str]) -> List[str]:
    """Lines that set the target of each of outs; text_of: key of an input -> C; stored: C of nodes that are
    known, by their ids. Values that are needed twice, or are long, become variables."""
    nodes = [n for _, n in outs]
    order = Graph.order(nodes, [n for n in Graph.order(nodes) if n.id in stored])
    count = uses(order, nodes, set(stored))
    for n in order:
        if n.op in ("min", "max"):  # write their arguments twice
            for a in n.args:
                count[a.id] += 1
    texts: Dict[int, str] = {}
    lines: List[str] = []
    for n in order:
        if n.id in stored:
            texts[n.id] = stored[n.id]
        elif n.op == "input":
            texts[n.id] = text_of(n.val)
        elif n.is_const:
            texts[n.id] = write_number(n.number)
        else:
            text = _write(n, [texts[a.id] for a in n.args])
            # A negative stands in the sums that subtract it.
            if n.op != "neg" and (count[n.id] > 1 or len(text) > _LONGEST):
                kind = "int" if n.op in LOGICAL else "CeedScalar"
                lines.append(f"  const {kind} t{len(lines)} = {text};")
                text = f"t{len(lines) - 1}"
            texts[n.id] = text
    return lines + [f"  {target} = {_bare(texts[n.id])};" for target, n in outs]


def _bare(text: str) -> str:
    """The text without parentheses around all of it."""
    if not text.startswith("("):
        return text
    depth = 0
    for k, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return text[1:-1] if k == len(text) - 1 else text
    return text
