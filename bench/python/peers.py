# SPDX-License-Identifier: BSD-2-Clause
"""Poisson's equation from Python by Ritz, NGSolve and PyMFEM in turn, each run a process of its own with one thread.

    python peers.py [--rounds 5] [--peers /path/to/python/with/peers]

Medians of wall-clock and of CPU time (with compilers that Ritz starts): import, the first solve of a process, the
second one; the peak of memory; iterations; the integral of the solution, which has to be the same; lines of the
program from the mesh to the solution. "ritz, empty cache" has a new folder of kernels in each round.
"""
import argparse
import inspect
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
CANDIDATES = {"Ritz": "poisson_ritz", "Ritz, cycle in float": "poisson_ritz", "Ritz, empty cache": "poisson_ritz",
              "NGSolve": "poisson_ngsolve", "PyMFEM": "poisson_mfem"}
OPTIONS = {"Ritz, cycle in float": {"precision": "f32"}}  # of the candidate's solver
TIMES = ("import", "first run", "again")


def clocks():
    """Wall-clock time, CPU time of the process and of those that it has started and awaited."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter(), time.process_time() + children.ru_utime + children.ru_stime


def measure(name):
    """In the process of a candidate."""
    found, start = {}, clocks()
    for part in TIMES:
        if part == "import":
            program = __import__(CANDIDATES[name])
        else:
            unknowns, iterations, integral = program.poisson(**OPTIONS.get(name, {}))
        end = clocks()
        found[part] = [b - a for a, b in zip(start, end)]
        start = end
    lines = len(inspect.getsource(program.poisson).strip().splitlines()) - 2
    print(json.dumps({**found, "unknowns": unknowns, "iterations": iterations, "integral": integral, "lines": lines,
                      "MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss/1024}))


def run(name, peers):
    python = sys.executable if name.startswith("Ritz") else peers
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        if name.endswith("empty cache"):
            environment["RITZ_CACHE_DIR"] = folder
        done = subprocess.run([python, __file__, "--measure", name], cwd=HERE, env=environment, text=True,
                              capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{name}: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peers", default=sys.executable)
    parser.add_argument("--measure", choices=CANDIDATES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.measure)
        return
    run("Ritz", options.peers)  # fills the cache of kernels
    results = {name: [] for name in CANDIDATES}
    loads = []
    for _ in range(options.rounds):
        for name in CANDIDATES:
            loads.append(os.getloadavg()[0])
            results[name].append(run(name, options.peers))
    print(f"{options.rounds} rounds, {os.cpu_count()} processors, load {min(loads):.1f} to {max(loads):.1f}; wall (CPU) seconds")
    print("| | " + " | ".join(TIMES) + " | memory, MB | iterations | lines | integral |\n" + "|---"*8 + "|")
    for name, runs in results.items():
        times = [" (".join(f"{statistics.median(r[part][k] for r in runs):.2f}" for k in (0, 1)) + ")" for part in TIMES]
        memory = statistics.median(r["MB"] for r in runs)
        last = runs[-1]
        print(f"| {name} | {' | '.join(times)} | {memory:.0f} | {last['iterations']} | {last['lines']} | {last['integral']:.9f} |")


if __name__ == "__main__":
    main()
