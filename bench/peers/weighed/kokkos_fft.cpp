// Real transforms of cubes by coir and by kokkos-fft on the host, plans made beforehand; "filter" is forward, a product of each
// mode with a number, and backward.

#include "in_turns.hpp"

#include <coir/core/loops.hpp>
#include <coir/fft/in_place.hpp>
#include <coir/fft/plan.hpp>

#include <KokkosFFT.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>

using Exec = Kokkos::DefaultHostExecutionSpace;
template <class T>
using Real = Kokkos::View<T***, Kokkos::LayoutRight, Kokkos::HostSpace>;
template <class T>
using Modes = Kokkos::View<Kokkos::complex<T>***, Kokkos::LayoutRight, Kokkos::HostSpace>;

template <class T>
void fill(Real<T> const& x) {
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<T>((i * 7919) % 1009) - 504;
}

template <class T>
void expects_equal(Modes<T> const& one, Modes<T> const& other) {
  double largest = 0, difference = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    largest = std::max(largest, double(Kokkos::abs(one.data()[i])));
    difference = std::max(difference, double(Kokkos::abs(one.data()[i] - other.data()[i])));
  }
  if (difference <= 1e-5 * largest) return;
  std::printf("the spectra differ by %g of %g\n", difference, largest);
  std::exit(1);
}

/// The factor of a filter.
template <class T>
struct Factor {
  T number;
  KOKKOS_FUNCTION T operator()(std::int64_t, std::int64_t, std::int64_t) const { return number; }
};

template <class T>
void cube(std::int64_t n, char const* type) {
  Exec const exec;
  auto const side = static_cast<std::size_t>(n);
  Real<T> const x("x", side, side, side);
  Modes<T> const modes("modes", side, side, side / 2 + 1),
      others("others", side, side, side / 2 + 1);
  coir::fft::RealPlan<Exec, T, 3> const plan(exec, {n, n, n});
  KokkosFFT::axis_type<3> const axes{-3, -2, -1};
  KokkosFFT::Plan const there(exec, x, others, KokkosFFT::Direction::forward, axes);
  KokkosFFT::Plan const back(exec, others, x, KokkosFFT::Direction::backward, axes);
  auto const none = KokkosFFT::Normalization::none;

  fill(x);
  plan.forward(x, modes);
  KokkosFFT::execute(there, x, others, none);
  expects_equal(modes, others);

  // Zeros stay zeros, however often they are transformed.
  Kokkos::deep_copy(x, T(0));
  Kokkos::deep_copy(modes, Kokkos::complex<T>(0));
  Kokkos::deep_copy(others, Kokkos::complex<T>(0));
  std::string const name = std::string(type) + " " + std::to_string(n) + "^3, ";
  in_turns(
      name + "forward", [&] { plan.forward(x, modes); },
      [&] { KokkosFFT::execute(there, x, others, none); });
  in_turns(
      name + "backward", [&] { plan.backward(modes, x); },
      [&] { KokkosFFT::execute(back, others, x, none); });

  coir::fft::RealPlan<Exec, T, 3> const in_place(exec, {n, n, n}, 1, {.in_place = true});
  Factor<T> const factor{T(0.5)};
  in_turns(
      name + "filter", [&] { in_place.filter(coir::fft::real_view_of(modes, n), modes, factor); },
      [&] {
        KokkosFFT::execute(there, x, others, none);
        auto const product = others;
        coir::for_each(
            "product", exec, coir::box<3, std::int64_t>({n, n, n / 2 + 1}),
            KOKKOS_LAMBDA(std::int64_t i, std::int64_t j, std::int64_t k) {
              product(i, j, k) *= factor(i, j, k);
            });
        KokkosFFT::execute(back, others, x, none);
      });
}

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  print_heading();
  for (std::int64_t const n : {64, 128, 256}) {
    cube<float>(n, "float");
    cube<double>(n, "double");
  }
}
