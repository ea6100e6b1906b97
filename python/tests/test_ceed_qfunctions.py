# SPDX-License-Identifier: BSD-2-Clause
"""QFunctions made through ritz.ceed from pointers, files and texts, and their contexts."""
import ctypes
import pathlib
import shutil
import subprocess
import tempfile

import cffi
import numpy as np
import pytest
from ceed_problems import EPS, RESOURCES, apply, make_ceed, random_vector, values

import ritz.ceed as libceed

FILES = {
    "qfunctions.h": """
#include <ceed.h>
#include "qfunctions-context.h"

CEED_QFUNCTION(affine)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const Affine *a = (const Affine *)ctx;

  for (CeedInt i = 0; i < Q; i++) {
    out[0][i] = (a->doubled ? 2 : 1) * (a->factor * in[0][i] + a->shift[0] + a->shift[1]);
  }
  return 0;
}

CEED_QFUNCTION(square)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  for (CeedInt i = 0; i < Q; i++) out[0][i] = in[0][i] * in[0][i];
  return 0;
}
""",
    "qfunctions-context.h": """
#ifndef QFUNCTIONS_CONTEXT_H
#define QFUNCTIONS_CONTEXT_H

typedef struct {
  double factor;
  int shift[2];
  bool doubled;
} Affine;

#endif
""",
}
FOLDER = tempfile.TemporaryDirectory()
for name, text in FILES.items():
    (pathlib.Path(FOLDER.name) / name).write_text(text)
SOURCE = FOLDER.name + "/qfunctions.h"
AFFINE = np.dtype([("factor", np.float64), ("shift", np.int32, 2), ("doubled", np.bool_)], align=True)
TEXT = """
CEED_QFUNCTION(cube)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  for (CeedInt i = 0; i < Q; i++) out[0][i] = in[0][i] * in[0][i] * in[0][i];
  return 0;
}
"""


@pytest.fixture(params=RESOURCES, scope="module")
def ceed(request):
    return make_ceed(request.param)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """A shared library with run_affine and run_square."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler here")
    folder = tmp_path_factory.mktemp("library")
    include = pathlib.Path(libceed.Ceed("/cpu/self/ref").get_jit_absolute_path("ceed/types.h")).parents[1]
    arguments = "void *ctx, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out"
    text = f'#include "{SOURCE}"\n' + "".join(
        f"int run_{f}({arguments}) {{ return {f}(ctx, Q, in, out); }}\n" for f in ("affine", "square"))
    (folder / "run.c").write_text(text)
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-I", str(include), "-o", str(folder / "run.so"),
                    str(folder / "run.c")], check=True)
    return str(folder / "run.so")


def with_fields(qf):
    qf.add_input("u", 1, libceed.EVAL_NONE)
    qf.add_output("v", 1, libceed.EVAL_NONE)
    return qf


def pointwise(ceed, qf, num_elem=3):
    """The operator that calls qf at 4 points of each element."""
    rstr = ceed.StridedElemRestriction(num_elem, 4, 1, 4 * num_elem, [1, 4, 4])
    op = ceed.Operator(qf)
    op.set_field("u", rstr, libceed.BASIS_NONE, libceed.VECTOR_ACTIVE)
    op.set_field("v", rstr, libceed.BASIS_NONE, libceed.VECTOR_ACTIVE)
    return op


def make_affine(ceed, f=None, mode=libceed.COPY_VALUES):
    """(QFunction, context, data): 3 u + 1 + 2"""
    qf, data = with_fields(ceed.QFunction(1, f, SOURCE + ":affine")), np.zeros((), AFFINE)
    ctx = ceed.QFunctionContext()
    data["factor"], data["shift"] = 3, (1, 2)
    ctx.set_data(data, cmode=mode)
    ctx.register_double("factor", AFFINE.fields["factor"][1], 1, "of the input")
    ctx.register_int32("shift", AFFINE.fields["shift"][1], 2)
    ctx.register_boolean("doubled", AFFINE.fields["doubled"][1])
    qf.set_context(ctx)
    return qf, ctx, data


@pytest.mark.parametrize("kind", ["ctypes", "address", "cffi"])
def test_pointers(ceed, library, kind):
    if kind == "cffi":
        ffi = cffi.FFI()
        ffi.cdef("int run_square(void *, int, const double *const *, double *const *);")
        loaded = ffi.dlopen(library)
        f = ffi.addressof(loaded, "run_square")
    else:
        loaded = ctypes.CDLL(library)
        f = loaded.run_square if kind == "ctypes" else ctypes.cast(loaded.run_square, ctypes.c_void_p).value
    qf = with_fields(ceed.QFunction(1, f, SOURCE + ":square"))
    x = values(random_vector(ceed, 12))
    assert np.abs(apply(pointwise(ceed, qf), x) - x**2).max() < 4 * EPS
    assert qf.get_user_function() == ctypes.cast(ctypes.CDLL(library).run_square, ctypes.c_void_p).value
    assert qf.get_source_path() == SOURCE and qf.get_kernel_name() == "square"


def test_functions_of_python():
    """A function of ctypes that is Python's, without source, on the host."""
    pointers = ctypes.POINTER(ctypes.POINTER(np.ctypeslib.as_ctypes_type(libceed.SCALAR)))

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int32, pointers, pointers)
    def negate(_, num, inputs, outputs):
        np.ctypeslib.as_array(outputs[0], (num,))[:] = -np.ctypeslib.as_array(inputs[0], (num,))
        return 0

    ceed = libceed.Ceed("/cpu/self/ref")
    op = pointwise(ceed, with_fields(ceed.QFunction(1, negate, "")))
    del negate
    assert np.array_equal(apply(op, np.arange(12.0)), -np.arange(12.0))


