// SPDX-License-Identifier: BSD-2-Clause
// Poisson's equation by geometric multigrid with the matrix-free framework of deal.II, for one order fixed at
// compile time with -DORDER=p. -lap u = f on the unit cube, u = sin(pi x) sin(pi y) sin(pi z), zero on the
// boundary.
//
// The method is that of deal.II's tutorial on matrix-free multigrid, written anew:
//
//   - conjugate gradients in double, preconditioned by one V-cycle in float on refined meshes;
//   - levels are rediscretised, p + 1 Gauss points per direction; the framework finds that all cells are
//   alike
//     and keeps one Jacobian for all;
//   - smoother: Chebyshev over Jacobi, the eigenvalue from 10 steps of conjugate gradients. The vector
//   updates
//     of the smoother run inside the loops over the cells;
//   - coarsest mesh: 2 or an odd number of cells a direction, solved by Chebyshev to 1e-3;
//   - several cores: one MPI rank each.
//
// The transfers between levels are those of the packaged library, with its short vectors.
#include "multigrid.hh"

#include <deal.II/base/function.h>
#include <deal.II/base/mpi.h>
#include <deal.II/base/quadrature_lib.h>
#include <deal.II/base/subscriptor.h>
#include <deal.II/distributed/tria.h>
#include <deal.II/dofs/dof_handler.h>
#include <deal.II/dofs/dof_tools.h>
#include <deal.II/fe/fe_q.h>
#include <deal.II/fe/mapping_q1.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/lac/affine_constraints.h>
#include <deal.II/lac/diagonal_matrix.h>
#include <deal.II/lac/la_parallel_vector.h>
#include <deal.II/lac/precondition.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/matrix_free/fe_evaluation.h>
#include <deal.II/matrix_free/matrix_free.h>
#include <deal.II/matrix_free/tools.h>
#include <deal.II/multigrid/mg_coarse.h>
#include <deal.II/multigrid/mg_constrained_dofs.h>
#include <deal.II/multigrid/mg_matrix.h>
#include <deal.II/multigrid/mg_smoother.h>
#include <deal.II/multigrid/mg_transfer_matrix_free.h>
#include <deal.II/multigrid/multigrid.h>
#include <deal.II/numerics/vector_tools.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <vector>

using namespace dealii;

namespace {

constexpr int dim = 3, order = ORDER, num_points = order + 1;

template <typename Number> using Vector_ = LinearAlgebra::distributed::Vector<Number>;
using Vector = Vector_<double>;
using LevelVector = Vector_<float>;
using Mesh = parallel::distributed::Triangulation<dim>;

class Sine : public Function<dim> {
public:
  double value(const Point<dim> &x, const unsigned int = 0) const override {
    return std::sin(numbers::PI * x[0]) * std::sin(numbers::PI * x[1]) * std::sin(numbers::PI * x[2]);
  }
};

// ---- Operator ----

// The Laplacian on the active cells or on those of a level; constrained rows and columns are zero.
template <typename Number> class Laplacian : public Subscriptor {
public:
  using value_type = Number;
  using size_type = types::global_dof_index;
  using VectorType = Vector_<Number>;
  using Matrices = MatrixFree<dim, Number>;
  using Evaluation = FEEvaluation<dim, order, num_points, 1, Number>;
  using Range = std::pair<unsigned int, unsigned int>;
  using Hook = std::function<void(const unsigned int, const unsigned int)>;

  void reinit(const DoFHandler<dim> &dofs, const AffineConstraints<double> &constraints,
              const UpdateFlags more, const unsigned int level = numbers::invalid_unsigned_int) {
    typename Matrices::AdditionalData additional;

    additional.tasks_parallel_scheme = Matrices::AdditionalData::none;
    additional.mapping_update_flags = update_gradients | update_JxW_values | more;
    additional.mg_level = level;
    matrices.reinit(MappingQ1<dim>(), dofs, constraints, QGauss<1>(num_points), additional);
  }

  void initialize_dof_vector(VectorType &v) const { matrices.initialize_dof_vector(v); }
  size_type m() const { return matrices.get_vector_partitioner()->size(); }
  const Matrices &get() const { return matrices; }
  // Chebyshev's interface names it; the diagonal that it is given serves instead.
  Number el(const size_type, const size_type) const {
    AssertThrow(false, ExcNotImplemented());
    return 0;
  }

  void vmult(VectorType &v, const VectorType &u) const {
    matrices.cell_loop(&Laplacian::apply_to_cells, this, v, u, true);
  }
  void Tvmult(VectorType &v, const VectorType &u) const { vmult(v, u); }
  // With work on ranges of the vectors before and after the loop meets them; before() zeroes v.
  void vmult(VectorType &v, const VectorType &u, const Hook &before, const Hook &after) const {
    matrices.cell_loop(&Laplacian::apply_to_cells, this, v, u, before, after);
  }

  // One over the diagonal; 1 at constrained entries.
  std::shared_ptr<DiagonalMatrix<VectorType>> inverse_diagonal() const {
    auto diagonal = std::make_shared<DiagonalMatrix<VectorType>>();
    VectorType &d = diagonal->get_vector();

    initialize_dof_vector(d);
    MatrixFreeTools::compute_diagonal<dim, order, num_points, 1, Number, VectorizedArray<Number>>(
        matrices, d, [](Evaluation &evaluation) { multiply(evaluation); });
    for (unsigned int i = 0; i < d.locally_owned_size(); i++)
      d.local_element(i) = d.local_element(i) > 0 ? 1 / d.local_element(i) : 1;
    return diagonal;
  }

private:
  static void submit(Evaluation &evaluation) {
    for (unsigned int q = 0; q < evaluation.n_q_points; q++)
      evaluation.submit_gradient(evaluation.get_gradient(q), q);
  }

  static void multiply(Evaluation &evaluation) {
    evaluation.evaluate(EvaluationFlags::gradients);
    submit(evaluation);
    evaluation.integrate(EvaluationFlags::gradients);
  }

  void apply_to_cells(const Matrices &data, VectorType &v, const VectorType &u, const Range &range) const {
    Evaluation evaluation(data);

    for (unsigned int cell = range.first; cell < range.second; cell++) {
      evaluation.reinit(cell);
      evaluation.gather_evaluate(u, EvaluationFlags::gradients);
      submit(evaluation);
      evaluation.integrate_scatter(EvaluationFlags::gradients, v);
    }
  }

  Matrices matrices;
};

// ---- Problem ----

struct Problem {
  explicit Problem(const Options &o)
      : mesh(MPI_COMM_WORLD, Triangulation<dim>::limit_level_difference_at_vertices,
             Mesh::construct_multigrid_hierarchy),
        fe(order) {
    int coarsest = o.cells, refinements = 0;

    for (; coarsest > 2 && coarsest % 2 == 0; coarsest /= 2) refinements++;
    GridGenerator::subdivided_hyper_cube(mesh, coarsest);
    mesh.refine_global(refinements);
    dofs.reinit(mesh);
    dofs.distribute_dofs(fe);
    dofs.distribute_mg_dofs();
  }

