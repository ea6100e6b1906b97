# SPDX-License-Identifier: BSD-2-Clause
"""Every function of the Ceed API has its method in ritz.ceed or a reason why not; names of the standard."""
import pathlib
import re

import numpy as np

import ritz.ceed as libceed
from ritz import _core

# Patterns of functions without a method, and why.
WITHOUT = {
    r"Ceed\w*(ReferenceCopy|Destroy)": "references are Python's",
    r"Ceed\w*(GetCeed|ReturnCeed)": "the attribute .ceed",
    r"CeedObject\w+": "methods of the objects themselves",
    r"CeedInit|CeedErrorImpl": "the constructor Ceed, by RitzInit; `raise`",
    r"Ceed(QFunction)?Register(All)?": "for C programs; the library does it",
    r"CeedGetResourceRoot|CeedGetJitRelativePath": "parts of strings",
    r"Ceed(Get|Restore|Clear)WorkVectors?(MemoryUsage)?": "the pool of backends; programs make vectors",
    r"CeedTensorContractApply|CeedOperator(Get)?(Operator)?AssemblyData(Get\w+)?": "insides of backends",
    r"CeedQFunctionGetInnerContext": "get_context, which is the same",
    r"CeedQFunctionFieldGet(Name|Size|EvalMode)": "fields are tuples with all of it",
    r"CeedOperatorFieldGet(Name|ElemRestriction|Basis|Vector)": "fields are tuples with all of it",
    r"CeedQFunctionContextSetDataDestroy": "memory is NumPy's, which has finalizers",
}

# Names that programs of the standard package use.
NAMES = {
    libceed: """
        Ceed Vector ElemRestriction Basis QFunction QFunctionContext Operator MEM_HOST MEM_DEVICE
        COPY_VALUES USE_POINTER OWN_POINTER NORM_1 NORM_2 NORM_MAX TRANSPOSE NOTRANSPOSE EVAL_NONE
        EVAL_INTERP EVAL_GRAD EVAL_DIV EVAL_CURL EVAL_WEIGHT GAUSS GAUSS_LOBATTO LINE TRIANGLE QUAD TET
        PYRAMID PRISM HEX STRIDES_BACKEND VECTOR_ACTIVE VECTOR_NONE ELEMRESTRICTION_NONE BASIS_COLLOCATED
        BASIS_NONE QFUNCTION_NONE REQUEST_IMMEDIATE REQUEST_ORDERED SCALAR_FP32 SCALAR_FP64 scalar_types
        EPSILON lobatto_quadrature gauss_quadrature
    """,
    libceed.Ceed: """
        get_resource get_preferred_memtype scalar_type Vector ElemRestriction OrientedElemRestriction
        CurlOrientedElemRestriction StridedElemRestriction BlockedElemRestriction
        BlockedStridedElemRestriction BasisTensorH1Lagrange BasisTensorH1 BasisH1 BasisHdiv BasisHcurl
        QFunction QFunctionByName IdentityQFunction QFunctionContext Operator CompositeOperator
        lobatto_quadrature gauss_quadrature
    """,
    libceed.Vector: """
        set_array take_array get_array get_array_read get_array_write restore_array restore_array_read array
        array_read array_write sync_array get_length norm scale axpy axpby pointwise_mult reciprocal
        set_value
    """,
    libceed.ElemRestriction: """
        T apply apply_block create_vector get_multiplicity get_layout get_num_elements get_num_blocks
        get_block_size
    """,
    libceed.Basis: "T apply get_num_nodes get_num_quadrature_points",
    libceed.QFunction: "add_input add_output set_context apply",
    libceed.QFunctionContext: "set_data get_data restore_data",
    libceed.Operator: """
        set_field apply apply_add linear_assemble_qfunction linear_assemble_diagonal
        linear_assemble_add_diagonal linear_assemble_point_block_diagonal
        linear_assemble_add_point_block_diagonal linear_assemble_symbolic linear_assemble multigrid_create
        multigrid_create_tensor_h1 multigrid_create_h1 name
    """,
    libceed.CompositeOperator: "add_sub",
}


RESTORED = ("Offsets", "Orientations", "CurlOrientations")


