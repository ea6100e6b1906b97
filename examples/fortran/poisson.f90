! SPDX-License-Identifier: BSD-2-Clause
! Poisson's equation in Fortran, on a mesh of prisms, hexahedra, pyramids and tetrahedra:
!
!     -div grad u = f  in the bar [0,3] x [0,1] x [0,1],
!     u = g  on the parts "left" and "right" of its boundary,   du/dn = 0  on the rest of it,
!
! with a solution that is known, so that the error is, too. The problem of examples/first/first.c, call by call.
!
!     gfortran examples/fortran/poisson.f90 $(pkg-config --cflags --libs ritz-fortran) -o poisson
!     ./poisson [RESOURCE [ORDER [REFINEMENTS]]]        in the folder that has examples/meshes
module problem
  use ritz
  implicit none

  real(c_double), parameter :: pi = 3.14159265358979323846_c_double

contains

  ! The solution and its gradient, where that is wanted: du/dn = 0 at y, z = 0, 1.
  function solution(ctx, x, u, gradient) result(code) bind(c)
    type(c_ptr), value :: ctx
    real(c_double), intent(in) :: x(*)
    real(c_double), intent(inout) :: u(*)
    real(c_double), intent(inout), optional :: gradient(*)
    integer(c_int) :: code
    real(c_double) :: s, y, z

    s = sin(pi / 2 * x(1))
    y = cos(pi * x(2))
    z = cos(pi * x(3))
    u(1) = s * y * z
    if (present(gradient)) then
      gradient(1) = pi / 2 * cos(pi / 2 * x(1)) * y * z
      gradient(2) = -pi * s * sin(pi * x(2)) * z
      gradient(3) = -pi * s * y * sin(pi * x(3))
    end if
    code = CEED_ERROR_SUCCESS
    if (c_associated(ctx)) code = CEED_ERROR_MAJOR ! no context was given
  end function

  ! On the boundary the solution is given.
  function given(ctx, x, values) result(code) bind(c)
    type(c_ptr), value :: ctx
    real(c_double), intent(in) :: x(*)
    real(c_double), intent(inout) :: values(*)
    integer(c_int) :: code

    code = solution(ctx, x, values)
  end function

  ! f = -div grad u
  function source(ctx, x, values) result(code) bind(c)
    type(c_ptr), value :: ctx
    real(c_double), intent(in) :: x(*)
    real(c_double), intent(inout) :: values(*)
    integer(c_int) :: code

    code = solution(ctx, x, values)
    values(1) = 2.25_c_double * pi**2 * values(1)
  end function

  ! The integral of grad u . grad v, or of u v, as an operator: the matrix is never made.
  subroutine make_operator(space, kind, op)
    type(RitzSpace), intent(in) :: space
    integer(RitzOperatorKind), intent(in) :: kind
    type(CeedOperator), intent(inout) :: op
    type(RitzOperatorOptions) :: options
    type(RitzGeometry) :: geometry
    type(RitzMesh) :: mesh

    options%kind = kind
    options%space = space
    call RitzSpaceGetMesh(space, mesh)
    call RitzGeometryCreate(mesh, -1.0_c_double, geometry)
    call RitzGeometryCreateOperator(geometry, RitzMeshReturnCeed(mesh), options, op)
    call RitzGeometryDestroy(geometry)
  end subroutine

  ! Multigrid asks for the operator of each of its levels: smaller degrees, then coarser meshes.
  function make_level(ctx, level, space, op) result(code) bind(c)
    type(c_ptr), value :: ctx
    integer(CeedInt), value :: level
    type(RitzSpace), value :: space
    type(CeedOperator), intent(inout) :: op
    integer(c_int) :: code

    call make_operator(space, RITZ_OPERATOR_DIFFUSION, op)
    code = CEED_ERROR_SUCCESS
    if (c_associated(ctx) .or. level < 0) code = CEED_ERROR_MAJOR
  end function
end module

