# SPDX-License-Identifier: BSD-2-Clause
"""Objects of ritz.ceed: arrays and who owns them, lifetimes, misuse, memory that comes back."""
import gc
import io
import os
import resource
import threading

import numpy as np
import pytest
from ceed_problems import EPS, RESOURCES, apply, make_ceed, make_problem, random_vector, values

import ritz.ceed as libceed
from ritz import _core


@pytest.fixture(params=RESOURCES, scope="module")
def ceed(request):
    return make_ceed(request.param)


# ---- Arrays ----


def test_arrays_are_copied_or_used(ceed):
    v, own = ceed.Vector(6), np.arange(6, dtype=libceed.SCALAR)
    v.set_array(own)
    own[0] = 100
    assert values(v)[0] == 0 and not v.has_borrowed_array_of_type()
    v.set_array(own, cmode=libceed.USE_POINTER)
    assert v.has_borrowed_array_of_type()
    v.scale(2)
    v.sync_array()
    assert own[0] == 200 and v.take_array() is own
    if not ceed.is_device:  # where device memory has the values, too
        with pytest.raises(libceed.FailedError):
            v.get_array_read()


def test_views(ceed):
    v = ceed.Vector(6)
    with v.array_write(2, 3) as a:
        a[:] = np.arange(6).reshape(2, 3)
    with v.array(3, 2) as a:
        a += 1
    with v.array_read() as a:
        assert np.array_equal(a, np.arange(6) + 1)
        with pytest.raises(ValueError):
            a[0] = 1
        with v.array_read() as b:
            assert np.array_equal(a, b)
    assert v.norm(libceed.NORM_1) == 21 and v.norm(libceed.NORM_MAX) == 6
    with pytest.raises(ValueError), v.array(4, 4):
        pass
    v.set_value(0)  # it has been restored
    assert len(v) == 6 and v.norm() == 0


def test_views_outlive_everything(ceed):
    """NumPy arrays that were lent stay readable whatever happens to the vector."""
    v = ceed.Vector(1000)
    v.set_value(7)
    with v.array_read() as first:
        pass
    v.set_array(np.zeros(1000, libceed.SCALAR), cmode=libceed.USE_POINTER)
    with v.array_read() as second:
        pass
    v.take_array()
    del v
    gc.collect()
    ceed.destroy_dropped()
    assert first.sum() == 7000 and second.sum() == 0


def test_views_of_data_at_points_outlive_its_packing(ceed):
    """Data of an operator may be kept in another order later: values that NumPy sees stay where they are."""
    s = make_problem(ceed, 2, n=4)
    with s.qdata.array_read() as before:
        copy = before.copy()
    for _ in range(3):
        apply(s.op, np.ones(s.size))
    assert np.array_equal(before, copy) and np.array_equal(values(s.qdata), copy)


def test_algebra(ceed):
    x, y, z = (random_vector(ceed, 9, seed) for seed in range(3))
    a, b, c = values(x), values(y), values(z)
    x.axpy(2, y)
    z.axpby(3, 4, y)
    assert np.abs(values(x) - (a + 2 * b)).max() < 8 * EPS
    assert np.abs(values(z) - (3 * b + 4 * c)).max() < 16 * EPS
    w = ceed.Vector(9)
    w.pointwise_mult(x, y)
    assert np.abs(values(w) - values(x) * b).max() < 8 * EPS
    w.copy(y)
    y.reciprocal()
    assert np.abs(values(y) * values(w) - 1).max() < 8 * EPS
    w.set_value_strided(0, -1, 2, 5)
    w.filter(4.5)
    assert np.array_equal(values(w), [5, 0] * 4 + [5])
    w.copy_strided(0, -1, 4, x)
    assert np.array_equal(values(x)[::4], [5, 5, 5]) and np.array_equal(values(w.copy()), values(w))
    state = w.get_state()
    w.scale(1)
    assert w.get_state() > state


def test_views_as_text(ceed):
    v, out = ceed.Vector(3), io.StringIO()
    v.set_array([1, 2, 3])
    v.set_num_view_tabs(1)
    v.view(out)
    assert out.getvalue().startswith("  CeedVector length 3") and "2.00000000" in str(v)
    assert v.get_num_view_tabs() == 1 and repr(libceed.VECTOR_NONE) == "CEED_VECTOR_NONE"
    v.view_range(1, 3, 1, "%.1e", out)
    assert "2.0e+00" in out.getvalue()
    for fmt in ("%s", "%d", "%n", "%g %g", "nothing"):
        with pytest.raises(libceed.IncompatibleError):
            v.view_range(fmt=fmt)
    assert "Ceed Resource" in str(ceed) and "CeedVector" in repr(v)