def test_sources_without_pointers(ceed):
    """The library compiles the file, with what it includes, where the host needs a function, too."""
    x = values(random_vector(ceed, 12))
    qf, _, _ = make_affine(ceed)
    assert np.abs(apply(pointwise(ceed, qf), x) - (3 * x + 3)).max() < 16 * EPS
    assert "affine" in qf.get_source() and "Affine" in qf.get_source()
    ceed.add_jit_source_root(FOLDER.name + "/")
    found = with_fields(ceed.QFunction(1, None, "qfunctions.h:square"))
    assert np.abs(apply(pointwise(ceed, found), x) - x**2).max() < 4 * EPS


def test_texts(ceed):
    qf, x = with_fields(ceed.QFunctionFromText(TEXT, "cube")), values(random_vector(ceed, 12))
    assert np.abs(apply(pointwise(ceed, qf), x) - x**3).max() < 4 * EPS
    u, v = ceed.Vector(12), ceed.Vector(12)
    u.set_array(x)
    qf.apply(12, [u], [v])
    assert np.abs(values(v) - x**3).max() < 4 * EPS


def test_macros(ceed):
    ceed.add_jit_define("POWER_OF_TEST=2")
    text = TEXT.replace("cube", "macro").replace("* in[0][i] * in[0][i]", "* POWER_OF_TEST")
    op = pointwise(ceed, with_fields(ceed.QFunctionFromText(text, "macro")))
    assert np.array_equal(apply(op, np.ones(12)), np.full(12, 2.0))


def test_parameters_are_set_through_operators(ceed):
    qf, ctx, _ = make_affine(ceed)
    op, x = pointwise(ceed, qf), np.arange(12.0)
    assert np.abs(apply(op, x) - (3 * x + 3)).max() < 100 * EPS
    label = op.get_context_field_label("factor")
    assert (label.name, label.num_values, label.description) == ("factor", 1, "of the input")
    assert label.type == libceed.CONTEXT_FIELD_DOUBLE and op.get_context_field_label("none") is None
    op.set_context_double(label, 5)
    op.set_context_int32("shift", [3, 4])
    op.set_context_boolean("doubled", True)
    assert np.abs(apply(op, x) - 2 * (5 * x + 7)).max() < 1000 * EPS
    assert op.get_context_double("factor") == 5 and list(op.get_context_int32("shift")) == [3, 4]
    assert op.get_context_boolean("doubled")[0] and op.get_context() is ctx and qf.get_context() is ctx
    ctx.set_double("factor", 1.0)
    ctx.set_int32("shift", [0, 0])
    ctx.set_boolean("doubled", False)
    assert np.array_equal(apply(op, x), x)
    assert ctx.get_double("factor") == 1 and list(ctx.get_int32("shift")) == [0, 0]
    assert not ctx.get_boolean("doubled")[0]
    assert [one.name for one in ctx.get_all_field_labels()] == ["factor", "shift", "doubled"]
    assert ctx.get_field_label("shift").offset == 8 and "factor" in str(ctx)


