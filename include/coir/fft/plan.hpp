#pragma once

/// \file
/// Plans of Fourier transforms: made once for a shape, run many times.
///
/// FFTW on hosts, cuFFT on NVIDIA's devices, hipFFT on AMD's, behind one interface and with one
/// contract. On hosts coir shares the transforms out among threads, and FFTW's own threads aren't
/// used: results don't depend on the number of threads. A single line (rank 1, no batch) runs on
/// one thread if it has fewer than 2^19 complex numbers, or 2^20 real ones. Threads share a longer
/// one if it can be cut into at least 64 rows: its number of complex numbers, or half of its even
/// number of real ones, has a divisor from 64 to its square root.

#include <coir/core/concepts.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/overlap.hpp>
#include <coir/core/shape.hpp>
#include <coir/core/strided.hpp>
#include <coir/fft/detail/transforms.hpp>
#include <coir/fft/multiply.hpp>

#include <Kokkos_Complex.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace coir::fft {

/// A View of `T` (const or not) that a plan of this rank takes. One more axis is the batch.
template <class V, class T, int Rank>
concept Field = StridedView<V> && (ViewOfRank<V, Rank> || ViewOfRank<V, Rank + 1>) &&
                std::same_as<typename V::non_const_value_type, T>;

/// A Field that may be written.
template <class V, class T, int Rank>
concept WritableField = Field<V, T, Rank> && !std::is_const_v<typename V::value_type>;

namespace detail {

template <int Rank>
Request request_of(bool real, Shape<Rank> const& shape, std::int64_t batch,
                   PlanOptions const& options) {
  Request request{real, Rank, {1, 1, 1}, batch, options};
  for (std::size_t d = 0; d < Rank; ++d) request.shape[d] = shape[d];
  return request;
}

/// Extents and strides of a View for functions that aren't templates. `shape` points to the other
/// members, and must not outlive this object.
template <class V>
struct StridedShape {
  static constexpr std::size_t rank = V::rank;
  std::array<std::int64_t, rank> extents, strides;
  ViewShape shape;

  StridedShape(char const* name, V const& view, bool transposed = false)
      : extents(strided(view).extents), strides(strided(view).strides) {
    if (transposed) {
      std::reverse(extents.begin(), extents.end());
      std::reverse(strides.begin(), strides.end());
    }
    shape = {name, std::is_floating_point_v<typename V::value_type>, view.data(), extents, strides};
  }
  StridedShape(StridedShape const&) = delete;
  StridedShape& operator=(StridedShape const&) = delete;
};

/// The part of plans that doesn't depend on their kind and rank.
template <class Exec, class T>
class Plan {
 public:
  Plan(Exec const& exec, Request const& request) : exec_(exec), request_(request) {
    check_request(request, 2 * sizeof(T));
    transforms_ = detail::transforms<Exec, T>(exec, request);
  }

  template <class In, class Out>
  void forward(In const& in, Out const& out) const {
    run(in, out, true);
  }
  template <class In, class Out>
  void backward(In const& in, Out const& out) const {
    run(in, out, false);
  }

  /// See RealPlan::filter; in place, of three axes.
  template <class In, class Out, class Factor>
  void filter(In const& in, Out const& out, Factor const& factor) const {
    check_views(request_, StridedShape<In>("the input", in).shape,
                StridedShape<Out>("the output", out).shape, sizeof(T));
    if constexpr (runs_on_host<Exec>) {
      std::int64_t const row = request_.complex_row();
      auto const multiply = [&](std::int64_t i, std::int64_t first, std::int64_t count, T* modes) {
        multiply_stretch(modes, i, first, count, row, factor);
      };
      if (transforms_->filter(exec_, address(in.data()), multiply)) return;
    }
    transforms_->forward(exec_, address(in.data()), address(out.data()));
    multiply_modes(exec_, out, factor);
    transforms_->backward(exec_, address(out.data()), address(in.data()));
  }

  Exec const& exec() const { return exec_; }
  Request const& request() const { return request_; }
  Transforms<Exec, T> const& transforms() const { return *transforms_; }

 private:
  using Any = Transforms<Exec, T>;

  void run(Any& transforms, void* in, void* out, bool forward) const {
    if (forward)
      transforms.forward(exec_, in, out);
    else
      transforms.backward(exec_, in, out);
  }

  template <class In, class Out>
  void run(In const& in, Out const& out, bool forward) const {
    StridedShape<In> const from("the input", in);
    StridedShape<Out> const to("the output", out);
    check_extents(request_, from.shape);
    check_extents(request_, to.shape);
    bool const in_suits = has_strides_of(request_, from.shape);
    bool const out_suits = has_strides_of(request_, to.shape);
    // Real transforms in place share rows with their spectrum, so that only C order will do.
    if ((in_suits && out_suits) || (request_.real && request_.options.in_place)) {
      check_views(request_, from.shape, to.shape, sizeof(T));
      run(*transforms_, address(in.data()), address(out.data()), forward);
    } else if (!run_transposed(in, out, forward)) {
      run_staged(in, in_suits, out, out_suits, forward);
    }
  }

