#include <coir/distributed/session.hpp>

#include <cstdlib>

namespace coir::distributed {

Launch launch() {
  // What each launcher sets in the processes that it starts. A job script of Slurm's has variables, too, but that of the size
  // of a step only in what srun starts.
  struct {
    char const *variable, *launcher;
  } constexpr known[] = {{"OMPI_COMM_WORLD_SIZE", "Open MPI's mpirun"},
                         {"MV2_COMM_WORLD_SIZE", "MVAPICH's mpirun"},
                         {"PMI_SIZE", "mpiexec"},
                         {"PALS_NRANKS", "mpiexec"},
                         {"SLURM_STEP_NUM_TASKS", "srun"}};
  for (auto const& [variable, launcher] : known)
    if (char const* const text = std::getenv(variable))
      if (int const size = std::atoi(text); size > 0) return {launcher, size};
  return {};
}

}  // namespace coir::distributed
