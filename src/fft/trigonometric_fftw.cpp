// Trigonometric transforms on hosts: lines in a thread's buffer, vectors of lines by lanes, and
// those that are too few for that, too long or of a large prime length each by one plan of FFTW.

#include "columns.hpp"
#include "effort.hpp"
#include "fftw.hpp"
#include "lane_transform.hpp"
#include "line_formula.hpp"
#include "plan_cache.hpp"

#include <core/lanes.hpp>

#include <coir/core/machine.hpp>
#include <coir/core/memory.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <mutex>
#include <type_traits>
#include <vector>

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

/// A formula's numbers for vectors of lines. They are read off the formula of double, whose inputs
/// and modes are set to one in turns.
template <class T>
class LaneFormula {
  using Probe = LineFormula<double>;
  using Complex = Kokkos::complex<double>;

 public:
  int terms = 2;
  std::vector<LaneInput<T>> inputs;
  std::vector<LaneOutput<T>> outputs;

  LaneFormula() = default;
  LaneFormula(Trigonometric kind, std::int64_t n) {
    Probe f(kind, n);
    LineFactors<double> const known(f);
    f.pack = known.pack.data();
    f.before = known.before.data();
    f.after = known.after.data();
    if (f.base == Trigonometric::dct3) terms = 4;
    std::vector<double> line(static_cast<std::size_t>(n));
    for (std::int64_t j = 0; j < f.length; ++j) add_input(f, j, line);
    outputs.resize(static_cast<std::size_t>(n));
    std::vector<Complex> modes(static_cast<std::size_t>(f.length));
    for (std::int64_t part = 0; part < f.parts(); ++part) {
      std::int64_t const other = f.is_of_real() && f.packed && part > 0 ? f.length - part : part;
      add_outputs(f, part, {part, other}, modes);
    }
  }

 private:
  /// The numbers of a line that z_j may depend on.
  static std::vector<std::int64_t> rows_of(Probe const& f, std::int64_t j) {
    std::int64_t const n = f.n;
    if (f.base == Trigonometric::dct3) return {j, n - j, f.length - j, n - f.length + j};
    if (f.base == Trigonometric::dct4 && f.packed) return {2 * j, n - 1 - 2 * j};
    if (f.base == Trigonometric::dct4) return {j};
    auto const row = [&](std::int64_t i) {  // of v_i
      switch (f.base) {
        case Trigonometric::dct1: return i < n ? i : 2 * (n - 1) - i;
        case Trigonometric::dst1: return i <= n ? i - 1 : 2 * n + 1 - i;
        case Trigonometric::dct2: return 2 * i < n ? 2 * i : 2 * (n - i) - 1;
        default: return i;
      }
    };
    if (f.packed) return {row(2 * j), row(2 * j + 1)};
    return {row(j)};
  }

  void add_input(Probe const& f, std::int64_t j, std::vector<double>& line) {
    LaneInput<T> input{};
    std::vector<std::int64_t> known;
    for (std::int64_t const row : rows_of(f, j)) {
      if (row < 0 || row >= f.n || std::find(known.begin(), known.end(), row) != known.end())
        continue;
      double& number = line[static_cast<std::size_t>(row)];
      number = 1;
      Complex const z = f.input(Line<double const>{line.data(), 1}, j);
      number = 0;
      std::size_t const t = known.size();
      input.rows[t] = static_cast<std::int32_t>(f.reverses_input ? f.n - 1 - row : row);
      input.real[t] = static_cast<T>(z.real());
      input.imaginary[t] = static_cast<T>(z.imag());
      known.push_back(row);
    }
    inputs.push_back(input);
  }

  void add_outputs(Probe const& f, std::int64_t part, std::array<std::int64_t, 2> const& of,
                   std::vector<Complex>& modes) {
    for (std::size_t m = 0; m < (of[0] == of[1] ? 1u : 2u); ++m)
      for (std::size_t imaginary = 0; imaginary < 2; ++imaginary) {
        Complex& mode = modes[static_cast<std::size_t>(of[m])];
        mode = imaginary ? Complex(0, 1) : Complex(1, 0);
        f.results(modes.data(), part, [&](std::int64_t k, double value) {
          if (f.reverses_output) k = f.n - 1 - k;
          LaneOutput<T>& output = outputs[static_cast<std::size_t>(k)];
          output.modes = {static_cast<std::int32_t>(of[0]), static_cast<std::int32_t>(of[1])};
          output.factors[2 * m + imaginary] =
              static_cast<T>(f.alternates_output && k % 2 == 1 ? -value : value);
        });
        mode = 0;
      }
  }
};