  Mesh mesh;
  FE_Q<dim> fe;
  DoFHandler<dim> dofs;
};

void add_boundary(const DoFHandler<dim> &dofs, AffineConstraints<double> &constraints) {
  IndexSet relevant;

  DoFTools::extract_locally_relevant_dofs(dofs, relevant);
  constraints.reinit(relevant);
  DoFTools::make_zero_boundary_constraints(dofs, constraints);
  constraints.close();
}

// The integrals of f = 3 pi^2 u with the test functions.
void assemble_right_hand_side(const Laplacian<double> &op, Vector &b) {
  Laplacian<double>::Evaluation evaluation(op.get());
  const double factor = 3 * numbers::PI * numbers::PI;

  b = 0;
  for (unsigned int cell = 0; cell < op.get().n_cell_batches(); cell++) {
    evaluation.reinit(cell);
    for (unsigned int q = 0; q < evaluation.n_q_points; q++) {
      const auto x = evaluation.quadrature_point(q);
      VectorizedArray<double> f = factor;
      for (int d = 0; d < dim; d++) f *= std::sin(numbers::PI * x[d]);
      evaluation.submit_value(f, q);
    }
    evaluation.integrate_scatter(EvaluationFlags::values, b);
  }
  b.compress(VectorOperation::add);
}

double l2_error(const Problem &problem, const Vector &u) {
  dealii::Vector<double> per_cell(problem.mesh.n_active_cells());

  u.update_ghost_values();
  VectorTools::integrate_difference(MappingQ1<dim>(), problem.dofs, u, Sine(), per_cell,
                                    QGauss<dim>(order + 2), VectorTools::L2_norm);
  return VectorTools::compute_global_error(problem.mesh, per_cell, VectorTools::L2_norm);
}

// ---- Multigrid ----

class Multilevel {
public:
  using Chebyshev = PreconditionChebyshev<Laplacian<float>, LevelVector>;
  using Transfer = MGTransferMatrixFree<dim, float>;

  Multilevel(const DoFHandler<dim> &dofs, const Options &o) : dofs(dofs) {
    const unsigned int num_levels = dofs.get_triangulation().n_global_levels();

    constrained.initialize(dofs);
    constrained.make_zero_boundary_constraints(dofs, {0});
    operators.resize(0, num_levels - 1);
    data.resize(0, num_levels - 1);
    for (unsigned int level = 0; level < num_levels; level++) create_level(level, o);
    smoother.initialize(operators, data);
    coarse.initialize(smoother);
    matrix.initialize(operators);
    create_transfer(num_levels);
    multigrid =
        std::make_unique<dealii::Multigrid<LevelVector>>(matrix, coarse, *transfer, smoother, smoother);
    preconditioner =
        std::make_unique<PreconditionMG<dim, LevelVector, Transfer>>(dofs, *multigrid, *transfer);
  }

