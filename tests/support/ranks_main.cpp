// Starts the ranks and Kokkos around tests that every rank runs. What fails on one rank fails on
// all; output comes from the first rank, and from those where something failed.

#include <coir/core/kokkos.hpp>
#include <coir/core/machine.hpp>
#include <coir/distributed/session.hpp>

#include <device/leave_device_out.hpp>
#include <support/ranks.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

namespace coir::testing {

namespace {
distributed::Session const* the_session = nullptr;
}

distributed::Group world() { return the_session->world(); }

}  // namespace coir::testing

namespace {

/// Has a test fail on all ranks if it fails on one.
class OfAllRanks : public ::testing::EmptyTestEventListener {
 public:
  explicit OfAllRanks(coir::distributed::Group world) : world_(std::move(world)) {}

  void OnTestPartResult(testing::TestPartResult const& result) override {
    if (!result.failed()) return;
    failed_ = true;
    std::ostringstream line;
    line << "rank " << world_.rank() << ": "
         << (result.file_name() == nullptr ? "" : result.file_name()) << ":" << result.line_number()
         << "\n"
         << result.message() << "\n";
    std::cerr << line.str() << std::flush;
  }
  void OnTestEnd(testing::TestInfo const&) override {
    bool const any = world_.any(failed_);
    any_ = any_ || any;
    failed_ = false;
  }
  bool any_failed() const { return any_; }

 private:
  coir::distributed::Group world_;
  bool failed_ = false, any_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
  alarm(230);  // ranks that wait for each other end in the end
  coir::distributed::Session const session(argc, argv);
  coir::testing::the_session = &session;
  if (!coir::why_no_device().empty()) coir::apps::leave_device_out();
  Kokkos::ScopeGuard const kokkos(argc, argv);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  auto* const of_all = new OfAllRanks(session.world());
  if (session.world().rank() > 0) delete listeners.Release(listeners.default_result_printer());
  listeners.Append(of_all);
  bool const failed_here = RUN_ALL_TESTS() != 0;
  return failed_here || of_all->any_failed() ? 1 : 0;
}
