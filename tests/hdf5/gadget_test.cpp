#include <coir/core/errors.hpp>
#include <coir/hdf5/gadget.hpp>
#include <coir/hdf5/reader.hpp>
#include <coir/hdf5/writer.hpp>

#include <gtest/gtest.h>
#include <io/scratch.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace fs = std::filesystem;
using coir::InputError;
using namespace coir::hdf5;
using namespace coir::testing;

namespace {

GadgetHeader example_header(std::int64_t particles) {
  GadgetHeader header;
  header.particles = particles;
  header.scale_factor = 0.5;
  header.box = 100'000;
  header.particle_mass = 1.25;
  header.omega_m = 0.3;
  header.omega_lambda = 0.7;
  header.hubble = 0.7;
  return header;
}

// Numbers that name the particle and the axis.
template <class T>
void fill_block(GadgetBlock<T> const& block) {
  for (std::int64_t k = 0; k < 3 * block.count(); ++k) {
    std::int64_t const number = 3 * block.first + k;
    block.positions[std::size_t(k)] = static_cast<T>(number) / 8;
    block.velocities[std::size_t(k)] = static_cast<T>(-number) / 3;
  }
}

template <class T>
void write_example(fs::path const& path, GadgetHeader const& header,
                   GadgetOptions const& options = {}) {
  write_gadget<T>(path, header, &fill_block<T>, options);
}

// A file of one particle with one attribute of its header changed, or left out where `value` has
// none.
template <class T, class Id = std::uint32_t>
void write_changed(fs::path const& path, std::string const& changed, std::vector<T> const& value) {
  Writer writer(path);
  writer.make_group("Header");
  auto const put = [&](std::string const& name, std::vector<double> const& values) {
    if (name != changed) writer.write_attribute_array("Header", name, values);
  };
  auto const put_counts = [&](std::string const& name, std::vector<int> const& values) {
    if (name != changed) writer.write_attribute_array("Header", name, values);
  };
  put_counts("NumPart_ThisFile", {0, 1, 0, 0, 0, 0});
  put_counts("NumPart_Total", {0, 1, 0, 0, 0, 0});
  put_counts("NumFilesPerSnapshot", {1});
  put("MassTable", {0, 1, 0, 0, 0, 0});
  put("Time", {1});
  put("BoxSize", {10});
  put("Omega0", {0.3});
  put("OmegaLambda", {0.7});
  put("HubbleParam", {0.7});
  if (!value.empty()) writer.write_attribute_array("Header", changed, value);
  writer.write("PartType1/Coordinates", std::vector<float>{1, 2, 3}, {1, 3});
  writer.write("PartType1/Velocities", std::vector<float>{4, 5, 6}, {1, 3});
  writer.write("PartType1/ParticleIDs", std::vector<Id>{7});
  writer.commit();
}

template <class T>
std::string refusal_to_read(std::string const& changed, std::vector<T> const& value) {
  TemporaryFolder const folder;
  write_changed(folder / "a.hdf5", changed, value);
  std::function<void(GadgetBlock<float const> const&)> const ignore = [](auto const&) {};
  std::string const text =
      message_of<InputError>([&] { read_gadget<float>(folder / "a.hdf5", ignore); });
  EXPECT_TRUE(text.starts_with((folder / "a.hdf5").string() + ": ")) << text;
  return text;
}

std::string refusal_to_write(GadgetHeader const& header, GadgetOptions const& options = {}) {
  TemporaryFolder const folder;
  std::string const text =
      message_of([&] { write_example<float>(folder / "a.hdf5", header, options); });
  EXPECT_EQ(folder.entries(), 0);
  return text;
}

template <class T>
class Gadget : public ::testing::Test {};

}  // namespace

using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Gadget, Reals);

TYPED_TEST(Gadget, ParticlesComeBackForAnyNumberAndBlock) {
  using T = TypeParam;
  // Dividing by sqrt(a) and multiplying by it rounds twice, each time by half an ulp.
  T const tolerance = 2 * std::numeric_limits<T>::epsilon();
  for (std::int64_t const particles : {0, 1, 7, 64, 101})
    for (std::int64_t const block : {1, 7, 1000}) {
      TemporaryFolder const folder;
      write_example<T>(folder / "a.hdf5", example_header(particles), {.block = block});
      std::int64_t next = 0;
      GadgetHeader const header = read_gadget<T>(
          folder / "a.hdf5",
          [&](GadgetBlock<T const> const& got) {
            ASSERT_EQ(got.first, next);
            ASSERT_LE(got.count(), 10);
            std::vector<T> positions(got.positions.size()), velocities(positions.size());
            std::vector<std::uint64_t> ids(got.ids.size());
            fill_block<T>({got.first, positions, velocities, ids});
            EXPECT_TRUE(std::ranges::equal(got.positions, positions));
            for (std::size_t k = 0; k < velocities.size(); ++k)
              EXPECT_NEAR(got.velocities[k], velocities[k], tolerance * std::abs(velocities[k]));
            for (std::int64_t i = 0; i < got.count(); ++i)
              EXPECT_EQ(got.ids[std::size_t(i)], std::uint64_t(got.first + i + 1));
            next += got.count();
          },
          {.block = 10});
      EXPECT_EQ(next, particles);
      EXPECT_EQ(header.particles, particles);
    }
}

