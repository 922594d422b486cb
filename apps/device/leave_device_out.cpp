// Kokkos::initialize starts every backend that is compiled in, and ends the process if there is no
// device for one of them. It has no setting that leaves a backend out. But it finds the backends by
// name in a list of objects, into which each backend puts itself before main(), and an object that
// is put there later under the same name takes its place.

#include <device/leave_device_out.hpp>

#include <coir/core/kokkos.hpp>

#include <memory>
#include <ostream>
#include <string>

// It isn't one of Kokkos' public headers: before 3.7 it has another name, and since 4.0 it requires
// this macro.
#if !defined(KOKKOS_IMPL_PUBLIC_INCLUDE)
#define KOKKOS_IMPL_PUBLIC_INCLUDE
#endif
#if __has_include(<impl/Kokkos_ExecSpaceManager.hpp>)
#include <impl/Kokkos_ExecSpaceManager.hpp>
#else
#include <impl/Kokkos_ExecSpaceInitializer.hpp>
#endif

#if defined(KOKKOS_ENABLE_CUDA)
#include <cuda.h>
#include <dlfcn.h>

// The functions of CUDA's driver that Kokkos calls itself. A program that is linked against the
// driver's library doesn't start where there is none. These functions open it at the first call, as
// CUDA's own libraries do; the linker then leaves it out (--as-needed).

namespace {

template <class Function>
Function* driver_function(char const* name) {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  return library == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library, name));
}

}  // namespace

#define COIR_TEXT_OF(name) #name
#define COIR_FROM_DRIVER(name, parameters, arguments)                                  \
  extern "C" CUresult CUDAAPI name parameters {                                        \
    static auto* const function = driver_function<decltype(name)>(COIR_TEXT_OF(name)); \
    return function == nullptr ? CUDA_ERROR_STUB_LIBRARY : function arguments;         \
  }
COIR_FROM_DRIVER(cuStreamGetCtx, (CUstream stream, CUcontext* context), (stream, context))
COIR_FROM_DRIVER(cuCtxPushCurrent, (CUcontext context), (context))
COIR_FROM_DRIVER(cuCtxGetDevice, (CUdevice * device), (device))
#undef COIR_FROM_DRIVER
#undef COIR_TEXT_OF
#endif

namespace coir::apps {

namespace {

char const description[] = "Device Execution Space:\n  left out of this run\n";

}  // namespace

namespace detail {

/// Takes the place of a device's backend, and does nothing.
#if __has_include(<impl/Kokkos_ExecSpaceManager.hpp>)
class NoBackend : public Kokkos::Impl::ExecSpaceBase {
 public:
  void initialize(Kokkos::InitializationSettings const&) override {}
  void finalize() override {}
  void static_fence(std::string const&) override {}
  void print_configuration(std::ostream& text, bool) override { text << description; }
};
#else
class NoBackend : public Kokkos::Impl::ExecSpaceInitializerBase {
 public:
  void initialize(Kokkos::InitArguments const&) override {}
  void finalize(bool) override {}
  void fence() override {}
  void fence(std::string const&) {}  // virtual in some versions
  void print_configuration(std::ostream& text, bool) override { text << description; }
};
#endif

}  // namespace detail

void leave_device_out() {
  if (runs_on_host<Kokkos::DefaultExecutionSpace>) return;
  // A backend's name, preceded by its place in the sequence of starts: 150 from Kokkos 3.4.1 to 5.
  std::string const name = std::string("150_") + Kokkos::DefaultExecutionSpace::name();
  Kokkos::Impl::ExecSpaceManager::get_instance().register_space_factory(
      name, std::make_unique<detail::NoBackend>());
}

}  // namespace coir::apps
