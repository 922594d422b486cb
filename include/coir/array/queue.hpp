#pragma once

/// \file
/// Statements and copies on an instance of an execution space, beside those of other instances.
///
///     Queue<> copies, work;
///     copies.copy(from_disk, next);           // page-locked host memory to the device, meanwhile
///     work.run([&] { result = sin(now); });   // a kernel
///     copies.wait();
///     work.wait();

#include <coir/array/array.hpp>
#include <coir/core/contiguous.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/instance.hpp>
#include <coir/core/own_instance.hpp>

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace coir {

/// Statements and copies on one instance of an execution space, such as a CUDA stream. They run in
/// the order in which they are given. Other queues, and the default instance, which runs all other
/// statements, may work at the same time. Before another one uses results of a queue, wait() for
/// the queue. Before a queue uses results of the default instance, call Kokkos::fence().
///
/// On devices run() and copy() return at once, and the host goes on while the device works. On
/// hosts all work has ended when they return. A queue must be destroyed before Kokkos ends.
///
/// \tparam Space  the memory space whose execution space runs statements and copies
template <class Space = DefaultSpace>
class Queue {
 public:
  using Exec = typename Space::execution_space;

  /// A queue on an instance of its own.
  ///
  /// \throws EnvironmentError if the device has no further stream
  Queue() : own_(std::in_place), exec_(own_->exec()) {}

  /// A queue on the caller's instance.
  explicit Queue(Exec const& exec) : exec_(exec) {}

  ~Queue() { exec_.fence(); }
  Queue(Queue const&) = delete;
  Queue& operator=(Queue const&) = delete;

  /// Calls `statements`, whose array statements run on this queue: assignments, reductions, scans,
  /// sorts, products, random numbers, vmap. Reductions to a number wait for this queue alone. The
  /// memory of temporaries and of new arrays is kept until wait(). Before the host allocates such
  /// memory, it waits for the default instance, whose kernels may still use it. Arrays that
  /// `statements` refers to must live until wait().
  ///
  /// \throws PreconditionError while record() records, and for Fourier transforms
  template <class Statements>
    requires std::is_invocable_v<Statements const&>
  void run(Statements const& statements) {
    detail::immediate<Exec>("Queue::run()");
    Running const running(running_);
    detail::WhileOnInstance<Exec> const here(exec_, kept_);
    statements();
  }

  /// Copies the elements of an array or slice to another of the same shape, in any memory, and
  /// keeps the memory of both alive until wait(). Between host and device the copy runs beside
  /// kernels and the host if the host's array is page-locked (see empty_pinned). Otherwise the host
  /// waits, at least until the elements have been read.
  ///
  /// \throws PreconditionError if the shapes differ, the elements of one don't lie side by side in
  ///   C order, or parts of one array overlap
  template <class From, class To>
    requires requires(From const& from, To& to) {
      from.as_operand();
      to.as_operand();
    } && std::same_as<value_t<From>, value_t<To>>
  void copy(From const& from, To&& to) {
    auto const source = from.as_operand();
    auto const target = whole(to);
    using Target = std::remove_cvref_t<decltype(target)>;
    static_assert(!std::is_const_v<typename Target::element_type>, "a copy writes to its target");
    if (source.shape() != target.shape())
      throw PreconditionError("a copy needs two arrays of one shape, and these have " +
                              in_words(source.shape()) + " and " + in_words(target.shape()));
    expects(source.contiguous() && target.contiguous(),
            "a copy takes arrays, and slices whose elements lie side by side in C order: copy the "
            "slice to an array first");
    detail::immediate<Exec>("Queue::copy()");
    if (source.size() == 0) return;
    expects(!detail::overlaps<Target::rank>(target.data(), target.strides(), sizeof(value_t<From>),
                                            target.shape(), source),
            "a copy takes arrays or slices that don't overlap: copy one to an array first");
    kept_.push_back(source.owner());
    kept_.push_back(target.owner());
    copy_bytes<typename Target::space, typename std::remove_cvref_t<decltype(source)>::space>(
        exec_, target.data(), source.data(),
        source.size() * static_cast<std::int64_t>(sizeof(value_t<From>)));
  }

  /// Waits until all work of the queue is done.
  void wait() {
    exec_.fence();
    if (running_ == 0)
      kept_.clear();  // wait() inside of run(): its statements still use the memory
  }

  /// The instance, for kernels of your own.
  Exec const& exec() const { return exec_; }

 private:
  /// Counts the calls of run() that haven't returned.
  struct Running {
    explicit Running(int& calls) : calls_(calls) { ++calls_; }
    ~Running() { --calls_; }
    Running(Running const&) = delete;
    Running& operator=(Running const&) = delete;
    int& calls_;
  };

  template <class To>
  static auto whole(To& to) {
    if constexpr (requires { to.all(); })
      return to.all();
    else
      return to;
  }

  std::optional<OwnInstance<Exec>> own_;
  Exec exec_;
  std::vector<std::shared_ptr<void>> kept_;
  int running_ = 0;
};

}  // namespace coir
