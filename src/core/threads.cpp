#include <coir/core/errors.hpp>
#include <coir/core/kokkos.hpp>
#include <coir/core/threads.hpp>

#ifdef __linux__
#include <malloc.h>
#include <sched.h>
#endif

#ifdef KOKKOS_ENABLE_OPENMP
#include <fcntl.h>
#include <omp.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <vector>

namespace coir {

#ifdef KOKKOS_ENABLE_OPENMP

namespace {

/// Whether 32 MiB can still be allocated: libraries that find less end the program.
bool has_free_memory() {
  constexpr std::size_t bytes = std::size_t(32) << 20;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  munmap(memory, bytes);
  return true;
}

/// Under a limit on address space, has all threads allocate from one heap. By default glibc reserves 64 MiB for the heap of
/// each thread while the limit permits it, so that a higher limit could leave a program less.
void share_one_heap_under_a_limit() {
#ifdef M_ARENA_MAX
  rlimit limit = {};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) mallopt(M_ARENA_MAX, 1);
#endif
}

enum class Trial : char {
  passed = 'p',
  too_few_threads = 't',
  no_memory = 'm',
  small_stacks = 's'
};

/// Whether the calling thread has least_stack_bytes.
bool has_stack() {
#ifdef __linux__
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return true;
  std::size_t bytes = least_stack_bytes;
  pthread_attr_getstacksize(&attributes, &bytes);
  pthread_attr_destroy(&attributes);
  return bytes >= least_stack_bytes;
#else
  return true;
#endif
}

/// Starts a team of threads with the memory that Kokkos gives each.
///
/// \param complete  whether fewer threads are a failure
Trial start_threads(int threads, bool complete) {
  auto const scratch = static_cast<std::size_t>(threads) * 1100 + 4096;
  int started = 0;
  bool has_scratch = true, have_stacks = true;
#pragma omp parallel num_threads(threads)
  {
    auto* const memory = static_cast<char volatile*>(std::malloc(scratch));
    if (memory != nullptr) *memory = 0;  // or compilers leave the allocation out
    bool const is_large =
        omp_get_thread_num() == 0 || has_stack();  // the first thread is the program's own
#pragma omp critical
    {
      ++started;
      has_scratch = has_scratch && memory != nullptr;
      have_stacks = have_stacks && is_large;
    }
  }
  if (!have_stacks) return Trial::small_stacks;
  if (complete && started < threads) return Trial::too_few_threads;
  return has_scratch && has_free_memory() ? Trial::passed : Trial::no_memory;
}

/// Calls start_threads() in a child process, because runtimes end the process if they can't start a thread.
Trial try_threads(int threads, bool complete) {
  int ends[2];
  if (pipe(ends) != 0) return Trial::too_few_threads;
  pid_t const child = fork();
  if (child == 0) {
    for (int const sent : {SIGINT, SIGTERM, SIGHUP, SIGALRM})
      std::signal(sent, SIG_IGN);  // the parent answers signals
    if (int const nowhere = open("/dev/null", O_WRONLY); nowhere >= 0)
      dup2(nowhere, STDERR_FILENO);  // hides the runtime's own message
    Trial const trial = start_threads(threads, complete);
    _exit(write(ends[1], &trial, 1) == 1 ? 0 : 1);
  }
  close(ends[1]);
  // A pipe rather than the exit status, which is lost where the parent process ignores SIGCHLD.
  Trial trial = Trial::too_few_threads;
  while (child > 0 && read(ends[0], &trial, 1) < 0 && errno == EINTR) continue;
  close(ends[0]);
  while (child > 0 && waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
  return trial;
}

}  // namespace

void expects_startable_threads(int threads) {
  constexpr int most = 512;  // OpenMPExec::MAX_THREAD_COUNT of Kokkos
  omp_set_dynamic(0);        // Kokkos counts on getting as many threads each time
  share_one_heap_under_a_limit();
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
  Trial const trial = usable > 1          ? try_threads(usable, threads > 0)
                      : has_free_memory() ? Trial::passed
                                          : Trial::no_memory;
  if (trial == Trial::no_memory)
    throw ResourceError("out of memory: a limit leaves less than 32 MiB beside " +
                        (usable == 1 ? "the program: "
                                     : std::to_string(usable) +
                                           " threads; use fewer of them (OMP_NUM_THREADS), or ") +
                        "raise it (ulimit -v)");
  if (trial == Trial::small_stacks)
    throw EnvironmentError("the stacks of OpenMP's threads are below the " +
                           std::to_string(least_stack_bytes >> 10) +
                           " KiB that they need: unset OMP_STACKSIZE, or set it to 1M");
  if (trial == Trial::too_few_threads)
    throw EnvironmentError(
        "can't start " + std::to_string(usable) +
        " threads: ask for fewer, as by OMP_NUM_THREADS=1, or raise the limits "
        "on memory, processes, open files (ulimit) and threads (OMP_...) that forbid them");
}

#else

void expects_startable_threads(int) {}

#endif

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

bool bind_host_threads() {
  using Host = Kokkos::DefaultHostExecutionSpace;
  auto const cpus = usable_processors();
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
bool bind_host_threads() { return false; }

#endif

}  // namespace coir
