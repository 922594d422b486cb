#include <coir/core/kokkos.hpp>
#include <coir/core/threads.hpp>

#ifdef __linux__
#include <sched.h>
#endif

#include <atomic>
#include <vector>

namespace coir {

#ifdef __linux__

namespace {

std::vector<int> usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

bool bind_this_thread(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

}  // namespace

bool bind_host_threads() {
  using Host = Kokkos::DefaultHostExecutionSpace;
  auto const cpus = usable_cpus();
  int const threads = static_cast<int>(Host().concurrency());
  if (threads == 1 || cpus.size() != static_cast<std::size_t>(threads)) return false;

  // With as many indices as threads, static scheduling gives each thread one.
  std::atomic<int> bound = 0;
  Kokkos::parallel_for("coir::bind_host_threads",
                       Kokkos::RangePolicy<Host, Kokkos::Schedule<Kokkos::Static>>(0, threads),
                       [&](int thread) { bound += bind_this_thread(cpus[thread]); });
  Host().fence();
  return bound == threads;
}

#else

bool bind_host_threads() { return false; }

#endif

}  // namespace coir
