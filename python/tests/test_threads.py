# SPDX-License-Identifier: BSD-2-Clause
"""How many threads contexts have: all processors of the process, shares of them, or what is asked for."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ritz import _threads

SOURCE = Path(__file__).resolve().parents[2] / "tests" / "played-machine" / "processors.c"
PROGRAM = "import ritz; print(f' {ritz.context().num_threads} ')"  # lines of processes may be joined


@pytest.fixture(scope="module")
def machine(tmp_path_factory) -> dict[str, str]:
    """An environment that plays a machine of 16 processors."""
    if not sys.platform.startswith("linux") or not SOURCE.exists() or not shutil.which("cc"):
        pytest.skip("no processors can be played")
    library = tmp_path_factory.mktemp("played") / "played.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(SOURCE)], check=True)
    names = ("OMP_NUM_THREADS", "RITZ_RESOURCE", *_threads._SIZES, *_threads._LOCAL_SIZES)
    kept = {name: value for name, value in os.environ.items() if name not in names}
    return {**kept, "LD_PRELOAD": str(library), "RITZ_TEST_PROCESSORS": "16"}


def numbers(environment: dict[str, str], program: str, *before: str, **more: str) -> list[int]:
    done = subprocess.run([*before, sys.executable, "-c", program], capture_output=True, text=True, timeout=120,
                          env={**environment, **more})
    assert done.returncode == 0, done.stderr
    return [int(word) for word in done.stdout.split()]


@pytest.mark.parametrize("wanted, found", [("", 16), ("none", 16), ("4,2", 4), ("64", 16), ("0", 16)])
def test_a_context_takes_all_processors_or_what_omp_num_threads_says(machine, wanted, found):
    assert numbers(machine, PROGRAM, OMP_NUM_THREADS=wanted) == [found]


def test_a_resource_may_name_its_threads_and_the_ceed_api_has_one(machine):
    program = """
import ritz, ritz.ceed
for resource in ("/cpu/self/gen:threads=2", "cpu", "/cpu/self/gen:deterministic"):
    with ritz.device(resource) as ctx:
        print(ctx.num_threads)
print(ritz.ceed.Ceed("/cpu/self").num_threads, ritz.ceed.Ceed("/cpu/self:threads=all").num_threads)
"""
    assert numbers(machine, program) == [2, 16, 16, 1, 16]


def test_one_of_many_has_one_thread(machine):
    program = """
import multiprocessing, threading, ritz
def show(): print(ritz.Context("/cpu/self").num_threads, flush=True)
for kind in (threading.Thread, multiprocessing.get_context("fork").Process):
    one = kind(target=show)
    one.start()
    one.join()
show()
"""
    assert numbers(machine, program) == [1, 1, 16]
    assert numbers(machine, program, OMP_NUM_THREADS="3") == [3, 3, 3]


@pytest.mark.parametrize("available, own, launchers, num, found", [
    (16, 16, 16, 4, 4), (16, 16, 16, 3, 5), (16, 16, 16, 20, 1),  # bound to nothing
    (4, 4, 16, 4, 4), (1, 1, 16, 16, 1), (8, 8, 16, 16, 1),       # to quarters, single processors, halves
    (4, 4, 4, 4, 1),                                              # mpirun has four processors itself
    (4, 16, 16, 2, 2), (4, 8, 16, 4, 1),                          # a quota of four for all
    (16, 0, 0, 4, 4),                                             # no masks
])
def test_processes_of_one_machine_share_it(monkeypatch, available, own, launchers, num, found):
    monkeypatch.setattr(_threads, "_mask", lambda process: launchers if process else own)
    assert _threads.share(available, num) == found


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="no mpirun")
def test_processes_of_mpirun_share_the_machine(machine):
    environment = {**machine, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none"}
    played = environment.pop("LD_PRELOAD")  # of the processes, not of mpirun
    start = ("mpirun", "-n", "3", "env", f"LD_PRELOAD={played}")
    assert numbers(environment, PROGRAM, *start) == [5, 5, 5]
    assert numbers(environment, PROGRAM, *start, OMP_NUM_THREADS="2") == [2, 2, 2]
    assert numbers(environment, PROGRAM, *start, OMP_NUM_THREADS="16") == [5, 5, 5]
    pytest.importorskip("mpi4py")
    program = """
import os, ritz
from mpi4py import MPI
for name in [name for name in os.environ if name.startswith(("OMPI_", "PMI", "MPI", "MV2"))]:
    del os.environ[name]
ritz.set_communicator(MPI.COMM_WORLD)
print(f" {ritz.context().num_threads} ")
"""
    assert numbers(environment, program, *start) == [5, 5, 5]  # of a launcher that is not known
