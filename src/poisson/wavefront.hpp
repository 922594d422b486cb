#pragma once

/// Many Jacobi sweeps in one pass over memory, on hosts: the row wavefront.
///
/// Compiled once in the library, in plain C++ with vector types, so that no device compiler reads
/// it.

#include <coir/poisson/detail/progress.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace coir::poisson::detail {

/// The two fields that sweeps read and write in turn, and the source.
///
/// `field[p]` and `source` point at the interior's first cell. In a padded grid rows start at
/// vector boundaries and may be read and written one vector before and after the interior.
template <class T>
struct WavefrontGrid {
  T* field[2];
  T const* source;
  std::ptrdiff_t field_stride;
  std::ptrdiff_t source_stride;
  int rows;
  int columns;
  bool padded;
};

/// Elements that a vector of this build holds: rows of a padded grid are multiples of it.
template <class T>
int wavefront_vector_width();

/// Advances a grid by `sweeps` Jacobi sweeps from field[0]; the result lies in field[sweeps % 2].
///
/// Each of `threads` concurrent callers calls run(its number) once. Each owns a band of rows and
/// makes up to `depth` sweeps on it in one pass, a few rows at a time. With each sweep the borders
/// between bands move by one row: up in one block of sweeps, down in the next. So one of two
/// neighbouring bands needs nothing from the other, and the other one needs only rows that were
/// finished first. No row is computed twice, and threads wait for each other once a block.
template <class T>
class Wavefront {
 public:
  /// \param threads  the most to use
  /// \param depth    the most sweeps that a group of rows makes while it stays in cache
  Wavefront(WavefrontGrid<T> const& grid, int threads, int depth, std::int64_t sweeps);

  /// The number of threads that must call run(): at most as many as asked for.
  int threads() const { return threads_; }

  void run(int thread);

 private:
  struct Band;

  int border(int thread) const;
  void advance(Band const& band, std::int64_t number);

  WavefrontGrid<T> grid_;
  std::int64_t sweeps_;
  int depth_;
  int threads_;
  std::vector<Progress> finished_;  // by thread: blocks whose first rows are done
};

extern template class Wavefront<float>;
extern template class Wavefront<double>;

}  // namespace coir::poisson::detail