def test_all_objects_have_views(ceed):
    s = make_problem(ceed, 1)
    for one in (s.x, s.rstr_u, s.basis_u, s.qf, s.op, ceed.QFunctionContext()):
        one.set_num_view_tabs(2)
        out = io.StringIO()
        one.view(out)
        assert out.getvalue() == str(one) and str(one).startswith("    ") and one.get_num_view_tabs() == 2
    s.op.name("mass")
    s.op.view_terse(out)
    assert s.op.get_name() == "mass" and "mass" in out.getvalue()


def test_device_memory(ceed):
    v = ceed.Vector(5)
    v.set_value(3)
    if not ceed.is_device:
        with pytest.raises(libceed.FailedError):
            v.get_array(libceed.MEM_DEVICE)
        with pytest.raises(libceed.UnsupportedError):
            ceed.set_stream(1)
    else:
        with v.array_read(memtype=libceed.MEM_DEVICE) as lent:
            assert lent.address and lent.size == 5
            assert lent.__cuda_array_interface__["data"] == (lent.address, True)
        w, lent = ceed.Vector(5), v.get_array(libceed.MEM_DEVICE)
        w.set_array(lent.address, libceed.MEM_DEVICE)  # a copy
        w.scale(2)
        assert values(w).sum() == 30
        w.set_array(lent, libceed.MEM_DEVICE, libceed.USE_POINTER)  # the same memory
        w.scale(5 / 3)
        assert w.has_borrowed_array_of_type(libceed.MEM_DEVICE) and abs(values(w).sum() - 25) < 1e-4
        assert w.take_array(libceed.MEM_DEVICE) is lent
        v.restore_array()
        assert abs(values(v).sum() - 25) < 1e-4
        v.set_value(3)
        ctx = ceed.QFunctionContext()
        ctx.set_data(np.arange(4.0))
        with ctx.data_read(libceed.MEM_DEVICE) as address:
            assert address
        with ctx.data(libceed.MEM_DEVICE) as address:
            assert address and ctx.get_context_size() == 32
    assert v.has_valid_array() and values(v).sum() == 15
    with pytest.raises(libceed.IncompatibleError):
        ceed.set_stream(0)


class Foreign:
    """What says of itself that it is device memory."""

    def __init__(self, typestr, shape, strides=None):
        self.__cuda_array_interface__ = {"data": (64, False), "typestr": typestr, "shape": shape,
                                         "strides": strides}


def test_descriptions_of_device_memory(ceed):
    v, kind = ceed.Vector(6), libceed.SCALAR.str
    size = libceed.SCALAR.itemsize
    for array, error in ((Foreign("<i4", (6,)), libceed.IncompatibleError),
                         (Foreign(kind, (5,)), libceed.DimensionError),
                         (Foreign(kind, (2, 3), (size, 2 * size)), libceed.IncompatibleError),
                         (np.zeros(6), libceed.IncompatibleError)):
        with pytest.raises(error, match="Vector.set_array"):
            v.set_array(array, libceed.MEM_DEVICE, libceed.USE_POINTER)
    if not ceed.is_device:
        with pytest.raises(libceed.FailedError):
            v.set_array(Foreign(kind, (2, 3), (3 * size, size)), libceed.MEM_DEVICE, libceed.USE_POINTER)


# ---- Restrictions and bases ----


