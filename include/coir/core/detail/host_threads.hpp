#pragma once

/// \file
/// Shares calls out among a host's threads.

#include <coir/core/kokkos.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#ifdef KOKKOS_ENABLE_OPENMP
#include <omp.h>
#endif

/// Marks a function that must be compiled once, so that its bits are the same everywhere: compilers
/// may vectorise inlined copies differently, or fuse other products with sums.
#if defined(__GNUC__) && !defined(__clang__)
#define COIR_COMPILED_ONCE __attribute__((noinline, noclone))
#else
#define COIR_COMPILED_ONCE __attribute__((noinline))
#endif

namespace coir::detail {

/// Whether the caller runs inside a parallel region of OpenMP. Kernels run on one thread there.
inline bool in_parallel_region() {
#ifdef KOKKOS_ENABLE_OPENMP
  return omp_in_parallel() != 0;
#else
  return false;
#endif
}

/// Makes the calls by Kokkos, so that tools see them. The function is no template parameter:
/// Kokkos' templates take longer to compile than most bodies.
template <class Exec>
void run_by_kokkos(std::string_view label, Exec const& exec, std::int64_t count,
                   void (*call)(void const*, std::int64_t), void const* what) {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for(std::string(label), Policy(exec, 0, count),
                       [=](std::int64_t i) { call(what, i); });
}

/// Makes one call. All ways to run on a host share these instructions, so that results depend
/// neither on the way nor on the number of threads.
template <class Share, class Body>
COIR_COMPILED_ONCE void call_share(Share const& share, std::int64_t i, Body const& body) {
  share(i, body);
}

/// Calls share(0, body) to share(count - 1, body) on the threads of a host execution space, and
/// waits. Threads get equal shares of consecutive calls.
///
/// Without a tool this bypasses Kokkos, whose launch is slower than OpenMP's. Threads read `share`
/// and `body` themselves, and no further references, because each read from the launching core's
/// cache is slow.
template <class Exec, class Share, class Body>
void run_on_host(std::string_view label, Exec const& exec, std::int64_t count, Share const& share,
                 Body const& body) {
  int const threads = static_cast<int>(exec.concurrency());
  bool const use_kokkos = tool_is_loaded();
#ifdef KOKKOS_ENABLE_OPENMP
  if (std::is_same_v<Exec, Kokkos::OpenMP> && !use_kokkos && threads > 1 && count > 1 &&
      !in_parallel_region()) {
#pragma omp parallel for schedule(static) num_threads(threads)
    for (std::int64_t i = 0; i < count; ++i) call_share(share, i, body);
    return;
  }
#endif
  if (!use_kokkos && (threads == 1 || count == 1)) {
    for (std::int64_t i = 0; i < count; ++i) call_share(share, i, body);
    return;
  }
  auto const both = [&](std::int64_t i) { call_share(share, i, body); };
  run_by_kokkos(
      label, exec, count,
      [](void const* what, std::int64_t i) { (*static_cast<decltype(both)*>(what))(i); }, &both);
}

}  // namespace coir::detail
