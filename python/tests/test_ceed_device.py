# SPDX-License-Identifier: BSD-2-Clause
"""Device memory of CuPy in vectors and restrictions of ritz.ceed, and the library's in arrays of CuPy."""
import numpy as np
import pytest
from ceed_problems import EPS, apply, grid_offsets, make_ceed, make_problem, values

import ritz.ceed as libceed

cupy = pytest.importorskip("cupy")
DEVICE, USE = libceed.MEM_DEVICE, libceed.USE_POINTER


@pytest.fixture(scope="module")
def ceed():
    return make_ceed("/gpu/cuda")


def test_arrays_of_cupy_are_used(ceed):
    s = make_problem(ceed, 3)
    x, y = cupy.linspace(0, 1, s.size, dtype=libceed.SCALAR), cupy.zeros(s.size, libceed.SCALAR)
    u, v = ceed.Vector(s.size), ceed.Vector(s.size)
    u.set_array(x, DEVICE, USE)
    v.set_array(y, DEVICE, USE)
    s.op.apply(u, v)
    v.sync_array(DEVICE)
    cupy.cuda.Device().synchronize()
    assert np.abs(y.get() - apply(s.op, x.get())).max() < 100 * EPS
    assert v.take_array(DEVICE) is y and v.has_borrowed_array_of_type(DEVICE) is False
    wanted = (x + 1).get()
    u.set_array(x + 1, DEVICE)  # copies into x, which is borrowed
    assert np.array_equal(values(u), wanted) and np.array_equal(x.get(), wanted)


def test_memory_of_the_library_is_lent(ceed):
    v = ceed.Vector(100)
    v.set_value(2)
    with v.array(memtype=DEVICE) as lent:
        view = cupy.asarray(lent)
        view *= 3
        cupy.cuda.Device().synchronize()
    assert np.array_equal(values(v), np.full(100, 6.0))
    with v.array_read(memtype=DEVICE) as lent:
        assert float(cupy.asarray(lent).sum()) == 600


def test_offsets_on_the_device(ceed):
    offsets = cupy.asarray(grid_offsets(2, 3, 2))
    rstr = ceed.ElemRestriction(9, 9, 1, 1, 49, offsets, DEVICE, USE)
    assert np.array_equal(rstr.get_offsets(), offsets.get())
    del offsets
    mult = values(rstr.get_multiplicity())
    assert mult.sum() == 81 and mult.max() == 4


def test_other_arrays_are_refused(ceed):
    v = ceed.Vector(4)
    for array in (cupy.zeros(3), cupy.zeros(4, np.int32), cupy.zeros(8)[::2]):
        with pytest.raises(libceed.Error):
            v.set_array(array, DEVICE, USE)
