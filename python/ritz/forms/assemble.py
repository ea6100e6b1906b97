# SPDX-License-Identifier: BSD-2-Clause
"""Operators of the library for compiled forms (integrals.py), and what users assemble: numbers, vectors, operators.

An operator of an integral has its context (values of constants) and, where the compiler stores numbers at points,
a second operator that computes these. Both are brought up to date when functions or constants have changed.
"""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np
import ufl

from .._core import REQUEST_IMMEDIATE, SCALAR_TYPE, Context, Handle, UnsupportedError, Vector, ffi, lib
from ..bcs import DirichletBC
from ..function import Constant, Function
from ..mesh import Mesh
from ..operators import Operator
from ..space import AnySpace, FunctionSpace, ProductSpace
from .integrals import CompiledForm, Field, Integral, Kernel, compile_form
from .scalar import UnsupportedForm

_VALUE, _GRADIENT = lib.RITZ_FORM_VALUE, lib.RITZ_FORM_GRADIENT


class _Place:
    """Where a form is made an operator: spaces of its arguments, functions, constants. `unknown`: the number of the
    coefficient that operators take as their input, or None."""

    def __init__(self, compiled: CompiledForm, mesh: Mesh, spaces: Sequence[AnySpace], functions: Sequence[Function],
                 constants: Sequence[Constant], unknown: Optional[int], policy: str):
        self.compiled, self.mesh, self.ctx = compiled, mesh, mesh.ctx
        self.spaces, self.functions, self.constants = list(spaces), list(functions), list(constants)
        self.unknown, self.policy = unknown, policy

    def default_space(self) -> FunctionSpace:
        """The space that gives the default of quadrature."""
        if not self.spaces:
            return vertex_space(self.mesh)
        return max(self.spaces[0].spaces, key=lambda space: int(space.degree))

    def functions_of(self, kernel: Kernel) -> List[Function]:
        """What the kernel's values depend on, but its active input."""
        return [self.functions[k] for k in sorted(kernel.coefficients) if k != self.unknown]

    def constants_of(self, kernel: Kernel) -> List[Constant]:
        return [self.constants[k] for k in sorted(kernel.constants)]


def vertex_space(mesh: Mesh) -> FunctionSpace:
    """The space of degree 1, kept with its mesh: for integrals without test functions."""
    space: Optional[FunctionSpace] = getattr(mesh, "_vertex_space", None)
    if space is None:
        space = mesh._vertex_space = FunctionSpace(mesh, 1)
    return space


class _Constants:
    """The context of a kernel."""

    def __init__(self, place: _Place, kernel: Kernel):
        self._place, self._kernel, self._known = place, kernel, place.constants_of(kernel)
        self._handle: Optional[Handle] = None
        self._versions: List[int] = []
        if kernel.context:
            self._handle = place.ctx.new("CeedQFunctionContext", lib.CeedQFunctionContextCreate, place.ctx.h)
            self.refresh()

    @property
    def h(self) -> Any:
        return self._handle.h if self._handle else ffi.NULL

    def refresh(self) -> None:
        if self._handle is None:
            return
        versions = [c.version for c in self._known]
        if versions == self._versions:
            return
        values = self._place.compiled.constant_values(self._kernel, [c.values for c in self._place.constants])
        self._place.ctx.call(lib.CeedQFunctionContextSetData, self._handle.h, lib.CEED_MEM_HOST, lib.CEED_COPY_VALUES,
                             values.nbytes, ffi.cast("void *", values.ctypes.data))
        self._versions = versions


