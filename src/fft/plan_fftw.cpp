// Plans on hosts: FFTW's plans for the trailing axes and for columns, which threads share out.

#include "columns.hpp"
#include "effort.hpp"
#include "fftw.hpp"
#include "long_line.hpp"
#include "plan_cache.hpp"
#include "real_lanes.hpp"

#include <coir/core/machine.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/tasks.hpp>
#include <coir/fft/detail/transforms.hpp>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

namespace coir::fft::detail {

namespace {

/// A transform of at most so many points is worth one thread alone.
constexpr std::int64_t small = 4096;

/// The parts of a request: tasks that FFTW transforms along the trailing axes, and columns along
/// the others.
class Cut {
 public:
  int outer = 0;            ///< leading axes, transformed by columns
  std::int64_t blocks = 1;  ///< transforms of the trailing axes, in all
  std::int64_t rows = 1;    ///< of one of them
  std::int64_t chunk = 1;   ///< of them by one call
  std::int64_t parts = 1;   ///< threads
  bool by_copies = false;   ///< backward: trailing axes are transformed out of a copy

  Cut(Request const& request, std::int64_t threads) {
    if (request.options.by_planes)
      request.rank > 1 ? by_planes(request) : by_rows(request);
    else
      by_tasks(request);
    parts = request.batch * request.points() <= small ? 1 : threads;
    // FFTW writes to its input. A copy in cache saves the writes to memory, and planes in place
    // take FFTW longer.
    by_copies = request.real && outer + 1 < request.rank && (outer > 0 || request.options.in_place);
  }

 private:
  static constexpr std::int64_t fits_cache = 1 << 17;  // points, of a core's
  /// Points of the largest plane that is transformed as a whole by ranks, although it fits the
  /// cores' shared cache only. FFTW is fast there, but measuring plans takes seconds, so that other
  /// plans don't.
  static constexpr std::int64_t fits_shared_cache = 1 << 20;

  /// As many trailing axes as fit in a core's cache while the tasks are enough for many threads.
  void by_tasks(Request const& request) {
    constexpr std::int64_t enough_tasks = 16;
    blocks = request.batch;
    rows = request.rows();
    while (outer + 1 < request.rank) {
      std::int64_t const points = rows * request.last();
      if (points <= small || (points <= fits_cache && blocks >= enough_tasks)) break;
      std::int64_t const extent = request.shape[static_cast<std::size_t>(outer++)];
      blocks *= extent;
      rows /= extent;
    }
    chunk = std::clamp<std::int64_t>(small / (rows * request.last()), 1, blocks);
    if (chunk > 1) chunk -= chunk % 2;  // an even number of odd rows keeps to FFTW's alignment
  }

  /// The cut mustn't depend on the number of rows, which differs between ranks.
  void by_rows(Request const& request) { blocks = request.batch; }

  /// The cut mustn't depend on the number of planes, which differs between ranks.
  void by_planes(Request const& request) {
    std::int64_t const last = request.last();
    std::int64_t const in_plane = request.shape[static_cast<std::size_t>(request.rank - 2)];
    bool const as_a_whole = in_plane * last <= fits_shared_cache;
    outer = request.rank - (as_a_whole ? 2 : 1);
    rows = as_a_whole ? in_plane : 1;
    blocks = request.batch * request.rows() / rows;
    if (!as_a_whole) {
      chunk = std::clamp<std::int64_t>(small / last, 1, in_plane);
      while (in_plane % chunk > 0) --chunk;
    }
  }
};

/// The columns along a leading axis.
template <class T>
Columns<T> columns_along(Request const& request, Cut const& cut, int axis) {
  auto const at = static_cast<std::size_t>(axis);
  std::int64_t planes = request.batch, stride = request.complex_row();
  for (std::size_t d = 0; d < at; ++d) planes *= request.shape[d];
  for (int d = axis + 1; d + 1 < request.rank; ++d)
    stride *= request.shape[static_cast<std::size_t>(d)];
  return {planes, request.shape[at], stride, cut.parts};
}

/// Whether the lines along the last axis are real ones that are transformed in lanes. Over ranks
/// that mustn't depend on their number.
template <class T>
bool uses_lanes(Request const& request, Cut const& cut) {
  return request.real && !request.options.by_planes && cut.outer + 1 == request.rank &&
         RealLanes<T>::suits(request.last(), cut.blocks);
}

/// Bytes of one thread's buffer, for columns, for a copy of a block or for lanes.
template <class T>
std::int64_t buffer_bytes(Request const& request, Cut const& cut) {
  std::int64_t bytes = 0;
  for (int axis = 0; axis < cut.outer; ++axis)
    bytes = std::max(bytes, columns_along<T>(request, cut, axis).buffer_bytes());
  if (cut.by_copies)
    bytes = std::max(bytes, cut.chunk * cut.rows * request.complex_row() *
                                static_cast<std::int64_t>(2 * sizeof(T)));
  if (uses_lanes<T>(request, cut)) bytes = std::max(bytes, RealLanes<T>::bytes(request.last()));
  constexpr std::int64_t line = 64;
  return (bytes + line - 1) / line * line;
}

/// Forward or backward on hosts.
template <class T>
class Direction {
 public:
  using Number = std::array<T, 2>;

