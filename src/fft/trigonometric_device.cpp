// Trigonometric transforms on devices. Short lines are multiplied by the matrix of their transform
// (cuBLAS). Of longer ones a kernel makes complex numbers, cuFFT or hipFFT transforms them, and a
// second kernel makes the results.

#include "device_plan.hpp"
#include "line_formula.hpp"
#include "plan_cache.hpp"

#include <coir/core/contiguous.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/memory.hpp>
#include <coir/fft/trigonometric.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#if defined(KOKKOS_ENABLE_CUDA)
#include <cublas_v2.h>
#endif

namespace coir::fft::detail {

namespace {

using Exec = Kokkos::DefaultExecutionSpace;
using Memory = Exec::memory_space;

/// An offset in memory for each number of a line set.
template <class T>
struct LinesOnDevice {
  T* data;
  std::int64_t stride, rows, lines, strides[3];

  explicit LinesOnDevice(LineSet<T> const& set)
      : data(set.data), stride(set.stride), rows(set.extents[1]), lines(set.extents[2]) {
    for (std::size_t d = 0; d < 3; ++d) strides[d] = set.strides[d];
  }
  KOKKOS_FORCEINLINE_FUNCTION Line<T> line(std::int64_t number) const {
    if (number < lines) return {data + number * strides[2], stride};
    std::int64_t const row = number / lines;
    return {
        data + (row / rows * strides[0] + row % rows * strides[1] + number % lines * strides[2]),
        stride};
  }
};

/// The complex numbers of some lines: of line l and number j at l line_step + j step.
template <class T>
struct ModesOfLines {
  using Complex = Kokkos::complex<T>;
  Complex* data;
  std::int64_t line_step, step;
  Complex const* chirp;  ///< null, or a factor of each number of a line

  struct Modes {
    Complex* data;
    std::int64_t step;
    Complex const* chirp;
    KOKKOS_FORCEINLINE_FUNCTION Complex operator[](std::int64_t k) const {
      return chirp ? data[k * step] * chirp[k] : data[k * step];
    }
  };
  KOKKOS_FORCEINLINE_FUNCTION Modes line(std::int64_t number) const {
    return {data + number * line_step, step, chirp};
  }
};

/// Kernels over (line, number), or over (number, line) where neighbouring lines are neighbours in
/// memory, so that threads side by side touch neighbouring numbers.
template <class T, bool AlongLines>
struct MakeModes {
  LineFormula<T> formula;
  LinesOnDevice<T const> in;
  ModesOfLines<T> modes;
  std::int64_t first;

  KOKKOS_FUNCTION void operator()(std::int64_t a, std::int64_t b) const {
    std::int64_t const l = AlongLines ? a : b, j = AlongLines ? b : a;
    auto x = in.line(first + l);
    if (formula.reverses_input) x = x.reversed(formula.n);
    auto& z = modes.data[l * modes.line_step + j * modes.step];
    if (!modes.chirp)
      z = formula.input(x, j);
    else
      z = j < formula.length ? formula.input(x, j) * modes.chirp[j] : Kokkos::complex<T>();
  }
};
template <class T, bool AlongLines>
struct MakeResults {
  LineFormula<T> formula;
  ModesOfLines<T> modes;
  LinesOnDevice<T> out;
  std::int64_t first;

  KOKKOS_FUNCTION void operator()(std::int64_t a, std::int64_t b) const {
    std::int64_t const l = AlongLines ? a : b, part = AlongLines ? b : a;
    auto y = out.line(first + l);
    if (formula.reverses_output) y = y.reversed(formula.n);
    bool const alternates = formula.alternates_output;
    formula.results(modes.line(l), part, [&](std::int64_t k, T value) {
      y[k] = alternates && k % 2 == 1 ? -value : value;
    });
  }
};

/// Multiplies modes by a spectrum.
template <class T>
struct ConvolveModes {
  ModesOfLines<T> modes;
  Kokkos::complex<T> const* spectrum;
  bool along_lines;