TYPED_TEST(Gadget, VelocitiesAreStoredOverTheRootOfTheScaleFactor) {
  TemporaryFolder const folder;
  GadgetHeader header = example_header(1);
  header.scale_factor = 0.25;  // its root is exact
  write_gadget<TypeParam>(folder / "a.hdf5", header,
                          [](GadgetBlock<TypeParam> const& block) { block.velocities[0] = 300; });
  EXPECT_EQ(Reader(folder / "a.hdf5").read<TypeParam>("PartType1/Velocities"),
            (std::vector<TypeParam>{600, 0, 0}));
}

TYPED_TEST(Gadget, IsReadInTheOtherPrecision) {
  using T = TypeParam;
  using Other = std::conditional_t<std::is_same_v<T, float>, double, float>;
  TemporaryFolder const folder;
  write_example<T>(folder / "a.hdf5", example_header(3));
  read_gadget<Other>(folder / "a.hdf5", [](GadgetBlock<Other const> const& block) {
    EXPECT_EQ(block.positions[8], Other(1));
  });
  EXPECT_EQ(Reader(folder / "a.hdf5").type("PartType1/Coordinates"), type_of<T>);
}

TEST(GadgetHeader, ComesBack) {
  for (GadgetLength const length : {GadgetLength::kpc_per_h, GadgetLength::mpc_per_h}) {
    TemporaryFolder const folder;
    GadgetHeader header = example_header(2);
    header.length = length;
    header.files = 3;
    header.particles_total = (std::int64_t(1) << 33) + 5;
    write_example<float>(folder / "a.hdf5", header);
    GadgetHeader const got = read_gadget_header(folder / "a.hdf5");
    EXPECT_EQ(got.particles, 2);
    EXPECT_EQ(got.particles_total, header.particles_total);
    EXPECT_EQ(got.files, 3);
    EXPECT_EQ(got.scale_factor, 0.5);
    EXPECT_EQ(got.box, 100'000);
    EXPECT_EQ(got.length, length);
    EXPECT_EQ(got.particle_mass, 1.25);
    EXPECT_EQ(got.omega_m, 0.3);
    EXPECT_EQ(got.omega_lambda, 0.7);
    EXPECT_EQ(got.hubble, 0.7);
  }
}

TEST(GadgetHeader, HasWhatGadgetReads) {
  TemporaryFolder const folder;
  GadgetHeader header = example_header(2);
  header.files = 2;
  header.particles_total = (std::int64_t(3) << 32) + 5;
  header.length = GadgetLength::mpc_per_h;
  write_example<double>(folder / "a.hdf5", header);
  Reader const reader(folder / "a.hdf5");
  auto const counts = [&](char const* name) {
    EXPECT_EQ(reader.attribute_type("Header", name), Type::uint32);
    return reader.attribute_array<std::uint32_t>("Header", name);
  };
  EXPECT_EQ(counts("NumPart_ThisFile"), (std::vector<std::uint32_t>{0, 2, 0, 0, 0, 0}));
  EXPECT_EQ(counts("NumPart_Total"), (std::vector<std::uint32_t>{0, 5, 0, 0, 0, 0}));
  EXPECT_EQ(counts("NumPart_Total_HighWord"), (std::vector<std::uint32_t>{0, 3, 0, 0, 0, 0}));
  EXPECT_EQ(reader.attribute_array<double>("Header", "MassTable"),
            (std::vector<double>{0, 1.25, 0, 0, 0, 0}));
  EXPECT_EQ(reader.attribute<double>("Header", "Time"), 0.5);
  EXPECT_EQ(reader.attribute<double>("Header", "Redshift"), 1);
  EXPECT_EQ(reader.attribute<int>("Header", "NumFilesPerSnapshot"), 2);
  EXPECT_EQ(reader.attribute<int>("Header", "Flag_DoublePrecision"), 1);
  for (char const* const flag : {"Flag_Sfr", "Flag_Cooling", "Flag_StellarAge", "Flag_Metals",
                                 "Flag_Feedback", "Flag_Entropy_ICs"})
    EXPECT_EQ(reader.attribute<int>("Header", flag), 0);
  for (char const* const group : {"Header", "Parameters"}) {
    EXPECT_EQ(reader.attribute<double>(group, "BoxSize"), 100'000);
    EXPECT_EQ(reader.attribute<double>(group, "Omega0"), 0.3);
    EXPECT_EQ(reader.attribute<double>(group, "OmegaLambda"), 0.7);
    EXPECT_EQ(reader.attribute<double>(group, "HubbleParam"), 0.7);
  }
  // GADGET's own values: a parsec of 3.085678e18 cm and a solar mass of 1.989e33 g.
  auto const unit = [&](char const* name) { return reader.attribute<double>("Parameters", name); };
  EXPECT_NEAR(unit("UnitLength_in_cm") / 3.085678e24, 1, 2e-7);
  EXPECT_NEAR(unit("UnitMass_in_g") / 1.989e43, 1, 5e-4);
  EXPECT_EQ(unit("UnitVelocity_in_cm_per_s"), 1e5);
  EXPECT_EQ(reader.attribute<double>("PartType1/Velocities", "a_scaling"), 0.5);
  EXPECT_EQ(reader.attribute<double>("PartType1/Coordinates", "h_scaling"), -1);
}

TEST(GadgetHeader, EachDatasetSaysItsUnitsInBothWays) {
  TemporaryFolder const folder;
  write_example<float>(folder / "a.hdf5", example_header(2));
  Reader const reader(folder / "a.hdf5");
  struct Units {
    char const *dataset, *basic_unit;
    double a, h, to_cgs;
  };
  auto const in_cgs = [&](char const* unit) {
    return reader.attribute<double>("Parameters", unit);
  };
  for (Units const& units :
       {Units{"PartType1/Coordinates", "U_L", 1, -1, in_cgs("UnitLength_in_cm")},
        Units{"PartType1/Velocities", "U_V", 0.5, 0, in_cgs("UnitVelocity_in_cm_per_s")},
        Units{"PartType1/Masses", "U_M", 0, -1, in_cgs("UnitMass_in_g")},
        Units{"PartType1/ParticleIDs", "", 0, 0, 1}}) {
    auto const attribute = [&](char const* name) {
      return reader.attribute<double>(units.dataset, name);
    };
    EXPECT_EQ(attribute("a_scaling"), units.a) << units.dataset;
    EXPECT_EQ(attribute("aexp-scale-exponent"), units.a) << units.dataset;
    EXPECT_EQ(attribute("h_scaling"), units.h) << units.dataset;
    EXPECT_EQ(attribute("h-scale-exponent"), units.h) << units.dataset;
    EXPECT_EQ(attribute("CGSConversionFactor"), units.to_cgs) << units.dataset;
    std::string const text = reader.attribute_text(units.dataset, "VarDescription");
    EXPECT_NE(text.find(units.basic_unit), std::string::npos) << text;
    for (char const* const other : {"U_L", "U_V", "U_M"})
      if (other != std::string(units.basic_unit))
        EXPECT_EQ(text.find(other), std::string::npos) << text;
  }
  EXPECT_EQ(reader.type("PartType1/Masses"), Type::float32);
  EXPECT_EQ(reader.read<double>("PartType1/Masses"), std::vector<double>(2, 1.25));
}

TEST(GadgetHeader, CountsMayHaveSignsOr64Bits) {
  TemporaryFolder const folder;
  write_changed(folder / "signed.hdf5", "", std::vector<int>());
  EXPECT_EQ(read_gadget_header(folder / "signed.hdf5").particles_total, 1);
  std::uint64_t const many = (std::uint64_t(1) << 34) + 1;
  write_changed(folder / "wide.hdf5", "NumPart_Total",
                std::vector<std::uint64_t>{0, many, 0, 0, 0, 0});
  EXPECT_EQ(read_gadget_header(folder / "wide.hdf5").particles_total, std::int64_t(many));
}

// GADGET-4 with NTYPES other than 6.
TEST(GadgetHeader, MayBeOfAnyNumberOfTypes) {
  TemporaryFolder const folder;
  for (std::size_t const types : {2U, 3U, 6U, 8U}) {
    {
      Writer writer(folder / "a.hdf5");
      writer.make_group("Header");
      std::vector<int> counts(types, 0);
      counts[1] = 1;
      std::vector<double> masses(types, 0);
      masses[1] = 2.5;
      for (char const* const name : {"NumPart_ThisFile", "NumPart_Total"})
        writer.write_attribute_array("Header", name, counts);
      writer.write_attribute_array("Header", "MassTable", masses);
      writer.write_attribute("Header", "NumFilesPerSnapshot", 1);
      writer.write_attribute("Header", "Time", 0.5);
      for (char const* const name : {"BoxSize", "Omega0", "OmegaLambda", "HubbleParam"})
        writer.write_attribute("Header", name, 0.7);
      writer.commit();
    }
    GadgetHeader const header = read_gadget_header(folder / "a.hdf5");
    EXPECT_EQ(header.particles, 1) << types;
    EXPECT_EQ(header.particle_mass, 2.5) << types;
  }
  expect_parts(refusal_to_read("MassTable", std::vector{1.0}),
               {"'MassTable' of 'Header' must have 2 values or more", "not 1"});
}

TEST(GadgetHeader, MayHaveWholeNumbersAsIntegers) {
  TemporaryFolder const folder;
  write_changed(folder / "a.hdf5", "BoxSize", std::vector<std::int64_t>{100});
  EXPECT_EQ(read_gadget_header(folder / "a.hdf5").box, 100);
  write_changed(folder / "b.hdf5", "Time", std::vector<std::uint64_t>{1});
  EXPECT_EQ(read_gadget_header(folder / "b.hdf5").scale_factor, 1);
  write_changed(folder / "c.hdf5", "NumFilesPerSnapshot", std::vector<std::int64_t>{2});
  EXPECT_EQ(read_gadget_header(folder / "c.hdf5").files, 2);
}

TEST(GadgetHeader, WithoutUnitsMeansGadgetsOwn) {
  TemporaryFolder const folder;
  write_changed(folder / "a.hdf5", "", std::vector<int>());
  EXPECT_EQ(read_gadget_header(folder / "a.hdf5").length, GadgetLength::kpc_per_h);
  write_changed(folder / "b.hdf5", "UnitLength_in_cm", std::vector{3.085678e24});
  EXPECT_EQ(read_gadget_header(folder / "b.hdf5").length, GadgetLength::mpc_per_h);
}

TEST(GadgetIds, MayBeSet) {
  TemporaryFolder const folder;
  write_gadget<float>(folder / "a.hdf5", example_header(1),
                      [](GadgetBlock<float> const& block) { block.ids[0] = 77; });
  EXPECT_EQ(Reader(folder / "a.hdf5").read<std::uint64_t>("PartType1/ParticleIDs"),
            std::vector<std::uint64_t>{77});
}

template <class Id>
std::vector<std::uint64_t> ids_stored_as() {
  TemporaryFolder const folder;
  write_changed<int, Id>(folder / "a.hdf5", "", {});
  std::vector<std::uint64_t> ids;
  read_gadget<double>(folder / "a.hdf5", [&](GadgetBlock<double const> const& block) {
    ids.assign(block.ids.begin(), block.ids.end());
  });
  return ids;
}

TEST(GadgetIds, MayHaveSignsInFilesOfOthers) {
  std::vector<std::uint64_t> const expected{7};
  EXPECT_EQ(ids_stored_as<std::uint32_t>(), expected);
  EXPECT_EQ(ids_stored_as<std::int32_t>(), expected);
  EXPECT_EQ(ids_stored_as<std::int64_t>(), expected);
}

TEST(GadgetWrite, AFileThatIsNotCommittedHasNoNameYet) {
  TemporaryFolder const folder;
  auto const header = example_header(2);
  auto const fill = &fill_block<float>;
  {
    auto const dropped = write_gadget_uncommitted<float>(folder / "a", header, fill);
    EXPECT_FALSE(std::filesystem::exists(folder / "a"));
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "a"));
  write_gadget_uncommitted<float>(folder / "a", header, fill).commit();
  EXPECT_EQ(read_gadget_header(folder / "a").particles, header.particles);
}

TEST(GadgetWrite, AnExceptionOfTheCallersLeavesTheOldFile) {
  TemporaryFolder const folder;
  put(folder / "a.hdf5", "before");
  EXPECT_THROW(write_gadget<float>(
                   folder / "a.hdf5", example_header(2),
                   [](GadgetBlock<float> const&) { throw std::runtime_error("interrupted"); }),
               std::runtime_error);
  EXPECT_EQ(read_text(folder / "a.hdf5"), "before");
  EXPECT_EQ(folder.entries(), 1);
}

TEST(GadgetWrite, ValuesOutOfRangeAreErrors) {
  auto const with = [](auto GadgetHeader::* member, double value) {
    GadgetHeader header = example_header(5);
    header.*member = static_cast<std::remove_reference_t<decltype(header.*member)>>(value);
    return header;
  };
  expect_parts(refusal_to_write(with(&GadgetHeader::particles, -1)), {"particles must be 0 or"});
  expect_parts(refusal_to_write(with(&GadgetHeader::particles_total, 4)),
               {"particles_total must be 0 or at least the file's 5, not 4"});
  expect_parts(refusal_to_write(with(&GadgetHeader::files, 0)), {"files must be 1 or more"});
  expect_parts(refusal_to_write(with(&GadgetHeader::scale_factor, 0)),
               {"scale_factor must be > 0"});
  expect_parts(refusal_to_write(with(&GadgetHeader::box, NAN)), {"box must be > 0, not nan"});
  expect_parts(refusal_to_write(with(&GadgetHeader::particle_mass, -1)), {"particle_mass must be"});
  expect_parts(refusal_to_write(with(&GadgetHeader::hubble, 0)), {"hubble must be > 0"});
  expect_parts(refusal_to_write(example_header(5), {.block = 0}), {"block must be 1 or more"});
}

TEST(GadgetRead, WhatIsMissingIsAnError) {
  std::vector<int> const nothing;
  for (char const* const name :
       {"NumPart_ThisFile", "NumPart_Total", "MassTable", "Time", "BoxSize"})
    expect_parts(refusal_to_read(name, nothing),
                 {"attribute '" + std::string(name) + "' of 'Header' is not there"});
  // It might be among the parameters.
  expect_parts(refusal_to_read("Omega0", nothing), {"'Parameters' is not in it"});

  TemporaryFolder const folder;
  Writer(folder / "a.hdf5").commit();
  expect_parts(message_of<InputError>([&] { (void)read_gadget_header(folder / "a.hdf5"); }),
               {"'Header' is not in it"});
}

TEST(GadgetRead, ValuesThatCantBeAreErrors) {
  expect_parts(refusal_to_read("NumPart_ThisFile", std::vector{0, 1}),
               {"'NumPart_ThisFile' of 'Header' must have 6 values", "not 2"});
  expect_parts(refusal_to_read("NumPart_ThisFile", std::vector{0, -1, 0, 0, 0, 0}),
               {"NumPart_ThisFile must be 0 or more", "damaged"});
  expect_parts(refusal_to_read("NumPart_ThisFile", std::vector{0, 2, 0, 0, 0, 0}),
               {"'PartType1/Coordinates' has shape (1, 3), and (2, 3) was expected"});
  expect_parts(refusal_to_read("Time", std::vector{0.0}), {"Time > 0"});
  refusal_to_read("NumFilesPerSnapshot", std::vector{1e300});
  refusal_to_read("NumFilesPerSnapshot", std::vector{0});
  message_of([] { read_gadget<float>("a.hdf5", [](auto const&) {}, {.block = 0}); });
}

TEST(GadgetRead, UnitsThatAreNotKnownAreErrors) {
  expect_parts(refusal_to_read("UnitLength_in_cm", std::vector{1.0}),
               {"UnitLength_in_cm must be that of kpc/h or Mpc/h, not 1: convert"});
  expect_parts(refusal_to_read("UnitMass_in_g", std::vector{1.989e33}),
               {"UnitMass_in_g must be that of 1e10 Msun/h, not 1.989e+33"});
  expect_parts(refusal_to_read("UnitVelocity_in_cm_per_s", std::vector{1.0}),
               {"UnitVelocity_in_cm_per_s must be that of km/s"});
}

TEST(ParticleMass, IsTheBoxsMatterOverTheNumber) {
  // 3 H0^2 / (8 pi G) with G Msun / Mpc = 4.300917e-9 (km/s)^2: 27.75366, to the digits of that
  // figure.
  EXPECT_NEAR(critical_density, 3e4 / (8 * M_PI * 4.300917e-9) / 1e10, 1e-5);
  EXPECT_NEAR(critical_density, 27.7536627, 1e-6);
  EXPECT_DOUBLE_EQ(particle_mass(0.25, 2, 16), critical_density / 8);
}

TEST(ParticleMass, NeedsMatterABoxAndParticles) {
  expect_parts(message_of([] { (void)particle_mass(0, 1, 1); }), {"omega_m must be > 0, not 0"});
  expect_parts(message_of([] { (void)particle_mass(1, -1, 1); }), {"box must be > 0, not -1"});
  expect_parts(message_of([] { (void)particle_mass(1, 1, 0); }), {"particles must be > 0"});
}
