#include <coir/core/errors.hpp>

#include <gtest/gtest.h>
#include <support/message_of.hpp>

#include <source_location>
#include <string>

using coir::testing::message_of;

TEST(Errors, ExpectsIsSilentWhenTheRequirementHolds) {
  EXPECT_NO_THROW(coir::expects(true, "never seen"));
  EXPECT_NO_THROW(coir::expects(true, "never seen", 3));
}

TEST(Errors, ExpectsNamesTheRequirement) {
  EXPECT_EQ(message_of([] { coir::expects(false, "n must be positive"); }), "n must be positive");
}

TEST(Errors, ExpectsNamesTheValue) {
  EXPECT_EQ(message_of([] { coir::expects(false, "n must be positive", -3); }),
            "n must be positive, not -3");
  EXPECT_EQ(message_of([] { coir::expects(false, "scheme must be known", std::string("fast")); }),
            "scheme must be known, not fast");
}

TEST(Errors, ExpectsAsksForARequirementInWordsOnlyWhereItIsNotMet) {
  int asked = 0;
  auto const requirement = [&] { return "axis " + std::to_string(++asked) + " must have cells"; };
  coir::expects(true, requirement, 0);
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(message_of([&] { coir::expects(false, requirement, 0); }),
            "axis 1 must have cells, not 0");
  EXPECT_EQ(asked, 1);
}

TEST(Errors, ExpectsSaysWhereItWasCalled) {
  auto const line = std::source_location::current().line();
  try {
    coir::expects(false, "n must be positive", -3);
    FAIL() << "no exception";
  } catch (coir::PreconditionError const& error) {
    EXPECT_EQ(error.where().line(), line + 2);
    EXPECT_NE(std::string(error.where().file_name()).find("errors_test.cpp"), std::string::npos);
  }
}

TEST(Errors, EveryKindIsAnError) {
  EXPECT_THROW(throw coir::PreconditionError("p"), coir::Error);
  EXPECT_THROW(throw coir::InputError("i"), coir::Error);
  EXPECT_THROW(throw coir::ResourceError("r"), coir::Error);
  EXPECT_THROW(throw coir::EnvironmentError("e"), coir::Error);
}
