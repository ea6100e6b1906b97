// SPDX-License-Identifier: BSD-2-Clause
// The parts of deal.II's MatrixFree that are not templates of the user, for as many lanes as the processor
// has: the packaged library has them for its own number of lanes only. Linked by CMakeLists.txt where the two
// differ. Faces and hanging nodes do not occur in the benchmarks: their entry points abort.
#include <deal.II/matrix_free/dof_info.templates.h>
#include <deal.II/matrix_free/evaluation_template_factory.templates.h>
#include <deal.II/matrix_free/mapping_info.templates.h>
#include <deal.II/matrix_free/mapping_info_storage.templates.h>
#include <deal.II/matrix_free/matrix_free.templates.h>
#include <deal.II/matrix_free/shape_info.templates.h>

#include <cstdlib>

DEAL_II_NAMESPACE_OPEN

// The parts for one type of values: double in bp.cc, float and double in multigrid.cc.
#define INSTANTIATE(Number)                                                                                  \
  template class MatrixFree<3, Number, VectorizedArray<Number>>;                                             \
  template void MatrixFree<3, Number, VectorizedArray<Number>>::internal_reinit<double, 3>(                  \
      const std::shared_ptr<hp::MappingCollection<3>> &, const std::vector<const DoFHandler<3, 3> *> &,      \
      const std::vector<const AffineConstraints<double> *> &, const std::vector<IndexSet> &,                 \
      const std::vector<hp::QCollection<3>> &,                                                               \
      const MatrixFree<3, Number, VectorizedArray<Number>>::AdditionalData &);                               \
                                                                                                             \
  namespace internal {                                                                                       \
                                                                                                             \
  template <>                                                                                                \
  void FEEvaluationHangingNodesFactory<3, Number, VectorizedArray<Number>>::apply(                           \
      const unsigned int, const unsigned int,                                                                \
      const MatrixFreeFunctions::ShapeInfo<VectorizedArray<Number>> &, const bool,                           \
      const std::array<MatrixFreeFunctions::compressed_constraint_kind, VectorizedArray<Number>::size()> &,  \
      VectorizedArray<Number> *) {                                                                           \
    std::abort();                                                                                            \
  }                                                                                                          \
                                                                                                             \
  template <>                                                                                                \
  void FEFaceEvaluationFactory<3, VectorizedArray<Number>>::evaluate(                                        \
      const unsigned int, const EvaluationFlags::EvaluationFlags, const VectorizedArray<Number> *,           \
      FEEvaluationData<3, VectorizedArray<Number>, true> &) {                                                \
    std::abort();                                                                                            \
  }                                                                                                          \
                                                                                                             \
  template <>                                                                                                \
  void FEFaceEvaluationFactory<3, VectorizedArray<Number>>::integrate(                                       \
      const unsigned int, const EvaluationFlags::EvaluationFlags, VectorizedArray<Number> *,                 \
      FEEvaluationData<3, VectorizedArray<Number>, true> &) {                                                \
    std::abort();                                                                                            \
  }                                                                                                          \
                                                                                                             \
  } // namespace internal

INSTANTIATE(double)
INSTANTIATE(float)

DEAL_II_NAMESPACE_CLOSE
