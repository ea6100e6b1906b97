! SPDX-License-Identifier: BSD-2-Clause
! The tests of test-fortran.c, in Fortran: each gets a context of the harness, which sees afterwards that nothing is left.
module checks
  use ritz
  implicit none
  private

  interface
    subroutine fortran_check(holds, what) bind(c)
      import
      logical(c_bool), value :: holds
      character(kind=c_char), intent(in) :: what(*)
    end subroutine
    function fortran_runs_pointers(ceed) result(returned) bind(c)
      import
      type(CeedContext), value :: ceed
      logical(c_bool) :: returned
    end function
    function fortran_temp_file() result(path) bind(c)
      import
      type(c_ptr) :: path
    end function
  end interface

  real(CeedScalar), parameter :: eps = epsilon(1.0_CeedScalar)
  character(*), parameter :: source = 'tests/fortran/scale-qfunctions.h:'

  ! The context of scale_by.
  type, bind(c) :: Factor
    real(CeedScalar) :: factor
  end type

  ! Quadrilaterals of the rectangle [0,3] x [0,2], nx x ny of them, with degree-2 solutions.
  integer, parameter :: nx = 3, ny = 2, num_elem = nx * ny, P = 3, Q = 4
  real(CeedScalar), parameter :: area = 6
  type :: Rectangle
    type(CeedElemRestriction) :: rstr_x, rstr_u
    type(CeedBasis) :: basis_x, basis_u
    type(CeedVector) :: x, mass
    integer(CeedSize) :: num_nodes
  end type

