#include <coir/nbody/detail/step_counter.hpp>

#include <support/message_of.hpp>

using namespace coir;
using nbody::detail::StepCounter;

TEST(StepCounters, CountBothWays) {
  StepCounter counter(5, 2);
  EXPECT_EQ(counter.done(), 2);
  EXPECT_EQ(counter.left(), 3);
  counter.count(5);
  EXPECT_EQ(counter.done(), 5);
  EXPECT_EQ(counter.left(), 0);
  counter.count(0);
  EXPECT_EQ(counter.done(), 0);
  EXPECT_EQ(counter.left(), 5);
}

TEST(StepCounters, RefuseToGoOnFromAmidAStep) {
  StepCounter counter(3, 0);
  EXPECT_NO_THROW(counter.expects_between_steps());
  counter.leave();
  counter.count(1);
  EXPECT_EQ(coir::testing::message_of([&] { counter.expects_between_steps(); }),
            "a call of this simulation has failed, in which particles stayed amid a step: make a "
            "new simulation");
  counter.arrive();
  EXPECT_NO_THROW(counter.expects_between_steps());
  EXPECT_EQ(counter.done(), 1);
}
