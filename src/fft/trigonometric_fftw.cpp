// Trigonometric transforms on hosts: lines in a thread's buffer, each by one plan of FFTW.

#include "columns.hpp"
#include "effort.hpp"
#include "fftw.hpp"
#include "line_formula.hpp"
#include "plan_cache.hpp"

#include <coir/core/machine.hpp>
#include <coir/core/memory.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
#include <mutex>
#include <type_traits>

namespace coir::fft::detail {

namespace {

/// Lines side by side in memory that are copied together: a cache line of each row.
template <class T>
constexpr std::int64_t lines_together = 64 / static_cast<std::int64_t>(sizeof(T));

/// Short lines that one call of FFTW transforms, which makes vectors of them.
template <class T>
std::int64_t lines_of_a_call(LineFormula<T> const& f) {
  constexpr std::int64_t short_line = 512, together = 4;
  return f.length <= short_line ? together : 1;
}

/// A thread's buffer: the complex numbers of the lines of a call, then the lines that are copied
/// together.
template <class T>
struct LineBuffer {
  std::int64_t complex_bytes;
  std::int64_t line;  ///< numbers from one copied line to the next

  explicit LineBuffer(LineFormula<T> const& f) {
    constexpr std::int64_t cache_line = 64, number = sizeof(T);
    auto const rounded = [](std::int64_t bytes) {
      return (bytes + cache_line - 1) / cache_line * cache_line;
    };
    complex_bytes = rounded(2 * number * f.length * lines_of_a_call(f));
    // One cache line more, or lines of a power of two would share the sets of a cache.
    line = (rounded(number * f.n) + cache_line) / number;
  }
  std::int64_t bytes() const {
    return complex_bytes + line * lines_together<T> * static_cast<std::int64_t>(sizeof(T));
  }
};

/// Fills the numbers that FFTW transforms. Extensions of a line are copies of it.
template <class T>
void fill_input(LineFormula<T> const& f, T const* x, Kokkos::complex<T>* z) {
  std::int64_t const n = f.n;
  auto* const v = reinterpret_cast<T*>(z);
  if (f.base == Trigonometric::dst1) {
    v[0] = v[n + 1] = 0;
    std::copy(x, x + n, v + 1);
    std::transform(x, x + n, std::reverse_iterator(v + 2 * n + 2), std::negate());
  } else if (f.base == Trigonometric::dct1) {
    std::copy(x, x + n, v);
    std::reverse_copy(x + 1, x + n - 1, v + n);
  } else if (f.base == Trigonometric::dht && f.packed) {
    std::copy(x, x + n, v);
  } else {
    Line<T const> line{x, 1};
    if (f.reverses_input) line = line.reversed(n);
    for (std::int64_t j = 0; j < f.length; ++j) z[j] = f.input(line, j);
  }
}

/// Writes the results. The loop over modes inside a packed spectrum has no conditions.
template <class T>
void write_output(LineFormula<T> const& f, Kokkos::complex<T> const* z, T* y) {
  auto const emit = [y](std::int64_t k, T value) { y[k] = value; };
  if (f.is_of_real() && f.packed) {
    auto const loop = [&](auto base) {
      LineFormula<T> known = f;
      known.base = base;
      COIR_INDEPENDENT_ITERATIONS
      for (std::int64_t k = 1; 2 * k < known.length; ++k) known.inner_results(z, k, emit);
    };
    using enum Trigonometric;
    if (f.base == dst1) loop(std::integral_constant<Trigonometric, dst1>{});
    if (f.base == dct1) loop(std::integral_constant<Trigonometric, dct1>{});
    if (f.base == dct2) loop(std::integral_constant<Trigonometric, dct2>{});
    if (f.base == dht) loop(std::integral_constant<Trigonometric, dht>{});
    f.results_of_ends(z, emit);
    if (f.length % 2 == 0) f.inner_results(z, f.length / 2, emit);
  } else {
    for (std::int64_t part = 0; part < f.parts(); ++part) f.results(z, part, emit);
  }
  if (f.reverses_output) std::reverse(y, y + f.n);
  if (f.alternates_output)
    for (std::int64_t k = 1; k < f.n; k += 2) y[k] = -y[k];
}

template <class Exec, class T>
class HostLineTransform : public LineTransform<Exec, T> {
  using Complex = Kokkos::complex<T>;

 public:
  HostLineTransform(LineRequest const& request, std::int64_t threads)
      : formula_(request.kind, request.length),
        factors_(formula_),
        buffer_(formula_),
        threads_(threads),
        of_a_call_(lines_of_a_call(formula_)),
        one_(make_plan(request.effort, 1)),
        several_(of_a_call_ > 1 ? make_plan(request.effort, of_a_call_) : FftwPlan<T>()) {
    formula_.pack = factors_.pack.data();
    formula_.before = factors_.before.data();
    formula_.after = factors_.after.data();
    std::int64_t const bytes = threads * buffer_.bytes();
    expects_memory<Kokkos::HostSpace>(bytes, "the work of a transform");
    buffers_ = Scratch<T>(bytes);
  }

