# SPDX-License-Identifier: BSD-2-Clause
"""The mathematics of operators made through ritz.ceed: volumes, energies, adjoints, assembly, multigrid."""
import numpy as np
import pytest
from ceed_problems import (EPS, RESOURCES, VOLUME, apply, dense, make_ceed, make_operator, make_problem,
                           random_vector, values)

import ritz.ceed as libceed

TOL = 1000 * EPS  # of numbers of size 1 that are sums of some hundred


@pytest.fixture(params=RESOURCES, scope="module")
def ceed(request):
    return make_ceed(request.param)


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_mass_gives_the_volume(ceed, dim):
    s = make_problem(ceed, dim)
    assert abs(apply(s.op, np.ones(s.size)).sum() - VOLUME) < TOL


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_laplace_gives_the_energy_of_linear_functions(ceed, dim):
    """They are in the space, since nodes and geometry have the same degree: u K u = |grad u|^2 times the
    volume."""
    s = make_problem(ceed, dim, kind="Poisson")
    gradient = np.arange(1, dim + 1)
    u = gradient @ values(s.x).reshape(dim, -1)
    assert np.abs(apply(s.op, np.ones(s.size))).max() < TOL
    assert abs(u @ apply(s.op, u) - VOLUME * gradient @ gradient) < 10 * TOL


@pytest.mark.parametrize("kind", ["Mass", "Poisson"])
@pytest.mark.parametrize("ncomp", [1, 3])
def test_operators_are_symmetric(ceed, kind, ncomp):
    s = make_problem(ceed, 2, kind=kind, ncomp=ncomp)
    x, y = (values(random_vector(ceed, s.size, seed)) for seed in (1, 2))
    assert abs(y @ apply(s.op, x) - x @ apply(s.op, y)) < TOL


def test_restriction_and_its_transpose(ceed):
    s = make_problem(ceed, 2)
    u, (l, e) = random_vector(ceed, s.size), s.rstr_u.create_vector()
    s.rstr_u.apply(u, e)
    w = random_vector(ceed, len(e), 3)
    l.set_value(0)
    s.rstr_u.T.apply(w, l)
    assert abs(values(e) @ values(w) - values(u) @ values(l)) < TOL
    e.set_value(1)
    l.set_value(0)
    s.rstr_u.apply(e, l, libceed.TRANSPOSE)
    assert np.array_equal(values(l), values(s.rstr_u.get_multiplicity()))
    assert values(l).sum() == len(e)


@pytest.mark.parametrize("mode", [libceed.EVAL_INTERP, libceed.EVAL_GRAD])
def test_basis_and_its_transpose(ceed, mode):
    basis = ceed.BasisTensorH1Lagrange(3, 2, 4, 5, libceed.GAUSS)
    u, q = random_vector(ceed, 2 * 64), ceed.Vector(2 * 125 * (3 if mode == libceed.EVAL_GRAD else 1))
    basis.apply(1, mode, u, q)
    w, v = random_vector(ceed, len(q), 5), ceed.Vector(len(u))
    basis.T.apply(1, mode, w, v)
    assert abs(values(q) @ values(w) - values(u) @ values(v)) < 10 * TOL


def test_weights_integrate(ceed):
    basis, w = ceed.BasisTensorH1Lagrange(2, 1, 3, 4, libceed.GAUSS_LOBATTO), ceed.Vector(16)
    basis.apply(1, libceed.EVAL_WEIGHT, libceed.VECTOR_NONE, w)
    assert abs(values(w).sum() - 4) < TOL


@pytest.mark.parametrize("q", [2, 5, 9])
def test_quadrature_is_exact(q):
    for rule, degree in ((libceed.gauss_quadrature, 2 * q - 1), (libceed.lobatto_quadrature, 2 * q - 3)):
        points, weights = rule(q)
        for k in range(degree + 1):
            assert abs(weights @ points**k - (1 + (-1) ** k) / (k + 1)) < TOL


@pytest.mark.parametrize("kind", ["Mass", "Poisson"])
@pytest.mark.parametrize("ncomp", [1, 3])
def test_assembly_agrees_with_the_dense_matrix(ceed, kind, ncomp):
    s = make_problem(ceed, 2, ncomp=ncomp, kind=kind)
    matrix, diagonal = dense(s.op), ceed.Vector(s.size)
    (rows, cols), triples = s.op.linear_assemble_symbolic(), values(s.op.linear_assemble())
    summed = np.zeros_like(matrix)
    np.add.at(summed, (rows, cols), triples)
    assert np.abs(summed - matrix).max() < TOL
    (data, columns, starts), shape = s.op.assemble_csr()
    compressed = np.zeros(shape)
    compressed[np.repeat(np.arange(shape[0]), np.diff(starts)), columns] = data
    assert np.abs(compressed - matrix).max() < TOL
    s.op.linear_assemble_diagonal(diagonal)
    s.op.linear_assemble_add_diagonal(diagonal)
    assert np.abs(values(diagonal) - 2 * np.diag(matrix)).max() < TOL
    blocks = ceed.Vector(s.size * ncomp)
    s.op.linear_assemble_point_block_diagonal(blocks)
    rows, cols = s.op.linear_assemble_point_block_diagonal_symbolic()
    assert np.abs(values(blocks) - matrix[rows, cols]).max() < TOL
    s.op.linear_assemble_add_point_block_diagonal(blocks)
    assert np.abs(values(blocks) - 2 * matrix[rows, cols]).max() < TOL


