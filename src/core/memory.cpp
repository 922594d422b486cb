#include "device_runtime.hpp"

#include <coir/core/errors.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/resident.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <limits>
#include <string>

#include <sys/resource.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace coir {

namespace detail {

namespace {

constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::max();

// The number that follows a key, in a file whose lines have a key, a number and perhaps more.
std::int64_t number_behind(std::string const& key, std::string const& path,
                           std::int64_t otherwise) {
  std::ifstream file(path);
  std::string word, rest;
  std::int64_t number = 0;
  while (file >> word) {
    if (word == key) return file >> number ? number : otherwise;
    std::getline(file, rest);
  }
  return otherwise;
}

std::int64_t available_by_kernel() {
  std::int64_t const kibibytes = number_behind("MemAvailable:", "/proc/meminfo", unknown / 1024);
  return kibibytes * 1024;
}

std::int64_t number_in(std::string const& path) {
  std::ifstream file(path);
  std::int64_t number = 0;
  return file >> number ? number : unknown;  // "max" means no limit
}

// The names of files in the two versions of control groups.
struct GroupFiles {
  std::string mount;
  char const* limit;
  char const* used;
  char const* reclaimable;  // the part of it that the kernel gives back on demand: cached files
};

// The smaller one of `least` and the bytes that a group's limit leaves. Reading memory.stat takes
// long: it is read only if the group would leave less than `least` without its reclaimable memory.
std::int64_t least_with_group(std::int64_t least, GroupFiles const& files,
                              std::string const& folder) {
  constexpr std::int64_t most = unknown / 2;  // the first version has a number for no limit, too
  std::int64_t const limit = number_in(folder + files.limit);
  if (limit > most) return least;
  std::int64_t const used = number_in(folder + files.used);
  if (used == unknown || limit - used >= least) return least;
  return std::min(least,
                  limit - used + number_behind(files.reclaimable, folder + "/memory.stat", 0));
}

// The smallest one of `least` and the bytes that the limits of the process' group, and of the
// groups around it, leave.
std::int64_t least_with_groups(std::int64_t least) {
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line;
       std::getline(groups, line);) {  // "4:memory:/some/group" or "0::/some/group"
    auto const first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::string const controllers = line.substr(first + 1, second - first - 1);
    std::string group = line.substr(second + 1);
    bool const is_first_version = ("," + controllers + ",").find(",memory,") != std::string::npos;
    if (!is_first_version && !controllers.empty()) continue;
    GroupFiles const files =
        is_first_version
            ? GroupFiles{"/sys/fs/cgroup/memory", "/memory.limit_in_bytes",
                         "/memory.usage_in_bytes", "total_inactive_file"}
            : GroupFiles{"/sys/fs/cgroup", "/memory.max", "/memory.current", "inactive_file"};
    // Inside a container the path is that of the host, but the group may lie at the mount point:
    // all prefixes of the path are tried, down to the mount point itself.
    for (;; group.resize(group.rfind('/'))) {
      if (group == "/") group.clear();
      least = least_with_group(least, files, files.mount + group);
      if (group.empty()) break;
    }
  }
  return least;
}

// A field of /proc/self/statm, in bytes.
std::int64_t own_bytes(int field) {
  std::ifstream file("/proc/self/statm");
  std::int64_t pages = 0;
  for (int n = 0; n <= field; ++n) file >> pages;
  return file ? pages * sysconf(_SC_PAGE_SIZE) : 0;
}

// Bytes that the process may still allocate under one of its limits.
std::int64_t available_by_limit(decltype(RLIMIT_AS) resource, int statm_field) {
  rlimit limit = {};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
      limit.rlim_cur > static_cast<rlim_t>(unknown))
    return unknown;
  return static_cast<std::int64_t>(limit.rlim_cur) - own_bytes(statm_field);
}

}  // namespace

std::int64_t free_host_bytes() {
  // The process' own limits come first, so that memory.stat is read only for groups that would
  // leave less.
  return std::max<std::int64_t>(
      0, least_with_groups(std::min(available_by_kernel(), free_bytes_of_process())));
}

std::int64_t free_device_bytes() {
#ifdef COIR_RUNTIME
  std::size_t free = 0, total = 0;
  if (COIR_RUNTIME(MemGetInfo)(&free, &total) == COIR_RUNTIME(Success))
    return static_cast<std::int64_t>(free);
#endif
  return unknown;
}

}  // namespace detail

std::int64_t free_bytes_of_machine() {
  using namespace detail;
  return std::max<std::int64_t>(0, least_with_groups(available_by_kernel()));
}

std::int64_t free_bytes_of_process() {
  using namespace detail;
  constexpr int size = 0, data = 5;  // fields of statm
  return std::max<std::int64_t>(
      0, std::min(available_by_limit(RLIMIT_AS, size), available_by_limit(RLIMIT_DATA, data)));
}

void expects_memory(std::int64_t bytes, std::int64_t available, std::string const& what) {
  if (bytes <= available) return;
  throw ResourceError(what + " needs " + readable_bytes(bytes) + " of memory, and " +
                      readable_bytes(available) +
                      " are free: use a smaller grid or single precision");
}

void ask_for_large_pages([[maybe_unused]] void* block, [[maybe_unused]] std::int64_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  if (bytes < std::int64_t(1) << 22) return;
  constexpr std::uintptr_t page = 4096;
  auto const address = reinterpret_cast<std::uintptr_t>(block);
  auto const begin = (address + page - 1) / page * page;
  auto const last = (address + static_cast<std::uintptr_t>(bytes)) / page * page;
  madvise(reinterpret_cast<void*>(begin), last - begin, MADV_HUGEPAGE);  // may fail
#endif
}

std::int64_t resident_bytes() {
  constexpr int resident = 1;  // field of statm
  return detail::own_bytes(resident);
}

std::int64_t peak_resident_bytes() {
  return 1024 * detail::number_behind("VmHWM:", "/proc/self/status", 0);
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