def test_restrictions_of_all_kinds(ceed):
    offsets, u = np.array([[0, 1], [1, 2], [2, 3]]), ceed.Vector(4)
    u.set_array([10, 11, 12, 13])

    def applied(rstr):
        e = ceed.Vector(rstr.get_e_vector_size())
        rstr.apply(u, e)
        return values(e)

    assert np.array_equal(applied(ceed.ElemRestriction(3, 2, 1, 1, 4, offsets)), [10, 11, 11, 12, 12, 13])
    signs = [[False, True]] * 3
    oriented = ceed.OrientedElemRestriction(3, 2, 1, 1, 4, offsets, signs)
    assert np.array_equal(applied(oriented), [10, -11, 11, -12, 12, -13])
    assert np.array_equal(applied(oriented.create_unsigned_copy()), [10, 11, 11, 12, 12, 13])
    assert np.array_equal(oriented.get_orientations(), signs)
    curl = ceed.CurlOrientedElemRestriction(3, 2, 1, 1, 4, offsets, [[[0, 0, 1], [1, 0, 0]]] * 3)
    assert np.array_equal(applied(curl), [11, 10, 12, 11, 13, 12])
    assert np.array_equal(applied(curl.create_unoriented_copy()), [10, 11, 11, 12, 12, 13])
    assert curl.get_curl_orientations().shape == (3, 6)
    strided = ceed.StridedElemRestriction(2, 2, 1, 4, [1, 4, 2])
    assert np.array_equal(applied(strided), [10, 11, 12, 13])
    assert strided.get_strides() == (1, 4, 2) and strided.get_l_layout() == (1, 4, 2) and strided.is_strided()
    assert [r.get_type() for r in (oriented, curl, strided)] == [2, 3, 4] and oriented.get_layout()[0] == 1
    assert oriented.get_flops_estimate() == 6


def test_sizes_of_restrictions(ceed):
    rstr = ceed.ElemRestriction(3, 2, 2, 4, 8, [0, 1, 1, 2, 2, 3])
    assert (rstr.get_num_elements(), rstr.get_element_size(), rstr.get_num_components()) == (3, 2, 2)
    assert (rstr.get_comp_stride(), rstr.get_l_vector_size(), rstr.get_e_vector_size()) == (4, 8, 12)
    assert (rstr.get_num_blocks(), rstr.get_block_size()) == (3, 1)
    assert ceed.StridedElemRestriction(2, 2, 1, 4, libceed.STRIDES_BACKEND).has_backend_strides()
    lvec, evec = rstr.create_vector(create_evec=False)
    assert len(lvec) == 8 and evec is None


def test_restrictions_at_points(ceed):
    rstr, u, e = ceed.ElemRestrictionAtPoints(2, 3, 1, 3, [3, 5, 6, 2, 0, 1]), ceed.Vector(3), ceed.Vector(2)
    u.set_array([10, 11, 12])
    if not ceed.is_device:
        rstr.apply_at_points_in_element(0, u, e)
        assert np.array_equal(values(e), [12, 10])
        assert rstr.get_at_points_element_offset(1) == 2
    assert rstr.at_points_are_compatible(ceed.ElemRestrictionAtPoints(2, 3, 2, 6, [3, 5, 6, 2, 0, 1]))
    assert not rstr.at_points_are_compatible(ceed.ElemRestrictionAtPoints(2, 3, 1, 3, [3, 5, 6, 0, 2, 1]))
    assert (rstr.get_min_points_in_element(), rstr.get_max_points_in_element()) == (1, 2)
    assert np.array_equal(rstr.get_offsets(), [3, 5, 6, 2, 0, 1])


@pytest.mark.parametrize("kind", ["plain", "oriented", "curl", "strided"])
def test_blocked_restrictions(kind):
    ceed, offsets = libceed.Ceed("/cpu/self/ref"), np.array([[0, 1], [1, 2], [2, 3]])
    plain = (3, 2, 2, 1, 1, 6, offsets)
    rstr = {
        "plain": lambda: ceed.BlockedElemRestriction(*plain),
        "oriented": lambda: ceed.BlockedOrientedElemRestriction(*plain, np.zeros((3, 2), bool)),
        "curl": lambda: ceed.BlockedCurlOrientedElemRestriction(*plain, [[[0, 1, 0], [0, 1, 0]]] * 3),
        "strided": lambda: ceed.BlockedStridedElemRestriction(3, 2, 2, 1, 6, [1, 6, 2]),
    }[kind]()
    u, e, block = ceed.Vector(6), ceed.Vector(rstr.get_e_vector_size()), ceed.Vector(4)
    u.set_array(np.arange(6))
    rstr.apply(u, e)
    assert (rstr.get_num_blocks(), rstr.get_block_size(), len(e)) == (2, 2, 8)
    rstr.apply_block(1, u, block)
    assert np.array_equal(values(block), values(e)[4:])
    u.set_value(0)
    rstr.T.apply(e, u)
    assert values(u).sum() == (15 if kind == "strided" else 9)
    if kind != "strided":
        assert np.array_equal(rstr.get_offsets(), [[[0, 1], [1, 2]], [[2, 2], [3, 3]]])


