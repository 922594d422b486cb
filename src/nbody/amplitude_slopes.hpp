#pragma once

/// Derivatives with respect to the amplitudes of modes, summed into the nodes of the table that the
/// amplitudes are interpolated in.

#include "amplitude_table.hpp"
#include "lpt.hpp"

#include <coir/core/contiguous.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/math.hpp>
#include <coir/core/tasks.hpp>
#include <coir/fft/wave_number.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace coir::nbody::detail {

/// The contribution of a mode of a half spectrum to the inner product of two real fields:
/// Re(a conj(b)), counted twice if the opposite mode isn't in the half spectrum. All contributions
/// add up to n^3 times the sum of the fields' product over sites.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION double product_of_modes(Kokkos::complex<T> const& a,
                                                    Kokkos::complex<T> const& b, std::int64_t k,
                                                    std::int64_t n) {
  double const weight = k == 0 || 2 * k == n ? 1 : 2;
  return weight * (static_cast<double>(a.real()) * static_cast<double>(b.real()) +
                   static_cast<double>(a.imag()) * static_cast<double>(b.imag()));
}

/// dJ / d ln amplitude of each mode.
template <class T>
struct AmplitudeTerms {
  Kokkos::complex<T> const *density, *slope;  ///< a mode, and dJ / d mode
  std::int64_t n;

  KOKKOS_FORCEINLINE_FUNCTION double operator()(std::int64_t i, std::int64_t j,
                                                std::int64_t k) const {
    std::int64_t const at = (i * n + j) * (n / 2 + 1) + k;
    return product_of_modes(density[at], slope[at], k, n);
  }
  KOKKOS_FORCEINLINE_FUNCTION double square(std::int64_t i, std::int64_t j, std::int64_t k) const {
    auto const x = static_cast<double>(fft::wave_number(i, n)),
               y = static_cast<double>(fft::wave_number(j, n)), z = static_cast<double>(k);
    return x * x + y * y + z * z;
  }
};

/// On hosts each group of planes has a table. The number of groups depends on n alone, so that the
/// bits don't depend on the number of threads.
template <class T>
struct AmplitudeSlopesOfGroup {
  AmplitudeTerms<T> terms;
  Amplitudes amplitudes;
  std::int64_t groups, nodes;
  double* sums;  // (groups, nodes)

  static std::int64_t groups_of(std::int64_t n) { return std::min<std::int64_t>(n, 64); }

  void operator()(std::int64_t group) const {
    double* const to = sums + group * nodes;
    std::fill_n(to, nodes, 0.0);
    std::int64_t const n = terms.n;
    for (std::int64_t i = n * group / groups; i < n * (group + 1) / groups; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t k = i + j == 0 ? 1 : 0; k < n / 2 + 1; ++k) {
          double const term = terms(i, j, k);
          auto const [below, part] = amplitudes.place(terms.square(i, j, k));
          to[below] += (1 - part) * term;
          to[below + 1] += part * term;
        }
  }
};

template <class T>
struct SumOfSizes {
  AmplitudeTerms<T> terms;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k,
                                  double& sum) const {
    sum += math::abs(terms(i, j, k));
  }
};

/// On devices there is a sum for each shell: the modes of one |q|^2, with whole wave numbers q.
/// Neighbouring modes are in different shells, so that threads seldom add to one number at once.
/// Sums of whole numbers don't depend on the order of additions.
template <class T>
struct AddToShells {
  static constexpr bool reads_no_neighbours = true;
  using Word =
      unsigned long long;  // for which devices have an addition; modulo 2^64 of either sign
  AmplitudeTerms<T> terms;
  double scale;
  Word* shells;

  static std::int64_t shells_of(std::int64_t n) { return 3 * (n / 2) * (n / 2) + 1; }

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    double const term = math::rint(scale * terms(i, j, k));
    Kokkos::atomic_add(shells + static_cast<std::int64_t>(terms.square(i, j, k)),
                       static_cast<Word>(static_cast<long long>(term)));
  }
};

/// Sums, of 8 bytes each, that amplitude_slopes() adds up.
template <class Exec, class T>
std::int64_t amplitude_sums(std::int64_t n, std::int64_t nodes) {
  return runs_on_host<Exec> ? AmplitudeSlopesOfGroup<T>::groups_of(n) * nodes
                            : AddToShells<T>::shells_of(n);
}

/// The sums of dJ / d ln amplitude over all modes. Each mode is shared out to the two nodes that
/// its amplitude is interpolated between. The bits are the same in each run, on hosts for any
/// number of threads. Waits for the result.
template <class Exec, class T>
std::vector<double> amplitude_slopes(Exec const& exec, AmplitudeTerms<T> const& terms,
                                     Amplitudes const& amplitudes) {
  using Space = typename Exec::memory_space;
  std::int64_t const n = terms.n, nodes = amplitudes.last + 1;
  std::vector<double> result(static_cast<std::size_t>(nodes));
  std::string const label = "coir::nbody::amplitude_slopes/amplitudes";
  if constexpr (runs_on_host<Exec>) {
    std::int64_t const groups = AmplitudeSlopesOfGroup<T>::groups_of(n);
    Kokkos::View<double**, Kokkos::LayoutRight, Space> const sums(
        Kokkos::view_alloc(Kokkos::WithoutInitializing, label), static_cast<std::size_t>(groups),
        static_cast<std::size_t>(nodes));
    for_each_task(label, exec, groups,
                  AmplitudeSlopesOfGroup<T>{terms, amplitudes, groups, nodes, sums.data()});
    for (std::int64_t group = 0; group < groups; ++group)
      for (std::int64_t node = 0; node < nodes; ++node)
        result[static_cast<std::size_t>(node)] += sums.data()[group * nodes + node];
  } else {
    auto const modes = coir::box<3, std::int64_t>({n, n, n / 2 + 1});
    double sizes = 0;
    reduce(label, exec, modes, SumOfSizes<T>{terms}, Kokkos::Sum<double>(sizes));
    if (sizes == 0) return result;
    if (!std::isfinite(sizes)) {
      std::fill(result.begin(), result.end(), sizes - sizes);  // NaN
      return result;
    }
    // Scaled so that the sum of all sizes, which bounds every other sum, lies in [2^61, 2^62).
    int const power = std::min(61 - std::ilogb(sizes), 1000);
    using Add = AddToShells<T>;
    Kokkos::View<typename Add::Word*, Space> const shells(
        label, static_cast<std::size_t>(Add::shells_of(n)));
    for_each(label, exec, modes, Add{terms, std::ldexp(1.0, power), shells.data()});
    exec.fence();
    auto const host = host_view_of(shells);
    for (std::size_t square = 1; square < host.size(); ++square) {
      if (host.data()[square] == 0) continue;
      double const sum =
          std::ldexp(static_cast<double>(static_cast<long long>(host.data()[square])), -power);
      auto const [below, part] = amplitudes.place(static_cast<double>(square));
      result[static_cast<std::size_t>(below)] += (1 - part) * sum;
      result[static_cast<std::size_t>(below) + 1] += part * sum;
    }
  }
  return result;
}

}  // namespace coir::nbody::detail
