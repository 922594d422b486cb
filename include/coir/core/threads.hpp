#pragma once

#include <vector>

namespace coir {

/// Has OpenMP start as many threads for every kernel as Kokkos counts on, whatever OMP_DYNAMIC says. Call it
/// before Kokkos starts.
void fix_thread_count();

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
