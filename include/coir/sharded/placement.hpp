#pragma once

/// Where the elements of a split array are.

#include <coir/core/errors.hpp>
#include <coir/core/shape.hpp>
#include <coir/distributed/group.hpp>
#include <coir/distributed/share.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace coir::sharded {

/// An array that the ranks of a group share along one axis: JAX's NamedSharding. Rank r has the
/// indices distributed::share_of(extent, r, ranks) of that axis, and all indices of the other axes.
/// A rank may have no indices of the split axis.
template <int Rank>
class Placement {
  static_assert(Rank >= 1, "a split array has an axis along which it is split");

 public:
  Placement() = default;
  /// \param shape  of the whole array, the same on every rank
  /// \param axis   along which it is split; negative ones count from the last
  /// \throws PreconditionError if there is no such axis or an extent is negative
  Placement(distributed::Group group, Shape<Rank> const& shape, int axis = 0)
      : group_(std::move(group)), shape_(shape), axis_(axis < 0 ? axis + Rank : axis) {
    expects_allocatable(shape, 1);
    expects_axis(axis);
  }

  distributed::Group const& group() const { return group_; }
  /// The shape of the whole array.
  Shape<Rank> const& shape() const { return shape_; }
  int axis() const { return axis_; }
  /// The whole array's extent along the split axis.
  std::int64_t extent() const { return shape_[static_cast<std::size_t>(axis_)]; }
  /// The indices of a rank along the split axis.
  distributed::Share share(int rank) const {
    return distributed::share_of(extent(), rank, group_.size());
  }
  distributed::Share share() const { return share(group_.rank()); }
  /// The shape of this rank's part.
  Shape<Rank> local_shape() const {
    Shape<Rank> shape = shape_;
    shape[static_cast<std::size_t>(axis_)] = share().count;
    return shape;
  }

  /// The number of an axis, counted from the first one. Negative numbers count from the last.
  ///
  /// \throws PreconditionError if there is no such axis
  int checked(int axis) const {
    expects_axis(axis);
    return axis < 0 ? axis + Rank : axis;
  }

  bool operator==(Placement const&) const = default;

 private:
  void expects_axis(int axis) const {
    if (axis < -Rank || axis >= Rank)
      throw PreconditionError("axis " + std::to_string(axis) + " is none of an array of shape " +
                              coir::in_words(shape_));
  }

  distributed::Group group_;
  Shape<Rank> shape_{};
  int axis_ = 0;
};

/// "(8, 6) along axis 0 over 3 ranks"
template <int Rank>
std::string in_words(Placement<Rank> const& placement) {
  return coir::in_words(placement.shape()) + " along axis " + std::to_string(placement.axis()) +
         " over " + std::to_string(placement.group().size()) + " ranks";
}

}  // namespace coir::sharded
