#pragma once

/// Where the elements of a split array are.

#include <coir/core/errors.hpp>
#include <coir/core/shape.hpp>
#include <coir/distributed/cartesian.hpp>
#include <coir/distributed/group.hpp>
#include <coir/distributed/share.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace coir::sharded {

/// Ranks in rows and columns, for arrays that are split along two axes: JAX's Mesh. Ranks are in C
/// order. A value; copies share.
class Mesh {
 public:
  /// \param ranks  rows and columns of the mesh, the same on every rank; 0 leaves a number open
  /// \throws PreconditionError on every rank unless the mesh has the group's number of ranks
  explicit Mesh(distributed::Group group, std::array<int, 2> const& ranks = {})
      : grid_(std::move(group), ranks), lines_{grid_.along(0), grid_.along(1)} {}

  distributed::Group const& group() const { return grid_.group(); }
  /// Rows and columns.
  std::array<int, 2> const& ranks() const { return grid_.ranks(); }
  /// The ranks of this rank's column, which share the first split axis, or those of its row, which
  /// share the second one.
  distributed::Group const& line(int which) const {
    return lines_[static_cast<std::size_t>(which)];
  }

 private:
  distributed::Cartesian<2> grid_;
  std::array<distributed::Group, 2> lines_;
};

/// An axis along which an array is split.
struct SplitAxis {
  int axis;
  distributed::Group line;  ///< the ranks that share its indices with this rank, in their order
  int ranks, stride;  ///< rank r of the array's group is number r / stride % ranks of its line

  bool operator==(SplitAxis const& other) const {
    return axis == other.axis && ranks == other.ranks && stride == other.stride;
  }
};

/// Indices along each axis.
template <int Rank>
using Box = std::array<distributed::Share, static_cast<std::size_t>(Rank)>;

/// All indices of a shape.
template <std::size_t Rank>
Box<static_cast<int>(Rank)> box_of(std::array<std::int64_t, Rank> const& shape) {
  Box<static_cast<int>(Rank)> box;
  for (std::size_t d = 0; d < Rank; ++d) box[d] = {0, shape[d]};
  return box;
}

template <int Rank>
class Placement;
template <int Rank>
std::string in_words(Placement<Rank> const& placement);

/// An array that the ranks of a group share along one axis, or those of a mesh along two: JAX's
/// NamedSharding. Of n indices of a split axis rank r of P has those of distributed::share_of(n, r,
/// P), and of the other axes all. A rank may have no indices of a split axis.
template <int Rank>
class Placement {
  static_assert(Rank >= 1, "a split array has an axis along which it is split");

 public:
  static constexpr int rank = Rank;

  Placement() = default;
  /// \param shape  of the whole array, the same on every rank
  /// \param axis   along which it is split; negative ones count from the last
  /// \throws PreconditionError if there is no such axis or an extent is negative
  Placement(distributed::Group group, Shape<Rank> const& shape, int axis = 0)
      : Placement(group, shape, {{checked(axis, shape), group, group.size(), 1}}) {}
  /// \param axes  the one that the mesh's rows share, and the one that its columns share
  /// \throws PreconditionError if there is no such axis, both are one, or an extent is negative
  Placement(Mesh const& mesh, Shape<Rank> const& shape, std::array<int, 2> const& axes)
      : Placement(mesh.group(), shape,
                  {{checked(axes[0], shape), mesh.line(0), mesh.ranks()[0], mesh.ranks()[1]},
                   {checked(axes[1], shape), mesh.line(1), mesh.ranks()[1], 1}}) {
    expects(splits()[0].axis != splits()[1].axis, "a mesh must split two different axes", axis());
  }
  /// An array whose axes are split as those of another one.
  Placement(distributed::Group group, Shape<Rank> const& shape, std::vector<SplitAxis> splits)
      : contents_(std::make_shared<Contents const>(
            Contents{std::move(group), shape, std::move(splits)})) {
    expects_allocatable(shape, 1);
  }

