#pragma once

/// \file
/// A sequence of kernel launches, recorded once and submitted many times.

#include <coir/core/concepts.hpp>
#include <coir/core/errors.hpp>

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace coir {

namespace detail {

/// A recorded sequence on a backend without graphs: the function that launches it, called by each
/// submit().
template <class Exec>
class Recording {
 public:
  static constexpr bool captures = false;  ///< whether `launches` is called only once
  template <class Launches>
  Recording(Exec const& exec, Launches launches) : exec_(exec), launches_(std::move(launches)) {}
  void submit() const { launches_(exec_); }
  void wait() const { exec_.fence(); }

 private:
  Exec exec_;
  std::function<void(Exec const&)> launches_;
};

#ifdef KOKKOS_ENABLE_CUDA
inline void check_cuda(cudaError_t status, char const* call) {
  if (status != cudaSuccess)
    throw EnvironmentError(std::string(call) + ": " + cudaGetErrorString(status));
}

/// A recorded sequence on CUDA: a graph, captured from a stream. One submission costs one launch,
/// not one per kernel.
template <>
class Recording<Kokkos::Cuda> {
 public:
  static constexpr bool captures = true;
  template <class Launches>
  Recording(Kokkos::Cuda const& exec, Launches launches) {
    exec.fence();  // the sequence runs on another stream, and after earlier work
    check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
    Kokkos::Cuda const on_stream(stream_);
    cudaGraph_t graph = nullptr;
    check_cuda(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed),
               "cudaStreamBeginCapture");
    try {
      launches(on_stream);
    } catch (...) {
      cudaStreamEndCapture(stream_, &graph);
      if (graph) cudaGraphDestroy(graph);
      cudaStreamDestroy(stream_);
      throw;
    }
    check_cuda(cudaStreamEndCapture(stream_, &graph), "cudaStreamEndCapture");
    check_cuda(cudaGraphInstantiate(&graph_, graph, 0), "cudaGraphInstantiate");
    check_cuda(cudaGraphDestroy(graph), "cudaGraphDestroy");
  }
  ~Recording() {
    cudaStreamSynchronize(stream_);
    cudaGraphExecDestroy(graph_);
    cudaStreamDestroy(stream_);
  }
  Recording(Recording const&) = delete;
  Recording& operator=(Recording const&) = delete;

  void submit() const { check_cuda(cudaGraphLaunch(graph_, stream_), "cudaGraphLaunch"); }
  void wait() const { check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

 private:
  cudaStream_t stream_ = nullptr;
  cudaGraphExec_t graph_ = nullptr;
};
#endif

}  // namespace detail

/// Kernel launches to be repeated: recorded at construction, run by submit().
///
/// On CUDA the sequence becomes a graph, in which small kernels cost less to launch. Elsewhere
/// submit() calls `launches` again. The sequence runs after all work that `exec` was given before
/// construction. Call wait() before you give `exec` work that needs the results.
///
/// \tparam Exec  the execution space whose instance `launches` is called with
template <ExecutionSpace Exec>
class Replay {
 public:
  /// Whether `launches` is called once, at construction, and not by each submit().
  static constexpr bool captures = detail::Recording<Exec>::captures;

  /// \param launches  called as launches(instance); launches kernels on `instance`, without fences
  ///   and allocations. The memory that the kernels use must outlive this object
  template <class Launches>
  Replay(Exec const& exec, Launches launches)
      : recording_(std::make_unique<detail::Recording<Exec>>(exec, std::move(launches))) {}

  /// Runs the sequence once more, after earlier submissions. Returns without a fence.
  void submit() const { recording_->submit(); }
  /// Waits until all submissions have ended.
  void wait() const { recording_->wait(); }

 private:
  std::unique_ptr<detail::Recording<Exec>> recording_;
};

}  // namespace coir
