#pragma once

namespace coir {

/// Binds each thread of the default host execution space to a CPU of its own.
///
/// Threads that wait for each other by spinning, as OpenMP's do, lose a time slice of the system at
/// every kernel if two of them land on one CPU beside another program: a launch then takes
/// milliseconds instead of a microsecond. Does nothing unless there are exactly as many threads as
/// CPUs that the process may use: with fewer, several processes would crowd on the same CPUs.
/// Threads that the caller starts later inherit its CPU, so this is for programs whose host work is
/// Kokkos' alone; and it overrules OMP_PROC_BIND, so ask for that before Kokkos starts.
///
/// Kokkos must be running. Linux only; elsewhere it does nothing.
///
/// \returns whether the threads are bound
bool bind_host_threads();

}  // namespace coir
