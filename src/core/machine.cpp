#include "device_runtime.hpp"

#include <coir/core/errors.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/machine.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/pinned.hpp>
#include <coir/core/timing.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>

namespace coir {

namespace {

// x86, older ARM and LoongArch have "model name", POWER has "cpu", and newer ARM has two numbers.
std::string host_cpu_model() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string implementer;
  for (std::string line; std::getline(cpuinfo, line);) {
    auto const colon = line.find(": ");
    if (colon == std::string::npos) continue;
    std::string const key = line.substr(0, line.find_first_of("\t:"));
    std::string value = line.substr(colon + 2);
    if (key == "model name" || key == "Model Name" || key == "cpu") return value;
    if (key == "CPU implementer") implementer = value;
    if (key == "CPU part") return "ARM, implementer " + implementer + ", part " + value;
  }
  return "unknown";
}

std::int64_t host_memory() {
  long const pages = sysconf(_SC_PHYS_PAGES);
  return pages > 0 ? static_cast<std::int64_t>(pages) * sysconf(_SC_PAGE_SIZE) : 0;
}

std::string word_in(std::string const& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

// The bytes of all caches of the highest level together; 0 if the system doesn't tell. sysconf is
// wrong on virtual machines: it counts processors that the package could have.
std::int64_t host_cache_bytes() {
  std::map<std::string, std::int64_t> caches;  // by the processors that share it
  std::string const processors = "/sys/devices/system/cpu/cpu";
  for (int n = 0; n < sysconf(_SC_NPROCESSORS_CONF); ++n) {
    std::string highest, highest_level;
    for (int index = 0; index < 8; ++index) {
      std::string const folder =
          processors + std::to_string(n) + "/cache/index" + std::to_string(index) + "/";
      std::string const level = word_in(folder + "level");
      if (level > highest_level) highest = folder, highest_level = level;
    }
    if (!highest.empty())  // "32768K"
      caches[word_in(highest + "shared_cpu_list")] =
          1024 * std::strtoll(word_in(highest + "size").c_str(), nullptr, 10);
  }
  std::int64_t sum = 0;
  for (auto const& [shared_by, bytes] : caches) sum += bytes;
  return sum;
}

/// \param reason  set to the runtime's words where there are none
int count_devices([[maybe_unused]] std::string& reason) {
  int count = 0;
#ifdef COIR_RUNTIME
  if (auto const status = COIR_RUNTIME(GetDeviceCount)(&count); status != COIR_RUNTIME(Success)) {
    reason = COIR_RUNTIME(GetErrorString)(status);
    return 0;
  }
#endif
  return count;
}

#ifdef COIR_RUNTIME

#if defined(KOKKOS_ENABLE_CUDA)
using Properties = cudaDeviceProp;
int number_of(Kokkos::Cuda const& exec) { return exec.cuda_device(); }
std::string architecture_of(Properties const& properties) {
  return "sm_" + std::to_string(properties.major) + std::to_string(properties.minor);
}
#else
using Properties = hipDeviceProp_t;
int number_of(Hip const& exec) { return exec.hip_device(); }
std::string architecture_of(Properties const& properties) { return properties.gcnArchName; }
#endif

Properties properties_of(int device) {
  Properties properties = {};
  detail::expects_success(COIR_RUNTIME(GetDeviceProperties)(&properties, device),
                          "GetDeviceProperties");
  return properties;
}

template <class Exec>
Properties properties_of(Exec const& exec) {
  return properties_of(number_of(exec));
}

#endif

/// The shortest time of at least three calls, and of as many as fit in a fifth of a second.
template <class Exec, class Launch>
double best_seconds(Exec const& exec, Launch const& launch) {
  launch();  // the first call pays for page tables, clocks and caches
  Stopwatch<Exec> const total(exec);
  double best = std::numeric_limits<double>::max();
  for (int call = 0; call < 3 || (total.seconds() < 0.2 && call < 1000); ++call) {
    Stopwatch<Exec> const watch(exec);
    launch();
    best = std::min(best, watch.seconds());
  }
  return best;
}

template <class Exec>
using Numbers = Kokkos::View<double*, typename Exec::memory_space>;

// The kernels use pointers: with Views, builds that check their bounds would measure the checks.

template <class Exec>
Numbers<Exec> make_numbers(Exec const& exec, std::string const& label, std::int64_t size,
                           double value) {
  Numbers<Exec> const numbers(Kokkos::view_alloc(label, Kokkos::WithoutInitializing),
                              static_cast<std::size_t>(size));
  double* const to = numbers.data();
  for_each(
      "coir::core::machine/fill", exec, box<1, std::int64_t>({size}),
      KOKKOS_LAMBDA(std::int64_t i) { to[i] = value; });
  return numbers;
}

template <class Exec>
void copy(Exec const& exec, Numbers<Exec> const& source, Numbers<Exec> const& target) {
  double const* const from = source.data();
  double* const to = target.data();
  for_each(
      "coir::core::machine/copy", exec,
      box<1, std::int64_t>({static_cast<std::int64_t>(target.size())}),
      KOKKOS_LAMBDA(std::int64_t i) { to[i] = from[i]; });
}

template <class Exec>
void triad(Exec const& exec, Numbers<Exec> const& in, Numbers<Exec> const& scaled,
           Numbers<Exec> const& out) {
  double const *const b = in.data(), *const c = scaled.data();
  double* const a = out.data();
  for_each(
      "coir::core::machine/triad", exec,
      box<1, std::int64_t>({static_cast<std::int64_t>(out.size())}),
      KOKKOS_LAMBDA(std::int64_t i) { a[i] = b[i] + 0.5 * c[i]; });
}

struct Empty {
  KOKKOS_FUNCTION void operator()(std::int64_t) const {}
};

template <class Exec>
void launch_empty_kernels(Exec const& exec, int count) {
  for (int launch = 0; launch < count; ++launch)
    if constexpr (runs_on_host<Exec>)  // on all threads
      for_each_task("coir::core::machine/empty", exec, exec.concurrency(), Empty{});
    else
      for_each("coir::core::machine/empty", exec, box({1}), Empty{});
}

#ifdef COIR_RUNTIME
template <class Exec>
void measure_transfers(Exec const& exec, MachineLimits& limits) {
  std::size_t const size = (std::size_t(128) << 20) / sizeof(double);
  double const bytes = static_cast<double>(size * sizeof(double));
  Kokkos::View<double*, PinnedSpace> const on_host("transfer_host", size);
  Numbers<Exec> const on_device("transfer_device", size);
  limits.host_to_device_bandwidth =
      bytes / best_seconds(exec, [&] { Kokkos::deep_copy(exec, on_device, on_host); });
  limits.device_to_host_bandwidth =
      bytes / best_seconds(exec, [&] { Kokkos::deep_copy(exec, on_host, on_device); });
}
#endif

}  // namespace

std::vector<std::string> compiled_backends() {
  return {
#if defined(KOKKOS_ENABLE_CUDA)
      "Cuda",
#endif
#if defined(KOKKOS_ENABLE_HIP)
      "HIP",
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
      "OpenMP",
#endif
#if defined(KOKKOS_ENABLE_THREADS)
      "Threads",
#endif
#if defined(KOKKOS_ENABLE_SERIAL)
      "Serial",
#endif
  };
}

std::string why_no_device() {
  std::string reason;
  if (count_devices(reason) > 0) return {};
  if (runs_on_host<Kokkos::DefaultExecutionSpace>) {
    std::string backends;
    for (auto const& backend : compiled_backends())
      backends += (backends.empty() ? "" : ", ") + backend;
    return "this build has no backend for a GPU, only " + backends;
  }
  return std::string("no usable ") + Kokkos::DefaultExecutionSpace::name() + " device was found" +
         (reason.empty() ? "" : " (" + reason + ")");
}

bool device_is_left_out() {
  if constexpr (runs_on_host<Kokkos::DefaultExecutionSpace>)
    return false;
  else
    return Kokkos::is_initialized() && !Kokkos::DefaultExecutionSpace::impl_is_initialized();
}

void expects_usable_device() {
  if (runs_on_host<Kokkos::DefaultExecutionSpace>) return;
  if (std::string const reason = why_no_device(); !reason.empty())
    throw EnvironmentError(reason +
                           ": check the driver (nvidia-smi, rocminfo) and the visible "
                           "devices, or use a build for OpenMP");
}

Machine describe_machine() {
  Machine machine;
  machine.host_cpu = host_cpu_model();
  machine.host_threads = host_threads(Kokkos::DefaultHostExecutionSpace());
  machine.host_memory_bytes = host_memory();
#ifdef COIR_RUNTIME
  for (int device = 0; device < visible_devices(); ++device) {
    auto const properties = properties_of(device);
    machine.devices.push_back({properties.name, architecture_of(properties),
                               static_cast<std::int64_t>(properties.totalGlobalMem)});
  }
#endif
  machine.backends = compiled_backends();
  machine.default_backend = device_is_left_out() ? Kokkos::DefaultHostExecutionSpace::name()
                                                 : Kokkos::DefaultExecutionSpace::name();
  machine.kokkos_version = kokkos_version();
  std::ostringstream configuration;
  Kokkos::print_configuration(configuration, /*detail=*/true);
  machine.kokkos_configuration = configuration.str();
  return machine;
}

template <CompiledSpace Exec>
std::string device_name(Exec const& exec) {
  if constexpr (runs_on_host<Exec>)
    return host_cpu_model();
  else
    return properties_of(exec).name;
}

int visible_devices() {
  std::string reason;
  return count_devices(reason);
}

template <CompiledSpace Exec>
std::string device_identity([[maybe_unused]] Exec const& exec) {
  if constexpr (runs_on_host<Exec>) {
    return {};
  } else {
    auto const properties = properties_of(exec);
#if defined(KOKKOS_ENABLE_CUDA)
    return std::string(properties.uuid.bytes, sizeof properties.uuid.bytes);
#else
    return std::to_string(properties.pciDomainID) + ":" + std::to_string(properties.pciBusID) +
           ":" + std::to_string(properties.pciDeviceID);
#endif
  }
}

template <CompiledSpace Exec>
std::int64_t last_level_cache_bytes(Exec const& exec) {
  constexpr std::int64_t guess = 32 << 20;
  if constexpr (runs_on_host<Exec>) {
    static std::int64_t const bytes = host_cache_bytes();
    return bytes > 0 ? bytes : guess;
  } else {
    return std::max<std::int64_t>(properties_of(exec).l2CacheSize, guess);
  }
}

template <CompiledSpace Exec>
std::int64_t triad_bytes(Exec const& exec) {
  return runs_on_host<Exec> ? 4 * last_level_cache_bytes(exec) : std::int64_t(3) << 30;
}

template <CompiledSpace Exec>
std::optional<double> measure_triad_bandwidth(Exec const& exec) {
  if (triad_bytes(exec) > free_bytes<typename Exec::memory_space>() / 2) return {};
  std::int64_t const size = triad_bytes(exec) / 3 / static_cast<std::int64_t>(sizeof(double));
  try {
    auto const a = make_numbers(exec, "a", size, 0);
    auto const b = make_numbers(exec, "b", size, 1);
    auto const c = make_numbers(exec, "c", size, 2);
    return static_cast<double>(3 * size) * sizeof(double) /
           best_seconds(exec, [&] { triad(exec, b, c, a); });
  } catch (
      std::exception const&) {  // Kokkos' own, of different types: there is no memory after all
    return {};
  }
}

template <CompiledSpace Exec>
MachineLimits measure_limits(Exec const& exec) {
  using Memory = typename Exec::memory_space;
  constexpr std::int64_t smallest = 16 << 20, largest = std::int64_t(1) << 30;
  expects_memory<Memory>(3 * smallest, "measuring the machine's limits");
  // Arrays are large enough on a device to hide the launch and the fence, too.
  std::int64_t const wanted = runs_on_host<Exec> ? 4 * last_level_cache_bytes(exec) : largest;
  std::int64_t const bytes =
      std::clamp(std::min(wanted, free_bytes<Memory>() / 8), smallest, largest);
  std::int64_t const size = bytes / static_cast<std::int64_t>(sizeof(double));

  MachineLimits limits;
  {
    auto const a = make_numbers(exec, "a", size, 0);
    auto const b = make_numbers(exec, "b", size, 1);
    auto const c = make_numbers(exec, "c", size, 2);
    double const array = static_cast<double>(bytes);
    // A device's own copy engine is faster than a kernel, on hosts the kernel is faster.
    limits.copy_bandwidth = 2 * array /
                            std::min(best_seconds(exec, [&] { copy(exec, b, a); }),
                                     best_seconds(exec, [&] { Kokkos::deep_copy(exec, a, b); }));
    limits.triad_bandwidth = 3 * array / best_seconds(exec, [&] { triad(exec, b, c, a); });
  }
  // On a device many launches hide the fence at the end. On hosts there is no fence to hide, and
  // single launches find moments in which no other program has the cores.
  constexpr int launches = runs_on_host<Exec> ? 1 : 500;
  limits.launch_seconds =
      best_seconds(exec, [&] { launch_empty_kernels(exec, launches); }) / launches;
#ifdef COIR_RUNTIME
  if constexpr (!runs_on_host<Exec>) measure_transfers(exec, limits);
#endif
  return limits;
}

std::vector<ThreadLimits> measure_by_threads() {
  std::vector<ThreadLimits> measured;
#ifdef KOKKOS_ENABLE_OPENMP
  Kokkos::DefaultHostExecutionSpace const host;
  int const all = host_threads(host);
  std::int64_t const bytes = std::min(triad_bytes(host), free_bytes<Kokkos::HostSpace>() / 4);
  std::int64_t const size = bytes / 3 / static_cast<std::int64_t>(sizeof(double));
  if (size < (1 << 18)) return {};
  using Numbers = Kokkos::View<double*, Kokkos::HostSpace>;
  Numbers const to("a", static_cast<std::size_t>(size)), from("b", to.size()),
      scaled("c", to.size());
  double* const a = to.data();
  double const *const b = from.data(), *const c = scaled.data();
  // OpenMP ends the threads that a smaller team leaves out. So numbers become smaller.
  std::vector<int> numbers;
  for (int threads = 1; threads < all; threads *= 2) numbers.push_back(threads);
  numbers.push_back(all);
  std::reverse(numbers.begin(), numbers.end());
  for (int const threads : numbers) {
    ThreadLimits limits{threads, 0, 0};
    limits.triad_bandwidth =
        3.0 * static_cast<double>(size) * sizeof(double) / best_seconds(host, [&] {
#pragma omp parallel for schedule(static) num_threads(threads)
          for (std::int64_t i = 0; i < size; ++i) a[i] = b[i] + 0.5 * c[i];
        });
    limits.launch_seconds = best_seconds(host, [&] {
#pragma omp parallel num_threads(threads)
      {
        asm volatile("");  // compilers leave empty regions out
      }
    });
    measured.push_back(limits);
  }
  std::reverse(measured.begin(), measured.end());
#endif
  return measured;
}

#define COIR_MEASURES(Exec)                                            \
  template std::string device_name(Exec const&);                       \
  template std::string device_identity(Exec const&);                   \
  template std::int64_t last_level_cache_bytes(Exec const&);           \
  template std::int64_t triad_bytes(Exec const&);                      \
  template std::optional<double> measure_triad_bandwidth(Exec const&); \
  template MachineLimits measure_limits(Exec const&);

COIR_MEASURES(Kokkos::DefaultHostExecutionSpace)
#ifdef COIR_RUNTIME
COIR_MEASURES(Kokkos::DefaultExecutionSpace)
#endif

#undef COIR_MEASURES

}  // namespace coir