def test_bases_of_all_kinds(ceed):
    """The values of x, y on a triangle; the field (x, y) of divergence 2; the field (-y, x) of curl 2."""
    q, w = np.array([[1 / 6, 2 / 3, 1 / 6], [1 / 6, 1 / 6, 2 / 3]]), np.full(3, 1 / 6)
    table = np.array([1 - q[0] - q[1], q[0], q[1]]).T
    grad = np.array([[[-1, 1, 0]] * 3, [[-1, 0, 1]] * 3])
    h1 = ceed.BasisH1(libceed.TRIANGLE, 1, 3, 3, table, grad, q, w)
    assert np.allclose(h1.get_interp(), table) and np.array_equal(h1.get_grad(), grad)
    assert h1.get_div() is None and h1.get_num_nodes() == 3
    assert np.allclose(h1.get_q_ref(), q) and np.allclose(h1.get_q_weights(), w) and not h1.is_tensor()
    assert h1.get_topology() == libceed.TOPOLOGY_TRIANGLE and h1.get_fe_space() == libceed.FE_SPACE_H1
    field = np.array([[q[0]], [q[1]]]).transpose(0, 2, 1)
    hdiv = ceed.BasisHdiv(libceed.TRIANGLE, 1, 1, 3, field, np.full((3, 1), 2), q, w)
    hcurl = ceed.BasisHcurl(libceed.TRIANGLE, 1, 1, 3, np.array([-field[1], field[0]]), np.full((3, 1), 2), q,
                            w)
    assert hdiv.get_interp().shape == (2, 3, 1) and hcurl.get_curl().shape == (3, 1)
    assert hdiv.get_num_quadrature_components(libceed.EVAL_INTERP) == 2 and hcurl.get_num_components() == 1
    one, out = ceed.Vector(1), ceed.Vector(3)
    one.set_value(1)
    for basis, mode in ((hdiv, libceed.EVAL_DIV), (hcurl, libceed.EVAL_CURL)):
        basis.apply(1, mode, one, out)
        assert np.array_equal(values(out), [2, 2, 2])


def test_tensor_bases(ceed):
    lagrange = ceed.BasisTensorH1Lagrange(2, 1, 3, 4, libceed.GAUSS)
    again = ceed.BasisTensorH1(2, 1, 3, 4, lagrange.get_interp_1d(), lagrange.get_grad_1d(),
                               lagrange.get_q_ref(), lagrange.get_q_weights())
    for basis in (lagrange, again):
        assert (basis.get_num_nodes(), basis.get_num_quadrature_points(), basis.get_dimension()) == (9, 16, 2)
        assert basis.get_interp().shape == (16, 9) and basis.get_grad().shape == (2, 16, 9)
        assert basis.is_tensor()
        assert np.allclose(basis.get_interp(), np.kron(basis.get_interp_1d(), basis.get_interp_1d()))
        assert np.allclose(basis.get_collocated_grad() @ basis.get_interp_1d(), basis.get_grad_1d())
        assert basis.get_flops_estimate(libceed.NOTRANSPOSE, libceed.EVAL_INTERP) > 0
    points = libceed.gauss_quadrature(4)[0]
    chebyshev = np.polynomial.chebyshev.chebvander(points, 3) @ lagrange.get_chebyshev_interp_1d()
    assert np.allclose(chebyshev, lagrange.get_interp_1d())
    assert ceed.BasisTensorH1Lagrange(1, 1, 3, 3, libceed.GAUSS_LOBATTO).is_collocated()


def test_bases_at_points(ceed):
    basis, x = ceed.BasisTensorH1Lagrange(1, 1, 3, 3, libceed.GAUSS), ceed.Vector(2)
    u, v, back = ceed.Vector(3), ceed.Vector(2), ceed.Vector(3)
    u.set_array(libceed.lobatto_quadrature(3)[0] ** 2)
    x.set_array([-0.5, 0.25])
    basis.apply_at_points([2], libceed.EVAL_INTERP, x, u, v)
    assert np.abs(values(v) - [0.25, 0.0625]).max() < 100 * EPS
    back.set_value(0)
    basis.apply_add_at_points([2], libceed.EVAL_INTERP, x, v, back)
    basis.apply_add(1, libceed.EVAL_INTERP, u, back)
    assert abs(values(u) @ values(back)) > 0