class IntegralOperator:
    """The operator of an integral on some spaces."""

    def __init__(self, place: _Place, integral: Integral, where: Any):
        self._place, self._integral, self._where = place, integral, where
        self._numbers: Optional[Vector] = None
        self._setup: Optional[Handle] = None
        self._computed: List[int] = [-1]
        self._functions = place.functions_of(integral.setup) if integral.setup else []
        self._watched = place.constants_of(integral.setup) if integral.setup else []
        if integral.setup:
            self._numbers = self._create_numbers(integral.num_stored)
            self._setup_constants = _Constants(place, integral.setup)
            self._setup = self._create(integral.setup, self._setup_constants)
        self._constants = _Constants(place, integral.kernel)
        kind = self._standard_kind()
        self.handle = (self._create(integral.kernel, self._constants) if kind is None
                       else self._create_standard(kind, *integral.standard or (0.0, 0.0)))

    # ---- Making ----

    def _num_points(self) -> int:
        degree = self._integral.quadrature_degree
        if degree is None:
            return 0
        return max(degree + 4, 4) // 2 if self._integral.is_lobatto else max(degree, 0) // 2 + 1

    def _options(self, keep: List[Any]) -> Any:
        place = self._place
        options = ffi.new("RitzOperatorOptions *", {
            "space": place.default_space().h, "num_points": self._num_points(),
            "quad_mode": lib.CEED_GAUSS_LOBATTO if self._integral.is_lobatto else lib.CEED_GAUSS})
        policy = ffi.new("RitzGeometryPolicy *")
        place.ctx.call(lib.RitzGeometryPolicyFromName, place.policy.encode(), policy)
        options.policy = policy[0]
        if self._where is not None:
            keep.append(ffi.new("int32_t[]", self._where))
            options.num_regions, options.regions = len(self._where), keep[-1]
        return options

    def _standard_kind(self) -> Optional[int]:
        """The library's own operator that the integral is, where that is faster than the form. Mass: its numbers at
        points are read in the time that high degrees take to compute them (tests/bench_forms.py library)."""
        place, standard = self._place, self._integral.standard
        if standard is None or place.spaces[0].h != place.spaces[1].h:
            return None
        if not standard[1]:
            return int(lib.RITZ_OPERATOR_MASS) if place.spaces[0].degree <= 3 else None
        return int(lib.RITZ_OPERATOR_HELMHOLTZ if standard[0] else lib.RITZ_OPERATOR_DIFFUSION)

    def _create_standard(self, kind: int, lam: float, mu: float) -> Handle:
        keep: List[Any] = []
        place = self._place
        options = self._options(keep)
        options.kind = kind
        setattr(options, "lambda", lam)
        options.mu = mu
        return place.ctx.new("CeedOperator", lib.RitzGeometryCreateOperator, place.mesh.geometry.h, place.ctx.h, options)

    def _create_numbers(self, num: int) -> Vector:
        keep: List[Any] = []
        place = self._place
        handle = place.ctx.new("CeedVector", lib.RitzGeometryCreatePointNumbers, place.mesh.geometry.h, place.ctx.h,
                               self._options(keep), num)
        length = ffi.new("CeedSize *")
        place.ctx.call(lib.CeedVectorGetLength, handle.h, length)
        return Vector(int(length[0]), place.ctx, handle)

    def _create(self, kernel: Kernel, constants: _Constants) -> Handle:
        keep: List[Any] = []
        place = self._place
        form = ffi.new("RitzForm *", {
            "text": self._text(keep, kernel.text), "function": self._text(keep, kernel.function),
            "gets": (lib.RITZ_FORM_POSITION * kernel.position + lib.RITZ_FORM_NORMAL * kernel.normal
                     + lib.RITZ_FORM_WEIGHT * kernel.weight + lib.RITZ_FORM_HEIGHT * kernel.height
                     + lib.RITZ_FORM_ISOTROPIC * kernel.isotropic),
            "num_inputs": len(kernel.inputs), "num_outputs": len(kernel.outputs)})
        for name, fields in (("inputs", kernel.inputs), ("outputs", kernel.outputs)):
            keep.append(ffi.new("RitzFormField[]", [self._field(f, keep) for f in fields]))
            setattr(form, name, keep[-1])
        if self._integral.kind == "cell":
            return place.ctx.new("CeedOperator", lib.RitzGeometryCreateFormOperator, place.mesh.geometry.h, place.ctx.h,
                                 self._options(keep), form, constants.h)
        if self._integral.kind == "interior_facet":
            spaces = [self._space_of(f).spaces[f.part] for f in kernel.inputs + kernel.outputs]
            options = ffi.new("RitzInteriorFacetOptions *", {
                "space": max(spaces, key=lambda space: space.degree).h, "num_points": self._num_points()})
            create = lib.RitzGeometryCreateInteriorFormOperator
        else:
            options = ffi.new("RitzBoundaryOptions *", {
                "space": place.default_space().h, "num_points": self._num_points(), "part": self._text(keep, self._where)})
            create = lib.RitzGeometryCreateBoundaryFormOperator
        return place.ctx.new("CeedOperator", create, place.mesh.geometry.h, place.ctx.h, options, form, constants.h)

    @staticmethod
    def _text(keep: List[Any], text: str) -> Any:
        keep.append(ffi.new("char[]", text.encode()))
        return keep[-1]

    def _field(self, f: Field, keep: List[Any]) -> Dict[str, Any]:
        """A field as the library wants it."""
        made: Dict[str, Any] = {"name": self._text(keep, f.name), "what": _VALUE * f.value + _GRADIENT * f.gradient}
        if f.role == "numbers":
            assert self._numbers is not None
            return {**made, "what": lib.RITZ_FORM_NUMBERS, "num_numbers": f.size, "vector": self._numbers.h}
        if f.role == "sum" and self._integral.kind == "cell":
            return {**made, "what": lib.RITZ_FORM_NUMBERS, "num_numbers": 1}
        space = self._space_of(f)
        made["space"] = space.spaces[f.part].h
        if isinstance(space, ProductSpace):
            made.update(product=space.h, index=f.part)
        if f.role == "coefficient" and f.index != self._place.unknown:  # else it is active
            made["vector"] = self._place.functions[f.index].vector.h
        return made

    def _space_of(self, f: Field) -> AnySpace:
        """Of a field that has one."""
        if f.role == "sum":
            return vertex_space(self._place.mesh)
        if f.role == "coefficient":
            return self._place.functions[f.index].space
        return self._place.spaces[1 if f.role == "trial" else 0]

    # ---- Using ----

    def refresh(self) -> None:
        """Constants and numbers at points as functions and constants are now."""
        self._constants.refresh()
        if self._setup is None:
            return
        versions = [f.vector.state for f in self._functions] + [c.version for c in self._watched]
        if versions == self._computed:
            return
        self._setup_constants.refresh()
        self._place.ctx.call(lib.CeedOperatorApply, self._setup.h, lib.CEED_VECTOR_NONE, lib.CEED_VECTOR_NONE,
                             REQUEST_IMMEDIATE)
        self._computed = versions

    def total(self) -> float:
        """The value of a functional."""
        self.refresh()
        ctx = self._place.ctx
        if self._integral.kind == "cell":
            sums = ffi.new("double[1]")
            ctx.call(lib.RitzOperatorReduce, self.handle.h, lib.CEED_VECTOR_NONE, 1, sums)
            return float(sums[0])
        # The functions that are tested with add up to one at every point.
        result = Vector(vertex_space(self._place.mesh).dim, ctx)
        ctx.call(lib.CeedOperatorApply, self.handle.h, lib.CEED_VECTOR_NONE, result.h, REQUEST_IMMEDIATE)
        return float(np.sum(result.array_ro, dtype=float))

    def add_to(self, result: Vector) -> None:
        """Adds a residual to an L-vector of the test functions' space."""
        self.refresh()
        self._place.ctx.call(lib.CeedOperatorApplyAdd, self.handle.h, lib.CEED_VECTOR_NONE, result.h, REQUEST_IMMEDIATE)