  void run(Exec const& exec, LineSet<T const> const& in, LineSet<T> const& out) override {
    std::lock_guard const lock(mutex_);
    std::int64_t const side_by_side = out.extents[2];
    bool const direct = in.stride == 1 && out.stride == 1;
    std::int64_t const together = std::min(direct ? of_a_call_ : lines_together<T>, side_by_side);
    std::int64_t const groups = (side_by_side + together - 1) / together;
    ThreadBuffers const buffers{buffers_.get(), buffer_.bytes()};
    auto const work = [=, this, &in, &out](std::int64_t part, std::int64_t begin,
                                           std::int64_t end) {
      auto* const z = static_cast<Complex*>(buffers.of(part));
      auto* const lines =
          reinterpret_cast<T*>(static_cast<char*>(buffers.of(part)) + buffer_.complex_bytes);
      for (std::int64_t task = begin; task < end; ++task) {
        std::int64_t const first = task % groups * together;
        std::int64_t const width = std::min(together, side_by_side - first);
        T const* const from = in.data + offset(in, task / groups, first);
        T* const to = out.data + offset(out, task / groups, first);
        if (direct) {
          transform(from, in.strides[2], z, to, out.strides[2], width);
          continue;
        }
        for_width(width, [&](auto count) {
          for (std::int64_t j = 0; j < in.length; ++j)
            for (std::int64_t w = 0; w < count; ++w)
              lines[j + w * buffer_.line] = from[j * in.stride + w * in.strides[2]];
        });
        transform(lines, buffer_.line, z, lines, buffer_.line, width);
        for_width(width, [&](auto count) {
          for (std::int64_t j = 0; j < out.length; ++j)
            for (std::int64_t w = 0; w < count; ++w)
              to[j * out.stride + w * out.strides[2]] = lines[j + w * buffer_.line];
        });
      }
    };
    std::int64_t const tasks = in.extents[0] * in.extents[1] * groups;
    std::int64_t const parts = in.count() * in.length <= small ? 1 : threads_;
    share_out("coir::fft::trigonometric_fftw/lines", exec, parts, tasks, work);
  }

 private:
  /// So many numbers are worth one thread alone.
  static constexpr std::int64_t small = 4096;

  FftwPlan<T> make_plan(Effort effort, std::int64_t lines) const {
    Scratch<T> const z(buffer_.complex_bytes);
    std::int64_t const length = formula_.length;
    return FftwPlan<T>(Kind::complex_forward, {{length, 1, 1}}, Axis{lines, length, length},
                       z.get(), z.get(), planner_flag(effort, length));
  }

  template <class S>
  static std::int64_t offset(LineSet<S> const& set, std::int64_t row, std::int64_t line) {
    return row / set.extents[1] * set.strides[0] + row % set.extents[1] * set.strides[1] +
           line * set.strides[2];
  }

  /// Calls copy(number of lines), a constant if the lines fill a cache line.
  template <class Copy>
  static void for_width(std::int64_t width, Copy const& copy) {
    if (width == lines_together<T>)
      copy(std::integral_constant<std::int64_t, lines_together<T>>{});
    else
      copy(width);
  }

  /// \param x_step, y_step  numbers from line to line
  void transform(T const* x, std::int64_t x_step, Complex* z, T* y, std::int64_t y_step,
                 std::int64_t lines) const {
    while (lines > 0) {
      std::int64_t const now = lines >= of_a_call_ ? of_a_call_ : 1;
      for (std::int64_t l = 0; l < now; ++l)
        fill_input(formula_, x + l * x_step, z + l * formula_.length);
      (now > 1 ? several_ : one_)(z, z);
      for (std::int64_t l = 0; l < now; ++l)
        write_output(formula_, z + l * formula_.length, y + l * y_step);
      x += now * x_step;
      y += now * y_step;
      lines -= now;
    }
  }

  LineFormula<T> formula_;
  LineFactors<T> factors_;
  LineBuffer<T> buffer_;
  std::int64_t threads_;
  std::int64_t of_a_call_;
  FftwPlan<T> one_, several_;
  Scratch<T> buffers_;
  std::mutex mutex_;
};

/// Hosts have one transform for all numbers of lines, and no products.
LineRequest of_any_count(LineRequest request) {
  request.count = 1;
  request.by_product = false;
  return request;
}

}  // namespace

template <class Exec, class T>
  requires runs_on_host<Exec>
std::shared_ptr<LineTransform<Exec, T>> line_transform(Exec const& exec,
                                                       LineRequest const& request) {
  std::int64_t const threads = host_threads(exec);
  LineRequest const any = of_any_count(request);
  return PlanCache<LineTransform<Exec, T>, LineRequest>::get(
      static_cast<std::uintptr_t>(threads), any,
      [&] { return std::make_shared<HostLineTransform<Exec, T>>(any, threads); });
}

template <class Exec, class T>
  requires runs_on_host<Exec>
std::int64_t line_work_bytes(Exec const& exec, LineRequest const& request) {
  LineFormula<T> const formula(request.kind, request.length);
  return host_threads(exec) * LineBuffer<T>(formula).bytes();
}

#define COIR_INSTANTIATE(Exec, T)                                                      \
  template std::shared_ptr<LineTransform<Exec, T>> line_transform(Exec const&,         \
                                                                  LineRequest const&); \
  template std::int64_t line_work_bytes<Exec, T>(Exec const&, LineRequest const&);
COIR_INSTANTIATE(Kokkos::DefaultHostExecutionSpace, float)
COIR_INSTANTIATE(Kokkos::DefaultHostExecutionSpace, double)
#undef COIR_INSTANTIATE

}  // namespace coir::fft::detail
