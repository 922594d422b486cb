#pragma once

/// How many threads an application takes of the host's processors, and why.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace coir::apps {

/// What the system offers this process.
struct ProcessorsOffered {
  std::vector<int> usable;      ///< the processors' numbers, by the process' affinity
  std::vector<int> cores;       ///< of these the first one of each physical core
  std::optional<double> quota;  ///< in processors, of its control groups
  int others = 0;               ///< how many processors other programs keep busy
};

/// A number of threads.
struct ThreadChoice {
  int threads = 0;              ///< 0: as many as OpenMP starts by itself
  std::string reason;           ///< for people: "physical cores"
  std::vector<int> processors;  ///< one for each thread to be bound to; empty if none is bound
};

/// The first processor of each physical core among those that a process may use. All of them where
/// the system doesn't tell.
///
/// \param folder  has a file cpuN/topology/thread_siblings_list for processor N
std::vector<int> first_of_each_core(
    std::vector<int> const& usable,
    std::filesystem::path const& folder = "/sys/devices/system/cpu");

/// How many threads run beside the calling one on the whole machine, by the text of /proc/loadavg.
/// 0 if it can't be read.
int running_beside(std::string const& loadavg);

/// What the system offers now, in at most 8 milliseconds. Others' programs are looked for only if
/// this process may use all processors of the machine, and is the only one of its job: ranks must
/// not count each other.
ProcessorsOffered processors_offered();

/// A thread for each physical core that the process may use, but no more than its quota grants, and
/// at least one. Where other programs keep processors busy, so many cores are left to them, half
/// of all cores at most. A thread that shares its core makes all others wait for it.
ThreadChoice choose_threads(ProcessorsOffered const& offered);

/// The choice of this process: the caller's number, or that of OMP_NUM_THREADS or
/// KOKKOS_NUM_THREADS, or choose_threads(). It is made by the first call.
///
/// \param asked_for  the number of --kokkos-num-threads; 0 if it isn't given
ThreadChoice const& thread_choice(int asked_for = 0);

}  // namespace coir::apps
