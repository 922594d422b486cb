#pragma once

/// The memory that a run takes at most: worked out and asked for before the work, reported beside
/// what it took.

#include <support/report.hpp>

#include <coir/distributed/group.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace coir::apps {

/// Bytes at most.
struct MemoryPlan {
  std::int64_t before =
      0;  ///< held by the process when it was planned: its code, libraries and their tables
  std::int64_t host = 0;                 ///< beside that; where kernels run on the host, fields too
  std::optional<std::int64_t> device{};  ///< of the device, if kernels run on one
};

/// An estimate of the host memory beside fields: rows on their way to a file, libraries' tables,
/// threads' stacks, a page of 2 MiB that is only used in part, and what MPI takes for messages to
/// and from the other ranks of the machine. Collective.
///
/// \param field  bytes of one of them
std::int64_t bytes_beside(std::int64_t field, distributed::Group const& group = {});

/// The plan with at least what the process has held until now: files that the plan depends on take
/// memory while they are read, which is asked for there.
MemoryPlan with_what_was_read(MemoryPlan plan);

/// Stops a run that can't have its memory.
///
/// \param what  what it is: "a picture of 1024 x 1024 pixels"
/// \throws ResourceError naming the need, what is free, and the remedy
void expects_memory(MemoryPlan const& plan, std::string const& what);

/// Stops a run on several ranks that can't have its memory. Each rank has limits of its own, those
/// of one machine share its memory, and some may share a device. Collective.
///
/// \param device  bytes that tell the ranks' devices apart within a machine, see device_identity()
void expects_memory(distributed::Group const& group, MemoryPlan const& plan,
                    std::string const& what, std::string const& device);

/// The plan with the most that any rank takes on its host in all, and on its device. Collective.
MemoryPlan most_of(distributed::Group const& group, MemoryPlan const& plan);

/// Has fields, and all blocks of 1 MiB or more, come from the system one by one and go back when
/// they are freed. Left to itself the C library keeps the first ones that are freed, and fits later
/// ones of other sizes between them, with gaps.
void keep_large_blocks_apart();

/// Adds `bytes_predicted` and `bytes_peak`, of the process, and `device_bytes_predicted`.
void report_memory(Report& report, MemoryPlan const& plan);

}  // namespace coir::apps
