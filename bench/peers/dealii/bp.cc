// SPDX-License-Identifier: BSD-2-Clause
// Bake-off problems BP1 to BP6 with the matrix-free framework of deal.II, for one order fixed at compile time
// with -DORDER=p: mesh, operator, checks, timing. The problem is that of bp/bp.h, to the box and the
// displacement of the vertices. Linked by CMakeLists.txt for several orders.
//
// The variant is the best one that we know deal.II to have for stored data on deformed hexahedra:
//
//   - 8 lanes (AVX-512; lanes.cc), one element a lane, FEEvaluation with order and points as constants:
//     even-odd sum factorization, collocated derivatives, no interpolation in BP5 and BP6;
//   - diffusion: the 6 factors JxW J^-1 J^-T of a point are kept by this program and meet the reference
//     gradients. deal.II's own get_gradient and submit_gradient read 10 numbers a point (J^-1, JxW);
//   - mass: JxW as MatrixFree keeps it, 1 number a point of a deformed element;
//   - cell_loop zeroes the output range by range, just before it is added to;
//   - elements in rows or along a Morton curve, unknowns numbered as the elements meet them: main.cc times
//     both orders;
//   - several cores: one MPI rank each. The packaged MatrixFree was measured to ignore threads (its loops ran
//     on one core with every task scheme).
#include "bp.hh"

#include <deal.II/base/function.h>
#include <deal.II/base/mpi.h>
#include <deal.II/base/quadrature_lib.h>
#include <deal.II/distributed/shared_tria.h>
#include <deal.II/dofs/dof_handler.h>
#include <deal.II/dofs/dof_tools.h>
#include <deal.II/fe/fe_q.h>
#include <deal.II/fe/fe_system.h>
#include <deal.II/fe/mapping_q1.h>
#include <deal.II/lac/affine_constraints.h>
#include <deal.II/lac/la_parallel_vector.h>
#include <deal.II/matrix_free/fe_evaluation.h>
#include <deal.II/matrix_free/matrix_free.h>
#include <deal.II/numerics/vector_tools.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

using namespace dealii;

namespace {

constexpr int dim = 3, order = ORDER;

using Lanes = VectorizedArray<double>;
using Vector = LinearAlgebra::distributed::Vector<double>;
using Box = std::array<int, dim>;
using Mesh = parallel::shared::Triangulation<dim>;

// ---- Mesh ----

// Elements per direction, so that the product of the nodes per direction is near `nodes`.
Box choose_box(double nodes) {
  Box n;

  for (int d = 0; d < dim; d++) {
    const double wanted = (std::pow(nodes, 1.0 / (dim - d)) - 1) / order;
    n[d] = wanted < 1 ? 1 : static_cast<int>(std::floor(wanted + 0.5));
    nodes /= static_cast<double>(n[d]) * order + 1;
  }
  return n;
}

// Moves a point of the unit cube: a smooth displacement, zero on the boundary.
Point<dim> displaced(const Point<dim> &X, const double amplitude) {
  double s =
      amplitude * std::sin(numbers::PI * X[0]) * std::sin(numbers::PI * X[1]) * std::sin(numbers::PI * X[2]);

  for (int d = 0; d < dim; d++) {
    if (X[d] == 0 || X[d] == 1) s = 0; // sin(pi) is not zero in floating point
  }
  return Point<dim>(X[0] + s * std::cos(2.0 * X[1]), X[1] - s * std::cos(1.5 * X[2]),
                    X[2] + s * std::cos(1.0 * X[0]));
}

std::vector<Point<dim>> vertices_of(const Box &n, const double deform) {
  std::vector<Point<dim>> vertices;

  for (int k = 0; k <= n[2]; k++) {
    for (int j = 0; j <= n[1]; j++) {
      for (int i = 0; i <= n[0]; i++) {
        const Point<dim> X(static_cast<double>(i) / n[0], static_cast<double>(j) / n[1],
                           static_cast<double>(k) / n[2]);
        vertices.push_back(displaced(X, deform));
      }
    }
  }
  return vertices;
}

// Position on the Morton curve: the bits of the indices, interleaved.
std::uint64_t morton(const Box &i) {
  std::uint64_t position = 0;

  for (int bit = 0; bit < 21; bit++) {
    for (int d = 0; d < dim; d++) position |= static_cast<std::uint64_t>(i[d] >> bit & 1) << (dim * bit + d);
  }
  return position;
}

std::vector<CellData<dim>> cells_of(const Box &n, const Cells cells) {
  std::vector<Box> indices;
  std::vector<CellData<dim>> data;

  for (int k = 0; k < n[2]; k++) {
    for (int j = 0; j < n[1]; j++) {
      for (int i = 0; i < n[0]; i++) indices.push_back({{i, j, k}});
    }
  }
  if (cells == Cells::morton) {
    std::sort(indices.begin(), indices.end(),
              [](const Box &a, const Box &b) { return morton(a) < morton(b); });
  }
  for (const Box &i : indices) {
    CellData<dim> cell;
    for (int corner = 0; corner < 8; corner++) {
      const int x = i[0] + (corner & 1), y = i[1] + (corner >> 1 & 1), z = i[2] + (corner >> 2);
      cell.vertices[corner] = x + (n[0] + 1) * (y + (n[1] + 1) * z);
    }
    data.push_back(cell);
  }
  return data;
}

// Contiguous ranges of cells to the ranks.
void partition(Mesh &mesh) {
  const std::uint64_t num_cells = mesh.n_active_cells(),
                      num_ranks = Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD);

