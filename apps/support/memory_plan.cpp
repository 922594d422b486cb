#include <support/host_name.hpp>
#include <support/memory_plan.hpp>
#include <support/on_all.hpp>
#include <support/text.hpp>

#include <coir/core/machine.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/resident.hpp>

#include <algorithm>

#if defined(__GLIBC__)
#include <malloc.h>
#include <sys/resource.h>
#endif

namespace coir::apps {

std::int64_t bytes_beside(std::int64_t field, distributed::Group const& group) {
  constexpr std::int64_t always = 1200 << 10, per_thread = 16 << 10, page = 2 << 20;
  constexpr std::int64_t per_rank = 5 << 19;  // of Open MPI 4.1, at most, on 2 to 8 ranks
  std::string const here = host_name();
  auto const hosts = group.gather(here);
  return always + per_thread * host_threads(Kokkos::DefaultHostExecutionSpace{}) +
         (field > page ? page : 0) + per_rank * (std::count(hosts.begin(), hosts.end(), here) - 1);
}

void keep_large_blocks_apart() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  // Under a limit on addresses glibc would reserve 64 MiB of them for each thread.
  rlimit limit = {};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) mallopt(M_ARENA_MAX, 1);
#endif
}

MemoryPlan with_what_was_read(MemoryPlan plan) {
  plan.host = std::max<std::int64_t>(plan.host, peak_resident_bytes() - plan.before);
  return plan;
}

void expects_memory(MemoryPlan const& plan, std::string const& what) {
  // Some of it may be taken by now, to read what the plan depends on.
  std::int64_t const taken = resident_bytes() - plan.before;
  coir::expects_memory(plan.host, free_bytes<Kokkos::HostSpace>() + taken, what);
  if (plan.device)
    coir::expects_memory<Kokkos::DefaultExecutionSpace::memory_space>(*plan.device, what);
}

void expects_memory(distributed::Group const& group, MemoryPlan const& plan,
                    std::string const& what, std::string const& device) {
  if (group.size() == 1) return expects_memory(plan, what);
  std::string const host = host_name();
  auto const hosts = group.gather(host), devices = group.gather(device);
  std::int64_t const on_host = plan.host - (resident_bytes() - plan.before);
  auto const on_hosts = group.gather(on_host);
  auto const on_devices = group.gather(plan.device.value_or(0));
  int neighbours = 0, sharers = 0;
  std::int64_t of_host = 0, of_device = 0;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    if (hosts[rank] != host) continue;
    ++neighbours;
    of_host += on_hosts[rank];
    if (devices[rank] != device) continue;
    ++sharers;
    of_device += on_devices[rank];
  }
  on_all(group, [&] {
    coir::expects_memory(on_host, coir::free_bytes_of_process(),
                         what + ": rank " + std::to_string(group.rank()) +
                             ", within its own limits (ulimit -v and -d),");
    coir::expects_memory(
        of_host, coir::free_bytes_of_machine(),
        what + ", of which " + counted(neighbours, "ranks") + " run on " + host + ",");
    if (plan.device)
      coir::expects_memory<Kokkos::DefaultExecutionSpace::memory_space>(
          of_device, what + ", of which " + counted(sharers, "ranks") + " share a device,");
  });
}

MemoryPlan most_of(distributed::Group const& group, MemoryPlan const& plan) {
  MemoryPlan most = plan;
  most.host = group.max(plan.before + plan.host) - plan.before;
  if (std::int64_t const device = group.max(plan.device.value_or(-1)); device >= 0)
    most.device = device;
  return most;
}

void report_memory(Report& report, MemoryPlan const& plan) {
  report["bytes_predicted"] = plan.before + plan.host;
  report["bytes_peak"] = peak_resident_bytes();
  report["device_bytes_predicted"] = nullptr;
  if (plan.device) report["device_bytes_predicted"] = *plan.device;
}

}  // namespace coir::apps
