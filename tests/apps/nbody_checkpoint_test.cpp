// Checkpoints: what is in them, and what is refused. tests/hostile damages them at random.

#include <nbody/checkpoint.hpp>
#include <nbody/go_on.hpp>
#include <nbody/options.hpp>
#include <nbody/setting_list.hpp>
#include <support/message_of.hpp>

#include <coir/io/checksum.hpp>

#include <gtest/gtest.h>

#include "nbody_fixture.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
namespace hdf5 = coir::hdf5;
using namespace coir::apps::nbody;
using coir::InputError;
using namespace coir::testing;
using Exec = Kokkos::DefaultExecutionSpace;

/// What a checkpoint holds, to be written with a fitting checksum whatever it says.
struct Parts {
  std::string format, settings;
  std::int32_t steps_done = 0;
  std::vector<double> scale_factors;
  std::vector<float> positions, momenta;

  explicit Parts(fs::path const& path) {
    hdf5::Reader const file(path);
    format = file.attribute_text("/", "format", 100);
    steps_done = file.attribute<std::int32_t>("/", "steps_done");
    scale_factors = file.read<double>("scale_factors");
    auto const text = file.read<std::uint8_t>("settings");
    settings.assign(text.begin(), text.end());
    positions = file.read<float>("positions");
    momenta = file.read<float>("momenta");
  }

  void write(fs::path const& path) const {
    hdf5::Writer file(path, {.checked = true});
    file.write_attribute_text("/", "format", format);
    file.write_attribute("/", "steps_done", steps_done);
    file.write("scale_factors", scale_factors);
    file.write("settings", std::vector<std::uint8_t>(settings.begin(), settings.end()));
    std::int64_t const count = static_cast<std::int64_t>(positions.size()) / 3;
    file.write("positions", positions, {count, 3});
    file.write("momenta", momenta, {static_cast<std::int64_t>(momenta.size()) / 3, 3});
    file.commit();
  }

  /// Another text of a setting.
  void set(std::string const& name, std::string const& text) {
    std::size_t const begin = ("\n" + settings).find("\n" + name + " = ");
    ASSERT_NE(begin, std::string::npos) << name;
    settings.replace(begin, settings.find('\n', begin) - begin, name + " = " + text);
  }
};

/// A run of coir-nbody that was stopped halfway.
class NbodyCheckpoint : public coir::testing::Nbody {
 protected:
  void SetUp() override {
    run_quietly(
        "--particles 4 --steps 4 --a-start 0.2 --outputs 0.5 --no-pictures --no-spectra "
        "--deterministic "
        "--checkpoint 2 --stop-after 2 --output run");
  }

  Parts parts() const { return Parts(folder / "run/checkpoint.hdf5"); }

  void read() const {
    coir::apps::CommandLine line("coir-nbody");
    Settings given;
    add_options(line, given);
    Checkpoint checkpoint = read_checkpoint(coir::distributed::Group::self(), folder / "c.hdf5");
    Settings const settings = settings_to_go_on(line, given, checkpoint);
    read_particles<Exec, float>(coir::distributed::Group::self(), checkpoint, settings);
  }

  void expect_refusal(Parts const& forged, std::vector<std::string> const& words) const {
    forged.write(folder / "c.hdf5");
    std::string const text = message_of<InputError>([&] { read(); });
    EXPECT_TRUE(text.starts_with((folder / "c.hdf5").string())) << text;
    for (auto const& word : words) EXPECT_TRUE(contains(text, word)) << text << " lacks: " << word;
  }

  void expect_refusal_of(std::string const& name, std::string const& value,
                         std::vector<std::string> const& words) const {
    SCOPED_TRACE(name + " = " + value);
    Parts forged = parts();
    forged.set(name, value);
    expect_refusal(forged, words);
  }
};

using BadNbodyCheckpoint = NbodyCheckpoint;

