// The bits of results don't depend on the number of threads: this program runs itself with several.

#include <coir/fft/plan.hpp>

#include <gtest/gtest.h>

#include <fft/plain_dft.hpp>
#include <support/command.hpp>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

using coir::testing::read_text;
using coir::testing::run_command;
using coir::testing::TemporaryFolder;
using Host = Kokkos::DefaultHostExecutionSpace;

namespace {

char const* const variable = "COIR_FFT_TEST_WRITES_TO";
char const* const measured_before = "COIR_FFT_TEST_MEASURES_BEFORE";

/// FNV-1a of a View's memory.
template <class V>
std::uint64_t bits_of(V const& view) {
  auto const* const bytes = reinterpret_cast<unsigned char const*>(view.data());
  std::uint64_t hash = 14695981039346656037u;
  for (std::size_t i = 0; i < view.size() * sizeof(typename V::value_type); ++i)
    hash = (hash ^ bytes[i]) * 1099511628211u;
  return hash;
}

template <class T>
void write_bits(std::ofstream& file) {
  coir::Shape<3> const shape{20, 33, 50};
  auto const real = coir::testing::make_view<Host, T>(2, shape);
  auto const spectrum =
      coir::testing::make_view<Host, Kokkos::complex<T>>(2, coir::testing::half_of(shape));
  coir::testing::write(real, coir::testing::some_values(2 * 20 * 33 * 50, true));
  if (std::getenv(measured_before)) coir::fft::RealPlan<Host, T, 3>(Host{}, shape, 2);
  coir::fft::RealPlan<Host, T, 3> const plan(Host{}, shape, 2,
                                             {.effort = coir::fft::Effort::estimate});
  plan.forward(real, spectrum);
  file << bits_of(spectrum) << ' ';
  plan.backward(spectrum, real);
  file << bits_of(real) << ' ';
}

}  // namespace

TEST(Threads, WriteTheirBits) {
  char const* const path = std::getenv(variable);
  if (!path) GTEST_SKIP() << "for the other tests alone";
  std::ofstream file(path);
  write_bits<float>(file);
  write_bits<double>(file);
  EXPECT_TRUE(file.good());
}

namespace {

/// What a process of its own writes.
std::string bits_on(int threads, std::string const& setting = "") {
  TemporaryFolder const folder;
  std::string const path = (folder / "bits").string();
  std::string const self = std::filesystem::canonical("/proc/self/exe").string();
  auto const outcome =
      run_command("env OMP_NUM_THREADS=" + std::to_string(threads) + " " + variable + "=" + path +
                  " " + setting + " " + self + " --gtest_filter=Threads.WriteTheirBits");
  EXPECT_EQ(outcome.code, 0) << outcome.output << outcome.errors;
  std::string const bits = read_text(path);
  EXPECT_NE(bits, "");
  return bits;
}

}  // namespace

TEST(Threads, DoNotShowInTheBits) {
  std::string const alone = bits_on(1);
  for (int threads : {2, 3, 5}) EXPECT_EQ(bits_on(threads), alone) << threads << " threads";
}

TEST(Estimates, DoNotDependOnWhatWasMeasuredBefore) {
  EXPECT_EQ(bits_on(2, std::string(measured_before) + "=1"), bits_on(2));
}