# ---- Subdomains ----


def _part_name(mesh: Mesh, part: Any) -> str:
    """A boundary part by its name or number: the part that is called so, or the third of mesh.parts for 3."""
    parts = mesh.parts
    name = str(part)
    if name in parts or name == "all":
        return name
    if isinstance(part, (int, np.integer)) and 1 <= part <= len(parts):
        return parts[int(part) - 1]
    raise ValueError(f"ds: the mesh has no boundary part {part!r}, it has {', '.join(map(repr, parts)) or 'none'}")


def _places(integral: Integral, mesh: Mesh) -> List[Any]:
    """What operators are made on: regions (None: all), boundary parts."""
    if integral.kind == "cell":
        if not integral.subdomains:
            return [None]
        return [sorted({number for region in integral.subdomains for number in mesh.region_numbers(region)})]
    if integral.kind == "exterior_facet":
        return [_part_name(mesh, part) for part in integral.subdomains] or ["all"]
    return [None]


# ---- Forms ----


class BoundForm:
    """A compiled form with spaces, functions and constants: one operator or more for each integral."""

    def __init__(self, compiled: CompiledForm, mesh: Mesh, spaces: Sequence[AnySpace], functions: Sequence[Function],
                 constants: Sequence[Constant], unknown: Optional[int] = None, policy: str = "auto"):
        self.compiled, self.mesh, self.ctx, self.spaces = compiled, mesh, mesh.ctx, list(spaces)
        self.place = _Place(compiled, mesh, spaces, functions, constants, unknown, policy)
        made = [IntegralOperator(self.place, integral, where)
                for integral in compiled.integrals for where in _places(integral, mesh)]
        self.operators = [operator for operator in made if operator.handle.h]  # others have no facets in this part

    def refresh(self) -> None:
        for operator in self.operators:
            operator.refresh()

    def total(self) -> float:
        return self.mesh.sum_over_parts(sum(operator.total() for operator in self.operators))

    def residual(self, out: Optional[Vector] = None) -> Vector:
        result = out if out is not None else Vector(self.spaces[0].dim, self.ctx)
        result.assign(0.0)
        for operator in self.operators:
            operator.add_to(result)
        if self.spaces[0].exchange is not None:
            self.spaces[0].exchange.to_owners(result)
        return result

    def composite(self) -> Handle:
        """One operator of all integrals; NULL where this part of the mesh has nothing to integrate over."""
        if not self.operators:
            return Handle(self.ctx, "CeedOperator", ffi.new("CeedOperator *"))
        if len(self.operators) == 1:
            return self.operators[0].handle
        whole = self.ctx.new("CeedOperator", lib.CeedOperatorCreateComposite, self.ctx.h)
        num, subs = ffi.new("CeedInt *"), ffi.new("CeedOperator **")
        for operator in self.operators:  # composites themselves, which composites do not take
            h = operator.handle.h
            self.ctx.call(lib.CeedOperatorCompositeGetNumSub, h, num)
            self.ctx.call(lib.CeedOperatorCompositeGetSubList, h, subs)
            for i in range(num[0]):
                self.ctx.call(lib.CeedOperatorCompositeAddSub, whole.h, subs[0][i])
        return whole