  Direction(Request const& request, Cut const& cut, bool forward)
      : request_(request), cut_(cut), forward_(forward) {
    auto const side = [&](bool real) {
      std::int64_t const row = real ? request.real_row() : request.complex_row();
      return Side{row, static_cast<std::int64_t>(real ? sizeof(T) : sizeof(Number))};
    };
    in_ = side(request.real && forward);
    out_ = side(request.real && !forward);
    if (uses_lanes<T>(request, cut))
      lanes_ = {request.last(), forward};
    else
      plan_blocks(true);
    for (int axis = 0; axis < cut.outer; ++axis) columns_.push_back(plan_columns(axis));
  }

  template <class Exec>
  void run(Exec const& exec, void* in, void* out, Scratch<T> const& buffers) {
    // Backward transforms of real fields and over ranks take the axes in reverse order: columns
    // come first.
    bool const columns_first = !forward_ && (request_.real || request_.options.by_planes);
    if (columns_first) run_columns(exec, static_cast<Number*>(in), 0, buffers);
    run_blocks(exec, static_cast<char*>(in), static_cast<char*>(out), buffers);
    if (!columns_first) run_columns(exec, static_cast<Number*>(out), 0, buffers);
  }

  /// Transforms along all axes but the first.
  template <class Exec>
  void run_without_first(Exec const& exec, void* data, Scratch<T> const& buffers) {
    if (!forward_) run_columns(exec, static_cast<Number*>(data), 1, buffers);
    run_blocks(exec, static_cast<char*>(data), static_cast<char*>(data), buffers);
    if (forward_) run_columns(exec, static_cast<Number*>(data), 1, buffers);
  }

  /// Calls what(columns in a buffer, number of the first, how many) for the columns along the first
  /// axis: see columns.hpp.
  template <class Exec, class What>
  void for_first_columns(Exec const& exec, void* data, Scratch<T> const& buffers,
                         What const& what) const {
    for_columns(exec, static_cast<Number*>(data), 0, buffers, what);
  }
  FftwPlan<T> const& first_columns() const { return columns_.front(); }

 private:
  struct Side {
    std::int64_t row;      ///< elements from row to row
    std::int64_t element;  ///< bytes
  };

  unsigned effort(std::int64_t longest_line) const {
    return planner_flag(request_.options.effort, longest_line);
  }

  std::int64_t step_bytes(Side const& side) const {
    return cut_.chunk * cut_.rows * side.row * side.element;
  }

  /// Plans of the trailing axes: of whole chunks, and of what is left at the end.
  ///
  /// \param aligned  whether memory, and all chunks in it, have FFTW's alignment
  void plan_blocks(bool aligned) {
    std::int64_t const in_bytes = step_bytes(in_), out_bytes = step_bytes(out_);
    expects_memory<Kokkos::HostSpace>(in_bytes + out_bytes, "planning a transform");
    bool const in_place = request_.options.in_place && !by_copies();
    Scratch<T> const from(in_bytes), to(in_place ? 1 : out_bytes);
    void* const in = from.get();
    void* const out = in_place ? in : to.get();
    auto const keeps_alignment = [&](void* block, std::int64_t bytes) {
      return alignment(static_cast<char*>(block) + bytes) == alignment(block);
    };
    bool const promises =
        aligned && keeps_alignment(in, in_bytes) && keeps_alignment(out, out_bytes);

    std::vector<Axis> axes;
    std::int64_t in_stride = in_.row, out_stride = out_.row;
    std::int64_t longest_line = request_.last();
    axes.push_back({request_.last(), 1, 1});
    for (int d = request_.rank - 2; d >= cut_.outer; --d) {
      std::int64_t const extent = request_.shape[static_cast<std::size_t>(d)];
      axes.insert(axes.begin(), {extent, in_stride, out_stride});
      in_stride *= extent;
      out_stride *= extent;
      longest_line = std::max(longest_line, extent);
    }
    bool const overwrites = in_place || kind() == Kind::real_backward;
    unsigned const flags = effort(longest_line) | (promises ? 0u : FFTW_UNALIGNED) |
                           (overwrites ? FFTW_DESTROY_INPUT : FFTW_PRESERVE_INPUT);
    auto const plan = [&](std::int64_t count) {
      return FftwPlan<T>(kind(), axes, Axis{count, in_stride, out_stride}, in, out, flags);
    };
    Blocks& blocks = promises ? aligned_ : unaligned_;
    blocks.chunk = plan(cut_.chunk);
    if (std::int64_t const rest = cut_.blocks % cut_.chunk; rest > 0) blocks.rest = plan(rest);
  }