  for (const auto &cell : mesh.active_cell_iterators())
    cell->set_subdomain_id(cell->active_cell_index() * num_ranks / num_cells);
}

// ---- Operator ----

// Mass or diffusion with num_points points per direction.
template <bool is_mass, int num_points, int num_comp> class Operator {
public:
  using Matrices = MatrixFree<dim, double, Lanes>;
  using Evaluation = FEEvaluation<dim, order, num_points, num_comp, double, Lanes>;

  Operator(const DoFHandler<dim> &dofs, const AffineConstraints<double> &constraints,
           const Quadrature<1> &quadrature) {
    typename Matrices::AdditionalData additional;

    additional.tasks_parallel_scheme = Matrices::AdditionalData::none;
    additional.mapping_update_flags = is_mass ? update_JxW_values : update_gradients | update_JxW_values;
    matrices.reinit(MappingQ1<dim>(), dofs, constraints, quadrature, additional);
    if (!is_mass) build_factors();
  }

  void init_vector(Vector &v) const { matrices.initialize_dof_vector(v); }

  void apply(Vector &v, const Vector &u) const {
    matrices.cell_loop(&Operator::apply_to_cells, this, v, u, true);
  }

private:
  static constexpr unsigned int nq = Evaluation::static_n_q_points, num_factors = 6;

  // Weight times determinant times J^-1 J^-T at every point of every batch of cells.
  void build_factors() {
    Evaluation evaluation(matrices);

    factors.resize(matrices.n_cell_batches() * std::size_t(nq * num_factors));
    Lanes *f = factors.data();
    for (unsigned int cell = 0; cell < matrices.n_cell_batches(); cell++) {
      evaluation.reinit(cell);
      for (unsigned int q = 0; q < nq; q++, f += num_factors) {
        const auto inverse = evaluation.inverse_jacobian(q); // transposed
        const Lanes jxw = evaluation.JxW(q);
        const auto product = [&](const int a, const int b) {
          return jxw * (inverse[0][a] * inverse[0][b] + inverse[1][a] * inverse[1][b] +
                        inverse[2][a] * inverse[2][b]);
        };
        f[0] = product(0, 0), f[1] = product(1, 1), f[2] = product(2, 2);
        f[3] = product(1, 2), f[4] = product(0, 2), f[5] = product(0, 1);
      }
    }
  }

  void apply_to_cells(const Matrices &data, Vector &v, const Vector &u,
                      const std::pair<unsigned int, unsigned int> &range) const {
    constexpr auto what = is_mass ? EvaluationFlags::values : EvaluationFlags::gradients;
    Evaluation evaluation(data);

    for (unsigned int cell = range.first; cell < range.second; cell++) {
      evaluation.reinit(cell);
      evaluation.gather_evaluate(u, what);
      if constexpr (is_mass) {
        for (unsigned int q = 0; q < nq; q++) evaluation.submit_value(evaluation.get_value(q), q);
      } else {
        multiply_gradients(evaluation.begin_gradients(), &factors[cell * std::size_t(nq * num_factors)]);
      }
      evaluation.integrate_scatter(what, v);
    }
  }

  // Reference gradients in place, as deal.II 9.4 lays them out: [component][direction][point]. The check of a
  // linear function fails when a version does it differently.
  static void multiply_gradients(Lanes *gradients, const Lanes *f) {
    for (unsigned int q = 0; q < nq; q++, f += num_factors) {
      for (int comp = 0; comp < num_comp; comp++) {
        Lanes *g = gradients + comp * dim * nq + q;
        const Lanes g0 = g[0], g1 = g[nq], g2 = g[2 * nq];
        g[0] = f[0] * g0 + f[5] * g1 + f[4] * g2;
        g[nq] = f[5] * g0 + f[1] * g1 + f[3] * g2;
        g[2 * nq] = f[4] * g0 + f[3] * g1 + f[2] * g2;
      }
    }
  }

  Matrices matrices;
  AlignedVector<Lanes> factors; // [batch][point][num_factors]
};

