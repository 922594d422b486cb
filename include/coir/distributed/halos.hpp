#pragma once

/// Halos: the layers at the borders of a rank's part of a field that hold copies of its neighbours'
/// elements.

#include <coir/core/concepts.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/strided.hpp>
#include <coir/distributed/cartesian.hpp>
#include <coir/distributed/together.hpp>
#include <coir/distributed/view_exchange.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>

namespace coir::distributed {

/// Fills the halos of fields that the ranks of a grid share. Each neighbour, those at corners
/// included, gets one message, whatever the number of fields:
///
///     Cartesian<2> const grid(world, {}, {true, false});       // periodic along axis 0
///     Halos halos(exec, grid, {1, 1});
///     for (int sweep = 0; sweep < 100; ++sweep, std::swap(u, v)) {
///       halos.fill(u);
///       for_each("jacobi", exec, box({1, 1}, {nx + 1, ny + 1}), Jacobi{u, v});
///     }
///
/// A field is a View of any element type, rank and strides, with `width` layers of halo before and
/// behind the rank's own elements along each shared axis. Beyond an edge that isn't periodic there
/// are `edge` layers in their place, which stay as they are. One rank along a periodic axis is its
/// own neighbour.
///
/// Between begin() and finish() a kernel may run on the elements that need no halo. All functions
/// are collective. Messages count as "distributed/halos".
template <CompiledSpace Exec, int Axes>
class Halos {
 public:
  using Numbers = std::array<int, static_cast<std::size_t>(Axes)>;

  /// \param widths  layers on either side along each axis of the grid, the same on every rank
  /// \param axes    the fields' axes that the axes of the grid share, the same on every rank; by
  ///   default the first ones
  /// \throws PreconditionError if a width is negative or an axis is named twice
  Halos(Exec exec, Cartesian<Axes> grid, Numbers const& widths, Numbers const& axes = first_axes())
      : Halos(std::move(exec), std::move(grid), widths, axes, widths) {}
  /// \param edges  layers beyond the edges that aren't periodic, in place of as many as a halo has
  Halos(Exec exec, Cartesian<Axes> grid, Numbers const& widths, Numbers const& axes,
        Numbers const& edges)
      : grid_(std::move(grid)),
        widths_(widths),
        edges_(edges),
        axes_(axes),
        exchange_(std::move(exec), grid_.group(), "distributed/halos") {
    for (std::size_t d = 0; d < Axes; ++d) {
      expects(widths[d] >= 0, "a halo must have 0 layers or more", widths[d]);
      expects(edges[d] >= 0, "a field must have 0 layers or more beyond an edge", edges[d]);
      for (std::size_t other = 0; other < d; ++other)
        expects(axes[d] != axes[other], "a halo must have each axis once", axes[d]);
    }
  }

  /// \throws PreconditionError if a field lacks one of the axes, or a rank has fewer elements of
  ///   its own along one of the axes than the halo has layers. The first call throws on every rank,
  ///   later ones on this rank alone.
  template <StridedView... Fields>
  void begin(Fields const&... fields) {
    auto const check = [&] { (expects_room(strided(fields)), ...); };
    if (std::exchange(is_first_, false))
      together(grid_.group(), check);
    else
      check();
    Numbers steps;
    steps.fill(-1);
    std::int64_t direction = 0;
    do {
      list(steps, direction++, strided(fields)...);
    } while (advance(steps));
    exchange_.begin();
  }
  void finish() { exchange_.finish(); }
  template <StridedView... Fields>
  void fill(Fields const&... fields) {
    begin(fields...);
    finish();
  }

 private:
  static Numbers first_axes() {
    Numbers axes;
    std::iota(axes.begin(), axes.end(), 0);
    return axes;
  }

  /// The next of the 3^Axes directions.
  static bool advance(Numbers& steps) {
    for (int& step : steps) {
      if (++step <= 1) return true;
      step = -1;
    }
    return false;
  }

  /// Lists the messages in one direction. Own elements at the border in this direction go to the
  /// neighbour there. The halo on the opposite side comes from the neighbour on that side.
  template <class... T, int... Rank>
  void list(Numbers const& steps, std::int64_t direction, Strided<T, Rank> const&... fields) {
    bool is_wanted = false;
    for (std::size_t d = 0; d < Axes; ++d) is_wanted = is_wanted || steps[d] != 0;
    Numbers back = steps;
    for (int& step : back) step = -step;
    if (!is_wanted) return;
    std::int64_t key = direction * static_cast<std::int64_t>(sizeof...(fields));
    int const to = grid_.neighbour(steps), from = grid_.neighbour(back);
    auto const one = [&](auto const& field) {
      if (to >= 0) exchange_.send(to, part(field, steps, /*of_halo=*/false), key);
      if (from >= 0) exchange_.receive(from, part(field, back, /*of_halo=*/true), key);
      ++key;
    };
    (one(fields), ...);
  }

  /// The layers on one side of the rank's own elements.
  std::int64_t layers(std::size_t d, int side) const {
    return grid_.neighbour(static_cast<int>(d), side) >= 0 ? widths_[d] : edges_[d];
  }

  /// The halo on one side of a field, or the own elements next to it.
  template <class T, int Rank>
  Strided<T, Rank> part(Strided<T, Rank> field, Numbers const& steps, bool of_halo) const {
    for (std::size_t d = 0; d < Axes; ++d) {
      auto const axis = static_cast<std::size_t>(axes_[d]);
      std::int64_t const width = widths_[d], n = field.extents[axis];
      std::int64_t const before = layers(d, -1), behind = layers(d, 1);
      std::int64_t first = before, count = n - before - behind;
      if (steps[d] != 0) {
        first = steps[d] < 0 ? before - (of_halo ? width : 0) : n - behind - (of_halo ? 0 : width);
        count = width;
      }
      field.data += first * field.strides[axis];
      field.extents[axis] = count;
    }
    return field;
  }

  template <class T, int Rank>
  void expects_room(Strided<T, Rank> const& field) const {
    for (std::size_t d = 0; d < Axes; ++d) {
      expects(axes_[d] >= 0 && axes_[d] < Rank,
              "a halo must lie along an axis of the field, which has " + std::to_string(Rank),
              axes_[d]);
      auto const n = field.extents[static_cast<std::size_t>(axes_[d])];
      bool const sends = grid_.ranks()[d] > 1 || grid_.periodic()[d];
      auto const least = layers(d, -1) + (sends ? widths_[d] : 0) + layers(d, 1);
      expects(n >= least,
              "a halo of " + std::to_string(widths_[d]) + " layers needs a field of " +
                  std::to_string(least) + " elements or more along axis " +
                  std::to_string(axes_[d]) + " on each rank, halo included: use fewer ranks",
              n);
    }
  }

  Cartesian<Axes> grid_;
  Numbers widths_, edges_, axes_;
  ViewExchange<Exec> exchange_;
  bool is_first_ = true;  // checks by all ranks together take as long as an exchange
};

}  // namespace coir::distributed