// Steps may run out of memory after hours: the error names the checkpoint that the run goes on
// from.
TEST(GoOn, IsNamedWhereStepsRunOutOfMemory) {
  GoOn const go_on{"web/checkpoint.hdf5", 20};
  std::string const promise = "; --restart web/checkpoint.hdf5 goes on from step 20";
  auto const message = [&](auto const& steps) {
    return message_of<coir::ResourceError>([&] { make_steps(go_on, steps); });
  };
  EXPECT_EQ(message([] { throw coir::ResourceError("the particles that come to this rank"); }),
            "the particles that come to this rank" + promise);
  EXPECT_EQ(message([] { throw std::bad_alloc(); }),
            "out of memory while steps were made" + promise);
  EXPECT_EQ(message([] { throw std::runtime_error("Kokkos failed to allocate memory"); }),
            "Kokkos failed to allocate memory" + promise);
  EXPECT_THROW(make_steps(go_on, [] { throw coir::NumericalError("x"); }), coir::NumericalError);
  EXPECT_THROW(make_steps(go_on, [] { throw std::runtime_error("x"); }), std::runtime_error);
  int made = 0;
  make_steps(go_on, [&] { ++made; });
  EXPECT_EQ(made, 1);
  EXPECT_EQ(message_of<coir::ResourceError>(
                [&] { make_steps({}, [] { throw coir::ResourceError("x"); }); }),
            "x; what was written is whole");
}

}  // namespace

TEST_F(NbodyCheckpoint, HoldsEverySettingAndEndsWithAChecksum) {
  coir::io::verify_checksum(folder / "run/checkpoint.hdf5");
  Parts const found = parts();
  EXPECT_EQ(found.format, "coir-nbody checkpoint 2");
  EXPECT_EQ(found.steps_done, 2);
  EXPECT_EQ(found.scale_factors.size(), 6U);  // with a step cut in two
  std::string names;
  for (auto const& setting : setting_list()) names += setting.name + " = ";
  std::string in_file;
  for (std::size_t at = 0; at < found.settings.size(); at = found.settings.find('\n', at) + 1)
    in_file += found.settings.substr(at, found.settings.find(" = ", at) - at) + " = ";
  EXPECT_EQ(in_file, names);
  EXPECT_TRUE(contains(found.settings, "\noutputs = 0.5\n")) << found.settings;
  EXPECT_TRUE(contains(found.settings, "\nnoise = \n")) << found.settings;
}

TEST_F(NbodyCheckpoint, WhatIsWrittenAgainIsTheSame) {
  parts().write(folder / "c.hdf5");
  EXPECT_TRUE(read_text(folder / "c.hdf5") == read_text(folder / "run/checkpoint.hdf5"));
  read();
}

TEST_F(BadNbodyCheckpoint, WithoutAChecksumItIsOfAnOlderVersion) {
  std::string const whole = read_text(folder / "run/checkpoint.hdf5");
  write("c.hdf5", whole.substr(0, whole.size() - coir::io::checksum_length));
  hdf5::Reader const still_hdf5(folder / "c.hdf5");
  expect_failure(
      3, "--restart c.hdf5 --output other",
      {"c.hdf5 is no checkpoint of this version", "no checksum", "an older version wrote it"});
}

TEST_F(BadNbodyCheckpoint, DamageIsToldByTheChecksum) {
  std::string const whole = read_text(folder / "run/checkpoint.hdf5");
  std::size_t const middle = whole.size() / 2;
  std::vector<std::string> all{whole.substr(0, middle), whole.substr(0, 300) + whole};
  for (std::size_t const at : {std::size_t(0), middle, whole.size() - 40}) {
    all.push_back(whole);
    all.back()[at] = static_cast<char>(all.back()[at] ^ 1);
  }
  all.push_back(whole);
  all.back().replace(middle, 64, whole.substr(middle - 64, 64));
  for (auto const& damaged : all) {
    write("c.hdf5", damaged);
    expect_failure(3, "--restart c.hdf5 --output other", {"c.hdf5"});
  }
  expect_failure(3, "--restart c.hdf5 --output other", {"it is damaged"});
}

TEST_F(BadNbodyCheckpoint, EverySettingMustBeThereOnce) {
  Parts const whole = parts();
  for (auto const& setting : setting_list()) {
    Parts forged = whole;
    std::size_t const begin = ("\n" + whole.settings).find("\n" + setting.name + " = ");
    std::size_t const length = whole.settings.find('\n', begin) + 1 - begin;
    forged.settings.erase(begin, length);
    expect_refusal(forged, {"without the setting '" + setting.name + "'"});
    forged.settings = whole.settings + whole.settings.substr(begin, length);
    expect_refusal(forged, {"twice the setting '" + setting.name + "'"});
  }
  Parts forged = whole;
  forged.settings += "quickly = true\n";
  expect_refusal(forged, {"unknown setting 'quickly'", "another version"});
  forged.settings = whole.settings + "box";
  expect_refusal(forged, {"unknown setting 'box'"});
  forged.settings = std::string("b\0x", 3);
  expect_refusal(forged, {"unknown setting 'b x'", "another version"});
  forged.settings = whole.settings.substr(0, whole.settings.size() - 1);
  expect_refusal(forged, {"unknown setting 'checkpoint'"});
  forged.settings = "";
  expect_refusal(forged, {"without the setting 'particles'"});
}