// ---- Checks ----

// The same function of the position in every component.
class Formula : public Function<dim> {
public:
  Formula(const unsigned int num_comp, double (*formula)(const Point<dim> &))
      : Function<dim>(num_comp), formula(formula) {}
  double value(const Point<dim> &x, const unsigned int) const override { return formula(x); }

private:
  double (*formula)(const Point<dim> &);
};

double linear(const Point<dim> &x) { return x[0] + 2 * x[1] + 3 * x[2]; }
double smooth(const Point<dim> &x) { return std::sin(x[0]) * std::cos(2 * x[1]) * std::exp(x[2]); }

// Integrals over the unit cube of the squares of these functions, or of their gradients.
double linear_energy(const bool is_mass) { return is_mass ? 61.0 / 6 : 14; }
double smooth_energy(const bool is_mass) {
  const double sin2_x = 0.5 - std::sin(2.0) / 4, cos2_x = 1 - sin2_x;
  const double cos2_2y = 0.5 + std::sin(4.0) / 8, sin2_2y = 1 - cos2_2y;
  const double exp2_z = (std::exp(2.0) - 1) / 2;

  return is_mass ? sin2_x * cos2_2y * exp2_z
                 : (cos2_x * cos2_2y + 4 * sin2_x * sin2_2y + sin2_x * cos2_2y) * exp2_z;
}

template <class Op>
double energy(const Op &op, const DoFHandler<dim> &dofs, double (*formula)(const Point<dim> &)) {
  const unsigned int num_comp = dofs.get_fe().n_components();
  Vector u, v;

  op.init_vector(u);
  op.init_vector(v);
  VectorTools::interpolate(MappingQ1<dim>(), dofs, Formula(num_comp, formula), u);
  op.apply(v, u);
  return (u * v) / num_comp;
}