/// Lines that are transformed together, by lanes.
template <class T>
class LaneLines {
 public:
  explicit LaneLines(LineRequest const& request) : n_(request.length) {
    LineFormula<T> const f(request.kind, request.length);
    if (!suits(f)) return;
    formula_ = {request.kind, request.length};
    transform_ = LaneTransform<T>(f.length);
  }

  /// Vectors of lines that are copied together, because longer copies from memory are faster.
  static std::int64_t together(std::int64_t n) {
    return std::clamp<std::int64_t>(4096 / std::max<std::int64_t>(n, 1), 1, 4);
  }

  /// Bytes of a thread's buffer: the numbers of the lines that are copied together, and two blocks
  /// of modes.
  static std::int64_t bytes(LineFormula<T> const& f) {
    if (!suits(f)) return 0;
    return (together(f.n) * f.n + 4 * f.length) * simd::lanes_of_vector<T>() *
           static_cast<std::int64_t>(sizeof(T));
  }

  /// Whether so many lines side by side are worth vectors.
  bool suits_count(std::int64_t lines) const {
    std::int64_t const least = std::max<std::int64_t>(2, simd::lanes_of_vector<T>() / 4);
    return !formula_.inputs.empty() && lines >= least;
  }

  /// \param buffer  of bytes(), aligned to vectors
  void operator()(simd::SomeLines<T const> const& in, simd::SomeLines<T> const& out,
                  void* buffer) const {
    std::int64_t const lanes = simd::lanes_of_vector<T>();
    auto* const lines = static_cast<T*>(buffer);
    T *const z = lines + together(n_) * n_ * lanes, *const work = z + transform_.size();
    simd::to_lanes(in, lines);
    for (std::int64_t first = 0; first < in.count; first += lanes) {
      fill_lanes(formula_.inputs, formula_.terms, lines + first * n_, z);
      write_lanes(formula_.outputs, transform_(z, work), lines + first * n_);
    }
    simd::from_lanes(lines, out);
  }

 private:
  static bool suits(LineFormula<T> const& f) { return suits_lanes(f.length); }

  std::int64_t n_;
  LaneFormula<T> formula_;
  LaneTransform<T> transform_;
};

template <class Exec, class T>
class HostLineTransform : public LineTransform<Exec, T> {
  using Complex = Kokkos::complex<T>;

 public:
  HostLineTransform(LineRequest const& request, std::int64_t threads)
      : formula_(request.kind, request.length),
        factors_(formula_),
        buffer_(formula_),
        lanes_(request),
        threads_(threads),
        of_a_call_(lines_of_a_call(formula_)),
        one_(make_plan(request.effort, 1)),
        several_(of_a_call_ > 1 ? make_plan(request.effort, of_a_call_) : FftwPlan<T>()) {
    formula_.pack = factors_.pack.data();
    formula_.before = factors_.before.data();
    formula_.after = factors_.after.data();
    std::int64_t const bytes = threads * bytes_of_thread(formula_);
    expects_memory<Kokkos::HostSpace>(bytes, "the work of a transform");
    buffers_ = Scratch<T>(bytes + cache_line);
  }

  /// Whole cache lines.
  static std::int64_t bytes_of_thread(LineFormula<T> const& f) {
    std::int64_t const bytes = std::max(LineBuffer<T>(f).bytes(), LaneLines<T>::bytes(f));
    return (bytes + cache_line - 1) / cache_line * cache_line;
  }