  FftwPlan<T> plan_columns(int axis) const {
    std::int64_t const n = request_.shape[static_cast<std::size_t>(axis)];
    std::int64_t const width = columns<T>;
    Scratch<T> const buffer(n * width * static_cast<std::int64_t>(sizeof(Number)));
    return FftwPlan<T>(forward_ ? Kind::complex_forward : Kind::complex_backward,
                       {{n, width, width}}, Axis{width, 1, 1}, buffer.get(), buffer.get(),
                       effort(n));
  }

  bool by_copies() const { return cut_.by_copies && !forward_; }

  Kind kind() const {
    if (request_.real) return forward_ ? Kind::real_forward : Kind::real_backward;
    return forward_ ? Kind::complex_forward : Kind::complex_backward;
  }

  static int alignment(void* address) { return Fftw<T>::alignment_of(static_cast<T*>(address)); }

  template <class Exec>
  void run_blocks(Exec const& exec, char* in, char* out, Scratch<T> const& buffers) {
    if (lanes_) return run_lanes(exec, in, out, buffers);
    bool const copies = by_copies();
    bool const aligned = aligned_.chunk && (copies || alignment(in) == 0) && alignment(out) == 0;
    if (!aligned && !unaligned_.chunk) plan_blocks(false);
    Blocks const& blocks = aligned ? aligned_ : unaligned_;
    std::int64_t const in_step = step_bytes(in_), out_step = step_bytes(out_);
    std::int64_t const whole = cut_.blocks / cut_.chunk;
    std::int64_t const tasks = whole + (cut_.blocks % cut_.chunk > 0 ? 1 : 0);
    std::int64_t const in_bytes = cut_.blocks * (in_step / cut_.chunk);
    auto* const memory = static_cast<char*>(buffers.get());
    std::int64_t const buffer_step = buffer_bytes<T>(request_, cut_);
    auto const work = [=, &blocks](std::int64_t part, std::int64_t begin, std::int64_t end) {
      char* const buffer = memory + part * buffer_step;
      for (std::int64_t task = begin; task < end; ++task) {
        char* from = in + task * in_step;
        if (copies) {
          std::memcpy(buffer, from,
                      static_cast<std::size_t>(std::min(in_step, in_bytes - task * in_step)));
          from = buffer;
        }
        (task < whole ? blocks.chunk : blocks.rest)(from, out + task * out_step);
      }
    };
    share_out("coir::fft::plan_fftw/rows", exec, cut_.parts, tasks, work);
  }

  template <class Exec>
  void run_lanes(Exec const& exec, char* in, char* out, Scratch<T> const& buffers) const {
    std::int64_t const lanes = simd::lanes_of_vector<T>(), blocks = cut_.blocks,
                       real_step = request_.real_row(), complex_step = request_.complex_row();
    ThreadBuffers const memory{buffers.get(), buffer_bytes<T>(request_, cut_)};
    share_out("coir::fft::plan_fftw/lanes", exec, cut_.parts, (blocks + lanes - 1) / lanes,
              [=, this](std::int64_t part, std::int64_t begin, std::int64_t end) {
                for (std::int64_t first = begin * lanes; first < std::min(end * lanes, blocks);
                     first += lanes)
                  lanes_(reinterpret_cast<T const*>(in + first * in_.row * in_.element),
                         reinterpret_cast<T*>(out + first * out_.row * out_.element),
                         std::min(lanes, blocks - first), real_step, complex_step, memory.of(part));
              });
  }

  /// Transforms along the leading axes from `first_axis` on, the last one first. Backward by planes
  /// it takes the first one first, as ranks must.
  template <class Exec>
  void run_columns(Exec const& exec, Number* data, int first_axis,
                   Scratch<T> const& buffers) const {
    bool const ascending = request_.options.by_planes && !forward_;
    for (int n = first_axis; n < cut_.outer; ++n) {
      int const axis = ascending ? n : first_axis + cut_.outer - 1 - n;
      if (request_.shape[static_cast<std::size_t>(axis)] == 1) continue;
      FftwPlan<T> const& plan = columns_[static_cast<std::size_t>(axis)];
      for_columns(exec, data, axis, buffers,
                  [&plan](Number* buffer, std::int64_t, std::int64_t) { plan(buffer, buffer); });
    }
  }

  template <class Exec, class What>
  void for_columns(Exec const& exec, Number* data, int axis, Scratch<T> const& buffers,
                   What const& what) const {
    detail::for_columns(exec, cut_.parts, columns_along<T>(request_, cut_, axis), data, data,
                        ThreadBuffers{buffers.get(), buffer_bytes<T>(request_, cut_)}, what);
  }

