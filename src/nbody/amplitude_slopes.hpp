#pragma once

/// Derivatives with respect to the amplitudes of modes, summed into the nodes of the table that the
/// amplitudes are interpolated in.

#include "amplitude_table.hpp"
#include "lpt.hpp"
#include "sums_in_any_order.hpp"

#include <coir/core/contiguous.hpp>
#include <coir/core/kept_views.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/math.hpp>
#include <coir/core/tasks.hpp>
#include <coir/distributed/group.hpp>
#include <coir/distributed/reductions.hpp>
#include <coir/distributed/share.hpp>
#include <coir/distributed/together.hpp>
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
  distributed::Share rows;  ///< of the second axis, on this rank

  KOKKOS_FORCEINLINE_FUNCTION double operator()(std::int64_t i, std::int64_t row,
                                                std::int64_t k) const {
    std::int64_t const at = (i * rows.count + row) * (n / 2 + 1) + k;
    return product_of_modes(density[at], slope[at], k, n);
  }
  /// As sums_in_any_order() asks for them.
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t row, std::int64_t k,
                                              double (&of)[1]) const {
    of[0] = (*this)(i, row, k);
  }
  KOKKOS_FORCEINLINE_FUNCTION double square(std::int64_t i, std::int64_t row,
                                            std::int64_t k) const {
    auto const x = static_cast<double>(fft::wave_number(i, n)),
               y = static_cast<double>(fft::wave_number(rows.first + row, n)),
               z = static_cast<double>(k);
    return x * x + y * y + z * z;
  }
};

/// On hosts each group of planes has a table of whole numbers, which all terms are multiples of.
template <class T>
struct AmplitudeSlopesOfGroup {
  AmplitudeTerms<T> terms;
  Amplitudes amplitudes;
  std::int64_t groups, nodes;
  double scale;
  std::int64_t* sums;  // (groups, nodes)

  static std::int64_t groups_of(std::int64_t n) { return std::min<std::int64_t>(n, 64); }

  void operator()(std::int64_t group) const {
    std::int64_t* const to = sums + group * nodes;
    std::fill_n(to, nodes, std::int64_t(0));
    std::int64_t const n = terms.n;
    for (std::int64_t i = n * group / groups; i < n * (group + 1) / groups; ++i)
      for (std::int64_t row = 0; row < terms.rows.count; ++row)
        for (std::int64_t k = i + terms.rows.first + row == 0 ? 1 : 0; k < n / 2 + 1; ++k) {
          double const term = scale * terms(i, row, k);
          auto const [below, part] = amplitudes.place(terms.square(i, row, k));
          to[below] += static_cast<std::int64_t>(std::rint((1 - part) * term));
          to[below + 1] += static_cast<std::int64_t>(std::rint(part * term));
        }
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

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t row, std::int64_t k) const {
    double const term = math::rint(scale * terms(i, row, k));
    Kokkos::atomic_add(shells + static_cast<std::int64_t>(terms.square(i, row, k)),
                       static_cast<Word>(static_cast<long long>(term)));
  }
};

/// Sums, of 8 bytes each, that amplitude_slopes() adds up: those of this rank twice, as they go to
/// the others.
template <class Exec, class T>
std::int64_t amplitude_sums(std::int64_t n, std::int64_t nodes) {
  return runs_on_host<Exec> ? (AmplitudeSlopesOfGroup<T>::groups_of(n) + 2) * nodes
                            : 2 * AddToShells<T>::shells_of(n);
}

/// The sums of dJ / d ln amplitude over the modes of all ranks. Each mode is shared out to the two
/// nodes that its amplitude is interpolated between. The bits are the same in each run, on hosts
/// for any number of threads and of ranks. Waits for the result. Collective.
template <class Exec, class T>
std::vector<double> amplitude_slopes(Exec const& exec, distributed::Group const& group,
                                     AmplitudeTerms<T> const& terms, Amplitudes const& amplitudes) {
  using Space = typename Exec::memory_space;
  std::int64_t const n = terms.n, nodes = amplitudes.last + 1;
  std::vector<double> result(static_cast<std::size_t>(nodes));
  std::string const label = "coir::nbody::amplitude_slopes/amplitudes";
  auto const modes = coir::box<3, std::int64_t>({n, terms.rows.count, n / 2 + 1});
  double const largest = largest_sizes<1>(label, exec, group, modes, terms).of[0];
  if (largest == 0) return result;
  if (!std::isfinite(largest)) {
    std::fill(result.begin(), result.end(), largest - largest);  // NaN
    return result;
  }
  double const count = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  int const power = power_for_whole_numbers(count, largest);
  double const scale = std::ldexp(1.0, power);
  auto const number = [power](auto whole) {
    return std::ldexp(static_cast<double>(static_cast<std::int64_t>(whole)), -power);
  };
  if constexpr (runs_on_host<Exec>) {
    std::int64_t const groups = AmplitudeSlopesOfGroup<T>::groups_of(n);
    auto const here = distributed::together(group, [&] {
      auto const sums = kept_view<Kokkos::View<std::int64_t**, Kokkos::LayoutRight, Space>>(
          exec, label, groups, nodes);
      for_each_task(
          label, exec, groups,
          AmplitudeSlopesOfGroup<T>{terms, amplitudes, groups, nodes, scale, sums.data()});
      Kokkos::View<std::int64_t*, Space> const own(label, static_cast<std::size_t>(nodes));
      for (std::int64_t g = 0; g < groups; ++g)
        for (std::int64_t node = 0; node < nodes; ++node)
          own.data()[node] += sums.data()[g * nodes + node];
      return own;
    });
    auto const all = distributed::sum(here, group);
    for (std::size_t node = 0; node < result.size(); ++node)
      result[node] = number(all.data()[node]);
  } else {
    using Add = AddToShells<T>;
    using Shells = Kokkos::View<typename Add::Word*, Space>;
    auto const shells = distributed::together(
        group, [&] { return kept_view<Shells>(exec, label, Add::shells_of(n)); });
    set_to_zero(exec, shells);
    for_each(label, exec, modes, Add{terms, scale, shells.data()});
    distributed::sum_in_place(exec, shells, group);
    auto const host = host_view_of(shells);
    for (std::size_t square = 1; square < host.size(); ++square) {
      if (host.data()[square] == 0) continue;
      double const sum = number(host.data()[square]);
      auto const [below, part] = amplitudes.place(static_cast<double>(square));
      result[static_cast<std::size_t>(below)] += (1 - part) * sum;
      result[static_cast<std::size_t>(below) + 1] += part * sum;
    }
  }
  return result;
}

}  // namespace coir::nbody::detail