  void vmult(Vector &z, const Vector &r) const { preconditioner->vmult(z, r); }

private:
  void create_level(const unsigned int level, const Options &o) {
    AffineConstraints<double> constraints;
    IndexSet relevant;

    DoFTools::extract_locally_relevant_level_dofs(dofs, level, relevant);
    constraints.reinit(relevant);
    constraints.add_lines(constrained.get_boundary_indices(level));
    constraints.close();
    operators[level].reinit(dofs, constraints, update_default, level);
    if (level) {
      data[level].smoothing_range = o.range;
      data[level].degree = o.degree;
      data[level].eig_cg_n_iterations = 10;
    } else {
      data[level].smoothing_range = 1e-3;
      data[level].degree = numbers::invalid_unsigned_int;
      data[level].eig_cg_n_iterations = dofs.n_dofs(0);
    }
    data[level].constraints.copy_from(constraints);
    data[level].preconditioner = operators[level].inverse_diagonal();
  }

  // With the layouts of the levels' vectors, so that the transfer need not copy them.
  void create_transfer(const unsigned int num_levels) {
    std::vector<std::shared_ptr<const Utilities::MPI::Partitioner>> layouts;

    for (unsigned int level = 0; level < num_levels; level++)
      layouts.push_back(operators[level].get().get_vector_partitioner());
    transfer = std::make_unique<Transfer>(constrained);
    transfer->build(dofs, layouts);
  }

  const DoFHandler<dim> &dofs;
  MGConstrainedDoFs constrained;
  MGLevelObject<Laplacian<float>> operators;
  MGLevelObject<Chebyshev::AdditionalData> data;
  mg::SmootherRelaxation<Chebyshev, LevelVector> smoother;
  MGCoarseGridApplySmoother<LevelVector> coarse;
  mg::Matrix<LevelVector> matrix;
  std::unique_ptr<Transfer> transfer;
  std::unique_ptr<dealii::Multigrid<LevelVector>> multigrid;
  std::unique_ptr<PreconditionMG<dim, LevelVector, Transfer>> preconditioner;
};

// ---- All of it ----

class Clock {
public:
  Clock() : start(std::chrono::steady_clock::now()) {}
  double seconds() const {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    return Utilities::MPI::max(passed.count(), MPI_COMM_WORLD);
  }

private:
  std::chrono::steady_clock::time_point start;
};

double relative_residual(const Laplacian<double> &op, const Vector &u, const Vector &b) {
  Vector r;

  r.reinit(b);
  op.vmult(r, u);
  r.sadd(-1, b);
  return r.l2_norm() / b.l2_norm();
}

// The fastest of the wanted number of solves from zero.
void time_solves(const Laplacian<double> &op, const Multilevel &levels, const Vector &b, const Options &o,
                 Vector &u, Result *r) {
  for (int i = 0; i < o.repetitions; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    const Clock clock;
    SolverControl control(200, o.tolerance * b.l2_norm());
    SolverCG<Vector> solver(control);

    u = 0;
    solver.solve(op, u, b, levels);
    const double seconds = clock.seconds();
    r->solve_seconds = i ? std::min(r->solve_seconds, seconds) : seconds;
    r->iterations = static_cast<int>(control.last_step());
  }
}

Result solve(const Options &o) {
  Result r = {};
  const Clock mesh_clock;
  const Problem problem(o);
  r.mesh_seconds = mesh_clock.seconds();

  const Clock setup_clock;
  AffineConstraints<double> constraints;
  Laplacian<double> op;
  Vector u, b;

  add_boundary(problem.dofs, constraints);
  op.reinit(problem.dofs, constraints, update_quadrature_points);
  op.initialize_dof_vector(u);
  op.initialize_dof_vector(b);
  assemble_right_hand_side(op, b);
  const Multilevel levels(problem.dofs, o);
  levels.vmult(u, b); // estimates the eigenvalues
  r.setup_seconds = setup_clock.seconds();

  time_solves(op, levels, b, o, u, &r);
  r.levels = static_cast<int>(problem.mesh.n_global_levels());
  r.lanes = VectorizedArray<float>::size();
  r.dofs = problem.dofs.n_dofs();
  r.residual = relative_residual(op, u, b);
  r.l2_error = l2_error(problem, u);
  return r;
}

[[maybe_unused]] const bool entered = solvers().emplace(order, solve).second;

} // namespace
