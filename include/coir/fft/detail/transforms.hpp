#pragma once

/// \file
/// The interface between plans and backends.

#include <coir/core/concepts.hpp>

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace coir::fft {

/// How long a plan searches for the fastest way before the first transform.
///
/// On hosts FFTW's planner either estimates or measures (FFTW_ESTIMATE, FFTW_MEASURE). Measuring
/// takes some tenths of a second, and pays after some hundred transforms. Measured plans, and with
/// them the last bits of results, may differ between runs of a program; estimated plans don't. On
/// devices the effort has no effect.
enum class Effort {
  estimate,   ///< plans within a millisecond, the same plans in each run of a program
  automatic,  ///< measures, except for lines of more than 2^15 numbers
  measure     ///< always measures, which takes seconds for long lines
};

/// Options of plans.
struct PlanOptions {
  bool in_place = false;              ///< the output takes the place of the input
  Effort effort = Effort::automatic;  ///< see there
  /// On hosts, transform the planes of the last two axes (or rows, if there is one axis) by
  /// themselves, as ranks do (slab.hpp): with Effort::estimate results then have the same bits as
  /// over ranks.
  bool by_planes = false;

  auto operator<=>(PlanOptions const&) const = default;
};

namespace detail {

/// Everything that a plan depends on except where it runs.
struct Request {
  bool real = false;  ///< one side holds real numbers
  int rank = 1;
  std::array<std::int64_t, 3> shape{1, 1, 1};  ///< the first `rank` count
  std::int64_t batch = 1;
  PlanOptions options = {};

  auto operator<=>(Request const&) const = default;

  std::int64_t last() const { return shape[static_cast<std::size_t>(rank - 1)]; }
  /// Rows of one transform.
  std::int64_t rows() const {
    std::int64_t product = 1;
    for (int d = 0; d + 1 < rank; ++d) product *= shape[static_cast<std::size_t>(d)];
    return product;
  }
  std::int64_t points() const { return rows() * last(); }
  /// Complex numbers from row to row.
  std::int64_t complex_row() const { return real ? last() / 2 + 1 : last(); }
  /// Real numbers from row to row, where one side is real.
  std::int64_t real_row() const { return options.in_place ? 2 * complex_row() : last(); }
};

/// Checks a request's numbers.
///
/// \throws PreconditionError if an extent or the batch is below 1, or the sizes overflow
void check_request(Request const& request, std::int64_t complex_bytes);

/// The extents and strides of a View of any type.
struct ViewShape {
  char const* name;
  bool real;
  void const* data;
  std::span<std::int64_t const> extents;
  std::span<std::int64_t const> strides;
};

/// Checks that a View has the extents of a side of a plan.
///
/// \throws PreconditionError naming the extent that is wrong
void check_extents(Request const& request, ViewShape const& view);

/// Whether a View with these extents lies in memory as a plan's side does.
bool has_strides_of(Request const& request, ViewShape const& view);

/// Checks that two Views are the two sides of a plan, in memory, too.
///
/// \throws PreconditionError naming the extent, stride or overlap that is wrong
void check_views(Request const& request, ViewShape const& in, ViewShape const& out,
                 std::int64_t real_bytes);

/// Both directions of a plan, without checks. Calls run one after the other.
template <class Exec, class T>
class Transforms {
 public:
  /// Multiplies `count` consecutive modes of plane i of a half spectrum, from number `first` on.
  using Multiply =
      std::function<void(std::int64_t i, std::int64_t first, std::int64_t count, T* modes)>;

  virtual ~Transforms() = default;
  virtual void forward(Exec const& exec, void* in, void* out) = 0;
  virtual void backward(Exec const& exec, void* in, void* out) = 0;
  /// Transforms forward, multiplies, and transforms backward, in place, if that takes fewer passes.
  /// Otherwise it does nothing.
  ///
  /// \return  whether it was done
  virtual bool filter(Exec const&, void*, Multiply const&) { return false; }
};

/// Transforms from the cache, or new ones. Compiled in src/fft: for hosts in one source, for
/// devices in another.
template <class Exec, class T>
  requires runs_on_host<Exec>
std::shared_ptr<Transforms<Exec, T>> transforms(Exec const& exec, Request const& request);
template <class Exec, class T>
  requires(!runs_on_host<Exec>)
std::shared_ptr<Transforms<Exec, T>> transforms(Exec const& exec, Request const& request);

/// Bytes of the workspace that transforms() would hold, without planning.
template <class Exec, class T>
  requires runs_on_host<Exec>
std::int64_t work_bytes(Exec const& exec, Request const& request);
template <class Exec, class T>
  requires(!runs_on_host<Exec>)
std::int64_t work_bytes(Exec const& exec, Request const& request);

}  // namespace detail

/// Empties the cache of plans and frees their memory. Plans that a RealPlan or ComplexPlan holds
/// stay.
void clear_plan_cache();

}  // namespace coir::fft