def test_assembled_qfunction_is_a_field(ceed):
    s = make_problem(ceed, 2)
    assembled, rstr = s.op.linear_assemble_qfunction()
    assert abs(values(assembled).sum() - VOLUME) < TOL
    again = ceed.Operator(s.qf)
    again.set_field("u", s.rstr_u, s.basis_u, libceed.VECTOR_ACTIVE)
    again.set_field("qdata", rstr, libceed.BASIS_COLLOCATED, assembled)
    again.set_field("v", s.rstr_u, s.basis_u, libceed.VECTOR_ACTIVE)
    x = values(random_vector(ceed, s.size))
    assert np.abs(apply(again, x) - apply(s.op, x)).max() < TOL


def test_assembled_qfunction_follows_its_data(ceed):
    s = make_problem(ceed, 2)
    s.op.set_qfunction_assembly_reuse(True)
    first, _ = s.op.linear_assemble_qfunction_build_or_update()
    total = values(first).sum()
    s.qdata.scale(2.0)
    s.op.set_qfunction_assembly_data_update_needed(True)
    second, _ = s.op.linear_assemble_qfunction_build_or_update()
    assert second is first
    assert abs(values(second).sum() - 2 * total) < TOL
    s.op.assembly_data_strip()


@pytest.mark.parametrize("variant", ["projection", "tensor", "full"])
def test_multigrid_levels(ceed, variant):
    """Prolongation keeps constants, restriction is its transpose, the coarse operator is P^T A P."""
    fine, coarse = (make_problem(ceed, 2, p=p, Q=6, kind="Poisson") for p in (4, 2))
    ones = ceed.Vector(fine.size)
    ones.set_value(1.0)
    if variant == "projection":
        levels = fine.op.multigrid_create(ones, coarse.rstr_u, coarse.basis_u)
    else:
        table = coarse.basis_u.create_projection(fine.basis_u)
        if variant == "tensor":
            levels = fine.op.multigrid_create_tensor_h1(ones, coarse.rstr_u, coarse.basis_u,
                                                        table.get_interp_1d())
        else:
            levels = fine.op.multigrid_create_h1(ones, coarse.rstr_u, coarse.basis_u, table.get_interp())
    op, prolong, restrict = levels
    assert np.abs(apply(prolong, np.ones(coarse.size)) - 1).max() < TOL
    P, R = dense(prolong), dense(restrict)
    assert np.abs(P.T - R).max() < TOL
    assert np.abs(dense(op) - R @ dense(fine.op) @ P).max() < 10 * TOL


def test_sums_of_operators(ceed):
    mass, laplace = (make_problem(ceed, 2, kind=kind) for kind in ("Mass", "Poisson"))
    both = ceed.CompositeOperator()
    for one, name in ((mass, "mass"), (laplace, "laplace")):
        one.op.set_name(name)
        both.add_sub(one.op)
    x = values(random_vector(ceed, mass.size))
    parts = apply(mass.op, x) + apply(laplace.op, x)
    assert np.abs(apply(both, x) - parts).max() < TOL
    u, v = ceed.Vector(mass.size), ceed.Vector(mass.size)
    u.set_array(x)
    v.set_array(parts)
    both.apply_add(u, v)
    assert np.abs(values(v) - 2 * parts).max() < TOL
    both.apply_add_active(u, v)
    assert np.abs(values(v) - 3 * parts).max() < TOL
    assert both.get_sub_list() == [mass.op, laplace.op] and both.get_num_sub() == 2
    assert both.get_sub_by_name("laplace") is laplace.op and both.get_sub_by_name("none") is None
    assert np.all(values(both.get_multiplicity()) == 2) and np.all(values(both.get_multiplicity([1])) == 1)
    both.set_sequential(True)
    assert both.is_sequential() and both.is_composite() and not mass.op.is_composite()


def test_identity_and_passive_output(ceed):
    """B^T of the identity is the integral of the basis without geometry; all-passive operators write
    vectors."""
    basis = ceed.BasisTensorH1Lagrange(1, 1, 3, 4, libceed.GAUSS)
    rstr, out = ceed.ElemRestriction(1, 3, 1, 1, 3, [0, 1, 2]), ceed.Vector(4)
    points = ceed.StridedElemRestriction(1, 4, 1, 4, libceed.STRIDES_BACKEND)
    op, u = ceed.Operator(ceed.IdentityQFunction(1, libceed.EVAL_INTERP, libceed.EVAL_NONE)), ceed.Vector(3)
    u.set_array(libceed.lobatto_quadrature(3)[0])
    op.set_field("input", rstr, basis, u)
    op.set_field("output", points, libceed.BASIS_NONE, out)
    op.apply(libceed.VECTOR_NONE, libceed.VECTOR_NONE)
    assert np.abs(values(out) - libceed.gauss_quadrature(4)[0]).max() < TOL


