#include <coir/core/loops.hpp>
#include <coir/core/replay.hpp>

#include <support/spaces.hpp>

template <class Exec>
double sum_after_replays(int launches, int submissions, int size) {
  Exec const exec;
  Kokkos::View<double*, typename Exec::memory_space> const x("x", size);
  coir::Replay<Exec> const replay(exec, [=](Exec const& instance) {
    for (int launch = 0; launch < launches; ++launch)
      coir::for_each(
          "coir::test::add_one", instance, coir::box({size}), KOKKOS_LAMBDA(int i) { x(i) += 1; });
  });
  for (int submission = 0; submission < submissions; ++submission) replay.submit();
  replay.wait();
  double sum = 0;
  coir::reduce(
      "coir::test::sum", exec, coir::box({size}),
      KOKKOS_LAMBDA(int i, double& value) { value += x(i); }, Kokkos::Sum<double>(sum));
  return sum;
}

template <class Exec>
class Replay : public ::testing::Test {};
TYPED_TEST_SUITE(Replay, coir::testing::Spaces, coir::testing::SpaceName);

TYPED_TEST(Replay, RunsEveryLaunchInOrderOncePerSubmission) {
  EXPECT_EQ(sum_after_replays<TypeParam>(7, 5, 100), 7 * 5 * 100);
}

TYPED_TEST(Replay, RunsNothingUntilSubmitted) {
  EXPECT_EQ(sum_after_replays<TypeParam>(7, 0, 100), 0);
}
