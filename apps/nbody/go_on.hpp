#pragma once

/// Errors of a run that is short of memory or of space on a disk: they say from where it can go on.

#include <coir/core/errors.hpp>

#include <filesystem>
#include <new>
#include <stdexcept>
#include <string>

namespace coir::apps::nbody {

/// Where a run could go on from if it ended now.
struct GoOn {
  std::filesystem::path path{};  ///< empty: there is no checkpoint
  int step = 0;
};

inline std::string promise_of(GoOn const& go_on) {
  return go_on.path.empty() ? "what was written is whole"
                            : "--restart " + go_on.path.string() + " goes on from step " +
                                  std::to_string(go_on.step);
}

/// In a handler of exceptions: what was wrong if memory, or space on a disk, was short. Any other
/// exception goes on.
inline std::string what_was_short(std::string const& when) {
  try {
    throw;
  } catch (ResourceError const& error) {
    return error.what();
  } catch (std::bad_alloc const&) {
    return "out of memory " + when;
  } catch (std::runtime_error const& error) {
    std::string const text = error.what();  // Kokkos' word for the same
    if (text.find("llocat") == std::string::npos) throw;
    return text;
  }
}

/// Makes steps. Where memory is short of them, the error says from where the run can go on.
///
/// \throws ResourceError then
template <class Steps>
void make_steps(GoOn const& go_on, Steps const& steps) {
  try {
    steps();
  } catch (...) {
    throw ResourceError(what_was_short("while steps were made") + "; " + promise_of(go_on));
  }
}

/// Writes outputs. Where these can't be written, for want of memory or of space on a disk, the
/// particles are kept.
///
/// \param keep  writes a checkpoint and says how to go on
/// \throws ResourceError with what was wrong, and how to go on if the particles could be kept
template <class Write, class Keep>
void write_or_keep(Write const& write, Keep const& keep) {
  std::string wrong;
  try {
    return write();
  } catch (...) {
    wrong = what_was_short("while an output was written");
  }
  std::string how;
  try {
    how = keep();
  } catch (ResourceError const&) {
    throw ResourceError(wrong);
  }
  throw ResourceError(wrong + "; the particles are kept: " + how);
}

}  // namespace coir::apps::nbody