def called_functions():
    """Ceed functions that the package names, those of names put together from parts among them."""
    files = pathlib.Path(libceed.__file__).parent.glob("*.py")
    source = "\n".join(file.read_text(encoding="utf-8") for file in files)
    names = set(re.findall(r"\blib(?:\.|, \")(Ceed\w+)", source))
    kinds = {kind._kind for kind in vars(libceed).values() if hasattr(kind, "_kind")}
    for part in re.findall(r'self\._kind \+ "(\w+)"', source):
        names |= {kind + part for kind in kinds}
    for part in re.findall(r'"CeedElemRestriction(\w+)" \+ name', source):
        names |= {f"CeedElemRestriction{part}{what}" for what in RESTORED}
    for prefix in ("CeedQFunctionContext", "CeedOperator"):
        word = "Context" if prefix == "CeedOperator" else ""
        names.add(f"{prefix}Get{word}FieldLabel")
        for kind in ("Double", "Int32", "Boolean"):
            value = word + kind
            names |= {f"{prefix}Set{value}", f"{prefix}Get{value}Read", f"{prefix}Restore{value}Read"}
    return names


def all_functions():
    """Of the headers that bindings read; tables of texts are data."""
    functions = set(filter(re.compile(r"Ceed[A-Z]").match, dir(_core.lib)))
    return {name for name in functions if not isinstance(getattr(_core.lib, name), _core.ffi.CData)}


def test_every_function_has_a_method():
    left = all_functions() - called_functions()
    assert [name for name in sorted(left) if not any(re.fullmatch(one, name) for one in WITHOUT)] == []
    for pattern in WITHOUT:
        assert any(re.fullmatch(pattern, name) for name in left), f"{pattern} explains nothing"
    assert len(all_functions()) > 300


def test_names_of_the_standard():
    for place, names in NAMES.items():
        for name in names.split():
            assert hasattr(place, name), f"{place.__name__}.{name}"


def test_arguments_of_the_standard():
    """Their names, order and defaults, as its documentation uses them."""
    ceed = libceed.Ceed()
    x, y = ceed.Vector(4), ceed.Vector(6)
    x.set_array(np.arange(10, 14, dtype=ceed.scalar_type()), cmode=libceed.USE_POINTER)
    y.set_value(0)
    rstr = ceed.ElemRestriction(3, 2, 1, 1, 4, np.array([0, 1, 1, 2, 2, 3], dtype="int32"),
                                memtype=libceed.MEM_HOST, cmode=libceed.USE_POINTER)
    rstr.apply(x, y)
    with y.array_read() as array:
        assert list(array) == [10, 11, 11, 12, 12, 13]
    rstr.apply(y, x, tmode=libceed.TRANSPOSE, request=libceed.REQUEST_IMMEDIATE)
    basis = ceed.BasisTensorH1Lagrange(dim=1, ncomp=1, P=4, Q=4, qmode=libceed.GAUSS_LOBATTO)
    points = ceed.Vector(basis.get_num_quadrature_points())
    basis.apply(1, libceed.EVAL_INTERP, x, points)
    basis.apply(1, libceed.EVAL_INTERP, points, x, tmode=libceed.TRANSPOSE)
    qf, element = ceed.QFunctionByName("MassApply"), ceed.ElemRestriction(1, 4, 1, 1, 4, np.arange(4))
    op = ceed.Operator(qf, libceed.QFUNCTION_NONE, libceed.QFUNCTION_NONE)
    op.set_field("u", element, basis, libceed.VECTOR_ACTIVE)
    for text in (str(ceed), str(x), str(rstr), str(basis), str(qf)):
        assert text


def test_constants_are_those_of_c():
    for name in dir(libceed):
        value = getattr(_core.lib, "CEED_" + name, None)
        if isinstance(value, int):
            assert getattr(libceed, name) == value


def test_the_library_tells_about_itself():
    assert len(libceed.get_version()) == 4 and libceed.get_git_version() and libceed.get_build_configuration()
    assert "/cpu/self/ref" in libceed.registry_list()
    assert libceed.get_topology_dimension(libceed.TOPOLOGY_PRISM) == 3
    ceed = libceed.Ceed("/cpu/self/ref")
    assert ceed.get_resource() == "/cpu/self/ref" and ceed.get_preferred_memtype() == libceed.MEM_HOST
    assert ceed.scalar_type() == libceed.SCALAR.name and isinstance(ceed.is_deterministic(), bool)
    ceed.set_is_clang(True)
    assert ceed.get_is_clang()
    ceed.set_num_view_tabs(2)
    assert ceed.get_num_view_tabs() == 2 and str(ceed).startswith("    Ceed")
    assert not ceed.check_file_path("/no/such/file.h:f") and ceed.check_file_path(__file__ + ":f")
    ceed.add_rust_source_root("/tmp/")
    request = libceed.Request()
    request.wait()