contains

  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what

    call fortran_check(logical(holds, c_bool), what // c_null_char)
  end subroutine

  subroutine check_near(found, wanted, tolerance, what)
    real(CeedScalar), intent(in) :: found, wanted, tolerance
    character(*), intent(in) :: what
    character(80) :: numbers

    write (numbers, '(a, es23.15, a, es23.15)') ': ', found, ' is not ', wanted
    call check(abs(found - wanted) <= tolerance, what // trim(numbers))
  end subroutine

  function vector(ceed, values) result(vec)
    type(CeedContext), intent(in) :: ceed
    real(CeedScalar), intent(inout) :: values(:)
    type(CeedVector) :: vec

    call CeedVectorCreate(ceed, size(values, kind=CeedSize), vec)
    call CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_COPY_VALUES, values)
  end function

  function dot(a, b) result(sum_of_products)
    type(CeedVector), intent(in) :: a, b
    real(CeedScalar) :: sum_of_products
    real(CeedScalar), pointer :: x(:), y(:)

    call CeedVectorGetArrayRead(a, CEED_MEM_HOST, x)
    call CeedVectorGetArrayRead(b, CEED_MEM_HOST, y)
    sum_of_products = dot_product(x, y)
    call CeedVectorRestoreArrayRead(a, x)
    call CeedVectorRestoreArrayRead(b, y)
  end function

  subroutine arrays(ceed) bind(c, name='fortran_arrays_are_copied_borrowed_and_lent')
    type(CeedContext), value :: ceed
    real(CeedScalar), target :: own(5) = [1, 2, 3, 4, 5]
    real(CeedScalar), pointer :: entries(:)
    real(CeedScalar) :: norm
    type(CeedVector) :: vec
    integer(CeedSize) :: length

    vec = vector(ceed, own)
    call CeedVectorGetLength(vec, length)
    call check(length == 5, 'the length of a vector')
    call CeedVectorNorm(vec, CEED_NORM_1, norm)
    call check_near(norm, 15.0_CeedScalar, 15 * eps, 'the sum of the entries')
    call CeedVectorGetArray(vec, CEED_MEM_HOST, entries)
    entries = 2 * entries
    call CeedVectorRestoreArray(vec, entries)
    call check(.not. associated(entries), 'an array that was given back is not associated')
    call CeedVectorGetArrayRead(vec, CEED_MEM_HOST, entries)
    call check(size(entries) == 5 .and. all(entries == 2 * own), 'entries that were doubled')
    call CeedVectorRestoreArrayRead(vec, entries)

    call CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, own)
    call CeedVectorScale(vec, -1.0_CeedScalar)
    call CeedVectorTakeArray(vec, CEED_MEM_HOST, entries)
    call check(associated(entries, own), 'the array that is taken back is that of the program')
    call check(all(own == -[1, 2, 3, 4, 5]), 'entries of a borrowed array')
    own = -own
    call CeedVectorDestroy(vec)
    call check(.not. c_associated(vec%pointer), 'a handle that was destroyed is null')
  end subroutine

  subroutine restriction(ceed) bind(c, name='fortran_restriction_and_its_transpose_count_elements')
    type(CeedContext), value :: ceed
    integer(CeedInt), parameter :: offsets(2, 3) = reshape([0, 1, 1, 2, 2, 3], [2, 3])
    real(CeedScalar), pointer :: entries(:)
    real(CeedScalar) :: values(4) = [10, 11, 12, 13]
    type(CeedElemRestriction) :: rstr
    type(CeedVector) :: u, evec

    call CeedElemRestrictionCreate(ceed, 3, 2, 1, 1, 4_CeedSize, CEED_MEM_HOST, CEED_COPY_VALUES, offsets, rstr)
    call CeedElemRestrictionCreateVector(rstr, u)
    call CeedElemRestrictionCreateVector(rstr, evec=evec)
    call CeedVectorSetArray(u, CEED_MEM_HOST, CEED_COPY_VALUES, values)
    call CeedElemRestrictionApply(rstr, CEED_NOTRANSPOSE, u, evec)
    call CeedVectorSetValue(u, 0.0_CeedScalar)
    call CeedElemRestrictionApply(rstr, CEED_TRANSPOSE, evec, u, CEED_REQUEST_IMMEDIATE)
    call CeedVectorGetArrayRead(u, CEED_MEM_HOST, entries)
    call check(all(entries == values * [1, 2, 2, 1]), 'inner nodes have two elements')
    call CeedVectorRestoreArrayRead(u, entries)
    call CeedVectorDestroy(u)
    call CeedVectorDestroy(evec)
    call CeedElemRestrictionDestroy(rstr)
  end subroutine

  subroutine basis(ceed) bind(c, name='fortran_basis_differentiates_a_linear_field')
    type(CeedContext), value :: ceed
    real(CeedScalar), pointer :: entries(:)
    real(CeedScalar) :: x(4), weights(4), values(4)
    type(CeedBasis) :: line
    type(CeedVector) :: u, v
    integer(CeedInt) :: num_nodes
    real(CeedScalar), pointer :: interp(:, :)
    type(c_ptr) :: memory

    call CeedLobattoQuadrature(4, x, weights)
    call check_near(sum(weights), 2.0_CeedScalar, 8 * eps, 'the weights of Gauss-Lobatto points')
    call CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 4, 5, CEED_GAUSS, line)
    call CeedBasisGetNumNodes(line, num_nodes)
    call check(num_nodes == 4, 'the nodes of a basis')
    call CeedBasisGetInterp1D(line, memory) ! [5][4] in C
    call c_f_pointer(memory, interp, [4, 5])
    call check(all(abs(sum(interp, 1) - 1) < 32 * eps), 'functions of the basis add up to 1')
    values = 5 - 2 * x
    u = vector(ceed, values)
    call CeedVectorCreate(ceed, 5_CeedSize, v)
    call CeedBasisApply(line, 1, CEED_NOTRANSPOSE, CEED_EVAL_GRAD, u, v)
    call CeedVectorGetArrayRead(v, CEED_MEM_HOST, entries)
    call check(all(abs(entries + 2) < 200 * eps), 'the derivative of 5 - 2 x')
    call CeedVectorRestoreArrayRead(v, entries)
    call CeedVectorDestroy(u)
    call CeedVectorDestroy(v)
    call CeedBasisDestroy(line)
  end subroutine

  ! Nodes of the elements, (n-1) nx + 1 of them a row; positions if wanted: x of all nodes, then y.
  subroutine number_nodes(n, offsets, x)
    integer, intent(in) :: n
    integer(CeedInt), intent(out) :: offsets(n, n, nx, ny)
    real(CeedScalar), allocatable, intent(out) :: x(:, :)
    integer :: i, j, k, l, row

    row = (n - 1) * nx + 1
    allocate (x(row * ((n - 1) * ny + 1), 2))
    do l = 1, ny; do k = 1, nx; do j = 1, n; do i = 1, n
      offsets(i, j, k, l) = (k - 1) * (n - 1) + i - 1 + row * ((l - 1) * (n - 1) + j - 1)
      x(offsets(i, j, k, l) + 1, :) = [real(CeedScalar) :: k - 1 + real(i - 1) / (n - 1), l - 1 + real(j - 1) / (n - 1)]
    end do; end do; end do; end do
  end subroutine

  ! Runs a function of the gallery that makes data at the points out of the mesh.
  subroutine build(ceed, mesh, name, values)
    type(CeedContext), intent(in) :: ceed
    type(Rectangle), intent(in) :: mesh
    character(*), intent(in) :: name
    type(CeedVector), intent(in) :: values
    type(CeedElemRestriction) :: rstr
    type(CeedQFunction) :: qf
    type(CeedOperator) :: op
    integer(CeedSize) :: length

    call CeedVectorGetLength(values, length)
    call CeedElemRestrictionCreateStrided(ceed, num_elem, Q * Q, int(length / (num_elem * Q * Q)), length, &
                                          CEED_STRIDES_BACKEND, rstr)
    call CeedQFunctionCreateInteriorByName(ceed, name, qf)
    call CeedOperatorCreate(ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, op)
    call CeedOperatorSetField(op, 'dx', mesh%rstr_x, mesh%basis_x, CEED_VECTOR_ACTIVE)
    call CeedOperatorSetField(op, 'weights', CEED_ELEMRESTRICTION_NONE, mesh%basis_x, CEED_VECTOR_NONE)
    call CeedOperatorSetField(op, 'qdata', rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE)
    call CeedOperatorApply(op, mesh%x, values)
    call CeedOperatorDestroy(op)
    call CeedQFunctionDestroy(qf)
    call CeedElemRestrictionDestroy(rstr)
  end subroutine

  ! An operator on the solutions: field names of the function, data at points.
  subroutine create_operator(ceed, mesh, qf, input, weight, output, values, op)
    type(CeedContext), intent(in) :: ceed
    type(Rectangle), intent(in) :: mesh
    type(CeedQFunction), intent(in) :: qf
    character(*), intent(in) :: input, weight, output
    type(CeedVector), intent(in) :: values
    type(CeedOperator), intent(out) :: op
    type(CeedElemRestriction) :: rstr
    integer(CeedSize) :: length

    call CeedVectorGetLength(values, length)
    call CeedElemRestrictionCreateStrided(ceed, num_elem, Q * Q, int(length / (num_elem * Q * Q)), length, &
                                          CEED_STRIDES_BACKEND, rstr)
    call CeedOperatorCreate(ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, op)
    call CeedOperatorSetField(op, input, mesh%rstr_u, mesh%basis_u, CEED_VECTOR_ACTIVE)
    call CeedOperatorSetField(op, weight, rstr, CEED_BASIS_NONE, values)
    call CeedOperatorSetField(op, output, mesh%rstr_u, mesh%basis_u, CEED_VECTOR_ACTIVE)
    call CeedElemRestrictionDestroy(rstr)
  end subroutine

  subroutine create_mesh(ceed, mesh)
    type(CeedContext), intent(in) :: ceed
    type(Rectangle), intent(out) :: mesh
    integer(CeedInt) :: corners(2, 2, nx, ny), nodes(P, P, nx, ny)
    real(CeedScalar), allocatable :: x(:, :), ignored(:, :)
    real(CeedScalar), allocatable :: flat(:)
    integer(CeedInt) :: num_corners

    call number_nodes(2, corners, x)
    call number_nodes(P, nodes, ignored)
    num_corners = size(x, 1)
    mesh%num_nodes = size(ignored, 1)
    flat = reshape(x, [2 * num_corners])
    mesh%x = vector(ceed, flat)
    call CeedElemRestrictionCreate(ceed, num_elem, 4, 2, num_corners, 2 * int(num_corners, CeedSize), CEED_MEM_HOST, &
                                   CEED_COPY_VALUES, corners, mesh%rstr_x)
    call CeedElemRestrictionCreate(ceed, num_elem, P * P, 1, 1, mesh%num_nodes, CEED_MEM_HOST, CEED_COPY_VALUES, nodes, mesh%rstr_u)
    call CeedBasisCreateTensorH1Lagrange(ceed, 2, 2, 2, Q, CEED_GAUSS, mesh%basis_x)
    call CeedBasisCreateTensorH1Lagrange(ceed, 2, 1, P, Q, CEED_GAUSS, mesh%basis_u)
    call CeedVectorCreate(ceed, int(num_elem * Q * Q, CeedSize), mesh%mass)
    call build(ceed, mesh, 'Mass2DBuild', mesh%mass)
  end subroutine

  subroutine destroy_mesh(mesh)
    type(Rectangle), intent(inout) :: mesh

    call CeedElemRestrictionDestroy(mesh%rstr_x)
    call CeedElemRestrictionDestroy(mesh%rstr_u)
    call CeedBasisDestroy(mesh%basis_x)
    call CeedBasisDestroy(mesh%basis_u)
    call CeedVectorDestroy(mesh%x)
    call CeedVectorDestroy(mesh%mass)
  end subroutine

  ! A field at the nodes: x^2 y + 1 or, with is_linear, 2 x - y.
  function field(ceed, is_linear) result(vec)
    type(CeedContext), intent(in) :: ceed
    logical, intent(in) :: is_linear
    type(CeedVector) :: vec
    integer(CeedInt) :: nodes(P, P, nx, ny)
    real(CeedScalar), allocatable :: x(:, :), values(:)

    call number_nodes(P, nodes, x)
    values = x(:, 1)**2 * x(:, 2) + 1
    if (is_linear) values = 2 * x(:, 1) - x(:, 2)
    vec = vector(ceed, values)
  end function

  subroutine gallery(ceed) bind(c, name='fortran_mass_and_stiffness_of_gallery_are_exact')
    type(CeedContext), value :: ceed
    type(Rectangle) :: mesh
    type(CeedQFunction) :: qf_mass, qf_stiffness
    type(CeedOperator) :: mass, stiffness
    type(CeedVector) :: values, one, u, linear, v, w
    real(CeedScalar) :: norm

    call RitzLoadConstants()
    call create_mesh(ceed, mesh)
    call CeedVectorCreate(ceed, int(3 * num_elem * Q * Q, CeedSize), values)
    call build(ceed, mesh, 'Poisson2DBuild', values)
    call CeedQFunctionCreateInteriorByName(ceed, 'MassApply', qf_mass)
    call CeedQFunctionCreateInteriorByName(ceed, 'Poisson2DApply', qf_stiffness)
    call create_operator(ceed, mesh, qf_mass, 'u', 'qdata', 'v', mesh%mass, mass)
    call create_operator(ceed, mesh, qf_stiffness, 'du', 'qdata', 'dv', values, stiffness)
    call CeedVectorCreate(ceed, mesh%num_nodes, one)
    call CeedVectorCreate(ceed, mesh%num_nodes, v)
    call CeedVectorCreate(ceed, mesh%num_nodes, w)
    call CeedVectorSetValue(one, 1.0_CeedScalar)
    u = field(ceed, .false.)
    linear = field(ceed, .true.)

    call CeedOperatorApply(mass, one, v, CEED_REQUEST_IMMEDIATE)
    call check_near(dot(one, v), area, 100 * eps * area, 'the integral of 1')
    call CeedOperatorApply(mass, u, v)
    call check_near(dot(one, v), 18 + area, 100 * eps * (18 + area), 'the integral of x^2 y + 1') ! 9 * 2 + 6
    call CeedOperatorApply(stiffness, linear, w)
    call check_near(dot(linear, w), 5 * area, 1000 * eps * area, 'the energy of 2 x - y')
    call CeedOperatorApply(stiffness, u, v)
    call check_near(dot(linear, v), dot(u, w), 10000 * eps * area, 'adjointness')
    call CeedOperatorApply(stiffness, one, v)
    call CeedVectorNorm(v, CEED_NORM_MAX, norm)
    call check_near(norm, 0.0_CeedScalar, 200 * eps, 'the stiffness of constants')

    call CeedOperatorDestroy(mass)
    call CeedOperatorDestroy(stiffness)
    call CeedQFunctionDestroy(qf_mass)
    call CeedQFunctionDestroy(qf_stiffness)
    call destroy_vectors([values, one, u, linear, v, w])
    call destroy_mesh(mesh)
  end subroutine

  subroutine destroy_vectors(vectors)
    type(CeedVector), intent(in) :: vectors(:)
    type(CeedVector) :: vec
    integer :: i

    do i = 1, size(vectors)
      vec = vectors(i)
      call CeedVectorDestroy(vec)
    end do
  end subroutine

  ! v = 3 w u, as the text in scale-qfunctions.h.
  function thrice(ctx, points, in, out) result(code) bind(c)
    type(c_ptr), value :: ctx
    integer(CeedInt), value :: points
    type(c_ptr), intent(in) :: in(*), out(*)
    integer(c_int) :: code
    real(CeedScalar), pointer :: u(:), w(:), v(:)

    call c_f_pointer(in(1), u, [points])
    call c_f_pointer(in(2), w, [points])
    call c_f_pointer(out(1), v, [points])
    v = 3 * w * u
    code = CEED_ERROR_SUCCESS
    if (c_associated(ctx)) code = CEED_ERROR_MAJOR ! it has none
  end function

  function scale_by(ctx, points, in, out) result(code) bind(c)
    type(c_ptr), value :: ctx
    integer(CeedInt), value :: points
    type(c_ptr), intent(in) :: in(*), out(*)
    integer(c_int) :: code
    real(CeedScalar), pointer :: u(:), w(:), v(:)
    type(Factor), pointer :: by

    call c_f_pointer(ctx, by)
    call c_f_pointer(in(1), u, [points])
    call c_f_pointer(in(2), w, [points])
    call c_f_pointer(out(1), v, [points])
    v = by%factor * w * u
    code = CEED_ERROR_SUCCESS
  end function

  ! 1^T A 1 of the operator whose function is qf, which is destroyed.
  function integral(ceed, qf) result(found)
    type(CeedContext), intent(in) :: ceed
    type(CeedQFunction), intent(inout) :: qf
    real(CeedScalar) :: found
    type(Rectangle) :: mesh
    type(CeedOperator) :: op
    type(CeedVector) :: one, v

    call create_mesh(ceed, mesh)
    call CeedQFunctionAddInput(qf, 'u', 1, CEED_EVAL_INTERP)
    call CeedQFunctionAddInput(qf, 'w', 1, CEED_EVAL_NONE)
    call CeedQFunctionAddOutput(qf, 'v', 1, CEED_EVAL_INTERP)
    call create_operator(ceed, mesh, qf, 'u', 'w', 'v', mesh%mass, op)
    call CeedVectorCreate(ceed, mesh%num_nodes, one)
    call CeedVectorCreate(ceed, mesh%num_nodes, v)
    call CeedVectorSetValue(one, 1.0_CeedScalar)
    call CeedOperatorApply(op, one, v)
    found = dot(one, v)
    call CeedOperatorDestroy(op)
    call CeedQFunctionDestroy(qf)
    call destroy_vectors([one, v])
    call destroy_mesh(mesh)
  end function

  subroutine functions(ceed) bind(c, name='fortran_functions_of_the_program_run_with_and_without_text')
    type(CeedContext), value :: ceed
    character(*), parameter :: text = 'CEED_QFUNCTION(triple)(void *ctx, const CeedInt Q, const CeedScalar *const *in, &
        &CeedScalar *const *out) { for (CeedInt i = 0; i < Q; i++) out[0][i] = 3 * in[1][i] * in[0][i]; return 0; }'
    type(CeedQFunction) :: qf

    call RitzLoadConstants()
    call CeedQFunctionCreateInterior(ceed, 1, thrice, source // 'thrice', qf)
    call check_near(integral(ceed, qf), 3 * area, 300 * eps * area, 'a Fortran function and its text')
    call RitzQFunctionCreateFromText(ceed, 1, text, 'triple', qf)
    call check_near(integral(ceed, qf), 3 * area, 300 * eps * area, 'a text of the program')
    if (.not. fortran_runs_pointers(ceed)) return ! a device needs the text
    call CeedQFunctionCreateInterior(ceed, 1, thrice, '', qf)
    call check_near(integral(ceed, qf), 3 * area, 300 * eps * area, 'a Fortran function alone')
  end subroutine

  ! Arrays of vectors; structs by value.
  subroutine lists(ceed) bind(c, name='fortran_lists_of_vectors_and_structs_reach_c')
    type(CeedContext), value :: ceed
    real(CeedScalar) :: values(8) = [1, 2, 3, 4, 5, 6, 7, 8]
    real(CeedScalar), pointer :: entries(:)
    type(CeedQFunction) :: qf
    type(CeedVector) :: u, w, v
    type(RitzScalars) :: scalars
    real(c_double) :: dots(2)

    u = vector(ceed, values)
    w = vector(ceed, values)
    call CeedVectorCreate(ceed, 8_CeedSize, v)
    call CeedQFunctionCreateInterior(ceed, 1, thrice, source // 'thrice', qf)
    call CeedQFunctionAddInput(qf, 'u', 1, CEED_EVAL_NONE)
    call CeedQFunctionAddInput(qf, 'w', 1, CEED_EVAL_NONE)
    call CeedQFunctionAddOutput(qf, 'v', 1, CEED_EVAL_NONE)
    call CeedQFunctionApply(qf, 8, [u, w], [v])
    call CeedVectorGetArrayRead(v, CEED_MEM_HOST, entries)
    call check(all(entries == 3 * values**2), 'a function applied by itself')
    call CeedVectorRestoreArrayRead(v, entries)
    call CeedQFunctionDestroy(qf)

    call RitzVectorDots(2, [u, v], w, dots)
    call check(all(dots == [sum(values**2), 3 * sum(values**3)]), 'two products at once')
    call RitzScalarsCreate(ceed, 2, scalars)
    call RitzScalarsSet(scalars, 0, 2, [6.0_c_double, 2.0_c_double])
    call RitzVectorAXPBYBy(w, scalars, RitzFactor(0, 1, -1.0_c_double), u, RitzFactor(-1, -1, 5.0_c_double)) ! -6/2 u + 5 w
    call CeedVectorGetArrayRead(w, CEED_MEM_HOST, entries)
    call check(all(abs(entries - 2 * values) <= 100 * eps), 'factors that are structs')
    call CeedVectorRestoreArrayRead(w, entries)
    call RitzScalarsDestroy(scalars)
    call destroy_vectors([u, w, v])
  end subroutine

  subroutine contexts(ceed) bind(c, name='fortran_contexts_hold_derived_types')
    type(CeedContext), value :: ceed
    type(Factor), target :: by
    type(CeedQFunctionContext) :: ctx
    type(CeedQFunction) :: qf
    type(c_ptr) :: memory
    type(Factor), pointer :: inside

    call RitzLoadConstants()
    by%factor = 7
    call CeedQFunctionContextCreate(ceed, ctx)
    call CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, c_sizeof(by), c_loc(by))
    call CeedQFunctionContextGetDataRead(ctx, CEED_MEM_HOST, memory)
    call c_f_pointer(memory, inside)
    call check(inside%factor == 7, 'the data of a context')
    call CeedQFunctionContextRestoreDataRead(ctx, memory)
    call CeedQFunctionCreateInterior(ceed, 1, scale_by, source // 'scale_by', qf)
    call CeedQFunctionSetContext(qf, ctx)
    call CeedQFunctionContextDestroy(ctx)
    call check_near(integral(ceed, qf), 7 * area, 700 * eps * area, 'a factor of the context')
  end subroutine

  subroutine errors(ceed) bind(c, name='fortran_errors_are_returned_with_their_texts')
    type(CeedContext), value :: ceed
    type(CeedContext) :: own
    type(CeedVector) :: vec
    character(:), allocatable :: resource, message, own_resource
    integer :: ierr, code

    call CeedGetResource(ceed, resource)
    call RitzInit(resource // '   ', CeedErrorStore, own, ierr) ! blanks at the end are Fortran's
    call check(ierr == 0, 'a context under an error handler')
    call CeedGetResource(own, own_resource)
    call check(own_resource == resource, 'the name of the resource')
    call CeedVectorCreate(own, -1_CeedSize, vec, ierr)
    call check(ierr /= CEED_ERROR_SUCCESS, 'a negative length is refused')
    call CeedGetErrorMessage(own, message)
    call check(index(message, 'CeedVectorCreate') > 0, 'the message names the call: ' // message)
    call RitzGetLastError(code, message)
    call check(code == ierr .and. index(message, 'CeedVectorCreate') > 0, 'the last error: ' // message)
    call CeedVectorCreate(own, 3_CeedSize, vec, ierr)
    call check(ierr == CEED_ERROR_SUCCESS, 'the context serves after an error')
    call CeedVectorNorm(vec, CEED_NORM_2, ierr=ierr) ! the result is missing
    call check(ierr /= CEED_ERROR_SUCCESS, 'a missing result is refused')
    call CeedVectorDestroy(vec)
    call CeedDestroy(own)
    call RitzInit('/no/such/resource' // c_null_char, CeedErrorReturn, own, ierr) ! as older programs end their texts
    call check(ierr /= CEED_ERROR_SUCCESS, 'a resource that is not there')
  end subroutine

  subroutine views(ceed) bind(c, name='fortran_views_go_to_files')
    type(CeedContext), value :: ceed
    character(kind=c_char), pointer :: path(:)
    character(:), allocatable :: name
    character(200) :: line
    type(c_ptr) :: file
    integer :: unit, i

    call c_f_pointer(fortran_temp_file(), path, [1000])
    name = ''
    do i = 1, 1000
      if (path(i) == c_null_char) exit
      name = name // path(i)
    end do
    file = c_fopen(name // c_null_char, 'w' // c_null_char)
    call CeedView(ceed, file)
    call check(c_fclose(file) == 0, 'a file of C is closed')
    open (newunit=unit, file=name, action='read', status='old')
    read (unit, '(a)') line
    close (unit)
    call check(index(line, 'Ceed') > 0, 'the first line of a view: ' // trim(line))
  end subroutine

  ! ---- Meshes and solvers ----

  ! The unit square, bent: a quadratic map.
  function bend(ctx, dim, from, to) result(code) bind(c)
    type(c_ptr), value :: ctx
    integer(CeedInt), value :: dim
    real(c_double), intent(in) :: from(*)
    real(c_double), intent(inout) :: to(*)
    integer(c_int) :: code

    to(1) = from(1) + 0.2_c_double * from(2)**2
    to(2:dim) = from(2:dim)
    code = CEED_ERROR_SUCCESS
    if (c_associated(ctx)) code = CEED_ERROR_MAJOR
  end function

  ! Harmonic, x^2 - y^2 + x, and so found exactly with degree 2 on straight elements; with curved ones up to the order of degree 4.
  function harmonic(ctx, x, values, gradients) result(code) bind(c)
    type(c_ptr), value :: ctx
    real(c_double), intent(in) :: x(*)
    real(c_double), intent(inout) :: values(*)
    real(c_double), intent(inout), optional :: gradients(*)
    integer(c_int) :: code

    values(1) = x(1)**2 - x(2)**2 + x(1)
    if (present(gradients)) gradients(1:2) = [2 * x(1) + 1, -2 * x(2)]
    code = CEED_ERROR_SUCCESS
    if (c_associated(ctx)) code = CEED_ERROR_MAJOR
  end function

  function boundary_values(ctx, x, values) result(code) bind(c)
    type(c_ptr), value :: ctx
    real(c_double), intent(in) :: x(*)
    real(c_double), intent(inout) :: values(*)
    integer(c_int) :: code

    code = harmonic(ctx, x, values)
  end function

  function diffusion(ctx, level, space, op) result(code) bind(c)
    type(c_ptr), value :: ctx
    integer(CeedInt), value :: level
    type(RitzSpace), value :: space
    type(CeedOperator), intent(inout) :: op
    integer(c_int) :: code
    type(RitzOperatorOptions) :: options
    type(RitzGeometry) :: geometry
    type(RitzMesh) :: mesh

    options%kind = RITZ_OPERATOR_DIFFUSION
    options%space = space
    call RitzSpaceGetMesh(space, mesh, code)
    if (code == 0) call RitzGeometryCreate(mesh, -1.0_c_double, geometry, code)
    if (code == 0) call RitzGeometryCreateOperator(geometry, RitzMeshReturnCeed(mesh), options, op, code)
    if (code == 0) call RitzGeometryDestroy(geometry, code)
    if (c_associated(ctx) .or. level < 0) code = CEED_ERROR_MAJOR
  end function

  subroutine multigrid(ceed) bind(c, name='fortran_multigrid_solves_on_a_mapped_box')
    type(CeedContext), value :: ceed
    character(kind=c_char, len=4), target :: all_sides = 'all' // c_null_char
    type(RitzMesh) :: mesh
    type(RitzSpace) :: space
    type(RitzFixedPart) :: fixed(1)
    type(RitzIndices) :: constraints
    type(RitzHierarchy) :: hierarchy
    type(RitzPreconditioner) :: pc
    type(RitzSolver) :: solver
    type(RitzGeometry) :: geometry
    type(CeedOperator) :: op
    type(CeedVector) :: u, b
    integer(CeedSize) :: length
    integer(CeedInt) :: iterations
    integer(RitzSolverReason) :: reason
    real(c_double) :: l2, h1, tolerance

    call RitzLoadConstants()
    call RitzMeshCreateBox(ceed, 2, [4, 4], order=2, map=bend, mesh=mesh)
    call RitzSpaceCreate(mesh, 4, 1, space)
    call RitzSpaceGetSize(space, length)
    call CeedVectorCreate(ceed, length, u)
    call CeedVectorCreate(ceed, length, b)
    call CeedVectorSetValue(b, 0.0_CeedScalar)
    call CeedVectorSetValue(u, 0.0_CeedScalar)
    fixed(1)%part = c_loc(all_sides)
    call RitzSpaceCreateConstraints(space, ceed, 1, fixed, constraints)
    call RitzSpaceInterpolateOnBoundary(space, 'all', boundary_values, u=u)
    call check(diffusion(c_null_ptr, 0, space, op) == 0, 'an operator')
    call RitzHierarchyCreate(space, hierarchy=hierarchy)
    call RitzPreconditionerCreateMultigridOfHierarchy(ceed, hierarchy, diffusion, num_fixed=1, fixed=fixed, pc=pc)
    call RitzSolverCreate(ceed, RITZ_SOLVER_CG, solver)
    call RitzSolverSetOperator(solver, op)
    call RitzSolverSetConstraintIndices(solver, constraints)
    call RitzSolverSetPreconditioner(solver, pc)
    tolerance = max(1e-11_c_double, 20 * real(eps, c_double))
    call RitzSolverSetTolerances(solver, tolerance, 0.0_c_double, 60)
    call RitzSolverSolve(solver, b, u)
    call RitzSolverGetReason(solver, reason)
    call RitzSolverGetIterations(solver, iterations)
    call check(reason > 0 .and. iterations > 1 .and. iterations < 30, 'how the solve ended: ' // RitzSolverReasonName(reason))
    call RitzGeometryCreate(mesh, -1.0_c_double, geometry)
    call RitzGeometryGetErrorNorms(geometry, ceed, space, u, 0, harmonic, l2=l2, h1=h1)
    ! x^2 is of degree 4 in the coordinates of the box: the space has the solution.
    call check(l2 < 1e3_c_double * tolerance .and. h1 < 1e4_c_double * tolerance, 'the error of a solution that the space has')
    call RitzGeometryGetErrorNorms(geometry, ceed, space, u, 0, harmonic, l2=l2)

    call RitzGeometryDestroy(geometry)
    call RitzSolverDestroy(solver)
    call RitzPreconditionerDestroy(pc)
    call RitzHierarchyDestroy(hierarchy)
    call RitzIndicesDestroy(constraints)
    call CeedOperatorDestroy(op)
    call destroy_vectors([u, b])
    call RitzSpaceDestroy(space)
    call RitzMeshDestroy(mesh)
  end subroutine
end module
