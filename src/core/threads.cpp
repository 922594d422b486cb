#include <coir/core/errors.hpp>
#include <coir/core/kokkos.hpp>
#include <coir/core/threads.hpp>

#ifdef __linux__
#include <sched.h>
#endif

#ifdef KOKKOS_ENABLE_OPENMP
#include <fcntl.h>
#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <vector>

namespace coir {

#ifdef KOKKOS_ENABLE_OPENMP

namespace {

/// Whether a team of threads comes into being, and all of them if it must be complete.
bool starts_threads(int threads, bool complete) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  pid_t const child = fork();
  if (child == 0) {
    if (int const nowhere = open("/dev/null", O_WRONLY); nowhere >= 0)
      dup2(nowhere, STDERR_FILENO);  // where the runtime says why it can't
    int started = 0;
#pragma omp parallel num_threads(threads)
    {
#pragma omp atomic
      ++started;
    }
    bool const told = (!complete || started == threads) && write(ends[1], "y", 1) == 1;
    _exit(told ? 0 : 1);
  }
  close(ends[1]);
  char answer = 'n';
  // A pipe rather than the exit status, which is lost where the parent process ignores SIGCHLD.
  ssize_t got = 0;
  while (child > 0 && (got = read(ends[0], &answer, 1)) < 0 && errno == EINTR) continue;
  close(ends[0]);
  while (child > 0 && waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
  return got == 1 && answer == 'y';
}

}  // namespace

void expects_startable_threads(int threads) {
  constexpr int most = 512;  // OpenMPExec::MAX_THREAD_COUNT of Kokkos
  omp_set_dynamic(0);        // Kokkos counts on getting as many threads each time
  int const wanted =
      threads > 0 ? threads : std::min(omp_get_max_threads(), omp_get_thread_limit());
  int usable = wanted;
  if (wanted > most && threads == 0 && std::getenv("OMP_NUM_THREADS") == nullptr)
    omp_set_num_threads(usable = most);
  std::string const count = std::to_string(wanted);
  if (usable > most)
    throw EnvironmentError("can't start " + count + " threads: Kokkos has room for " +
                           std::to_string(most) +
                           "; ask for fewer, as by OMP_NUM_THREADS=" + std::to_string(most));
  if (usable > 1 && !starts_threads(usable, threads > 0))
    throw EnvironmentError("can't start " + std::to_string(usable) +
                           " threads: ask for fewer, as by OMP_NUM_THREADS=1, or raise the limits "
                           "on memory, processes (ulimit) and threads (OMP_...) that forbid them");
}

#else

void expects_startable_threads(int) {}

#endif

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