def test_inverse_of_an_element(ceed):
    """Fast diagonalization inverts mass and mass plus stiffness of one affine element."""
    basis = ceed.BasisTensorH1Lagrange(2, 1, 4, 6, libceed.GAUSS)
    rstr, qdata = ceed.ElemRestriction(1, 16, 1, 1, 16, np.arange(16)), ceed.Vector(36)
    points = ceed.StridedElemRestriction(1, 36, 1, 36, libceed.STRIDES_BACKEND)
    basis.apply(1, libceed.EVAL_WEIGHT, libceed.VECTOR_NONE, qdata)
    op = ceed.Operator(ceed.QFunctionByName("MassApply"))
    op.set_field("u", rstr, basis, libceed.VECTOR_ACTIVE)
    op.set_field("qdata", points, libceed.BASIS_NONE, qdata)
    op.set_field("v", rstr, basis, libceed.VECTOR_ACTIVE)
    inverse, matrix = dense(op.create_fdm_element_inverse()), dense(op)
    assert np.abs(inverse - inverse.T).max() < 1e3 * TOL
    assert np.linalg.eigvalsh(inverse).min() > 0
    product = inverse @ matrix
    assert np.abs(product / np.trace(product) * 16 - np.eye(16)).max() < 1e4 * TOL


def test_operators_at_points(ceed):
    """Values of a linear function at points of two elements."""
    basis, rstr = ceed.BasisTensorH1Lagrange(1, 1, 2, 3, libceed.GAUSS), ceed.ElemRestriction(2, 2, 1, 1, 3,
                                                                                              [0, 1, 1, 2])
    points, u, v = ceed.ElemRestrictionAtPoints(2, 3, 1, 3, [3, 5, 6, 0, 1,
                                                             2]), ceed.Vector(3), ceed.Vector(3)
    coordinates = ceed.Vector(3)
    coordinates.set_array([-0.5, 0.5, 0.0])
    u.set_array([0.0, 1.0, 2.0])
    op = ceed.OperatorAtPoints(ceed.IdentityQFunction(1, libceed.EVAL_INTERP, libceed.EVAL_NONE))
    op.set_field("input", rstr, basis, libceed.VECTOR_ACTIVE)
    op.set_field("output", points, libceed.BASIS_NONE, libceed.VECTOR_ACTIVE)
    op.at_points_set_points(points, coordinates)
    op.apply(u, v)
    assert np.abs(values(v) - [0.25, 0.75, 1.5]).max() < TOL
    assert op.is_at_points() and op.at_points_get_points() == (points, coordinates)
    assert points.get_num_points() == 3 and points.get_num_points_in_element(0) == 2
    assert points.get_min_max_points_in_element() == (1, 2) and points.is_at_points()


def test_fields_are_the_objects_that_were_given(ceed):
    s = make_problem(ceed, 2)
    inputs, outputs = s.op.get_fields()
    assert [field.name for field in inputs + outputs] == ["u", "qdata", "v"]
    assert inputs[0].elem_restriction is s.rstr_u and inputs[0].basis is s.basis_u
    assert inputs[0].vector is libceed.VECTOR_ACTIVE and inputs[1].vector is s.qdata
    assert inputs[1].basis is libceed.BASIS_NONE
    assert s.op.get_field_by_name("qdata").vector is s.qdata and s.op.get_field_by_name("w") is None
    assert s.op.get_qfunction() is s.qf and s.op.get_active_basis() is s.basis_u
    assert s.op.get_active_bases() == (s.basis_u, s.basis_u)
    assert s.op.get_active_elem_restriction() is s.rstr_u
    assert s.op.get_active_elem_restrictions() == (s.rstr_u, s.rstr_u)
    assert (s.op.get_num_elements(), s.op.get_num_quadrature_points(), s.op.get_num_args()) == (4, 16, 3)
    assert s.op.get_flops_estimate() > 0 and s.op.has_tensor_bases()


def test_operators_explain_themselves(ceed):
    s = make_problem(ceed, 3)
    assert "MassApply" in str(s.op) and s.op.explain()
    source = s.op.get_kernel_source()
    assert source is None or "MassApply" in source


def test_both_names_of_derivatives(ceed):
    qf = ceed.QFunctionByName("MassApply")
    for op in (ceed.Operator(qf, None, None), ceed.Operator(qf, dqf=libceed.QFUNCTION_NONE,
                                                            qdfT=libceed.QFUNCTION_NONE)):
        with pytest.raises(libceed.IncompleteError):
            op.check_ready()
    s = make_problem(ceed, 1)
    assert make_operator(ceed, s, s.qf, "u", "v").check_ready() is None
