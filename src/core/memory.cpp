#include <coir/core/errors.hpp>
#include <coir/core/memory.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <limits>
#include <string>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace coir {

namespace detail {

namespace {

constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::max();

std::int64_t available_by_kernel() {
  std::ifstream meminfo("/proc/meminfo");
  std::string key;
  std::int64_t kibibytes = 0;
  std::string unit;
  while (meminfo >> key >> kibibytes) {
    if (key == "MemAvailable:") return kibibytes * 1024;
    std::getline(meminfo, unit);
  }
  return unknown;
}

std::int64_t number_in(char const* path) {
  std::ifstream file(path);
  std::int64_t number = 0;
  return file >> number ? number : unknown;  // "max" means no limit
}

// Of what a control group uses, the part that the kernel gives back on demand: cached files.
std::int64_t reclaimable_in_group() {
  std::ifstream statistics("/sys/fs/cgroup/memory.stat");
  std::string key;
  std::int64_t bytes = 0;
  while (statistics >> key >> bytes)
    if (key == "inactive_file") return bytes;
  return 0;
}

}  // namespace

std::int64_t free_host_bytes() {
  std::int64_t const limit = number_in("/sys/fs/cgroup/memory.max");
  std::int64_t const used = number_in("/sys/fs/cgroup/memory.current");
  std::int64_t const in_group =
      limit == unknown || used == unknown ? unknown : limit - used + reclaimable_in_group();
  return std::max<std::int64_t>(0, std::min(available_by_kernel(), in_group));
}

std::int64_t free_device_bytes() {
#if defined(KOKKOS_ENABLE_CUDA)
  std::size_t free = 0;
  std::size_t total = 0;
  return cudaMemGetInfo(&free, &total) == cudaSuccess ? static_cast<std::int64_t>(free) : unknown;
#elif defined(KOKKOS_ENABLE_HIP)
  std::size_t free = 0;
  std::size_t total = 0;
  return hipMemGetInfo(&free, &total) == hipSuccess ? static_cast<std::int64_t>(free) : unknown;
#else
  return unknown;
#endif
}

void expects_memory(std::int64_t bytes, std::int64_t available, std::string const& what) {
  if (bytes <= available) return;
  throw ResourceError(what + " needs " + readable_bytes(bytes) + " of memory, and " +
                      readable_bytes(available) +
                      " are free: use a smaller grid or single precision");
}

}  // namespace detail

void ask_for_large_pages([[maybe_unused]] void* block, [[maybe_unused]] std::int64_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  if (bytes < std::int64_t(1) << 22) return;
  constexpr std::uintptr_t page = 4096;
  auto const address = reinterpret_cast<std::uintptr_t>(block);
  auto const begin = (address + page - 1) / page * page;
  auto const last = (address + static_cast<std::uintptr_t>(bytes)) / page * page;
  madvise(reinterpret_cast<void*>(begin), last - begin, MADV_HUGEPAGE);  // a wish: may fail
#endif
}

std::string readable_bytes(std::int64_t bytes) {
  char const* const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1024 && unit < 6; ++unit) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text;
}

}  // namespace coir