// The displacement keeps the boundary and the trilinear elements fill the cube, so that the energy of a
// linear function is exact where the quadrature is: up to rounding, as in bp/bp.c. That of a smooth
// function is interpolated: its bound is loose, and empty on a mesh of one element.
template <class Op>
void check(const Op &op, const bool is_mass, const DoFHandler<dim> &dofs, const Options &o, Result *r) {
  const double P = order + 1, least = *std::min_element(r->elements, r->elements + dim);
  const double lines = P * *std::max_element(r->elements, r->elements + dim);

  r->energy = energy(op, dofs, smooth);
  r->energy_error = std::abs(r->energy / smooth_energy(is_mass) - 1);
  r->energy_tolerance = std::max(1e-10, std::pow(2 / least, order));
  r->has_linear_check = !(o.bp > 4 && order == 1 && o.deform != 0);
  r->linear_error = std::abs(energy(op, dofs, linear) / linear_energy(is_mass) - 1);
  r->linear_tolerance = 100 * std::numeric_limits<double>::epsilon() * P * P * lines;
}

// ---- Timing, by the rules of bp/bp.c ----

template <class Op> double time_batch(const Op &op, const int applies, Vector &v, const Vector &u) {
  MPI_Barrier(MPI_COMM_WORLD);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < applies; i++) op.apply(v, u);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  return Utilities::MPI::max(seconds.count(), MPI_COMM_WORLD);
}

template <class Op> void time_applies(const Op &op, const int repetitions, Result *r) {
  Vector u, v;
  std::mt19937_64 random(1);
  std::vector<double> samples;
  double total = 0;
  int batch = 1;

  op.init_vector(u);
  op.init_vector(v);
  for (unsigned int i = 0; i < u.locally_owned_size(); i++)
    u.local_element(i) = std::uniform_real_distribution<double>(-1, 1)(random);
  time_batch(op, 1, v, u); // warm up
  while (time_batch(op, batch, v, u) < 1e-3 && batch < 1 << 20) batch *= 2;
  while (repetitions ? samples.size() < std::size_t(repetitions) : samples.size() < 5 || total < 0.5) {
    const double seconds = time_batch(op, batch, v, u);
    samples.push_back(seconds / batch);
    total += seconds;
  }
  std::sort(samples.begin(), samples.end());
  r->seconds_min = samples[0];
  r->seconds_median = samples[samples.size() / 2];
}

// ---- All of it ----

template <bool is_mass, int num_points, int num_comp>
Result run(const Options &o, const Quadrature<1> &quadrature) {
  const Box n = choose_box(o.size / num_comp);
  Result r = {};
  Mesh mesh(MPI_COMM_WORLD, Triangulation<dim>::none, false, Mesh::partition_custom_signal);
  const FESystem<dim> fe(FE_Q<dim>(order), num_comp);
  DoFHandler<dim> dofs;
  IndexSet relevant;
  AffineConstraints<double> constraints;

  mesh.signals.create.connect([&] { partition(mesh); });
  mesh.create_triangulation(vertices_of(n, o.deform), cells_of(n, o.cells), SubCellData());
  dofs.reinit(mesh);
  dofs.distribute_dofs(fe);
  DoFTools::extract_locally_relevant_dofs(dofs, relevant);
  constraints.reinit(relevant);
  constraints.close();

  const Operator<is_mass, num_points, num_comp> op(dofs, constraints, quadrature);
  r.cells = o.cells;
  std::copy(n.begin(), n.end(), r.elements);
  r.components = num_comp;
  r.points_1d = num_points;
  r.lanes = Lanes::size();
  r.dofs = dofs.n_dofs();
  check(op, is_mass, dofs, o, &r);
  time_applies(op, o.repetitions, &r);
  return r;
}

Result solve(const Options &o) {
  const QGauss<1> gauss(order + 2);
  const QGaussLobatto<1> lobatto(order + 1);

  switch (o.bp) {
  case 1: return run<true, order + 2, 1>(o, gauss);
  case 2: return run<true, order + 2, 3>(o, gauss);
  case 3: return run<false, order + 2, 1>(o, gauss);
  case 4: return run<false, order + 2, 3>(o, gauss);
  case 5: return run<false, order + 1, 1>(o, lobatto);
  default: return run<false, order + 1, 3>(o, lobatto);
  }
}

[[maybe_unused]] const bool entered = solvers().emplace(order, solve).second;

} // namespace