  void run(Exec const& exec, LineSet<T const> const& from, LineSet<T> const& to) override {
    std::lock_guard const lock(mutex_);
    LineSet<T const> const in = with_last_axis(from);
    LineSet<T> const out = with_last_axis(to);
    if (lanes_.suits_count(out.extents[2])) return run_by_lanes(exec, in, out);
    std::int64_t const side_by_side = out.extents[2];
    bool const direct = in.stride == 1 && out.stride == 1;
    std::int64_t const together = std::min(direct ? of_a_call_ : lines_together<T>, side_by_side);
    std::int64_t const groups = (side_by_side + together - 1) / together;
    ThreadBuffers const buffers = thread_buffers();
    auto const work = [=, this, &in, &out](std::int64_t part, std::int64_t begin,
                                           std::int64_t end) {
      auto* const z = static_cast<Complex*>(buffers.of(part));
      auto* const lines =
          reinterpret_cast<T*>(static_cast<char*>(buffers.of(part)) + buffer_.complex_bytes);
      for (std::int64_t task = begin; task < end; ++task) {
        std::int64_t const first = task % groups * together;
        std::int64_t const width = std::min(together, side_by_side - first);
        T const* const line = in.data + offset(in, task / groups, first);
        T* const result = out.data + offset(out, task / groups, first);
        if (direct) {
          transform(line, in.strides[2], z, result, out.strides[2], width);
          continue;
        }
        for_width(width, [&](auto count) {
          for (std::int64_t j = 0; j < in.length; ++j)
            for (std::int64_t w = 0; w < count; ++w)
              lines[j + w * buffer_.line] = line[j * in.stride + w * in.strides[2]];
        });
        transform(lines, buffer_.line, z, lines, buffer_.line, width);
        for_width(width, [&](auto count) {
          for (std::int64_t j = 0; j < out.length; ++j)
            for (std::int64_t w = 0; w < count; ++w)
              result[j * out.stride + w * out.strides[2]] = lines[j + w * buffer_.line];
        });
      }
    };
    std::int64_t const tasks = in.extents[0] * in.extents[1] * groups;
    share_out("coir::fft::trigonometric_fftw/lines", exec, parts_of(in), tasks, work);
  }

 private:
  static constexpr std::int64_t cache_line = 64;

  /// They begin with a cache line. FFTW aligns to less.
  ThreadBuffers thread_buffers() const {
    auto const begin = reinterpret_cast<std::uintptr_t>(buffers_.get());
    std::uintptr_t const line = cache_line;
    return {reinterpret_cast<void*>((begin + line - 1) / line * line), bytes_of_thread(formula_)};
  }

  std::int64_t parts_of(LineSet<T const> const& in) const {
    constexpr std::int64_t small = 4096;  // numbers that are worth one thread alone
    return in.count() * in.length <= small ? 1 : threads_;
  }

  /// Vectors of lines that lie side by side.
  void run_by_lanes(Exec const& exec, LineSet<T const> const& in, LineSet<T> const& out) {
    bool const is_direct = in.stride == 1 && out.stride == 1;
    std::int64_t const side_by_side = out.extents[2],
                       lines = simd::lanes_of_vector<T>() *
                               (is_direct ? 1 : LaneLines<T>::together(in.length)),
                       groups = (side_by_side + lines - 1) / lines;
    ThreadBuffers const buffers = thread_buffers();
    auto const work = [=, this, &in, &out](std::int64_t part, std::int64_t begin,
                                           std::int64_t end) {
      for (std::int64_t task = begin; task < end; ++task) {
        std::int64_t const row = task / groups, first = task % groups * lines,
                           count = std::min(lines, side_by_side - first);
        lanes_({in.data + offset(in, row, first), in.length, in.stride, in.strides[2], count},
               {out.data + offset(out, row, first), out.length, out.stride, out.strides[2], count},
               buffers.of(part));
      }
    };
    share_out("coir::fft::trigonometric_fftw/lanes", exec, parts_of(in),
              in.extents[0] * in.extents[1] * groups, work);
  }

  FftwPlan<T> make_plan(Effort effort, std::int64_t lines) const {
    Scratch<T> const z(buffer_.complex_bytes);
    std::int64_t const length = formula_.length;
    return FftwPlan<T>(Kind::complex_forward, {{length, 1, 1}}, Axis{lines, length, length},
                       z.get(), z.get(), planner_flag(effort, length));
  }

  /// The same lines, with the last axis that has more than one in the last place.
  template <class S>
  static LineSet<S> with_last_axis(LineSet<S> set) {
    while (set.extents[2] == 1 && set.count() > 1) {
      std::rotate(set.extents.begin(), set.extents.begin() + 2, set.extents.end());
      std::rotate(set.strides.begin(), set.strides.begin() + 2, set.strides.end());
    }
    return set;
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
  LaneLines<T> lanes_;
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
  return host_threads(exec) * HostLineTransform<Exec, T>::bytes_of_thread(formula);
}

#define COIR_INSTANTIATE(Exec, T)                                                      \
  template std::shared_ptr<LineTransform<Exec, T>> line_transform(Exec const&,         \
                                                                  LineRequest const&); \
  template std::int64_t line_work_bytes<Exec, T>(Exec const&, LineRequest const&);
COIR_INSTANTIATE(Kokkos::DefaultHostExecutionSpace, float)
COIR_INSTANTIATE(Kokkos::DefaultHostExecutionSpace, double)
#undef COIR_INSTANTIATE

}  // namespace coir::fft::detail
