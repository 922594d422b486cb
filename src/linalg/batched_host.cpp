// Stacks of small products on hosts, by the batched routines of Kokkos Kernels: one of its serial
// products for each matrix.

#include <coir/core/tasks.hpp>
#include <coir/linalg/detail/product.hpp>

#include <KokkosBatched_Gemm_Decl.hpp>
#include <KokkosBatched_Gemm_Serial_Impl.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace coir::detail {

namespace {

using Host = Kokkos::DefaultHostExecutionSpace;

template <class T, class Layout>
using BatchedMatrix =
    Kokkos::View<T**, Layout, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// Whether rows follow each other without gaps.
template <class T>
bool is_dense(Matrix<T> const& m) {
  return m.column == 1 && m.row == m.columns;
}

/// Whether offsets inside a matrix fit an int, as Kokkos Kernels computes them.
template <class T>
bool has_int_offsets(Matrix<T> const& m) {
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  auto const fits = [](std::int64_t stride, std::int64_t extent) {
    return stride <= most && stride * extent <= most / 2;
  };
  return fits(m.row, m.rows) && fits(m.column, m.columns);
}

template <class Layout, class T>
BatchedMatrix<T, Layout> batched_matrix(Stack<T> const& stack, std::int64_t s) {
  Matrix<T> const& m = stack.first;
  auto const size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  T* const data = m.data + s * stack.step;
  if constexpr (std::is_same_v<Layout, Kokkos::LayoutRight>)
    return BatchedMatrix<T, Layout>(data, size(m.rows), size(m.columns));
  else
    return BatchedMatrix<T, Layout>(
        data, Layout(size(m.rows), size(m.row), size(m.columns), size(m.column)));
}

/// c[s] = a[s] b[s] for all s, which are divided among threads.
template <class Layout, class T>
void multiply_each(Host const& exec, Stack<T const> const& a, Stack<T const> const& b,
                   Stack<T> const& c) {
  using namespace KokkosBatched;
  using Product = SerialGemm<Trans::NoTranspose, Trans::NoTranspose, Algo::Gemm::Unblocked>;
  std::int64_t const cells = c.count * c.first.rows * c.first.columns * a.first.columns;
  std::int64_t const shares = threads_worth_starting(exec, cells, c.count);
  for_each_task(
      "coir::linalg::batched_host/batched_product", exec, shares, [=](std::int64_t share) {
        Stack<T const> const left = a, right = b;  // copies that the compiler keeps in registers
        Stack<T> const out = c;
        std::int64_t const end = out.count * (share + 1) / shares;
        for (std::int64_t s = out.count * share / shares; s < end; ++s)
          // The factors are real: 1 + 0i times an infinite number is NaN.
          Product::invoke(real_t<T>(1), batched_matrix<Layout>(left, s),
                          batched_matrix<Layout>(right, s), real_t<T>(0),
                          batched_matrix<Layout>(out, s));
      });
}

}  // namespace

template <class T, class Exec>
void batched_product(Exec const& exec, Stack<T const> a, Stack<T const> b, Stack<T> c) {
  // The innermost loop of SerialGemm runs along a row of c.
  if (c.first.column != 1 && c.first.row == 1)
    return batched_product<T>(exec, b.transposed(), a.transposed(), c.transposed());
  if (!has_int_offsets(a.first) || !has_int_offsets(b.first) || !has_int_offsets(c.first))
    return plain_product(exec, a, b, c);
  // Rows that the compiler knows to be contiguous are computed in vectors, which doesn't pay for
  // short rows.
  if (c.first.columns >= 8 && is_dense(a.first) && is_dense(b.first) && is_dense(c.first))
    multiply_each<Kokkos::LayoutRight>(exec, a, b, c);
  else
    multiply_each<Kokkos::LayoutStride>(exec, a, b, c);
}

#define COIR_INSTANTIATE(T) \
  template void batched_product<T>(Host const&, Stack<T const>, Stack<T const>, Stack<T>);
COIR_INSTANTIATE(float)
COIR_INSTANTIATE(double)
COIR_INSTANTIATE(Kokkos::complex<float>)
COIR_INSTANTIATE(Kokkos::complex<double>)
#undef COIR_INSTANTIATE

}  // namespace coir::detail