  KOKKOS_FUNCTION void operator()(std::int64_t a, std::int64_t b) const {
    std::int64_t const l = along_lines ? a : b, k = along_lines ? b : a;
    modes.data[l * modes.line_step + k * modes.step] *= spectrum[k];
  }
};

/// A chirp: transforms of an awkward length L by those of a length with small prime factors.
///
///   Z_k = c_k sum_j (z_j c_j) conj(c_(k-j)),   c_j = exp(-i pi j^2 / L)
///
/// The sum is a convolution. c is even, so that a period of 2 (L - 1) will do.
///
/// \see Bluestein, IEEE Trans. Audio and Electroacoustics 18 (1970) 451
struct Chirp {
  std::int64_t length;  ///< of the transforms; L itself where no chirp is needed
  bool is_needed;

  explicit Chirp(std::int64_t wanted)
      : length(wanted), is_needed(largest_prime_factor(wanted) > 127) {
    if (!is_needed) return;
    length = 2 * (wanted - 1);
    while (largest_prime_factor(length) > 7) ++length;
  }

  template <class T>
  std::vector<Kokkos::complex<T>> factors(std::int64_t wanted) const {
    std::vector<Kokkos::complex<T>> result;
    // Powers of a root of order 2 L, whose exponents stay below 2 L: the squares fit 64 bits.
    for (std::int64_t j = 0; is_needed && j < wanted; ++j)
      result.push_back(unit_root<T>(j * j % (2 * wanted), wanted));
    return result;
  }
};

/// The lines of one call of the library, one at least. Their complex numbers take at most a quarter
/// of the memory that all lines do, or 1 MiB where that is more. Those of chirps, which five
/// kernels pass, fit a device's cache.
template <class T>
struct Portion {
  std::int64_t length, lines, bytes;

  Portion(LineFormula<T> const& f, std::int64_t count) {
    Chirp const chirp(f.length);
    length = chirp.length;
    constexpr std::int64_t smallest = std::int64_t(1) << 20, cached = std::int64_t(1) << 25;
    std::int64_t const of_line = length * static_cast<std::int64_t>(2 * sizeof(T));
    std::int64_t most = count * f.n * static_cast<std::int64_t>(sizeof(T)) / 4;
    if (chirp.is_needed) most = std::min(most, cached);
    lines = std::clamp<std::int64_t>(std::max(most, smallest) / of_line, 1, count);
    lines = (count + (count + lines - 1) / lines - 1) / ((count + lines - 1) / lines);
    bytes = lines * of_line;
  }
};

/// Transforms by the library, some lines at a time.
template <class T>
class DeviceLineTransform : public LineTransform<Exec, T> {
  using L = Library<T>;
  using Number = typename L::Complex;
  using Complex = Kokkos::complex<T>;

 public:
  explicit DeviceLineTransform(LineRequest const& request)
      : formula_(request.kind, request.length), portion_(formula_, request.count) {
    LineFactors<T> const factors(formula_);
    formula_.pack = keep(factors.pack, 0);
    formula_.before = keep(factors.before, 1);
    formula_.after = keep(factors.after, 2);
    Chirp const chirp(formula_.length);
    if (chirp.is_needed) make_spectrum(chirp.factors<T>(formula_.length));
    expects_memory<Memory>(portion_.bytes, "the work of a transform");
    modes_ = Kokkos::View<char*, Memory>(
        Kokkos::view_alloc("coir::fft::trigonometric_device/modes", Kokkos::WithoutInitializing),
        static_cast<std::size_t>(portion_.bytes));
  }

  void run(Exec const& exec, LineSet<T const> const& in, LineSet<T> const& out) override {
    std::lock_guard const lock(mutex_);
    if (in.stride == 1 && out.stride == 1)
      run<true>(exec, in, out);
    else
      run<false>(exec, in, out);
  }