  struct Blocks {
    FftwPlan<T> chunk, rest;
  };

  Request request_;
  Cut cut_;
  bool forward_;
  Side in_{}, out_{};
  Blocks aligned_, unaligned_;
  RealLanes<T> lanes_;
  std::vector<FftwPlan<T>> columns_;
};

template <class Exec, class T>
class HostTransforms : public Transforms<Exec, T> {
 public:
  HostTransforms(Request const& request, std::int64_t threads)
      : cut_(request, threads),
        planes_(request.shape[0]),
        bytes_(cut_.parts * buffer_bytes<T>(request, cut_)),
        forward_(request, cut_, true),
        backward_(request, cut_, false) {
    expects_memory<Kokkos::HostSpace>(bytes_, "the work of a transform");
    if (bytes_ > 0) buffers_ = Scratch<T>(bytes_);
  }

  void forward(Exec const& exec, void* in, void* out) override {
    std::lock_guard const lock(mutex_);
    forward_.run(exec, in, out, buffers_);
  }
  void backward(Exec const& exec, void* in, void* out) override {
    std::lock_guard const lock(mutex_);
    backward_.run(exec, in, out, buffers_);
  }
  bool filter(Exec const& exec, void* data,
              typename Transforms<Exec, T>::Multiply const& multiply) override {
    if (cut_.outer == 0) return false;
    std::lock_guard const lock(mutex_);
    forward_.run_without_first(exec, data, buffers_);
    auto const& there = forward_.first_columns();
    auto const& back = backward_.first_columns();
    forward_.for_first_columns(
        exec, data, buffers_, [&](std::array<T, 2>* modes, std::int64_t first, std::int64_t width) {
          there(modes, modes);
          for (std::int64_t i = 0; i < planes_; ++i)
            multiply(i, first, width, modes[i * columns<T>].data());
          back(modes, modes);
        });
    backward_.run_without_first(exec, data, buffers_);
    return true;
  }

 private:
  Cut cut_;
  std::int64_t planes_;
  std::int64_t bytes_;
  Direction<T> forward_, backward_;
  Scratch<T> buffers_;
  std::mutex mutex_;
};

/// Long lines.
template <class Exec, class T>
class HostLongLines : public Transforms<Exec, T> {
 public:
  HostLongLines(Request const& request, std::int64_t threads)
      : forward_(request, threads, true), backward_(request, threads, false) {
    std::int64_t const bytes = LongLine<T>::bytes(request, threads);
    expects_memory<Kokkos::HostSpace>(bytes, "the work of a transform");
    work_ = Scratch<T>(bytes);
  }

  void forward(Exec const& exec, void* in, void* out) override {
    std::lock_guard const lock(mutex_);
    forward_.run(exec, in, out, work_.get());
  }
  void backward(Exec const& exec, void* in, void* out) override {
    std::lock_guard const lock(mutex_);
    backward_.run(exec, in, out, work_.get());
  }
  bool filter(Exec const&, void*, typename Transforms<Exec, T>::Multiply const&) override {
    return false;
  }

 private:
  LongLine<T> forward_, backward_;
  Scratch<T> work_;
  std::mutex mutex_;
};

}  // namespace

template <class Exec, class T>
  requires runs_on_host<Exec>
std::shared_ptr<Transforms<Exec, T>> transforms(Exec const& exec, Request const& request) {
  int const threads = host_threads(exec);
  return PlanCache<Transforms<Exec, T>, Request>::get(
      static_cast<std::uintptr_t>(threads), request, [&]() -> std::shared_ptr<Transforms<Exec, T>> {
        if (LongLine<T>::suits(request))
          return std::make_shared<HostLongLines<Exec, T>>(request, threads);
        return std::make_shared<HostTransforms<Exec, T>>(request, threads);
      });
}

template <class Exec, class T>
  requires runs_on_host<Exec>
std::int64_t work_bytes(Exec const& exec, Request const& request) {
  if (LongLine<T>::suits(request)) return LongLine<T>::bytes(request, host_threads(exec));
  Cut const cut(request, host_threads(exec));
  return cut.parts * buffer_bytes<T>(request, cut);
}

#define COIR_INSTANTIATE(Exec, T)                                                        \
  template std::shared_ptr<Transforms<Exec, T>> transforms(Exec const&, Request const&); \
  template std::int64_t work_bytes<Exec, T>(Exec const&, Request const&);
COIR_INSTANTIATE(Kokkos::DefaultHostExecutionSpace, float)
COIR_INSTANTIATE(Kokkos::DefaultHostExecutionSpace, double)
#undef COIR_INSTANTIATE

}  // namespace coir::fft::detail
