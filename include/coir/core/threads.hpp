#pragma once

#include <cstddef>
#include <vector>

namespace coir {

/// The smallest stack that threads may have, several times what statements need to gather rows there. With 32 KiB
/// programs crash.
inline constexpr std::size_t least_stack_bytes = std::size_t(256) << 10;

/// Makes sure, before Kokkos starts, that the host backend can start its threads: OpenMP's runtimes and Kokkos end the
/// program by a signal or a message of their own if it can't.
///
/// Starts them in a child process first, so call it while the program has one thread. If neither `threads` nor
/// OMP_NUM_THREADS says how many there are to be, and the machine has more processors than Kokkos can use, there are as many
/// as it can use.
///
/// Under a limit on address space (ulimit -v) all threads of the program allocate from one heap from then on, because
/// glibc's own ones reserve 64 MiB of addresses each.
///
/// \param threads  how many Kokkos is going to be asked for; 0: as many as OpenMP starts by itself
/// \throws EnvironmentError naming the number and the remedy; on Linux also if their stacks are below least_stack_bytes
/// \throws ResourceError if a limit on address space leaves less than 32 MiB beside the threads' stacks
void expects_startable_threads(int threads);

/// Binds each thread of the default host execution space to a CPU of its own.
///
/// Threads that wait for each other by spinning, as OpenMP's do, lose a time slice of the system at
/// every kernel if two of them land on one CPU beside another program: a launch then takes
/// milliseconds instead of a microsecond. Does nothing unless there are exactly as many threads as
/// CPUs that the process may use: with fewer, several processes would crowd on the same CPUs.
/// Threads that the caller starts later inherit its CPU, so this is for programs whose host work is
/// Kokkos' alone. It overrides OMP_PROC_BIND: look at that variable first.
///
/// Kokkos must be running. Linux only; elsewhere it does nothing.
///
/// \returns whether the threads are bound
bool bind_host_threads();

/// The numbers of the CPUs that this process may use; empty where the system doesn't tell.
std::vector<int> usable_processors();

/// Restricts the calling thread, and threads that it starts, to these CPUs. Linux only; elsewhere it does nothing.
///
/// \returns whether the system agreed
bool use_processors(std::vector<int> const& processors);

}  // namespace coir
