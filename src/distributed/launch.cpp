#include <coir/distributed/session.hpp>

#include <cstdlib>

namespace coir::distributed {

Launch launch() {
  // The variables that each launcher sets in the processes that it starts. Slurm sets others in job
  // scripts, too, but SLURM_STEP_NUM_TASKS only in processes that srun starts.
  struct {
    char const *size, *rank, *launcher;
  } constexpr known[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "Open MPI's mpirun"},
                         {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK", "MVAPICH's mpirun"},
                         {"PMI_SIZE", "PMI_RANK", "mpiexec"},
                         {"PALS_NRANKS", "PALS_RANKID", "mpiexec"},
                         {"FLUX_JOB_SIZE", "FLUX_TASK_RANK", "flux run"},
                         {"JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK", "jsrun"},
                         {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "srun"}};
  for (auto const& one : known) {
    char const *const size = std::getenv(one.size), *const rank = std::getenv(one.rank);
    if (size != nullptr && rank != nullptr && std::atoi(size) > 0)
      return {one.launcher, std::atoi(rank), std::atoi(size)};
  }
  // Launchers that speak PMIx with MPI need not tell the number of processes.
  if (char const* const rank = std::getenv("PMIX_RANK"))
    return {"a launcher that speaks PMIx", std::atoi(rank), 0};
  return {};
}

}  // namespace coir::distributed
