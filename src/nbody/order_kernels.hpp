#pragma once

/// \file
/// Particles in the order of the mesh's rows. What neighbours in memory touch then lies in the same few rows, which stay in
/// the caches; in the order of the lattice evolved particles take two to four times as long to paint and to read out.

#include <coir/core/loops.hpp>
#include <coir/core/math.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace coir::nbody::detail {

/// Which bin a particle belongs to: stretches of `stretch` cells of the mesh's rows, one after the other.
template <class T>
struct Bins {
  T per_cell;
  std::int32_t side, stretch, stretches;

  Bins(std::int64_t cells, double box, std::int32_t cells_of_bin)
      : per_cell(static_cast<T>(static_cast<double>(cells) / box)),
        side(static_cast<std::int32_t>(cells)),
        stretch(cells_of_bin),
        stretches(static_cast<std::int32_t>((cells + cells_of_bin - 1) / cells_of_bin)) {}

  std::int64_t count() const { return std::int64_t(side) * side * stretches; }

  KOKKOS_FORCEINLINE_FUNCTION std::int32_t cell(T x) const {
    T const at = x * per_cell;  // NaN and what lies outside of the box go to its first or last cell
    return at >= T(1) ? (at < static_cast<T>(side) ? static_cast<std::int32_t>(at) : side - 1) : 0;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t operator()(T const* x) const {
    return (std::int64_t(cell(x[0])) * side + cell(x[1])) * stretches + cell(x[2]) / stretch;
  }
};

/// to[place[p]] = from[p].
template <class T>
struct PutVectors {
  T const* from;
  T* to;
  std::uint32_t const* place;
  struct Three {
    T component[3];
  };
  KOKKOS_FUNCTION void operator()(std::int64_t p) const { put(p); }
  // Scatter instructions would take longer.
  void stretch(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t p = begin; p < end; ++p) put(p);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void put(std::int64_t p) const {
    reinterpret_cast<Three*>(to)[place[p]] = reinterpret_cast<Three const*>(from)[p];
  }
};
struct PutNumbers {
  std::uint32_t const* from;
  std::uint32_t* to;
  std::uint32_t const* place;
  KOKKOS_FUNCTION void operator()(std::int64_t p) const { to[place[p]] = from[p]; }
};
struct Copy {
  std::uint32_t const* from;
  std::uint32_t* to;
  KOKKOS_FUNCTION void operator()(std::int64_t p) const { to[p] = from[p]; }
};
struct Count {
  std::uint32_t* numbers;
  KOKKOS_FUNCTION void operator()(std::int64_t p) const {
    numbers[p] = static_cast<std::uint32_t>(p);
  }
};

/// On hosts: place[p] = where particle p goes, and on the way its bin. Particles of a bin keep their order, for any number
/// of threads.
template <class Exec, class T>
  requires runs_on_host<Exec>
void find_places(Exec const& exec, T const* position, std::int64_t particles, Bins<T> const& bins,
                 std::uint32_t* place) {
  int const threads =
      static_cast<int>(std::clamp<std::int64_t>(particles / 4096, 1, exec.concurrency()));
  std::int64_t const count = bins.count();
  std::vector<std::uint32_t> next(static_cast<std::size_t>(count * threads));
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<int>>;
  auto const first_of = [=](int t) { return particles * t / threads; };
  Kokkos::parallel_for("coir::nbody::order/count", Policy(exec, 0, threads), [&](int t) {
    std::uint32_t* const number = next.data() + t * count;
    for (std::int64_t p = first_of(t); p < first_of(t + 1); ++p)
      ++number[place[p] = static_cast<std::uint32_t>(bins(position + 3 * p))];
  });
  std::uint32_t before = 0;
  for (std::int64_t b = 0; b < count; ++b)
    for (int t = 0; t < threads; ++t) {
      auto& number = next[static_cast<std::size_t>(t * count + b)];
      std::uint32_t const here = number;
      number = before;
      before += here;
    }
  Kokkos::parallel_for("coir::nbody::order/place", Policy(exec, 0, threads), [&](int t) {
    std::uint32_t* const number = next.data() + t * count;
    for (std::int64_t p = first_of(t); p < first_of(t + 1); ++p) place[p] = number[place[p]]++;
  });
}

template <class T>
struct CountBin {
  T const* position;
  Bins<T> bins;
  std::uint32_t* numbers;
  std::uint32_t* place;
  KOKKOS_FUNCTION void operator()(std::int64_t p) const {
    place[p] = Kokkos::atomic_fetch_add(numbers + bins(position + 3 * p), 1u);
  }
};
struct SumBins {
  std::uint32_t* numbers;
  KOKKOS_FUNCTION void operator()(std::int64_t b, std::uint32_t& sum, bool last) const {
    std::uint32_t const here = numbers[b];
    if (last) numbers[b] = sum;
    sum += here;
  }
};
template <class T>
struct AddBin {
  T const* position;
  Bins<T> bins;
  std::uint32_t const* numbers;
  std::uint32_t* place;
  KOKKOS_FUNCTION void operator()(std::int64_t p) const {
    place[p] += numbers[bins(position + 3 * p)];
  }
};

/// On devices particles of a bin come in any order.
template <class Exec, class T>
  requires(!runs_on_host<Exec>)
void find_places(Exec const& exec, T const* position, std::int64_t particles, Bins<T> const& bins,
                 std::uint32_t* place) {
  Kokkos::View<std::uint32_t*, typename Exec::memory_space> const numbers("coir::nbody::order/bins",
                                                                          bins.count());
  auto const all = coir::box<1, std::int64_t>({particles});
  for_each("coir::nbody::order/count", exec, all,
           CountBin<T>{position, bins, numbers.data(), place});
  Kokkos::parallel_scan(
      "coir::nbody::order/sum",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, bins.count()),
      SumBins{numbers.data()});
  for_each("coir::nbody::order/place", exec, all, AddBin<T>{position, bins, numbers.data(), place});
  exec.fence();  // before the bins go
}

}  // namespace coir::nbody::detail
