// How long NVIDIA's cuFFTMp takes for transforms that slab_table times:
//
//     mpirun -n 2 cufftmp [--sizes 512,1024] [--json]
//
// For each size n, a multiple of the number of ranks, of n^3 numbers in float: real to half
// spectrum and back, and complex both ways. Ranks have a GPU each, and share planes of fields and
// rows of spectra out, as slab_table's do. Transforms are in place, in the order that cuFFTMp
// itself chooses, which is that of slab_table. Each time is the median of 20 calls that all ranks
// begin together and wait for, the slowest rank's; forward and backward take turns. What is timed
// are zeros, as in slab_table. Before that a plane wave goes there and back, and its spectrum must
// be its one mode. --json prints an object a line.

#include <cufftMp.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

int ranks = 1, rank = 0;

/// If a call's code isn't 0, says so and ends all ranks.
void expect(int code, std::string const& what) {
  if (code == 0) return;
  std::fprintf(stderr, "cufftmp: error: %s, code %d on rank %d\n", what.c_str(), code, rank);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

void plan(cufftHandle& handle, int n, cufftType type, size_t& work_bytes) {
  MPI_Comm world = MPI_COMM_WORLD;
  expect(cufftCreate(&handle), "cufftCreate");
  expect(cufftMpMakePlan3d(handle, n, n, n, type, &world, CUFFT_COMM_MPI, &work_bytes),
         "cufftMpMakePlan3d of n " + std::to_string(n));
}

/// What a rank has of a cube: extents, numbers from one row to the next, and where it begins.
struct Part {
  long long n, x, y, z, row, first_x, first_y;
};

__device__ float of_complex(float2 value, float) { return value.x; }
__device__ float2 of_complex(float2 value, float2) { return value; }
__device__ float distance(float a, float b) { return fabsf(a - b); }
__device__ float distance(float2 a, float2 b) { return hypotf(a.x - b.x, a.y - b.y); }

/// Writes the wave exp(2 pi i k.x / n), or its real part, with k = (1, n / 2 - 1, n / 4). With
/// `worst`, the largest distance of what is there from `scale` times the wave, or its mode.
template <class Number>
__global__ void wave(Number* numbers, Part part, bool is_spectrum, float scale, int* worst) {
  long long const n = part.n, first = blockIdx.x * 1ll * blockDim.x + threadIdx.x;
  float far = 0;
  for (long long m = first; m < part.x * part.y * part.z; m += gridDim.x * blockDim.x) {
    long long const row = m / part.z, z = m % part.z;
    long long const x = part.first_x + row / part.y, y = part.first_y + row % part.y;
    long long const turns = (x + (n / 2 - 1) * y + n / 4 * z) % n;
    float2 value = {x == 1 && y == n / 2 - 1 && z == n / 4 ? 1.f : 0.f, 0};
    if (!is_spectrum) sincospif(2.f * turns / n, &value.y, &value.x);
    Number const wanted = of_complex({scale * value.x, scale * value.y}, Number());
    Number& number = numbers[row * part.row + z];
    if (!worst) number = wanted;
    float const distant = distance(number, wanted);
    if (distant > far || isnan(distant)) far = distant;  // and a NaN stays
  }
  if (worst) atomicMax(worst, __float_as_int(far));  // positive numbers have the order of bits
}

double most(double number) {
  MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return number;
}

/// Transforms there and back of float or float2.
template <class Number>
class Pair {
  static constexpr bool is_real = std::is_same_v<Number, float>;

 public:
  Pair(int n, bool as_json) : n_(n), as_json_(as_json) {
    plan(there_, n, is_real ? CUFFT_R2C : CUFFT_C2C, work_bytes_);
    plan(back_, n, is_real ? CUFFT_C2R : CUFFT_C2C, work_bytes_);
    expect(cufftXtMalloc(there_, &memory_, CUFFT_XT_FORMAT_INPLACE), "cufftXtMalloc");
    expect(cudaMalloc(&worst_, sizeof(int)), "cudaMalloc");
  }
  ~Pair() {
    cudaFree(worst_);
    cufftXtFree(memory_);
    cufftDestroy(back_);
    cufftDestroy(there_);
  }
  Pair(Pair const&) = delete;
  Pair& operator=(Pair const&) = delete;

  void print() {
    double const error = error_of_wave();
    auto const& bytes = *memory_->descriptor;
    expect(cudaMemset(bytes.data[0], 0, bytes.size[0]), "cudaMemset");
    std::vector<double> forward, backward;
    for (int round = 0; round < 23; ++round) {
      forward.push_back(seconds_of(there_, CUFFT_FORWARD));
      backward.push_back(seconds_of(back_, CUFFT_INVERSE));
    }
    std::string const kind = is_real ? "real" : "complex";
    print_row(kind + " forward", forward, error);
    print_row(kind + " backward", backward, error);
  }

 private:
  double seconds_of(cufftHandle plan, int direction) {
    MPI_Barrier(MPI_COMM_WORLD);
    auto const start = std::chrono::steady_clock::now();
    expect(cufftXtExecDescriptor(plan, memory_, memory_, direction), "cufftXtExecDescriptor");
    expect(cudaDeviceSynchronize(), "a transform");
    std::chrono::duration<double> const taken = std::chrono::steady_clock::now() - start;
    return most(taken.count());
  }

  template <class Of>
  void run_wave(Part const& part, bool is_spectrum, float scale, int* worst) {
    auto* const numbers = static_cast<Of*>(memory_->descriptor->data[0]);
    wave<<<1024, 256>>>(numbers, part, is_spectrum, scale, worst);
    expect(cudaDeviceSynchronize(), "a kernel");
  }
  template <class Of>
  double error_of(Part const& part, bool is_spectrum, float scale) {
    float far = 0;
    expect(cudaMemset(worst_, 0, sizeof far), "cudaMemset");
    run_wave<Of>(part, is_spectrum, scale, worst_);
    expect(cudaMemcpy(&far, worst_, sizeof far, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return most(far <= scale ? far / scale : 1);
  }

  /// The larger of both errors, of the spectrum as a share of its mode. Rounding makes less than
  /// 8 log2(n^3) epsilon there and as much back, 6e-5 for n of 1024 (Higham, Accuracy and Stability
  /// of Numerical Algorithms, section 24.1).
  double error_of_wave() {
    long long const n = n_, share = n / ranks, modes = is_real ? n / 2 + 1 : n;
    Part const field{n, share, n, n, is_real ? 2 * modes : n, rank * share, 0};
    Part const spectrum{n, n, share, modes, modes, 0, rank * share};
    float const points = static_cast<float>(n * n * n);
    run_wave<Number>(field, false, 1, nullptr);
    seconds_of(there_, CUFFT_FORWARD);
    double const there = error_of<float2>(spectrum, true, is_real ? points / 2 : points);
    seconds_of(back_, CUFFT_INVERSE);
    double const back = error_of<Number>(field, false, points);
    if (rank == 0 && std::max(there, back) > 1e-4)
      std::fprintf(stderr, "errors of %g there and %g there and back\n", there, back);
    expect(std::max(there, back) > 1e-4, "wrong numbers of n " + std::to_string(n_));
    return std::max(there, back);
  }

  void print_row(std::string const& what, std::vector<double> seconds, double error) const {
    if (rank != 0) return;
    seconds.erase(seconds.begin(), seconds.begin() + 3);  // which warm up
    std::nth_element(seconds.begin(), seconds.begin() + 10, seconds.end());
    std::printf(as_json_
                    ? "{\"what\": \"%s\", \"rows\": 1, \"n\": %d, \"seconds\": %.9g, "
                      "\"rounds\": %zu, \"work_bytes\": %zu, \"error\": %.9g}\n"
                    : "%s  rows 1  n %d  seconds %.4g  rounds %zu  work_bytes %zu  error %.4g\n",
                what.c_str(), n_, seconds[10], seconds.size(), work_bytes_, error);
    std::fflush(stdout);
  }

  int n_;
  bool as_json_;
  cufftHandle there_ = 0, back_ = 0;
  cudaLibXtDesc* memory_ = nullptr;
  int* worst_ = nullptr;
  size_t work_bytes_ = 0;
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::string sizes = "512,1024";
  bool as_json = false;
  for (int n = 1; n < argc; ++n) {
    std::string const word = argv[n];
    bool const has_sizes = word == "--sizes" && n + 1 < argc;
    expect(!has_sizes && word != "--json", "options are --sizes N,N and --json, not " + word);
    if (has_sizes) sizes = argv[++n];
    as_json |= word == "--json";
  }

  int devices = 0;
  cudaDeviceProp device{};
  expect(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
  expect(devices < ranks, "each rank needs a GPU, and there are " + std::to_string(devices));
  expect(cudaSetDevice(rank), "cudaSetDevice");
  expect(cudaGetDeviceProperties(&device, rank), "cudaGetDeviceProperties");
  if (rank == 0)
    std::printf(as_json ? "{\"what\": \"machine\", \"ranks\": %d, \"device\": \"%s\", "
                          "\"transport\": \"cuFFTMp %d\"}\n"
                        : "machine  ranks %d  device %s  transport cuFFTMp %d\n",
                ranks, device.name, CUFFT_VERSION);

  // Without any plan NVSHMEM ends, and begins again with the next one.
  cufftHandle keeps_nvshmem = 0;
  size_t unused = 0;
  plan(keeps_nvshmem, 16 * ranks, CUFFT_C2C, unused);
  std::istringstream words(sizes);
  for (std::string word; std::getline(words, word, ',');) {
    int const n = std::atoi(word.c_str());
    expect(n < 8 || n > 8192 || n % ranks != 0,
           "--sizes must be 8 to 8192 and multiples of " + std::to_string(ranks) + ", not " + word);
    Pair<float>(n, as_json).print();
    Pair<float2>(n, as_json).print();
  }
  cufftDestroy(keeps_nvshmem);
  MPI_Finalize();
}