def test_dense_algebra():
    ceed, n, random = libceed.Ceed("/cpu/self/ref"), 4, np.random.default_rng(0)
    a = random.uniform(-1, 1, (5, n)).astype(libceed.SCALAR)
    qr, tau = libceed.Basis.qr_factorization(ceed, a.copy(), np.empty(n, libceed.SCALAR), 5, n)
    full = np.zeros_like(a)
    full[:n] = np.triu(qr[:n])
    libceed.Basis.householder_apply_q(ceed, full, qr, tau, libceed.NOTRANSPOSE, 5, n, n, n, 1)
    assert np.abs(full - a).max() < 100 * EPS
    assert np.abs(libceed.Basis.matrix_pseudoinverse(ceed, a, 5, n) @ a - np.eye(n)).max() < 1e3 * EPS
    mass = (a.T @ a).astype(libceed.SCALAR)
    vectors = mass.copy()
    eigenvalues = libceed.Basis.symmetric_schur_decomposition(ceed, vectors, n)
    assert np.abs(vectors @ np.diag(eigenvalues) @ vectors.T - mass).max() < 1e3 * EPS
    x, eigenvalues = libceed.Basis.simultaneous_diagonalization(ceed, np.diag([1.0, 2, 3, 4]), mass, n)
    assert np.abs(x.T @ mass @ x - np.eye(n)).max() < 1e4 * EPS
    error = np.abs(x.T @ np.diag([1, 2, 3, 4]) @ x - np.diag(eigenvalues)).max()
    assert error < 1e4 * EPS * abs(eigenvalues).max()


# ---- Lifetimes ----


def test_operators_keep_what_they_use(ceed):
    """All names but the operator's go, memory under USE_POINTER among them."""
    s = make_problem(ceed, 2)
    own = values(s.qdata)
    s.qdata.set_array(own, cmode=libceed.USE_POINTER)
    op, size, x = s.op, s.size, np.ones(s.size)
    before, both = apply(op, x), ceed.CompositeOperator()
    both.add_sub(op)
    del s, own, op
    gc.collect()
    junk = [np.full(64, np.nan) for _ in range(1000)]
    assert np.array_equal(apply(both, x), before) and len(x) == size and len(junk) == 1000


def test_objects_of_other_modules_get_values_of_their_own(ceed):
    """A C reference that this module does not know of, as of a solver: the vector outlives its array."""
    s = make_problem(ceed, 2)
    s.qdata.set_array(values(s.qdata), cmode=libceed.USE_POINTER)
    x, lengths = np.ones(s.size), s.op.get_active_vector_lengths()
    op, before = ceed.adopt("CeedOperator", s.op.h), apply(s.op, x)
    del s
    gc.collect()
    ceed.destroy_dropped()
    again = ceed._adopt_operator(op.h)
    assert np.array_equal(apply(again, x), before) and again.get_active_vector_lengths() == lengths


def test_vectors_of_other_modules(ceed):
    """A Ceed is a context of ritz: what lives there meets here."""
    s = make_problem(ceed, 2)
    u, v = _core.Vector(s.size, ceed), ceed.Vector(s.size)
    u.assign(1.0)
    s.op.apply(u, v)
    assert np.array_equal(values(v), apply(s.op, np.ones(s.size)))
    with _core.device(ceed):
        assert _core.context() is ceed


def test_forgotten_loans_do_not_leak():
    before = _core.num_allocations()
    ceed = libceed.Ceed("/cpu/self/ref")
    for _ in range(10):
        v, w, ctx = ceed.Vector(10), ceed.Vector(10), ceed.QFunctionContext()
        for one in (v, w):
            one.set_value(1)
        v.get_array()
        w.get_array_read()
        w.get_array_read()
        ctx.set_data(np.arange(3))
        ctx.get_data()
    del v, w, one, ctx, ceed
    gc.collect()
    assert _core.num_allocations() == before


