#include "transfer_cells.hpp"

#include <core/simd.hpp>

namespace coir::poisson::detail {

using simd::Simd;

template <bool Set, class T>
void interpolate_cells(T const* c, T* u, int pairs) {
  using S = Simd<T>;
  using Vector = typename S::Vector;
  int k = 1;
  for (; k + S::width <= pairs + 1; k += S::width) {
    Vector const here = S::load(c + k);
    Vector const between = T(0.5) * (S::load(c + k - 1) + here);
    T* const out = u + 2 * k - 1;
    Vector const first = Set ? Vector{} : S::load(out);
    Vector const second = Set ? Vector{} : S::load(out + S::width);
    S::store(out, first + S::first_in_turns(between, here));
    S::store(out + S::width, second + S::second_in_turns(between, here));
  }
  for (; k <= pairs; ++k) {
    u[2 * k - 1] = (Set ? T(0) : u[2 * k - 1]) + T(0.5) * (c[k - 1] + c[k]);
    u[2 * k] = (Set ? T(0) : u[2 * k]) + c[k];
  }
}

template <class T>
void restrict_cells(T const* r, T* out, int end, T scale) {
  using S = Simd<T>;
  using Vector = typename S::Vector;
  int k = 1;
  if (end > S::width) {
    auto const odd_from = [&](int column) {
      return S::evens(S::load(r + column), S::load(r + column + S::width));
    };
    // Only the first column of the next vector is needed, and the others may not exist.
    Vector odd = odd_from(1);
    for (; k + S::width <= end; k += S::width) {
      T const* const from = r + 2 * k - 1;
      Vector const even = S::odds(S::load(from), S::load(from + S::width));
      Vector after{};
      bool const more = k + 2 * S::width <= end;
      if (more)
        after = odd_from(2 * (k + S::width) - 1);
      else
        after[0] = r[2 * (k + S::width) - 1];
      S::store(out + k, scale * (even + T(0.5) * (odd + S::east(odd, after))));
      odd = after;
    }
  }
  for (; k < end; ++k) out[k] = scale * (r[2 * k] + T(0.5) * (r[2 * k - 1] + r[2 * k + 1]));
}

template void interpolate_cells<false, float>(float const*, float*, int);
template void interpolate_cells<true, float>(float const*, float*, int);
template void interpolate_cells<false, double>(double const*, double*, int);
template void interpolate_cells<true, double>(double const*, double*, int);
template void restrict_cells<float>(float const*, float*, int, float);
template void restrict_cells<double>(double const*, double*, int, double);

}  // namespace coir::poisson::detail
