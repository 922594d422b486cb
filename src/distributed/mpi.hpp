#pragma once

/// \file
/// MPI, started and stopped; nothing of its header shows. Without MPI (no_mpi.cpp) there is one rank.

#include "engine.hpp"

#include <memory>

namespace coir::distributed::detail {

/// Starts MPI, unless the caller has.
void start_mpi(int& argc, char**& argv);
/// Ends it, if start_mpi() started it.
void end_mpi();

/// What connects all ranks.
std::unique_ptr<Engine> world_engine();
/// What connects the ranks of one machine.
std::unique_ptr<Engine> machine_engine();
/// \param fortran_handle  of a communicator, which is duplicated
std::unique_ptr<Engine> engine_of(int fortran_handle);

/// Ends all ranks, where MPI runs.
void abort_mpi(int exit_code);

}  // namespace coir::distributed::detail
