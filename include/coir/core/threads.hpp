#pragma once

#include <vector>

namespace coir {

/// Makes OpenMP start as many threads for every kernel as Kokkos expects, whatever OMP_DYNAMIC
/// says. Call it before Kokkos starts.
void fix_thread_count();

/// The numbers of the CPUs that this process may use; empty where the system doesn't tell.
std::vector<int> usable_processors();

/// Binds each thread of the default host execution space to a CPU of its own.
///
/// OpenMP's threads wait for each other by spinning. If two of them share a CPU, every kernel loses
/// a time slice of the system. Does nothing unless there are exactly as many CPUs as threads:
/// otherwise several processes could bind to the same CPUs.
///
/// Threads that the caller starts later inherit its CPU: call this only in programs whose host work
/// is Kokkos' alone. It overrides OMP_PROC_BIND: look at that variable first.
///
/// Kokkos must be running. Linux only; elsewhere it does nothing.
///
/// \param cpus  one for each thread
/// \returns whether the threads are bound
bool bind_host_threads(std::vector<int> const& cpus = usable_processors());

/// Restricts the calling thread, and threads that it starts, to these CPUs. Linux only; elsewhere
/// it does nothing.
///
/// \returns whether the system agreed
bool use_processors(std::vector<int> const& processors);

}  // namespace coir
