#pragma once

/// \file
/// The steps in which particles are sorted.

namespace coir::nbody::detail {

/// Decides at the start of each step whether particles are to be sorted before their density is
/// painted.
class SortSchedule {
 public:
  /// \param on_host  Hosts sort every sixth step, in which particles cross about a cell. Devices
  ///   sort every eighth, because their caches and tiles reach further, and at the start, for
  ///   painting by tiles
  explicit constexpr SortSchedule(bool on_host)
      : interval_(on_host ? 5 : 7), last_steps_(on_host ? 3 : 1), lattice_will_do_(on_host) {}

  /// \param steps_to_go  steps before particles must be in the order of their lattice, including
  ///   this one; for the last few steps sorting doesn't pay
  /// \param is_sorted    whether particles are sorted now
  constexpr void begin_step(int steps_to_go, bool is_sorted) {
    bool const will_do = (is_sorted || lattice_will_do_) && ++steps_since_sort_ <= interval_;
    is_due_ = !will_do && steps_to_go > last_steps_;
  }

  constexpr bool is_due() const { return is_due_; }

  /// To be called when particles have been sorted.
  constexpr void has_sorted() {
    is_due_ = false;
    steps_since_sort_ = 0;
  }

 private:
  int interval_, last_steps_;
  bool lattice_will_do_;
  int steps_since_sort_ = 0;
  bool is_due_ = false;
};

}  // namespace coir::nbody::detail