program poisson
  use problem
  implicit none

  character(kind=c_char, len=6), target :: left = 'left' // c_null_char, right = 'right' // c_null_char
  character(200) :: resource
  integer :: order, refinements, iterations
  type(CeedContext) :: ceed
  type(RitzMesh) :: coarse, mesh
  type(RitzGeometry) :: geometry
  type(RitzSpace) :: space
  type(RitzFixedPart) :: ends(2)
  type(RitzIndices) :: fixed
  type(RitzHierarchy) :: hierarchy
  type(RitzPreconditioner) :: multigrid
  type(RitzSolver) :: solver
  type(CeedOperator) :: diffusion, mass
  type(CeedVector) :: u, f, b
  integer(CeedSize) :: length
  integer(RitzSolverReason) :: reason
  real(c_double) :: l2, h1

  ! What fails says why by itself and ends the program: no call asks for ierr.
  resource = '/cpu/self'
  if (command_argument_count() > 0) call get_command_argument(1, resource)
  order = number_of(2, 4)
  refinements = number_of(3, 1)
  call CeedInit(resource, ceed)
  call RitzMeshRead(ceed, 'examples/meshes/four-shapes.msh', coarse)
  call RitzMeshRefine(coarse, refinements, mesh)
  call RitzSpaceCreate(mesh, order, 1, space)
  call RitzSpaceGetSize(space, length)
  call CeedVectorCreate(ceed, length, u)
  call CeedVectorCreate(ceed, length, f)
  call CeedVectorCreate(ceed, length, b)

  ! The boundary: its values stand in u, where the solver leaves them.
  ends(1)%part = c_loc(left)
  ends(2)%part = c_loc(right)
  call RitzSpaceCreateConstraints(space, ceed, 2, ends, fixed)
  call CeedVectorSetValue(u, 0.0_CeedScalar)
  call RitzSpaceInterpolateOnBoundary(space, 'left', given, u=u)
  call RitzSpaceInterpolateOnBoundary(space, 'right', given, u=u)

  ! The right-hand side b = M f.
  call make_operator(space, RITZ_OPERATOR_DIFFUSION, diffusion)
  call make_operator(space, RITZ_OPERATOR_MASS, mass)
  call RitzSpaceInterpolate(space, source, u=f)
  call CeedOperatorApply(mass, f, b)

  ! Conjugate gradients with a cycle of multigrid as preconditioner.
  call RitzHierarchyCreate(space, hierarchy=hierarchy)
  call RitzPreconditionerCreateMultigridOfHierarchy(ceed, hierarchy, make_level, num_fixed=2, fixed=ends, pc=multigrid)
  call RitzSolverCreateCG(ceed, solver)
  call RitzSolverSetOperator(solver, diffusion)
  call RitzSolverSetConstraintIndices(solver, fixed)
  call RitzSolverSetPreconditioner(solver, multigrid)
  call RitzSolverSolve(solver, b, u)
  call RitzSolverGetReason(solver, reason)
  call RitzSolverGetIterations(solver, iterations)

  call RitzGeometryCreate(mesh, -1.0_c_double, geometry)
  call RitzGeometryGetErrorNorms(geometry, ceed, space, u, 0, solution, l2=l2, h1=h1)
  print '(a, i0)', 'unknowns    ', length
  print '(a, i0, 2a)', 'iterations  ', iterations, ', ', RitzSolverReasonName(reason)
  print '(a, es9.3, a, es9.3)', 'error       ', l2, ', of the gradient ', h1

  call RitzSolverDestroy(solver)
  call RitzPreconditionerDestroy(multigrid)
  call RitzHierarchyDestroy(hierarchy)
  call RitzGeometryDestroy(geometry)
  call CeedOperatorDestroy(diffusion)
  call CeedOperatorDestroy(mass)
  call CeedVectorDestroy(u)
  call CeedVectorDestroy(f)
  call CeedVectorDestroy(b)
  call RitzIndicesDestroy(fixed)
  call RitzSpaceDestroy(space)
  call RitzMeshDestroy(mesh)
  call RitzMeshDestroy(coarse)
  call CeedDestroy(ceed)
  if (reason <= 0) error stop 1

contains

  function number_of(argument, otherwise) result(number)
    integer, intent(in) :: argument, otherwise
    integer :: number
    character(20) :: text

    number = otherwise
    if (command_argument_count() < argument) return
    call get_command_argument(argument, text)
    read (text, *) number
  end function
end program