def bind(form: Any, store: str = "auto", unknown: Optional[Function] = None, policy: str = "auto") -> BoundForm:
    """The form on the spaces, functions and constants that stand in it."""
    compiled = compile_form(form, store)
    mesh = form.ufl_domains()[0]
    functions, constants = form.coefficients(), form.constants()
    for kind, needed, found in (("function", Function, functions), ("constant", Constant, constants)):
        for f in found:
            if not isinstance(f, needed):
                raise TypeError(f"a form with the {kind} {f} of {type(f).__module__}, needed a ritz.{needed.__name__}")
    if not isinstance(mesh, Mesh):
        raise TypeError(f"a form on a mesh of {type(mesh).__module__}, needed a ritz.Mesh")
    spaces = [a.ufl_function_space() for a in sorted(form.arguments(), key=lambda a: a.number())]
    index = None
    if unknown is not None:
        index = next((k for k, f in enumerate(functions) if f is unknown), None)
        if index is None:
            raise ValueError("the form does not have the unknown that it is to be an operator of")
    return BoundForm(compiled, mesh, spaces, functions, constants, index, policy)


class FormOperator(Operator):
    """The operator of a bilinear form, or, with `unknown`, of a residual as a function of one of its functions."""

    def __init__(self, bound: BoundForm, form: Any = None):
        self.bound, self._form = bound, form
        self._transposed: Optional[FormOperator] = None
        self.is_symmetric = bound.compiled.is_symmetric
        place = bound.place
        columns = bound.spaces[1] if place.unknown is None else place.functions[place.unknown].space
        super().__init__(bound.composite(), bound.spaces[0], columns)
        self._above: List[_Coarsened] = []

    def refresh(self) -> None:
        for function in self._above:
            function.refresh()
        self.bound.refresh()

    def on_level(self, space: AnySpace) -> FormOperator:
        """The same form on a coarser space. Functions keep their degree on the same mesh; on a coarser mesh the
        operator has their interpolants, which follow them."""
        place = self.bound.place
        above = [_Coarsened(f, space.mesh) for f in place.functions] if space.mesh.h != place.mesh.h else []
        functions = [f.target for f in above] or place.functions
        spaces = [space for _ in place.spaces]
        coarse = FormOperator(BoundForm(place.compiled, space.mesh, spaces, functions, place.constants, place.unknown,
                                        place.policy))
        coarse._above = above
        return coarse

    @property
    def T(self) -> Operator:
        """The operator of the form with test and trial function exchanged: itself, where it is symmetric."""
        if self.is_symmetric or self._form is None:
            return super().T
        if self._transposed is None:
            form = ufl.adjoint(self._form)
            self._transposed = FormOperator(bind(form, policy=self.bound.place.policy), form)
            self._transposed._transposed = self
        return self._transposed

    def view(self) -> str:
        """What the compiler made of each integral."""
        return self.bound.compiled.view()


