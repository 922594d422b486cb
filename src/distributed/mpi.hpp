#pragma once

/// The start and end of MPI, and engines on it, without its header. In builds without MPI
/// (no_mpi.cpp) there is one rank.

#include "engine.hpp"

#include <memory>

namespace coir::distributed::detail {

/// Whether MPI runs, whoever started it.
bool mpi_is_running();
/// Starts MPI, unless the caller has.
///
/// \throws PreconditionError after the end of MPI
void start_mpi(int& argc, char**& argv);
/// Ends MPI, if start_mpi() started it.
void end_mpi();

/// The engine of all ranks.
std::unique_ptr<Engine> world_engine();
/// The engine of the ranks of this machine.
std::unique_ptr<Engine> machine_engine();
/// The engine of a communicator's ranks.
///
/// \param fortran_handle  of the communicator, which is duplicated
std::unique_ptr<Engine> engine_of(int fortran_handle);

/// Ends all ranks, if MPI runs.
void abort_mpi(int exit_code);

}  // namespace coir::distributed::detail