 private:
  /// Keeps the chirp, and the transform of the conjugate one over the length.
  void make_spectrum(std::vector<Complex> const& chirp) {
    std::vector<Complex> around(static_cast<std::size_t>(portion_.length));
    T const share = T(1) / static_cast<T>(portion_.length);
    for (std::size_t j = 0; j < chirp.size(); ++j) {
      Complex const value(share * chirp[j].real(), -share * chirp[j].imag());
      around[j] = value;
      if (j > 0) around[around.size() - j] = value;
    }
    chirp_ = keep(chirp, 3);
    spectrum_ = keep(around, 4);
    Exec const exec;
    Planned const plan(portion_.length, 1, true);
    auto* const numbers = reinterpret_cast<Number*>(factors_[4].data());
    check(L::run_complex(on_stream(plan.handle, exec), numbers, numbers, -1), "Exec");
    exec.fence();
  }

  /// A library's plan for a number of lines, with memory to work in.
  struct Planned {
    Handle handle;
    WorkArea work;

    Planned(std::int64_t length, std::int64_t lines, bool along_lines)
        : handle(along_lines ? Handle(Request{false, 1, {length, 1, 1}, lines, {}}, L::complex,
                                      false, false)
                             : Handle(length, lines, L::complex)),
          work(static_cast<std::int64_t>(std::max<std::size_t>(handle.work_bytes(), 1))) {
      work.lend_to(handle);
    }
  };

  template <bool AlongLines>
  void run(Exec const& exec, LineSet<T const> const& in, LineSet<T> const& out) {
    std::int64_t const length = portion_.length;
    auto* const data = reinterpret_cast<Complex*>(modes_.data());
    for (std::int64_t first = 0; first < in.count(); first += portion_.lines) {
      std::int64_t const lines = std::min(portion_.lines, in.count() - first);
      ModesOfLines<T> const modes{data, AlongLines ? length : 1, AlongLines ? 1 : lines, chirp_};
      auto const cells = [&](std::int64_t numbers) {
        return AlongLines ? box<2, std::int64_t>({lines, numbers})
                          : box<2, std::int64_t>({numbers, lines});
      };
      for_each("coir::fft::trigonometric_device/modes", exec, cells(length),
               MakeModes<T, AlongLines>{formula_, LinesOnDevice<T const>(in), modes, first});
      auto& plan = plans_[std::pair(AlongLines, lines)];
      if (!plan) plan = std::make_unique<Planned>(length, lines, AlongLines);
      auto* const numbers = reinterpret_cast<Number*>(data);
      auto const handle = on_stream(plan->handle, exec);
      check(L::run_complex(handle, numbers, numbers, -1), "Exec");
      if (chirp_) {
        for_each("coir::fft::trigonometric_device/convolve", exec, cells(length),
                 ConvolveModes<T>{modes, spectrum_, AlongLines});
        check(L::run_complex(handle, numbers, numbers, +1), "Exec");
      }
      for_each("coir::fft::trigonometric_device/results", exec, cells(formula_.parts()),
               MakeResults<T, AlongLines>{formula_, modes, LinesOnDevice<T>(out), first});
    }
  }

  Complex const* keep(std::vector<Complex> const& factors, std::size_t number) {
    auto& copy = factors_[number];
    copy = Kokkos::View<Complex*, Memory>(
        Kokkos::view_alloc("coir::fft::trigonometric_device/factors", Kokkos::WithoutInitializing),
        factors.size());
    copy_bytes<Memory, Kokkos::HostSpace>(
        copy.data(), factors.data(), static_cast<std::int64_t>(factors.size() * sizeof(Complex)));
    return copy.data();
  }