  /// Transforms LayoutLeft without a copy, as the transposed field in C order. Its transform along
  /// all axes is the transposed result.
  ///
  /// \return  false if a transposed View doesn't lie in C order; nothing is done then
  template <class In, class Out>
  bool run_transposed(In const& in, Out const& out, bool forward) const {
    constexpr bool have_same_rank = int(In::rank) == int(Out::rank);
    if (request_.real || !have_same_rank || int(In::rank) != request_.rank) return false;
    Request request = request_;
    std::reverse(request.shape.begin(), request.shape.begin() + request.rank);
    StridedShape<In> const from("the input", in, true);
    StridedShape<Out> const to("the output", out, true);
    if (!has_strides_of(request, from.shape) || !has_strides_of(request, to.shape)) return false;
    check_views(request, from.shape, to.shape, sizeof(T));
    run(*detail::transforms<Exec, T>(exec_, request), address(in.data()), address(out.data()),
        forward);
    return true;
  }

  /// Transforms with copies in C order in place of the Views that lie otherwise.
  template <class In, class Out>
  void run_staged(In const& in, bool in_suits, Out const& out, bool out_suits, bool forward) const {
    constexpr char const* what = "a copy in C order of what is transformed";
    bool const in_place = request_.options.in_place;
    auto const from = strided(in);
    auto const to = strided(out);
    expects(!in_place || (address(in.data()) == address(out.data()) &&
                          std::ranges::equal(from.strides, to.strides)),
            "a plan in place needs the input and the output at the same address, with the same "
            "strides");
    expects_distinct_elements(to.extents, to.strides, "the output of a transform");
    Staged const output(exec_, to, out_suits, in_place ? Access::both : Access::write, what);
    Staged const input(exec_, from, in_suits || in_place, Access::read, what);
    void* const target = output.elements().data;
    run(*transforms_, in_place ? target : address(input.elements().data), target, forward);
    output.finish();
  }

  // The libraries' interfaces know no const, but don't write to the input.
  static void* address(void const* data) { return const_cast<void*>(data); }

  Exec exec_;
  Request request_;
  std::shared_ptr<Transforms<Exec, T>> transforms_;
};

}  // namespace detail

/// The functions that plans of real and of complex fields have in common.
template <CompiledSpace Exec, class T, int Rank, bool OfReal>
  requires(std::same_as<T, float> || std::same_as<T, double>) && (Rank >= 1 && Rank <= 3)
class PlanBase {
 public:
  Shape<Rank> shape() const {
    Shape<Rank> result;
    for (std::size_t d = 0; d < Rank; ++d) result[d] = plan_.request().shape[d];
    return result;
  }
  std::int64_t batch() const { return plan_.request().batch; }
  /// The number of points of one field. backward after forward multiplies by it.
  std::int64_t size() const { return plan_.request().points(); }
  Exec const& exec() const { return plan_.exec(); }

  /// Bytes of a plan's work area in Exec's memory. Input, output and copies of these come on top.
  ///
  /// \throws PreconditionError if an extent or the batch is below 1
  static std::int64_t work_bytes(Exec const& exec, Shape<Rank> const& shape, std::int64_t batch = 1,
                                 PlanOptions const& options = {}) {
    auto const request = detail::request_of<Rank>(OfReal, shape, batch, options);
    detail::check_request(request, 2 * sizeof(T));
    return detail::work_bytes<Exec, T>(exec, request);
  }

  /// Whether two plans run the same prepared transforms.
  bool shares_with(PlanBase const& other) const {
    return &plan_.transforms() == &other.plan_.transforms();
  }

 protected:
  PlanBase(Exec const& exec, Shape<Rank> const& shape, std::int64_t batch,
           PlanOptions const& options)
      : plan_(exec, detail::request_of<Rank>(OfReal, shape, batch, options)) {}

  detail::Plan<Exec, T> plan_;
};

/// Transforms between real fields and their half spectra.
///
///   forward   F(k) = sum_x f(x) exp(-2 pi i sum_d k_d x_d / n_d)
///   backward  f(x) = sum_k F(k) exp(+2 pi i sum_d k_d x_d / n_d)
///
/// Neither is scaled: backward after forward multiplies by n_0 n_1 ... The spectrum is conjugate
/// symmetric; the half with 0 <= k <= n / 2 along the last axis is kept, so that its extents are
/// n_0, n_1, ..., n_last / 2 + 1. backward takes the other half to be conjugate. For a spectrum
/// that no real field has, as with an imaginary part at k = 0, the result depends on the backend.
///
/// Copies of a plan share its work area. So do plans of the same shape and options, by a cache, so
/// that the second one is made quickly.
///
/// Views have rank `Rank`, or `Rank` + 1 with the batch as the first axis, and any layout. Views in
/// C order without gaps are transformed as they are. Others are copied in each call, which takes as
/// much memory again. Plans in place need C order: real numbers lie where the spectrum will be, in
/// rows of 2 (n_last / 2 + 1), of which the last one or two are unused. in_place.hpp makes Views of
/// both.
///
/// Results have the same bits for any number of threads, and each time that a plan runs on data
/// aligned alike. See Effort for the bits of other runs of a program. Plans run on the instance
/// that they were made with, and don't wait on devices. Plans that share a work area run one after
/// the other.
///
/// \tparam T     float or double
/// \tparam Rank  axes of one transform: 1 to 3
/// \see Frigo and Johnson, Proc. IEEE 93 (2005) 216
template <CompiledSpace Exec, class T, int Rank>
class RealPlan : public PlanBase<Exec, T, Rank, true> {
 public:
  using Complex = Kokkos::complex<T>;

