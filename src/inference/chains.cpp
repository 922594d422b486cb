#include <coir/array/npy.hpp>
#include <coir/core/errors.hpp>
#include <coir/inference/chains.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <system_error>

namespace coir::inference {

using Host = Kokkos::HostSpace;

Array<double, 2, Host> starts(std::vector<std::vector<double>> const& chains) {
  expects(!chains.empty() && !chains[0].empty(),
          "starts must have at least one chain and one parameter");
  Array<double, 2, Host> result(
      {static_cast<std::int64_t>(chains.size()), static_cast<std::int64_t>(chains[0].size())});
  double* to = result.data();
  for (std::size_t c = 0; c < chains.size(); ++c) {
    if (chains[c].size() != chains[0].size())
      throw PreconditionError("all chains must have as many parameters as chain 0, " +
                              std::to_string(chains[0].size()) + ", and chain " +
                              std::to_string(c) + " has " + std::to_string(chains[c].size()));
    to = std::copy(chains[c].begin(), chains[c].end(), to);
  }
  return result;
}

void save(std::filesystem::path const& folder, Chains const& chains) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed)
    throw ResourceError("the folder " + folder.string() + " can't be made: " + failed.message());
  io::write_npy(folder / "draws.npy", chains.draws.view());
  io::write_npy(folder / "statistics.npy", chains.statistics.view());
  Kokkos::View<double const*, Host, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const state(
      chains.state.data(), chains.state.size());
  io::write_npy(folder / "state.npy", state);
}

Chains read_chains(std::filesystem::path const& folder) {
  Chains chains;
  chains.draws = load<double, 3, Host>(folder / "draws.npy");
  chains.statistics = load<double, 3, Host>(folder / "statistics.npy");
  auto const state = load<double, 1, Host>(folder / "state.npy");
  chains.state.assign(state.data(), state.data() + state.size());
  chains.biased = !chains.state.empty() && chains.state[0] < 0;
  auto const draws = chains.draws.shape(), statistics = chains.statistics.shape();
  if (draws[0] != statistics[0] || draws[1] != statistics[1] ||
      statistics[2] != Chains::statistics_of_a_draw)
    throw InputError(folder.string() + ": draws.npy of shape " + in_words(draws) +
                     " and statistics.npy of shape " + in_words(statistics) +
                     " don't belong together: take both from one run");
  return chains;
}

}  // namespace coir::inference
