#include "mpi.hpp"

#include <coir/core/errors.hpp>
#include <coir/distributed/session.hpp>

namespace coir::distributed {

namespace {

constexpr char const* no_mpi =
    "this build of coir has no MPI: build it by a preset with MPI, such as openmp-mpi";

}  // namespace

bool has_mpi() { return false; }

namespace detail {

bool mpi_is_running() { return false; }
void start_mpi(int&, char**&) { throw EnvironmentError(no_mpi); }
void end_mpi() {}
std::unique_ptr<Engine> world_engine() { throw EnvironmentError(no_mpi); }
std::unique_ptr<Engine> machine_engine() { throw EnvironmentError(no_mpi); }
std::unique_ptr<Engine> engine_of(int) { throw EnvironmentError(no_mpi); }
void abort_mpi(int) {}

}  // namespace detail

}  // namespace coir::distributed