  distributed::Group const& group() const { return contents().group; }
  /// The shape of the whole array.
  Shape<Rank> const& shape() const { return contents().shape; }
  /// The axes along which it is split, one or two.
  std::vector<SplitAxis> const& splits() const { return contents().splits; }
  bool is_split(int axis) const {
    for (auto const& split : splits())
      if (split.axis == axis) return true;
    return false;
  }
  /// The first split axis.
  int axis() const { return splits().front().axis; }
  /// The whole array's extent along the first split axis.
  std::int64_t extent() const { return shape()[static_cast<std::size_t>(axis())]; }
  /// The indices of a rank of the group along a split axis.
  distributed::Share share(SplitAxis const& split, int rank) const {
    return distributed::share_of(shape()[static_cast<std::size_t>(split.axis)],
                                 rank / split.stride % split.ranks, split.ranks);
  }
  /// The indices of a rank, or of this rank, along the first split axis.
  distributed::Share share(int rank) const { return share(splits().front(), rank); }
  distributed::Share share() const { return share(group().rank()); }
  /// The indices of a rank along each axis.
  Box<Rank> box(int rank) const {
    auto all = box_of(shape());
    for (auto const& split : splits())
      all[static_cast<std::size_t>(split.axis)] = share(split, rank);
    return all;
  }
  /// The shape of this rank's part.
  Shape<Rank> local_shape() const {
    Shape<Rank> own{};
    auto const indices = box(group().rank());
    for (std::size_t d = 0; d < Rank; ++d) own[d] = indices[d].count;
    return own;
  }
  /// What the ranks of one line of the mesh have together, split along one axis: of the axis that
  /// other lines share there are this line's indices.
  Placement line(SplitAxis const& split) const {
    auto extents = local_shape();
    auto const d = static_cast<std::size_t>(split.axis);
    extents[d] = shape()[d];
    return Placement(split.line, extents, split.axis);
  }

  /// The number of an axis, counted from the first one. Negative numbers count from the last.
  ///
  /// \throws PreconditionError if there is no such axis
  int checked(int axis) const { return checked(axis, shape()); }

  /// \throws PreconditionError if there are two split axes
  void expects_one_axis(std::string const& who) const {
    if (splits().size() > 1)
      throw PreconditionError(
          who + " takes arrays that are split along one axis, by reshard(x, axis), not " +
          in_words(*this));
  }

  bool operator==(Placement const& other) const {
    return contents_ == other.contents_ ||
           (group() == other.group() && shape() == other.shape() && splits() == other.splits());
  }

 private:
  struct Contents {
    distributed::Group group;
    Shape<Rank> shape;
    std::vector<SplitAxis> splits;
  };

  static int checked(int axis, Shape<Rank> const& shape) {
    if (axis < -Rank || axis >= Rank)
      throw PreconditionError("axis " + std::to_string(axis) + " is none of an array of shape " +
                              coir::in_words(shape));
    return axis < 0 ? axis + Rank : axis;
  }

  Contents const& contents() const {
    static Contents const none{{}, {}, {{0, {}, 1, 1}}};
    return contents_ ? *contents_ : none;
  }

  std::shared_ptr<Contents const> contents_;  // every expression copies placements
};

/// "(8, 6) along axis 0 over 3 ranks", "(8, 6) along axes 0 and 1 over 4 x 2 ranks"
template <int Rank>
std::string in_words(Placement<Rank> const& placement) {
  std::string axes, ranks;
  for (auto const& split : placement.splits()) {
    axes += (axes.empty() ? "" : " and ") + std::to_string(split.axis);
    ranks += (ranks.empty() ? "" : " x ") + std::to_string(split.ranks);
  }
  return coir::in_words(placement.shape()) +
         (placement.splits().size() > 1 ? " along axes " : " along axis ") + axes + " over " +
         ranks + " ranks";
}

namespace detail {

/// \throws PreconditionError unless two arrays belong to one group
template <int A, int B>
void expects_one_group(Placement<A> const& a, Placement<B> const& b) {
  if (!(a.group() == b.group()))
    throw PreconditionError("arrays of " + in_words(a) + " and " + in_words(b) +
                            " belong to different groups: make both of copies of one Group");
}

}  // namespace detail

}  // namespace coir::sharded