  LineFormula<T> formula_;
  Portion<T> portion_;
  std::array<Kokkos::View<Complex*, Memory>, 5> factors_;
  Complex const* chirp_ = nullptr;
  Complex const* spectrum_ = nullptr;
  Kokkos::View<char*, Memory> modes_;
  std::map<std::pair<bool, std::int64_t>, std::unique_ptr<Planned>> plans_;  ///< along lines, lines
  std::mutex mutex_;
};

#if defined(KOKKOS_ENABLE_CUDA)

/// Lines up to this length are multiplied by a matrix.
constexpr std::int64_t longest_product = 512;

void check_blas(cublasStatus_t status, char const* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  std::string const text =
      std::string("cuBLAS failed in ") + call + " with status " + std::to_string(int(status));
  if (status == CUBLAS_STATUS_ALLOC_FAILED) throw ResourceError(text + ": no memory on the device");
  throw EnvironmentError(text);
}

/// Held while the handle's stream is set and used.
std::mutex& blas_mutex() {
  static std::mutex one;
  return one;
}

/// A handle of cuBLAS, freed before Kokkos ends.
cublasHandle_t blas() {
  static cublasHandle_t handle = nullptr;
  if (!handle) {
    check_blas(cublasCreate(&handle), "Create");
    Kokkos::push_finalize_hook([] { cublasDestroy(handle); });
  }
  return handle;
}

template <class T>
constexpr auto* gemm = [] {
  if constexpr (single<T>)
    return &cublasSgemmStridedBatched;
  else
    return &cublasDgemmStridedBatched;
}();

/// Transforms by a product with the matrix of the transform, whose columns are the transforms of
/// the unit vectors.
template <class T>
class ProductTransform : public LineTransform<Exec, T> {
 public:
  explicit ProductTransform(LineRequest const& request)
      : request_(request), n_(static_cast<int>(request.length)) {
    expects_memory<Memory>(bytes(request), "the matrix of a transform");
    auto const label = [](char const* what) {
      return Kokkos::view_alloc(std::string("coir::fft::trigonometric_device/") + what,
                                Kokkos::WithoutInitializing);
    };
    auto const size = static_cast<std::size_t>(n_) * static_cast<std::size_t>(n_);
    matrix_ = Kokkos::View<T*, Memory>(label("matrix"), size);
    std::vector<T> unit(size);
    for (std::size_t j = 0; j < size; j += static_cast<std::size_t>(n_) + 1) unit[j] = 1;
    copy_bytes<Memory, Kokkos::HostSpace>(matrix_.data(), unit.data(),
                                          static_cast<std::int64_t>(size * sizeof(T)));
    LineSet<T> const rows{matrix_.data(), n_, 1, {1, 1, n_}, {0, 0, n_}};
    Exec const exec;
    LineRequest of_rows = request;
    of_rows.count = n_;
    DeviceLineTransform<T>(of_rows).run(
        exec, {rows.data, rows.length, rows.stride, rows.extents, rows.strides}, rows);
    exec.fence();
  }

  static std::int64_t bytes(LineRequest const& request) {
    return request.length * request.length * static_cast<std::int64_t>(sizeof(T));
  }

  void run(Exec const& exec, LineSet<T const> const& in, LineSet<T> const& out) override {
    std::lock_guard const lock(blas_mutex());
    if (in.data != out.data && multiply(exec, in, out)) return;
    // In place, and in other layouts. The memory for it is taken when it is needed.
    if (!by_library_) by_library_ = std::make_unique<DeviceLineTransform<T>>(request_);
    by_library_->run(exec, in, out);
  }

