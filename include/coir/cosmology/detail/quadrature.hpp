#pragma once

namespace coir::cosmology::detail {

/// The upper half of the nodes of Gauss and Legendre's rule in [-1, 1], and their weights.
/// \see Abramowitz, Stegun, Handbook of Mathematical Functions (1964), table 25.4
inline constexpr double legendre_nodes[] = {0.148874338981631210885, 0.433395394129247190799,
                                            0.679409568299024406234, 0.865063366688984510732,
                                            0.973906528517171720078};
inline constexpr double legendre_weights[] = {0.295524224714752870174, 0.269266719309996355091,
                                              0.219086362515982043996, 0.149451349150580593146,
                                              0.066671344308688137594};

/// The integral of f from a to b by Gauss and Legendre's rule of 10 nodes, exact for polynomials of
/// degree 19. a and b are numbers of the type that f returns, or plain ones.
template <class T, class F>
T gauss_legendre(F const& f, T const& a, T const& b) {
  T const centre = (a + b) / 2;
  T const half = (b - a) / 2;
  T sum(0);
  for (int i = 0; i < 5; ++i) {
    T const offset = half * static_cast<T>(legendre_nodes[i]);
    sum += static_cast<T>(legendre_weights[i]) * (f(T(centre - offset)) + f(T(centre + offset)));
  }
  return sum * half;
}

/// The integral with the range cut into equal panels.
template <class T, class F>
T gauss_legendre(F const& f, T const& a, T const& b, int panels) {
  T const width = (b - a) / static_cast<double>(panels);
  T sum(0);
  for (int i = 0; i < panels; ++i) {
    T const from = a + width * static_cast<double>(i);
    sum += gauss_legendre(f, from, T(from + width));
  }
  return sum;
}

}  // namespace coir::cosmology::detail