TEST_F(BadNbodyCheckpoint, SettingsThatMakeNoSense) {
  for (char const* name : {"deterministic", "inverted", "fixed-amplitude", "renormalise",
                           "pictures", "spectra", "snapshots"})
    for (char const* value : {"maybe", "", "TRUE", "1", "true "})
      expect_refusal_of(name, value, {"makes no sense", name});
  expect_refusal_of("box", "-1", {"--box must be a number above 0, not '-1'"});
  expect_refusal_of("box", "", {"box must be '100'"});
  expect_refusal_of("box", "1e2", {"box must be '100'"});  // not as it is written
  expect_refusal_of("particles", "99999", {"--particles", "from 1 to 16384"});
  expect_refusal_of("stepper", "leapfrog", {"stepper"});
  expect_refusal_of("stepper", "", {"stepper must be 'fastpm'"});
  expect_refusal_of("sigma8", "", {"sigma8"});
  expect_refusal_of("A-s", "2e-9", {"sigma8"});
  expect_refusal_of("slab-thickness", "1000", {"--slab-thickness must be at most the box"});
  expect_refusal_of("outputs", "0.3", {"--outputs"});
  expect_refusal_of("checkpoint", "0", {"--checkpoint"});
  expect_refusal_of("noise", "a#b", {"makes no sense"});  // beside the seed
}

TEST_F(BadNbodyCheckpoint, PhysicsThatCantBe) {
  for (std::string const setting : {"omega-m = -1", "h = 67", "omega-b = 0.5"}) {
    Parts forged = parts();
    std::size_t const equals = setting.find(" = ");
    forged.set(setting.substr(0, equals), setting.substr(equals + 3));
    forged.write(folder / "c.hdf5");
    expect_failure(3, "--restart c.hdf5 --output other", {"c.hdf5 makes no sense"});
  }
}

TEST_F(BadNbodyCheckpoint, StepsThatArentTheSettings) {
  Parts const whole = parts();
  for (std::int32_t const steps : {-1, 6, std::numeric_limits<std::int32_t>::max()}) {
    Parts forged = whole;
    forged.steps_done = steps;
    expect_refusal(forged, {"of 5 steps can't have been made"});
  }
  auto const expect_other = [&](std::vector<double> scale_factors, std::string const& words) {
    Parts forged = whole;
    forged.scale_factors = std::move(scale_factors);
    expect_refusal(forged, {words});
  };
  auto const& a = whole.scale_factors;
  expect_other({a[0], a[1], a[3], a[4], a[5]}, "--outputs");
  expect_other({a[0], a[2], a[3], a[4], a[5]}, "a step must end at a = 0.4");
  expect_other({a[0], a[1], a[2], a[3], a[4]}, "a step must end at a = 1");
  expect_other({0.1, a[0], a[1], a[2], a[3], a[4], a[5]}, "steps must be from a = 0.2 to 1");
  expect_other({a[0], a[1], a[2], a[3], a[4], a[5], 2}, "steps must be from a = 0.2 to 1");
  expect_other({a[1], a[0], a[2], a[3], a[4], a[5]}, "must be above 0 and rise");
  expect_other({a[0], a[1], a[2], a[3], a[4], std::nan("")}, "must be above 0 and rise");
  expect_other({}, "can't have been made");
}

TEST_F(BadNbodyCheckpoint, ParticlesThatCantBe) {
  Parts const whole = parts();
  for (float const x : {-1e-30f, 100.f, 1e30f, std::nanf(""), INFINITY}) {
    Parts forged = whole;
    forged.positions[22] = x;
    expect_refusal(forged, {"in 'positions' of particle 7", "in the box, from 0 to below 100"});
  }
  for (float const p : {std::nanf(""), INFINITY, -INFINITY}) {
    Parts forged = whole;
    forged.momenta[0] = p;
    expect_refusal(forged, {"in 'momenta' of particle 0", "must be finite"});
  }
  Parts forged = whole;
  forged.momenta.resize(3);
  expect_refusal(forged, {"'momenta' has shape (1, 3), and (64, 3) was expected"});
  forged = whole;
  forged.set("particles", "5");
  expect_refusal(forged, {"(125, 3) was expected"});
  forged = whole;
  forged.set("precision", "double");
  expect_refusal(forged, {"'positions' must be float64, not float32"});
  forged = whole;
  forged.format = "coir-nbody checkpoint 1";
  expect_refusal(forged, {"is no checkpoint of this version"});
}