 private:
  /// \return  false if the lines don't lie as a matrix does
  bool multiply(Exec const& exec, LineSet<T const> const& in, LineSet<T> const& out) {
    T const one = 1, zero = 0;
    auto const count = [](std::int64_t extent) { return static_cast<int>(extent); };
    // cuBLAS checks the step between columns, even of one.
    auto const step = [&](auto const& set) {
      return set.extents[2] == 1 ? n_ : count(set.strides[2]);
    };
    bool const along_lines = in.stride == 1 && out.stride == 1;
    if (!along_lines && !(has_rows(in) && has_rows(out))) return false;
    check_blas(cublasSetStream(blas(), stream_of(exec)), "SetStream");
    // One call for all matrices along an axis: the batch of rectangles, or a side of boxes.
    std::size_t const together = in.extents[1] == 1 ? 0 : 1, apart = 1 - together;
    int const q = count(in.extents[2]), batch = count(in.extents[together]);
    std::int64_t const from_step = in.strides[together], to_step = out.strides[together];
    for (std::int64_t field = 0; field < in.extents[apart]; ++field) {
      T const* const from = in.data + field * in.strides[apart];
      T* const to = out.data + field * out.strides[apart];
      if (along_lines)
        check_blas(gemm<T>(blas(), CUBLAS_OP_N, CUBLAS_OP_N, n_, q, n_, &one, matrix_.data(), n_, 0,
                           from, step(in), from_step, &zero, to, step(out), to_step, batch),
                   "GemmStridedBatched");
      else
        check_blas(
            gemm<T>(blas(), CUBLAS_OP_N, CUBLAS_OP_T, q, n_, n_, &one, from, count(in.stride),
                    from_step, matrix_.data(), n_, 0, &zero, to, count(out.stride), to_step, batch),
            "GemmStridedBatched");
    }
    return true;
  }

  /// Whether neighbouring lines are neighbours in memory, and rows of them lie apart.
  template <class S>
  static bool has_rows(LineSet<S> const& set) {
    return (set.strides[2] == 1 || set.extents[2] == 1) && set.stride >= set.extents[2];
  }

  LineRequest request_;
  int n_;
  std::unique_ptr<DeviceLineTransform<T>> by_library_;
  Kokkos::View<T*, Memory> matrix_;
};

bool is_product(LineRequest const& request) {
  constexpr std::int64_t most = 1 << 30;  // cuBLAS counts in int
  return request.by_product && request.length <= longest_product && request.count <= most;
}

#endif

}  // namespace

template <class Exec, class T>
  requires(!runs_on_host<Exec>)
std::shared_ptr<LineTransform<Exec, T>> line_transform(Exec const& exec,
                                                       LineRequest const& request) {
  auto const stream = reinterpret_cast<std::uintptr_t>(stream_of(exec));
  return PlanCache<LineTransform<Exec, T>, LineRequest>::get(
      stream, request, [&]() -> std::shared_ptr<LineTransform<Exec, T>> {
#if defined(KOKKOS_ENABLE_CUDA)
        if (is_product(request)) return std::make_shared<ProductTransform<T>>(request);
#endif
        return std::make_shared<DeviceLineTransform<T>>(request);
      });
}

template <class Exec, class T>
  requires(!runs_on_host<Exec>)
std::int64_t line_work_bytes(Exec const&, LineRequest const& request) {
#if defined(KOKKOS_ENABLE_CUDA)
  if (is_product(request)) return ProductTransform<T>::bytes(request);
#endif
  return Portion<T>(LineFormula<T>(request.kind, request.length), request.count).bytes;
}

template <class Exec, class T>
  requires(!runs_on_host<Exec>)
bool line_prefers_apart(LineRequest const& request) {
#if defined(KOKKOS_ENABLE_CUDA)
  return is_product(request);
#else
  return false;
#endif
}

#define COIR_INSTANTIATE(T)                                                            \
  template std::shared_ptr<LineTransform<Exec, T>> line_transform(Exec const&,         \
                                                                  LineRequest const&); \
  template std::int64_t line_work_bytes<Exec, T>(Exec const&, LineRequest const&);     \
  template bool line_prefers_apart<Exec, T>(LineRequest const&);
COIR_INSTANTIATE(float)
COIR_INSTANTIATE(double)
#undef COIR_INSTANTIATE

}  // namespace coir::fft::detail