class _Coarsened:
    """A function on a coarser mesh, .target, that follows one of the finest by interpolation from mesh to mesh."""

    def __init__(self, source: Function, mesh: Mesh):
        self._source, self._known = source, -1
        chains = [_interpolations(space, mesh) for space in source.space.spaces]
        self._steps = [steps for _, steps in chains]
        spaces = [space for space, _ in chains]
        self.target = Function(ProductSpace(*spaces) if isinstance(source.space, ProductSpace) else spaces[0], source.name)

    def refresh(self) -> None:
        state = self._source.vector.state
        if self._known == state:
            return
        self._known = state
        if not isinstance(self._source.space, ProductSpace):
            self.target.vector.assign(_carried(self._source, self._steps[0]))
            return
        for i, part in enumerate(self._source.split()):
            target = Function(self.target.space.spaces[i], vector=_carried(part, self._steps[i]))
            self.target.set_sub(i, target)


def _interpolations(space: FunctionSpace, mesh: Mesh) -> Tuple[FunctionSpace, List[Handle]]:
    """The space on a coarser mesh, and the interpolations that lead to it."""
    steps = []
    while space.mesh.h != mesh.h:
        coarser = space.mesh.coarser
        if coarser is None:
            raise UnsupportedError("Multigrid: the mesh of a level is not one that the form's mesh refines")
        below = space.on(mesh if coarser.h == mesh.h else coarser)
        steps.append(space.ctx.new("CeedOperator", lib.RitzSpaceCreateInterpolation, below.h, space.h, space.ctx.h,
                                   SCALAR_TYPE))
        space = below
    return space, steps


def _carried(source: Function, steps: Sequence[Handle]) -> Vector:
    values = source.vector
    for step in steps:
        size = ffi.new("CeedSize *"), ffi.new("CeedSize *")
        source.ctx.call(lib.CeedOperatorGetActiveVectorLengths, step.h, size[0], size[1])
        result = Vector(int(size[1][0]), source.ctx)
        source.ctx.call(lib.CeedOperatorApply, step.h, values.h, result.h, REQUEST_IMMEDIATE)
        values = result
    return values


def assemble(form: Any, out: Optional[Function] = None, store: str = "auto", policy: str = "auto", *,
             bcs: Union[DirichletBC, Sequence[DirichletBC], None] = None, mat_type: str = "matfree") -> Any:
    """What a form is: without arguments a number, with a test function the Function of its residuals (`out`, where it
    is given), with a trial function, too, an Operator. Operators follow their functions and constants.

    mat_type: "csr" makes a matrix of SciPy of a bilinear form as it is now, "aij" one of PETSc; rows and columns that
    `bcs` fix are those of the identity. store: which numbers of bilinear forms are kept at points: "auto", what takes
    least time; "all", "none". policy: RitzGeometryPolicy, by name. What is made for a form is kept with it.
    """
    key = ("ritz", store, policy)
    made = form._cache.get(key)
    if made is None:
        made = bind(form, store=store, policy=policy)
        made = form._cache[key] = FormOperator(made, form) if made.compiled.rank == 2 else made
    if isinstance(made, FormOperator):
        return _as_matrix(made, bcs, mat_type)
    if bcs is not None or mat_type != "matfree":
        raise ValueError("assemble: bcs and mat_type are for bilinear forms")
    if made.compiled.rank == 0:
        return float(made.total())
    result = out if out is not None else Function(made.spaces[0])
    made.residual(result.vector)
    return result


def _as_matrix(operator: FormOperator, bcs: Union[DirichletBC, Sequence[DirichletBC], None], mat_type: str) -> Any:
    if mat_type == "csr":
        return operator.tocsr(bcs)
    if mat_type == "aij":
        from ..petsc import aij

        return aij(operator, bcs)
    if mat_type != "matfree":
        raise ValueError(f"assemble: mat_type {mat_type!r}, needed 'matfree', 'csr' or 'aij'")
    if bcs is not None:
        raise ValueError("assemble: operators have no bcs, solvers take them; matrices of mat_type 'csr' and 'aij' do")
    return operator


def residual_operator(form: Any, unknown: Function, policy: str = "auto") -> FormOperator:
    """The residual of a form as a (nonlinear) operator of one of its functions: what Newton's method takes."""
    return FormOperator(bind(form, unknown=unknown, policy=policy))
