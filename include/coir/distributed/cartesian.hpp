#pragma once

/// Cartesian grids of ranks: MPI's Cart_create, JAX's Mesh.

#include <coir/core/errors.hpp>
#include <coir/distributed/group.hpp>
#include <coir/distributed/share.hpp>
#include <coir/distributed/together.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace coir::distributed {

/// The ranks of a group on a grid, in C order: neighbours along the last axis are neighbours in the
/// group.
///
/// \tparam Axes  of the grid, 1 or more
template <int Axes>
class Cartesian {
 public:
  using Place = std::array<int, static_cast<std::size_t>(Axes)>;
  using Flags = std::array<bool, static_cast<std::size_t>(Axes)>;

  /// \param ranks     along each axis, the same on every rank. 0 leaves the number open:
  ///   open numbers are made as equal as the group's size allows
  /// \param periodic  whether the last rank along an axis is the first one's neighbour
  /// \throws PreconditionError on every rank unless the grid has the group's number of ranks
  explicit Cartesian(Group group, Place const& ranks = {}, Flags const& periodic = {})
      : group_(std::move(group)), periodic_(periodic) {
    std::string words, flags;
    for (int const n : ranks) words += (words.empty() ? "" : " x ") + std::to_string(n);
    for (bool const flag : periodic) flags += flag ? '1' : '0';
    expects_alike(group_, {{"grid of ranks", words}, {"periodic axes of a grid", flags}});
    ranks_ = filled(ranks);
    int product = 1;
    for (int const n : ranks_) product *= n;
    if (product != group_.size() || *std::min_element(ranks_.begin(), ranks_.end()) < 1)
      throw PreconditionError(
          "a grid of " + words + " ranks doesn't fit a group of " + std::to_string(group_.size()) +
          ": the product must be the group's ranks, and 0 leaves a number open");
    place_ = place_of(group_.rank());
  }

  Group const& group() const { return group_; }
  Place const& ranks() const { return ranks_; }
  Flags const& periodic() const { return periodic_; }
  /// Where this rank stands.
  Place const& place() const { return place_; }
  Place place_of(int rank) const {
    Place place{};
    for (std::size_t d = Axes; d-- > 0; rank /= ranks_[d]) place[d] = rank % ranks_[d];
    return place;
  }
  /// The rank at some steps from this one along each axis; -1 beyond an edge that isn't periodic.
  int neighbour(Place const& steps) const {
    int rank = 0;
    for (std::size_t d = 0; d < Axes; ++d) {
      int at = place_[d] + steps[d];
      if (periodic_[d]) at = (at % ranks_[d] + ranks_[d]) % ranks_[d];
      if (at < 0 || at >= ranks_[d]) return -1;
      rank = rank * ranks_[d] + at;
    }
    return rank;
  }
  /// The rank at some steps from this one along one axis, 0 to Axes - 1.
  int neighbour(int axis, int step) const {
    Place steps{};
    steps[static_cast<std::size_t>(axis)] = step;
    return neighbour(steps);
  }
  /// This rank's part of `n` indices that the ranks along an axis share.
  Share share(int axis, std::int64_t n) const {
    auto const d = static_cast<std::size_t>(axis);
    return share_of(n, place_[d], ranks_[d]);
  }
  /// The group of the ranks that differ from this one in their place along an axis alone.
  /// Collective.
  Group along(int axis) const {
    Place first = place_;
    first[static_cast<std::size_t>(axis)] = 0;
    int part = 0;
    for (std::size_t d = 0; d < Axes; ++d) part = part * ranks_[d] + first[d];
    return group_.split(part);
  }

 private:
  /// Sets the open numbers. The prime factors of the number of ranks that is left are taken from
  /// the largest one on, and each multiplies the smallest open number.
  Place filled(Place const& ranks) const {
    Place result = ranks;
    int left = group_.size();
    for (int const n : ranks)
      if (n > 0) left = left % n == 0 ? left / n : 0;
    for (std::size_t d = 0; d < Axes; ++d)
      if (ranks[d] == 0) result[d] = 1;
    while (left > 1) {
      int largest = left;
      for (int p = 2; p * p <= largest; ++p)
        while (largest % p == 0 && largest > p) largest /= p;
      int smallest = -1;
      for (int d = 0; d < Axes; ++d)
        if (ranks[static_cast<std::size_t>(d)] == 0 &&
            (smallest < 0 ||
             result[static_cast<std::size_t>(d)] < result[static_cast<std::size_t>(smallest)]))
          smallest = d;
      if (smallest < 0) break;
      result[static_cast<std::size_t>(smallest)] *= largest;
      left /= largest;
    }
    return result;
  }

  Group group_;
  Flags periodic_;
  Place ranks_{}, place_{};
};

}  // namespace coir::distributed