def test_labels_of_others(ceed):
    """They are refused, those of contexts that are gone, too."""
    (qf, ctx, _), (other, _, _) = make_affine(ceed), make_affine(ceed)
    op, another = pointwise(ceed, qf), pointwise(ceed, other)
    label = op.get_context_field_label("factor")
    with pytest.raises(libceed.UnsupportedError):
        another.set_context_double(label, 1)
    with pytest.raises(libceed.UnsupportedError):
        another.get_context().set_double(label, 1)
    ctx.set_double(label, 5)
    assert op.get_context_double(label) == 5
    qf.set_context(None)
    del ctx
    with pytest.raises(libceed.UnsupportedError):
        op.set_context_double(label, 1)
    assert another.get_context_double("factor") == 3


def test_parameters_of_sums(ceed):
    both = ceed.CompositeOperator()
    for _ in range(2):
        both.add_sub(pointwise(ceed, make_affine(ceed)[0]))
    both.set_context_double("factor", 4.0)
    assert both.get_context_double("factor") == 4
    assert np.abs(apply(both, np.ones(12)) - 14).max() < 100 * EPS


def test_data_of_contexts(ceed):
    qf, ctx, data = make_affine(ceed, mode=libceed.USE_POINTER)
    assert ctx.get_context_size() == AFFINE.itemsize
    with ctx.data() as lent:
        assert lent["factor"] == 3
        lent["factor"] = 6
    assert data["factor"] == 6
    op = pointwise(ceed, qf)
    assert np.abs(apply(op, np.ones(12)) - 9).max() < 100 * EPS
    assert ctx.take_data() is data
    ctx.set_data(data.copy())
    with ctx.data() as lent:  # of the library, in a copy that goes back at the end
        lent["factor"] = 7
    lent["factor"] = 100
    with ctx.data_read() as lent:
        assert lent["factor"] == 7
    assert np.abs(apply(op, np.ones(12)) - 10).max() < 100 * EPS
    qf.set_context(None)
    assert qf.get_context() is None and op.get_context() is None


def test_other_kinds_of_data():
    class Pair(ctypes.Structure):
        _fields_ = [("a", ctypes.c_double), ("b", ctypes.c_double)]

    ceed = libceed.Ceed("/cpu/self/ref")
    ctx = ceed.QFunctionContext()
    array = np.array([1.0, 2.0])
    for data in (Pair(1.0, 2.0), bytes(array), bytearray(array), array):
        ctx.set_data(data)
        with ctx.data_read() as lent:
            assert list(lent.view(np.float64)) == [1, 2]


def test_qfunctions_tell_about_themselves(ceed):
    qf = ceed.QFunctionByName("Mass2DBuild")
    inputs, outputs = qf.get_fields()
    assert inputs == [("dx", 4, libceed.EVAL_GRAD), ("weights", 1, libceed.EVAL_WEIGHT)]
    assert outputs == [("qdata", 1, libceed.EVAL_NONE)] and qf.get_num_args() == (2, 1)
    assert qf.get_name() == "Mass2DBuild" and qf.is_immutable() and not qf.is_identity()
    assert qf.get_vector_length() == 1 and qf.get_flops_estimate() == 4
    assert ceed.IdentityQFunction(2, libceed.EVAL_NONE, libceed.EVAL_NONE).is_identity()
    own = with_fields(ceed.QFunctionFromText(TEXT, "cube"))
    own.set_user_flops_estimate(2)
    own.set_context_writable(False)
    assert own.get_flops_estimate() == 2 and not own.is_context_writable() and not own.is_immutable()
    assert own.get_source_path() is None and "cube" in str(own)
