// Checks of a plan's shape and options, and of the Views that it transforms.

#include <coir/core/errors.hpp>
#include <coir/core/shape.hpp>
#include <coir/distributed/together.hpp>
#include <coir/fft/detail/slab_parts.hpp>
#include <coir/fft/detail/transforms.hpp>
#include <coir/fft/rank_grid.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

namespace coir::fft::detail {

namespace {

/// The extents and strides that the View on one side of a plan must have.
struct Side {
  std::array<std::int64_t, 4> extents{}, strides{};
  std::int64_t padded = 0;  ///< another extent that the last axis may have

  Side(Request const& request, bool real) {
    auto const rank = static_cast<std::size_t>(request.rank);
    std::int64_t const row = real ? request.real_row() : request.complex_row();
    extents[0] = request.batch;
    for (std::size_t d = 0; d < rank; ++d) extents[d + 1] = request.shape[d];
    if (!real) extents[rank] = request.complex_row();
    padded = real ? row : extents[rank];
    strides[rank] = 1;
    std::int64_t stride = row;
    for (std::size_t d = rank; d-- > 0;) {
      strides[d] = stride;
      stride *= extents[d];
    }
  }
};

/// The axis of the plan that is the View's first one: 0, or 1 if the View has no axis for the
/// batch.
std::size_t skipped(Request const& request, ViewShape const& view) {
  return static_cast<std::size_t>(request.rank) + 1 - view.extents.size();
}

/// The first axis whose stride in the View isn't the plan's; the number of axes if there is none.
std::size_t axis_of_other_stride(Side const& side, std::size_t skipped, ViewShape const& view) {
  std::size_t d = 0;
  while (d < view.extents.size() &&
         (view.extents[d] == 1 || view.strides[d] == side.strides[d + skipped]))
    ++d;
  return d;
}

void check_view(Request const& request, ViewShape const& view) {
  check_extents(request, view);
  Side const side(request, view.real);
  std::size_t const first = skipped(request, view), d = axis_of_other_stride(side, first, view);
  if (d < view.extents.size())
    throw PreconditionError(
        view.name + (" must have stride " + std::to_string(side.strides[d + first])) +
        " along axis " + std::to_string(d) + ", not " + std::to_string(view.strides[d]) +
        (view.real ? ": see coir::fft::real_view_of"
                   : ": plans of real fields in place take spectra in C order without gaps"));
}

/// Bytes of a whole side.
std::int64_t bytes(Request const& request, bool real, std::int64_t real_bytes) {
  std::int64_t const row =
      real ? request.real_row() * real_bytes : request.complex_row() * 2 * real_bytes;
  return request.batch * request.rows() * row;
}

}  // namespace

void check_request(Request const& request, std::int64_t complex_bytes) {
  std::array<std::int64_t, 4> all{request.batch, 1, 1, 1};
  for (int d = 0; d < request.rank; ++d) {
    std::int64_t const extent = request.shape[static_cast<std::size_t>(d)];
    expects(extent >= 1, "extents of a transform must be at least 1", extent);
    all[static_cast<std::size_t>(d) + 1] = extent;
  }
  expects(request.batch >= 1, "a plan's batch must be at least 1", request.batch);
  expects_allocatable(all, 2 * complex_bytes);  // twice: rows of one number are padded to two
}

void check_extents(Request const& request, ViewShape const& view) {
  auto const rank = static_cast<std::size_t>(request.rank);
  Side const side(request, view.real);
  std::size_t const given = view.extents.size(), first = skipped(request, view);
  // Messages are made only for errors: small transforms on devices take no longer than these
  // checks.
  if (given != rank + 1 && request.batch != 1)
    throw PreconditionError(view.name + (" must have the batch, " + std::to_string(request.batch)) +
                            ", as its first axis, beside the " + std::to_string(rank) +
                            " of the transform");
  for (std::size_t d = 0; d < given; ++d) {
    std::size_t const of = d + first;
    std::int64_t const extent = view.extents[d];
    bool const fits = extent == side.extents[of] || (of == rank && extent == side.padded);
    if (!fits)
      throw PreconditionError(
          view.name + (" must have extent " + std::to_string(side.extents[of])) + " along axis " +
          std::to_string(d) + " for this plan, not " + std::to_string(extent));
  }
}

bool has_strides_of(Request const& request, ViewShape const& view) {
  return axis_of_other_stride(Side(request, view.real), skipped(request, view), view) ==
         view.extents.size();
}

void check_views(Request const& request, ViewShape const& in, ViewShape const& out,
                 std::int64_t real_bytes) {
  check_view(request, in);
  check_view(request, out);
  auto const* const from = static_cast<char const*>(in.data);
  auto const* const to = static_cast<char const*>(out.data);
  if (request.options.in_place)
    expects(from == to, "a plan in place needs the input and the output at the same address");
  else
    expects(to + bytes(request, out.real, real_bytes) <= from ||
                from + bytes(request, in.real, real_bytes) <= to,
            "the input and the output overlap: make the plan with the option in_place");
}

RankGrid grid_of(distributed::Group const& group, RankGrid grid) {
  distributed::expects_alike(group, {{"rows of a grid of ranks", grid.rows},
                                     {"columns of a grid of ranks", grid.columns}});
  int const ranks = group.size();
  if (grid.columns == 0 && grid.rows > 0) grid.columns = ranks / grid.rows;
  if (grid.rows < 1 || grid.columns < 1 ||
      static_cast<std::int64_t>(grid.rows) * grid.columns != ranks)
    throw PreconditionError("a grid of " + std::to_string(grid.rows) + " x " +
                            std::to_string(grid.columns) + " ranks can't share out " +
                            std::to_string(ranks) +
                            ": the product of its rows and columns must be the number of ranks");
  return grid;
}

std::int64_t most_threads(distributed::Group const& group, Shape<3> const& shape,
                          std::int64_t threads) {
  struct Asked {
    Shape<3> shape;
    std::int64_t threads;
  };
  auto const all = group.gather(Asked{shape, threads});
  for (auto const& [other, theirs] : all) {
    if (other != all.front().shape)
      throw PreconditionError("all ranks must transform a field of the same extents, not " +
                              in_words(all.front().shape) + " and " + in_words(other));
    threads = std::max(threads, theirs);
  }
  return threads;
}

}  // namespace coir::fft::detail