def memory():
    with open(f"/proc/{os.getpid()}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def make_some(ceed):
    """Objects of all kinds with references between them."""
    v = ceed.Vector(100)
    v.set_array(np.zeros(100, libceed.SCALAR), cmode=libceed.USE_POINTER)
    with v.array() as a:
        a[:] = 1
    rstr = ceed.ElemRestriction(4, 2, 1, 1, 5, [0, 1, 1, 2, 2, 3, 3, 4])
    basis = ceed.BasisTensorH1Lagrange(1, 1, 2, 2, libceed.GAUSS)
    qf, ctx = ceed.QFunctionByName("MassApply"), ceed.QFunctionContext()
    ctx.set_data(np.arange(5), cmode=libceed.USE_POINTER)
    qf.set_context(ctx)
    op, points = ceed.Operator(qf), ceed.StridedElemRestriction(4, 2, 1, 8, libceed.STRIDES_BACKEND)
    op.set_field("u", rstr, basis, libceed.VECTOR_ACTIVE)
    op.set_field("qdata", points, libceed.BASIS_NONE, v)
    op.set_field("v", rstr, basis, libceed.VECTOR_ACTIVE)
    both = ceed.CompositeOperator()
    both.add_sub(op)
    with pytest.raises(libceed.UnsupportedError):
        ceed.QFunctionByName("none")
    assert op.get_field_by_name("u").basis is basis and str(op)


def test_nothing_leaks():
    """10^4 objects and more, in one context and in many."""
    start = _core.num_allocations()
    ceed = libceed.Ceed("/cpu/self/ref")

    def many(num):
        for _ in range(num):
            make_some(ceed)
        gc.collect()
        ceed.destroy_dropped()
        return _core.num_allocations(), memory()

    blocks, before = many(300)
    after = many(1500)
    assert after[0] == blocks
    assert after[1] - before < 2 << 20
    del ceed
    for _ in range(50):
        make_some(libceed.Ceed("/cpu/self/ref"))
    gc.collect()
    assert _core.num_allocations() == start


def test_threads_share_a_context():
    """One call at a time, others wait; objects may go in any thread."""
    ceed, errors = libceed.Ceed("/cpu/self/ref"), []

    def work():
        try:
            for _ in range(20):
                make_some(ceed)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


# ---- Misuse ----


def check_misuse(call, error):
    try:
        call()
    except error as caught:
        assert str(caught)
    else:
        pytest.fail(f"nothing raised in line {call.__code__.co_firstlineno}")


def test_misuse_of_vectors(ceed):
    v, w = ceed.Vector(4), ceed.Vector(5)
    v.set_array([1, 2, 3, 4])
    w.set_value(1)
    for call, error in (
        (lambda: ceed.Vector(-1), libceed.UnsupportedError),
        (lambda: v.set_array([1, 2, 3]), libceed.DimensionError),
        (lambda: v.set_array([1j, 2, 3, 4]), libceed.IncompatibleError),
        (lambda: v.set_array("four"), libceed.Error),
        (lambda: v.set_array([1, 2, 3, 4], cmode=libceed.USE_POINTER), libceed.IncompatibleError),
        (lambda: v.set_array(np.arange(4), cmode=libceed.USE_POINTER), libceed.IncompatibleError),
        (lambda: v.set_array(np.zeros(8)[::2], cmode=libceed.USE_POINTER), libceed.IncompatibleError),
        (lambda: v.set_array(np.zeros(4), memtype=libceed.MEM_DEVICE), libceed.IncompatibleError),
        (lambda: v.set_array(np.zeros(4), memtype=7), libceed.Error),
        (lambda: v.take_array(), libceed.FailedError),
        (lambda: v.axpy(1, w), libceed.UnsupportedError),
        (lambda: v.axpy(1, np.zeros(4)), libceed.IncompatibleError),
        (lambda: v.axpy(1, libceed.BASIS_NONE), libceed.IncompatibleError),
        (lambda: v.copy(w), libceed.IncompatibleError),
        (lambda: v.norm(9), libceed.Error),
        (lambda: v.restore_array(), libceed.AccessError),
        (lambda: v.restore_array_read(), libceed.AccessError),
        (lambda: v.set_value_strided(0, 99, 1, 0), libceed.AccessError),
        (lambda: v.set_num_view_tabs(-1), libceed.Error),
        (lambda: v.set_value("one"), TypeError),
    ):
        check_misuse(call, error)
    with v.array_read():
        check_misuse(v.get_array, libceed.AccessError)
        check_misuse(lambda: v.set_value(0), libceed.AccessError)
        check_misuse(lambda: v.set_array([4, 3, 2, 1]), libceed.AccessError)
    assert np.array_equal(values(v), [1, 2, 3, 4])


def test_misuse_of_restrictions_and_bases(ceed):
    basis, v = ceed.BasisTensorH1Lagrange(1, 1, 2, 2, libceed.GAUSS), ceed.Vector(2)
    rstr, table = ceed.ElemRestriction(1, 2, 1, 1, 2, [0, 1]), np.zeros((2, 2), libceed.SCALAR)
    v.set_value(1)
    for call, error in (
        (lambda: ceed.ElemRestriction(2, 2, 1, 1, 3, [0, 1, 1]), libceed.DimensionError),
        (lambda: ceed.ElemRestriction(1, 2, 1, 1, 3, [0.5, 1.5]), libceed.IncompatibleError),
        (lambda: ceed.ElemRestriction(1, 2, 1, 1, 3, [0, 2**40]), libceed.DimensionError),
        (lambda: ceed.ElemRestriction(-1, 2, 1, 1, 3, []), libceed.DimensionError),
        (lambda: ceed.ElemRestriction(2**40, 2, 1, 1, 3, []), libceed.Error),
        (lambda: ceed.OrientedElemRestriction(1, 2, 1, 1, 3, [0, 1], [True]), libceed.DimensionError),
        (lambda: ceed.CurlOrientedElemRestriction(1, 2, 1, 1, 3, [0, 1], [0, 1]), libceed.DimensionError),
        (lambda: ceed.StridedElemRestriction(1, 2, 1, 2, [1, 2]), libceed.DimensionError),
        (lambda: ceed.StridedElemRestriction(4, 2, 1, 2, [1, 2, 2]), libceed.DimensionError),
        (lambda: ceed.ElemRestrictionAtPoints(1, 2, 1, 2, [2, 4, 0]), libceed.DimensionError),
        (lambda: rstr.get_strides(), libceed.Error),
        (lambda: rstr.get_num_points(), libceed.IncompatibleError),
        (lambda: rstr.get_orientations(), libceed.Error),
        (lambda: rstr.apply(v, ceed.Vector(1)), libceed.Error),
        (lambda: rstr.apply(v, basis), libceed.IncompatibleError),
        (lambda: ceed.BasisTensorH1Lagrange(0, 1, 2, 2, libceed.GAUSS), libceed.DimensionError),
        (lambda: ceed.BasisTensorH1Lagrange(1, 1, 1, 2, libceed.GAUSS), libceed.DimensionError),
        (lambda: ceed.BasisTensorH1(1, 1, 2, 2, table, table[:1], [0, 1], [1, 1]), libceed.DimensionError),
        (lambda: ceed.BasisH1(libceed.TRIANGLE, 1, 2, 2, table, table, [0], [1]), libceed.DimensionError),
        (lambda: ceed.BasisH1(5, 1, 2, 2, table, [], [], [1, 1]), libceed.Error),
        (lambda: basis.apply(1, libceed.EVAL_DIV, v, v.copy()), libceed.FailedError),
        (lambda: basis.apply(1, libceed.EVAL_INTERP, v, v), libceed.IncompatibleError),
        (lambda: basis.apply(3, libceed.EVAL_INTERP, v, v.copy()), libceed.DimensionError),
        (lambda: basis.apply(1, 77, v, v.copy()), libceed.Error),
        (lambda: ceed.gauss_quadrature(0), libceed.Error),
        (lambda: ceed.lobatto_quadrature(1), libceed.DimensionError),
        (lambda: libceed.Basis.matrix_pseudoinverse(ceed, table, 3, 2), libceed.DimensionError),
        (lambda: libceed.Basis.matrix_pseudoinverse(ceed, table, 1, 4), libceed.Error),
        (lambda: libceed.Basis.householder_apply_q(ceed, table.copy(), table, [0, 0], 0, 2, 2, 2, 9, 1),
         libceed.DimensionError),
    ):
        check_misuse(call, error)
    basis.apply(1, libceed.EVAL_INTERP, v, v.copy())


def test_misuse_of_qfunctions_and_operators(ceed):
    s = make_problem(ceed, 1)
    op, ctx, v = ceed.Operator(s.qf), ceed.QFunctionContext(), ceed.Vector(2)
    rstr = ceed.ElemRestriction(2, 2, 1, 1, 3, [0, 1, 1, 2])
    for call, error in (
        (lambda: libceed.Ceed("/no/such"), libceed.Error),
        (lambda: libceed.Ceed("/cpu/self", on_error="explode"), libceed.IncompatibleError),
        (lambda: libceed.Ceed("/cpu/self/ref", on_error="return").Vector(-1), libceed.UnsupportedError),
        (lambda: ceed.QFunctionByName("MassApplied"), libceed.UnsupportedError),
        (lambda: ceed.QFunction(1, None, "no-colon.h"), libceed.IncompatibleError),
        (lambda: ceed.QFunction(1, None, "/no/such/file.h:f"), libceed.Error),
        (lambda: ceed.QFunction(1, "name", "file.h:f"), libceed.IncompatibleError),
        (lambda: ceed.QFunctionFromText("text", "not a name"), libceed.IncompatibleError),
        (lambda: s.qf.add_input("w", 1, libceed.EVAL_NONE), libceed.FailedError),
        (lambda: s.qf.apply(4, [v], [v]), libceed.DimensionError),
        (lambda: s.qf.apply(4, [v, v], [None]), libceed.IncompatibleError),
        (lambda: s.qf.set_context(v), libceed.IncompatibleError),
        (lambda: s.qf.set_user_flops_estimate(-1), libceed.IncompatibleError),
        (lambda: ctx.get_data(), libceed.FailedError),
        (lambda: ctx.set_data(3), libceed.IncompatibleError),
        (lambda: ctx.set_data(b"four", cmode=libceed.USE_POINTER), libceed.IncompatibleError),
        (lambda: ctx.restore_data(), libceed.Error),
        (lambda: ctx.take_data(), libceed.FailedError),
        (lambda: ctx.set_double("none", 1), libceed.UnsupportedError),
        (lambda: ceed.Operator(None), libceed.Error),
        (lambda: ceed.Operator(v), libceed.IncompatibleError),
        (lambda: op.set_field("u", None, s.basis_u, libceed.VECTOR_ACTIVE), libceed.IncompatibleError),
        (lambda: op.set_field("u", s.basis_u, s.rstr_u, libceed.VECTOR_ACTIVE), libceed.IncompatibleError),
        (lambda: op.set_field("no", s.rstr_u, s.basis_u, libceed.VECTOR_ACTIVE), libceed.IncompleteError),
        (lambda: op.set_field("u", rstr, s.basis_u, libceed.VECTOR_ACTIVE),
         libceed.Error),
        (lambda: op.apply(v, v), libceed.IncompleteError),
        (lambda: op.linear_assemble_symbolic(), libceed.IncompleteError),
        (lambda: s.op.apply(v, ceed.Vector(s.size)), libceed.FailedError),
        (lambda: s.op.set_context_double("factor", 1), libceed.UnsupportedError),
        (lambda: s.op.linear_assemble_diagonal(libceed.VECTOR_NONE), libceed.Error),
        (lambda: s.op.multigrid_create_h1(v, s.rstr_u, s.basis_u, [1, 2]), libceed.DimensionError),
        (lambda: s.op.multigrid_create(None, s.rstr_u, s.basis_u), libceed.IncompatibleError),
        (lambda: ceed.CompositeOperator().add_sub(s.qf), libceed.IncompatibleError),
        (lambda: ceed.get_jit_absolute_path("no/such.h"), libceed.FailedError),
    ):
        check_misuse(call, error)
    assert ceed.get_error_message()
    ceed.reset_error_message()
    assert ceed.get_error_message() == "No error message stored"
    op.set_field("u", s.rstr_u, s.basis_u, libceed.VECTOR_ACTIVE)
    op.set_field("qdata", s.rstr_q, libceed.BASIS_NONE, s.qdata)
    op.set_field("v", s.rstr_u, s.basis_u, libceed.VECTOR_ACTIVE)
    assert np.array_equal(apply(op, np.ones(s.size)), apply(s.op, np.ones(s.size)))


def test_misuse_across_contexts(ceed):
    other = libceed.Ceed("/cpu/self/ref")
    v, w = ceed.Vector(3), other.Vector(3)
    v.set_value(1)
    w.set_value(1)
    check_misuse(lambda: v.axpy(1, w), libceed.IncompatibleError)