  /// \param exec     where to run
  /// \param shape    of the real field
  /// \param batch    number of fields, one behind the other; at least 1
  /// \throws PreconditionError if an extent or the batch is below 1
  /// \throws ResourceError if memory for the work is missing
  /// \throws EnvironmentError if the backend's library fails
  RealPlan(Exec const& exec, Shape<Rank> const& shape, std::int64_t batch = 1,
           PlanOptions const& options = {})
      : Common(exec, shape, batch, options) {}

  /// Real to complex.
  ///
  /// \param in   [batch, n_0, ..., n_last] in; left as it is, unless the plan is in place
  /// \param out  [batch, n_0, ..., n_last / 2 + 1] out; in place it begins where `in` does
  /// \throws PreconditionError if the Views don't fit the plan, or overlap where they must not; on
  ///   devices if one doesn't begin at a multiple of a complex number's size
  template <Field<T, Rank> In, WritableField<Complex, Rank> Out>
    requires CanAccess<Exec, In, Out>
  void forward(In const& in, Out const& out) const {
    plan_.forward(in, out);
  }

  /// Complex to real. The input is overwritten, on every backend.
  ///
  /// \param in   [batch, n_0, ..., n_last / 2 + 1] inout; holds nothing of use afterwards
  /// \param out  [batch, n_0, ..., n_last] out; in place it begins where `in` does
  /// \throws PreconditionError as forward
  template <WritableField<Complex, Rank> In, WritableField<T, Rank> Out>
    requires CanAccess<Exec, In, Out>
  void backward(In const& in, Out const& out) const {
    plan_.backward(in, out);
  }

  /// Transforms a field forward, multiplies its modes by a factor, and transforms it backward, in
  /// place. On hosts this takes fewer passes over the spectrum than the three steps by themselves.
  ///
  /// \param field     [n_0, n_1, n_2] inout
  /// \param spectrum  [n_0, n_1, n_2 / 2 + 1], the same memory
  /// \param factor    a function that kernels can call: factor(i, j, k) is a real number for the
  ///   mode at these indices. It must be the same for opposite modes: (i, j, k) and (n_0 - i, n_1 -
  ///   j, k) with k = 0 or n_2 / 2
  /// \throws PreconditionError as forward, or unless the plan is in place and without a batch
  template <WritableField<T, Rank> In, WritableField<Complex, Rank> Out, class Factor>
    requires(Rank == 3 && In::rank == 3 && Out::rank == 3 && CanAccess<Exec, In, Out>)
  void filter(In const& field, Out const& spectrum, Factor const& factor) const {
    expects(plan_.request().options.in_place,
            "a plan that filters must be made with the option in_place");
    expects(this->batch() == 1, "a plan that filters must be of one field", this->batch());
    plan_.filter(field, spectrum, factor);
  }

 private:
  using Common = PlanBase<Exec, T, Rank, true>;
  using Common::plan_;
};

/// Transforms of complex fields, by the formulas of RealPlan, with the whole spectrum. backward
/// leaves its input as it is, unless the plan is in place. Views with LayoutLeft and no batch are
/// transformed without a copy, by the plan of the reversed shape, which the first such call makes.
/// Other Views that aren't in C order are copied, also by plans in place. All else is as for
/// RealPlan.
///
/// \tparam T  the type of real and imaginary parts: float or double
template <CompiledSpace Exec, class T, int Rank>
class ComplexPlan : public PlanBase<Exec, T, Rank, false> {
 public:
  using Complex = Kokkos::complex<T>;

  /// As RealPlan's.
  ComplexPlan(Exec const& exec, Shape<Rank> const& shape, std::int64_t batch = 1,
              PlanOptions const& options = {})
      : Common(exec, shape, batch, options) {}

  /// \param in   [batch, n_0, ..., n_last] in
  /// \param out  the same extents, out; in place it is `in`
  /// \throws PreconditionError if the Views don't fit the plan, or overlap where they must not; on
  ///   devices if one doesn't begin at a multiple of a complex number's size
  template <Field<Complex, Rank> In, WritableField<Complex, Rank> Out>
    requires CanAccess<Exec, In, Out>
  void forward(In const& in, Out const& out) const {
    plan_.forward(in, out);
  }
  /// As forward.
  template <Field<Complex, Rank> In, WritableField<Complex, Rank> Out>
    requires CanAccess<Exec, In, Out>
  void backward(In const& in, Out const& out) const {
    plan_.backward(in, out);
  }

 private:
  using Common = PlanBase<Exec, T, Rank, false>;
  using Common::plan_;
};

}  // namespace coir::fft
