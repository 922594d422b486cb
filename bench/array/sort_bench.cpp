// Sorted copies and sorting indices of uniform random numbers.
//
// Counted are the bytes of what is read and of what comes out, once; a radix sort passes over them
// several times.

#include <support/memory.hpp>
#include <support/sizes.hpp>
#include <support/timing.hpp>

#include <coir/array/random.hpp>
#include <coir/array/reductions.hpp>
#include <coir/array/sorting.hpp>

#include <Kokkos_Sort.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace coir::bench {

namespace {

/// Random bits, which sorts of any kind of number meet alike: the keys of real ones are integers,
/// too.
template <class T>
Array<T, 1, Memory> unsorted(std::int64_t n) {
  Array<T, 1, Memory> x(Shape<1>{n});
  if constexpr (std::is_floating_point_v<T>)
    random::fill_uniform(random::key(1), x);
  else
    random::fill_integers(random::key(1), x, std::numeric_limits<T>::min(),
                          std::numeric_limits<T>::max());
  return x;
}

template <class T>
void sorted_copies(benchmark::State& state) {
  std::int64_t const n = state.range(0);
  double const bytes = 2 * double(sizeof(T)) * double(n);
  if (!fits(state, 3 * bytes)) return;
  auto const x = unsorted<T>(n);
  time_batches(state, Space{}, {double(n), bytes, "elements"},
               [&] { auto const y = coir::sort(x); });
}
BENCHMARK_TEMPLATE(sorted_copies, float)->Name("sort,float")->Apply(elements);
BENCHMARK_TEMPLATE(sorted_copies, double)->Name("sort,double")->Apply(elements);
BENCHMARK_TEMPLATE(sorted_copies, std::int32_t)->Name("sort,int32")->Apply(elements);

template <class T>
void sorting_indices(benchmark::State& state) {
  std::int64_t const n = state.range(0);
  double const bytes = double(sizeof(T) + sizeof(std::int64_t)) * double(n);
  if (!fits(state, 4 * bytes)) return;
  auto const x = unsorted<T>(n);
  time_batches(state, Space{}, {double(n), bytes, "elements"},
               [&] { auto const order = argsort(x); });
}
BENCHMARK_TEMPLATE(sorting_indices, float)->Name("argsort,float")->Apply(elements);
BENCHMARK_TEMPLATE(sorting_indices, double)->Name("argsort,double")->Apply(elements);

/// n elements in rows of 1024, each sorted by itself.
void sorted_rows(benchmark::State& state) {
  std::int64_t const n = state.range(0), columns = 1024;
  double const bytes = 2 * double(sizeof(float)) * double(n);
  if (!fits(state, 3 * bytes)) return;
  Array<float, 2, Memory> x(Shape<2>{n / columns, columns});
  random::fill_uniform(random::key(1), x);
  time_batches(state, Space{}, {double(n), bytes, "elements"},
               [&] { auto const y = coir::sort(x); });
}
BENCHMARK(sorted_rows)->Name("sort,rows,float")->Apply(elements);

using Keys = Kokkos::View<float*, Memory>;

/// Sorts by BinSort, as Kokkos::sort does on devices: into half as many bins as there are keys, and
/// each bin by comparing.
void sort_by_bins(Keys const& keys, float least, float most) {
  using Bins = Kokkos::BinOp1D<Keys>;
  Kokkos::BinSort<Keys, Bins> bins(keys, Bins(static_cast<int>(keys.extent(0) / 2), least, most),
                                   /*sort within bins*/ true);
  bins.create_permute_vector();
  bins.sort(keys);
}

/// A sorted copy in turns with a copy that Kokkos sorts: by Kokkos::sort, which on hosts is
/// std::sort on one thread, or by BinSort.
///
/// \tparam Spread  0: uniform keys; otherwise exp(Spread times a normal number), for which bins of
/// one width hold some keys or very
///   many
template <bool ByBins, int Spread>
void against_kokkos(benchmark::State& state) {
  std::int64_t const n = state.range(0);
  double const bytes = 2 * double(sizeof(float)) * double(n);
  if (!fits(state, 5 * bytes)) return;
  auto x = unsorted<float>(n);
  if constexpr (Spread > 0) {
    random::fill_normal(random::key(1), x);
    x = exp(float(Spread) * x);
  }
  Keys const keys("keys", static_cast<std::size_t>(n));
  Kokkos::View<float const*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const given(
      x.data(), static_cast<std::size_t>(n));
  float const least = min(x), most = max(x);
  compare_kernels(
      state, Space{}, {double(n), bytes, "elements"}, [&] { auto const y = coir::sort(x); },
      [&] {
        Kokkos::deep_copy(Space{}, keys, given);
        if constexpr (ByBins)
          sort_by_bins(keys, least, most);
        else
          Kokkos::sort(keys);
      });
}
void some_sizes(benchmark::internal::Benchmark* bench) {
  bench->UseManualTime()->Arg(1024)->Arg(1 << 16)->Arg(1 << 20)->Arg(1 << 24);
}
BENCHMARK_TEMPLATE(against_kokkos, false, 0)->Name("sort,Kokkos::sort,float")->Apply(some_sizes);
BENCHMARK_TEMPLATE(against_kokkos, true, 0)->Name("sort,BinSort,float")->Apply(some_sizes);
BENCHMARK_TEMPLATE(against_kokkos, true, 2)
    ->Name("sort,BinSort,lognormal,float")
    ->UseManualTime()
    ->Iterations(5)  // each takes BinSort a thousand times as long
    ->Arg(1024)
    ->Arg(1 << 16);

}  // namespace

}  // namespace coir::bench
