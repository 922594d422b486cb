#include <coir/core/kokkos.hpp>
#include <coir/core/threads.hpp>

#ifdef __linux__
#include <sched.h>
#endif

#ifdef KOKKOS_ENABLE_OPENMP
#include <omp.h>
#endif

#include <atomic>
#include <vector>

namespace coir {

void fix_thread_count() {
#ifdef KOKKOS_ENABLE_OPENMP
  omp_set_dynamic(0);
#endif
}

#ifdef __linux__

std::vector<int> usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

bool use_processors(std::vector<int> const& processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int const cpu : processors) CPU_SET(cpu, &set);
  return !processors.empty() && sched_setaffinity(0, sizeof set, &set) == 0;
}

bool bind_host_threads(std::vector<int> const& cpus) {
  using Host = Kokkos::DefaultHostExecutionSpace;
  int const threads = static_cast<int>(Host().concurrency());
  if (threads == 1 || cpus.size() != static_cast<std::size_t>(threads)) return false;

  // With as many indices as threads, static scheduling gives each thread one.
  std::atomic<int> bound = 0;
  Kokkos::parallel_for("coir::core::threads/bind_host_threads",
                       Kokkos::RangePolicy<Host, Kokkos::Schedule<Kokkos::Static>>(0, threads),
                       [&](int thread) { bound += use_processors({cpus[thread]}); });
  Host().fence();
  return bound == threads;
}

#else

std::vector<int> usable_processors() { return {}; }
bool use_processors(std::vector<int> const&) { return false; }
bool bind_host_threads(std::vector<int> const&) { return false; }

#endif

}  // namespace coir
