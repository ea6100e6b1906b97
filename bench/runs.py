# SPDX-License-Identifier: BSD-2-Clause
"""What bench/compare, bench/solve and bench/threads share: arguments, the machine, programs on chosen processors."""
import argparse
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Failure(Exception):
    """What went wrong, as a sentence."""


# ---- Arguments ----

def int_list(text):
    """1,3,5 or 1-8 as a list."""
    values = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 1 <= first <= last:
            raise argparse.ArgumentTypeError(f"expected numbers such as 1,3,5 or 1-8, found '{text}'")
        values += range(first, last + 1)
    return values


def count(text):
    if not re.fullmatch(r"0*[1-9]\d*", text):
        raise argparse.ArgumentTypeError(f"expected a positive number, found '{text}'")
    return int(text)


# ---- Machine ----

def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return ""


def physical_cores():
    """One processor of each core that this process may use."""
    siblings = {}
    for cpu in sorted(os.sched_getaffinity(0)):
        core = read(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list") or str(cpu)
        siblings.setdefault(core, cpu)
    return list(siblings.values())


def ritz_info(program):
    """What `ritz info` says of version, source, compiler and processor."""
    text = subprocess.run([program, "info"], stdout=subprocess.PIPE, text=True, check=False).stdout
    return {key: match[1] for key in ("ritz", "source", "COMPILER", "CFLAGS", "processor")
            if (match := re.search(rf"\b{key} +(?:= +)?(.+)$", text, re.MULTILINE))}


# ---- Runs ----

def run_everywhere(command, places):
    """Runs the command once on every place, all at the same time; their standard outputs."""
    runs = []
    for place in places:
        pinned = ["taskset", "-c", ",".join(map(str, place)), *command]
        runs.append(subprocess.Popen(pinned, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    outputs = [run.communicate() for run in runs]
    for run, (_, errors) in zip(runs, outputs):
        if run.returncode:
            raise Failure(f"exit status {run.returncode} of: {' '.join(run.args)}\n{errors.strip()}")
    return [output for output, _ in outputs]
