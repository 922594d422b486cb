#pragma once

/// What multigrid in double needs to find its corrections in float: the residual of a box as a
/// source in float, and the correction that solves for it.
///
/// Iterative refinement: the residual r = b - L u is computed in double and rounded, L e = r is
/// solved in float, and u + e has a residual that is smaller by what float can reach. A cycle in
/// float moves half the bytes, and twice as many cells fit into a vector. \see Goeddeke, Strzodka,
/// Turek, Int. J. Parallel Emergent Distrib. Syst. 22 (2007) 221

#include "grid_level.hpp"
#include "host_slabs.hpp"

#include <coir/core/buffers.hpp>
#include <coir/core/contiguous.hpp>
#include <coir/core/loops.hpp>
#include <coir/poisson/detail/slab_pipeline.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace coir::poisson::detail {

/// The fields of a box's corrections, and the pass that applies one correction.
template <class Exec>
class FloatCorrections {
 public:
  using Box = Level<double, 3>;

  /// \throws ResourceError if the fields don't fit into the free memory
  FloatCorrections(Exec const& exec, Box const& box)
      : exec_(exec), slabs_(static_cast<int>(exec.concurrency()), box), sums_(box.n[0] + 1) {
    auto const& n = box.n;
    for (int d = 0; d < 3; ++d) level_.n[d] = n[d];
    level_.u_row = padded(n[2] + 2);
    level_.u_slab = level_.u_row * (n[1] + 2);
    level_.b_row = padded(n[2]);
    level_.b_slab = level_.b_row * n[1];
    Buffers all;
    all.add(correction_, "coir::poisson::float_corrections/correction",
            level_.u_slab * (n[0] + 2) + in_a_line);
    all.add(residual_, "coir::poisson::float_corrections/residual", level_.b_slab * n[0]);
    all.template make<Kokkos::HostSpace>("multigrid's corrections of " + std::to_string(n[0]) +
                                         " x " + std::to_string(n[1]) + " x " +
                                         std::to_string(n[2]) + " cells");
    set_to_zero(exec_, correction_);                // the ring stays so
    level_.u = correction_.data() + in_a_line - 1;  // rows begin with the ring
    level_.b = residual_.data();
  }

  /// L e = r in float: e is the level's unknown, r its source.
  Level<float, 3> const& level() const { return level_; }

  struct Norms {
    double source;    // the squared norm of the residual for u = 0 inside
    double residual;  // the squared norm of b - L u
  };

  /// Sets r to (b - L u) / divisor.
  Norms begin(Box const& box, double divisor) {
    run("coir::poisson::float_corrections/begin", box, 1, [&](PipelineStep const& at) {
      slabs_.measure_source(at.band, box, at.slab);
      sums_[at.slab] = set_residual<true>(box, at.slab, 1 / divisor);
    });
    return {slabs_.total(box.n[0]), total()};
  }

  /// Adds scale e to u, and sets r to (b - L u) / divisor unless that is 0.
  ///
  /// \return the squared norm of b - L u
  double refine(Box const& box, double scale, double divisor) {
    run("coir::poisson::float_corrections/refine", box, 2, [&](PipelineStep const& at) {
      if (at.stage == 0)
        add_correction(box, at.slab, scale);
      else if (divisor == 0)
        sums_[at.slab] = set_residual<false>(box, at.slab, 0);
      else
        sums_[at.slab] = set_residual<true>(box, at.slab, 1 / divisor);
    });
    return total();
  }

 private:
  // Rows begin with a line of the cache, so that no vector lies in two.
  static constexpr int in_a_line = 16;
  static std::ptrdiff_t padded(int n) { return (n + in_a_line - 1) / in_a_line * in_a_line; }

  template <class Step>
  void run(char const* label, Box const& box, int stages, Step const& step) const {
    pipeline(label, exec_, box.n[0], box.n[1], box.n[1], stages,
             pipeline_bands(exec_, box.n[0], box.cells(), stages), step);
  }

  double total() const {
    double sum = 0;
    for (double one : sums_) sum += one;
    return sum;
  }

  void add_correction(Box const& box, int i, double scale) const {
    for (int j = 1; j <= box.n[1]; ++j) {
      double* const u = box.u_at(i, j, 1);
      float const* const e = level_.u_at(i, j, 1);
      COIR_INDEPENDENT_ITERATIONS
      for (int k = 0; k < box.n[2]; ++k) u[k] += scale * double(e[k]);
    }
  }

  // Without Store the residual is measured alone.
  template <bool Store>
  double set_residual(Box const& box, int i, double factor) {
    constexpr int lanes = 16;
    double squares[lanes] = {};
    int const n = box.n[2];
    for (int j = 1; j <= box.n[1]; ++j) {
      double const* const u = box.u_at(i, j, 1);
      double const* const b = box.b + box.b_offset(i, j, 1);
      float* const r = residual_.data() + level_.b_offset(i, j, 1);
      auto const put = [&](int k) {
        double const defect = box.plain_defect(u + k, b[k]);
        if (Store) r[k] = static_cast<float>(-factor * defect);
        return defect * defect;
      };
      int k = 0;
      for (; k + lanes <= n; k += lanes) {
        COIR_INDEPENDENT_ITERATIONS
        for (int l = 0; l < lanes; ++l) squares[l] += put(k + l);
      }
      for (int l = 0; k < n; ++k, ++l) squares[l] += put(k);
    }
    for (int width = lanes / 2; width > 0; width /= 2)
      for (int l = 0; l < width; ++l) squares[l] += squares[l + width];
    return squares[0];
  }

  Exec exec_;
  Level<float, 3> level_;
  Kokkos::View<float*, Kokkos::HostSpace> correction_, residual_;
  HostSlabs<double, 3> slabs_;
  std::vector<double> sums_;  // of squares, by slab
};

}  // namespace coir::poisson::detail
