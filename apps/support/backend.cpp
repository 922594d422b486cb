#include <support/backend.hpp>
#include <support/command_line.hpp>
#include <support/options.hpp>

#include <coir/core/errors.hpp>
#include <coir/core/kokkos.hpp>
#include <coir/core/machine.hpp>

#include <utility>
#include <vector>

namespace coir::apps {

void add_backend(CommandLine& line, Backend& backend) {
  add_choice(line, "--backend", backend,
             std::vector<std::pair<std::string, Backend>>{
                 {"cpu", Backend::cpu}, {"gpu", Backend::gpu}, {"auto", Backend::automatic}},
             "Compute on the cores, or on the GPU of a build for one\n"
             "(default auto: on the GPU if there is one)")
      .only_on_command_line();
}

Choice choose(Backend backend) {
  if (backend == Backend::cpu) return {Place::cores, {}};
  bool const has_backend = !runs_on_host<Kokkos::DefaultExecutionSpace>;
  if (backend == Backend::automatic && !has_backend) return {Place::cores, {}};
  std::string const reason = why_no_device();
  if (reason.empty()) return {Place::device, {}};
  if (backend == Backend::automatic)
    return {Place::cores,
            reason + ", so this runs on the cores (--backend cpu does so without this line)"};
  throw EnvironmentError("--backend gpu: " + reason +
                         (has_backend
                              ? ": check the driver (nvidia-smi, rocminfo) and the visible devices"
                              : ": use a build with one (cmake --preset cuda, or hip)") +
                         ", or use --backend cpu");
}

}  // namespace coir::apps
