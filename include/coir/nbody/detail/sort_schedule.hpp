#pragma once

/// \file
/// When it pays to sort particles.

namespace coir::nbody::detail {

/// Decides at the start of each step whether particles are to be sorted before their density is painted.
class SortSchedule {
 public:
  /// \param on_host  Hosts sort every sixth step, in which particles cross a cell or so; caches and tiles of devices reach
  ///   further than that, and they sort every eighth. Painting by tiles wants particles sorted, for which the order of
  ///   the lattice, where they start, is no substitute; caches of hosts do with that.
  explicit constexpr SortSchedule(bool on_host)
      : interval_(on_host ? 5 : 7), last_steps_(on_host ? 3 : 1), lattice_will_do_(on_host) {}

  /// \param steps_to_go  before particles must be back in the order of their lattice, with this one; for the last few
  ///   steps it isn't worth while to sort
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
