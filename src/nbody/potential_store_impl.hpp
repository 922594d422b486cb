#pragma once

#include <coir/core/kept_views.hpp>
#include <coir/core/memory.hpp>
#include <coir/distributed/sharers.hpp>
#include <coir/fft/in_place.hpp>
#include <coir/nbody/detail/potential_store.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>

namespace coir::nbody::detail {

template <CompiledSpace Exec, Real T>
std::int64_t PotentialStore<Exec, T>::held() const {
  std::int64_t count = 0;
  Potential before;  // kicks that follow each other in one force have one potential
  for (auto const& kept : kept_) {
    if (is_kept(kept) && kept.data() != before.data()) ++count;
    before = kept;
  }
  return count;
}

/// Allocates a block for the potentials to come, as many as memory allows.
template <CompiledSpace Exec, Real T>
void PotentialStore<Exec, T>::allocate() {
  block_ = {};
  used_ = 0;
  std::int64_t const each = fft::bytes_in_place<T>(shape_), taken = held() * each;
  // Half of what is free stays so. Ranks of one machine or device share what is free.
  std::int64_t const free =
      free_bytes<typename Exec::memory_space>() / distributed::ranks_of_memory(group_, Exec());
  std::int64_t const fit = ((taken + free) / 2 - taken) / std::max<std::int64_t>(each, 1);
  std::int64_t const count = std::min({at_a_time, group_.min(fit), kicks_to_come_});
  if (count <= 0) return;
  // Without potentials where a rank has less memory than it seemed to have: all do without them.
  Block block;
  bool has_memory = true;
  try {
    block = kept_view<Block>(exec_, "coir::nbody::potential_store/potentials", count, shape_[0],
                             shape_[1], shape_[2] / 2 + 1);
  } catch (std::exception const&) {
    has_memory = false;
  }
  if (group_.all(has_memory)) block_ = block;
}

template <CompiledSpace Exec, Real T>
auto PotentialStore<Exec, T>::next() -> Potential const& {
  present_ = {};
  if (kicks_to_come_ <= 0) return present_;
  if (used_ == static_cast<std::int64_t>(block_.extent(0))) allocate();
  if (block_.extent(0) > 0)
    present_ = Kokkos::subview(block_, used_++, Kokkos::ALL, Kokkos::ALL, Kokkos::ALL);
  return present_;
}

template <CompiledSpace Exec, Real T>
void PotentialStore<Exec, T>::push() {
  kept_.push_back(present_);
  if (kicks_to_come_ > 0) --kicks_to_come_;
}

template <CompiledSpace Exec, Real T>
auto PotentialStore<Exec, T>::pop() -> Potential const& {
  present_ = kept_.back();
  kept_.pop_back();
  return present_;
}

template <CompiledSpace Exec, Real T>
void PotentialStore<Exec, T>::end() {
  kicks_to_come_ = 0;
  block_ = {};
  used_ = 0;
  // The memory of the present one may be that of many.
  if (kept_.empty() || kept_.back().data() != present_.data()) present_ = {};
}

}  // namespace coir::nbody::detail

#define COIR_INSTANTIATE_POTENTIAL_STORE(Exec)                     \
  template class coir::nbody::detail::PotentialStore<Exec, float>; \
  template class coir::nbody::detail::PotentialStore<Exec, double>;
