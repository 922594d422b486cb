#include <coir/core/errors.hpp>
#include <coir/hdf5/gadget.hpp>
#include <coir/hdf5/reader.hpp>
#include <coir/hdf5/writer.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace coir::hdf5 {

namespace {

constexpr int type_count = 6;   // of particles in files that are written
constexpr int dark_matter = 1;  // the one that is used here
constexpr char const* positions_name = "PartType1/Coordinates";
constexpr char const* velocities_name = "PartType1/Velocities";
constexpr char const* ids_name = "PartType1/ParticleIDs";
constexpr char const* masses_name = "PartType1/Masses";

constexpr double cm_in_kpc =
    1e3 * 648000 / std::numbers::pi * 14959787070000;  // as critical_density
constexpr double g_in_1e10_msun =
    1e10 * 1.3271244e20 / 6.67430e-11 * 1e3;  // G of CODATA 2018, in SI
constexpr double cm_per_s_in_km_per_s = 1e5;

double cm_in(GadgetLength length) {
  return length == GadgetLength::kpc_per_h ? cm_in_kpc : 1e3 * cm_in_kpc;
}

void expects_valid(GadgetHeader const& header, GadgetOptions const& options) {
  expects(header.particles >= 0, "particles must be 0 or more", header.particles);
  expects(header.particles_total == 0 || header.particles_total >= header.particles,
          "particles_total must be 0 or at least the file's " + std::to_string(header.particles),
          header.particles_total);
  expects(header.files >= 1, "files must be 1 or more", header.files);
  expects(header.scale_factor > 0, "scale_factor must be > 0", header.scale_factor);
  expects(header.box > 0, "box must be > 0", header.box);
  expects(header.particle_mass >= 0, "particle_mass must be 0 or more", header.particle_mass);
  expects(header.hubble > 0, "hubble must be > 0", header.hubble);
  expects(options.block >= 1, "block must be 1 or more", options.block);
}

// A value for each type of particles: zero but for dark matter.
template <class T>
std::vector<T> of_dark_matter(T value) {
  std::vector<T> values(type_count, T(0));
  values[dark_matter] = value;
  return values;
}

void write_header(Writer& writer, GadgetHeader const& header, bool is_double) {
  auto const in_file = static_cast<std::uint64_t>(header.particles);
  auto const total = std::max(in_file, static_cast<std::uint64_t>(header.particles_total));

  writer.make_group("Header");
  // 32 bits are what GADGET-2 reads.
  if (in_file <= std::numeric_limits<std::uint32_t>::max())
    writer.write_attribute_array("Header", "NumPart_ThisFile",
                                 of_dark_matter(static_cast<std::uint32_t>(in_file)));
  else
    writer.write_attribute_array("Header", "NumPart_ThisFile", of_dark_matter(in_file));
  writer.write_attribute_array("Header", "NumPart_Total",
                               of_dark_matter(static_cast<std::uint32_t>(total)));
  writer.write_attribute_array("Header", "NumPart_Total_HighWord",
                               of_dark_matter(static_cast<std::uint32_t>(total >> 32)));
  writer.write_attribute_array("Header", "MassTable", of_dark_matter(header.particle_mass));
  writer.write_attribute("Header", "Time", header.scale_factor);
  writer.write_attribute("Header", "Redshift", 1 / header.scale_factor - 1);
  writer.write_attribute("Header", "NumFilesPerSnapshot", header.files);
  for (char const* const flag : {"Flag_Sfr", "Flag_Cooling", "Flag_StellarAge", "Flag_Metals",
                                 "Flag_Feedback", "Flag_Entropy_ICs"})
    writer.write_attribute("Header", flag, 0);
  writer.write_attribute("Header", "Flag_DoublePrecision", is_double ? 1 : 0);

  // GADGET-4 keeps these among the parameters, those before it in the header.
  writer.make_group("Parameters");
  for (char const* const group : {"Header", "Parameters"}) {
    writer.write_attribute(group, "BoxSize", header.box);
    writer.write_attribute(group, "Omega0", header.omega_m);
    writer.write_attribute(group, "OmegaLambda", header.omega_lambda);
    writer.write_attribute(group, "HubbleParam", header.hubble);
  }
  writer.write_attribute("Parameters", "ComovingIntegrationOn", 1);
  writer.write_attribute("Parameters", "UnitLength_in_cm", cm_in(header.length));
  writer.write_attribute("Parameters", "UnitMass_in_g", g_in_1e10_msun);
  writer.write_attribute("Parameters", "UnitVelocity_in_cm_per_s", cm_per_s_in_km_per_s);
}

// The units of a dataset: powers of a, h and the basic units. GADGET-4 and the successors of
// GADGET-3 write them in two ways; the latter describe the basic units U_L, U_M and U_V in text.
// Readers know one or the other.
struct Scaling {
  double a, h, length, mass, velocity, to_cgs;
  char const* description;
};

void write_scaling(Writer& writer, char const* dataset, Scaling const& scaling) {
  writer.write_attribute(dataset, "a_scaling", scaling.a);
  writer.write_attribute(dataset, "h_scaling", scaling.h);
  writer.write_attribute(dataset, "length_scaling", scaling.length);
  writer.write_attribute(dataset, "mass_scaling", scaling.mass);
  writer.write_attribute(dataset, "velocity_scaling", scaling.velocity);
  writer.write_attribute(dataset, "to_cgs", scaling.to_cgs);
  writer.write_attribute(dataset, "aexp-scale-exponent", scaling.a);
  writer.write_attribute(dataset, "h-scale-exponent", scaling.h);
  writer.write_attribute(dataset, "CGSConversionFactor", scaling.to_cgs == 0 ? 1 : scaling.to_cgs);
  writer.write_attribute_text(dataset, "VarDescription", scaling.description);
}

// Counts are signed in some files, unsigned in others, and of 32 or 64 bits.
std::vector<std::int64_t> counts(Reader const& reader, char const* attribute) {
  if (reader.attribute_type("Header", attribute) != Type::uint64)
    return reader.attribute_array<std::int64_t>("Header", attribute);
  auto const wide = reader.attribute_array<std::uint64_t>("Header", attribute);
  return {wide.begin(), wide.end()};
}

// Scripts write whole numbers as integers, whatever they stand for.
double number(Reader const& reader, char const* group, char const* attribute) {
  switch (reader.attribute_type(group, attribute)) {
    case Type::int64: return static_cast<double>(reader.attribute<std::int64_t>(group, attribute));
    case Type::uint64:
      return static_cast<double>(reader.attribute<std::uint64_t>(group, attribute));
    default: return reader.attribute<double>(group, attribute);
  }
}

// IDs are signed in some files, and none of them is negative.
void read_ids(Reader const& reader, std::int64_t first, std::vector<std::uint64_t>& ids) {
  Type const stored = reader.type(ids_name);
  if (stored != Type::int32 && stored != Type::int64) {
    reader.read_rows(ids_name, first, std::span<std::uint64_t>(ids));
    return;
  }
  std::vector<std::int64_t> with_sign(ids.size());
  reader.read_rows(ids_name, first, std::span<std::int64_t>(with_sign));
  std::copy(with_sign.begin(), with_sign.end(), ids.begin());
}

class HeaderReader {
 public:
  HeaderReader(std::filesystem::path const& path, Reader const& reader)
      : name_(path.string()), reader_(reader) {}

  GadgetHeader read() {
    GadgetHeader header;
    // GADGET-4 is built for any number of types, where its predecessors have six.
    auto const masses = reader_.attribute_array<double>("Header", "MassTable");
    types_ = masses.size();
    if (types_ <= dark_matter)
      throw InputError(name_ + ": attribute 'MassTable' of 'Header' must have 2 values or more, " +
                       "one for each type of particles, of which type 1 is dark matter, not " +
                       std::to_string(types_));
    header.particle_mass = masses[dark_matter];
    header.particles = of_dark_matter("NumPart_ThisFile", counts(reader_, "NumPart_ThisFile"));
    header.particles_total = of_dark_matter("NumPart_Total", counts(reader_, "NumPart_Total"));
    if (reader_.has_attribute("Header", "NumPart_Total_HighWord"))
      header.particles_total +=
          of_dark_matter("NumPart_Total_HighWord", counts(reader_, "NumPart_Total_HighWord")) << 32;
    double const files = number(reader_, "Header", "NumFilesPerSnapshot");
    header.scale_factor = number(reader_, "Header", "Time");
    header.box = number(reader_, "Header", "BoxSize");
    header.omega_m = parameter("Omega0");
    header.omega_lambda = parameter("OmegaLambda");
    header.hubble = parameter("HubbleParam");
    header.length = length();
    expects_unit("UnitMass_in_g", g_in_1e10_msun, "1e10 Msun/h");
    expects_unit("UnitVelocity_in_cm_per_s", cm_per_s_in_km_per_s, "km/s");
    if (!(header.particles >= 0 && header.scale_factor > 0 && files >= 1 &&
          files <= std::numeric_limits<int>::max()))
      throw InputError(name_ + ": NumPart_ThisFile must be 0 or more, NumFilesPerSnapshot 1 or " +
                       "more and Time > 0 in /Header: it is no snapshot of a cosmological run, " +
                       "or damaged");
    header.files = static_cast<int>(files);
    return header;
  }

 private:
  template <class T>
  T of_dark_matter(char const* attribute, std::vector<T> const& values) const {
    if (values.size() != types_)
      throw InputError(name_ + ": attribute '" + attribute + "' of 'Header' must have " +
                       std::to_string(types_) +
                       " values, one for each type of particles as 'MassTable', not " +
                       std::to_string(values.size()));
    return values[dark_matter];
  }

  double parameter(char const* attribute) const {
    bool const in_header = reader_.has_attribute("Header", attribute);
    return number(reader_, in_header ? "Header" : "Parameters", attribute);
  }

  // 0 if no group has it.
  double unit(char const* attribute) const {
    for (char const* const group : {"Parameters", "Units", "Header"})
      if (reader_.has_attribute(group, attribute)) return number(reader_, group, attribute);
    return 0;
  }

  // Codes differ in the fifth digit of the solar mass and in the seventh of the parsec.
  static bool about(double value, double unit) { return std::abs(value / unit - 1) < 1e-2; }

  GadgetLength length() const {
    double const cm = unit("UnitLength_in_cm");
    if (about(cm, cm_in_kpc) || cm == 0) return GadgetLength::kpc_per_h;
    if (about(cm, 1e3 * cm_in_kpc)) return GadgetLength::mpc_per_h;
    throw InputError(name_ + ": UnitLength_in_cm must be that of kpc/h or Mpc/h, not " +
                     coir::in_words(cm) + ": convert the file first");
  }

  void expects_unit(char const* attribute, double expected, char const* words) const {
    double const value = unit(attribute);
    if (value != 0 && !about(value, expected))
      throw InputError(name_ + ": " + attribute + " must be that of " + words + ", not " +
                       coir::in_words(value) + ": convert the file first");
  }

  std::string name_;
  Reader const& reader_;
  std::size_t types_ = 0;  // of particles
};

}  // namespace

double particle_mass(double omega_m, double box, std::int64_t particles) {
  expects(omega_m > 0, "omega_m must be > 0", omega_m);
  expects(box > 0, "box must be > 0", box);
  expects(particles > 0, "particles must be > 0", particles);
  return omega_m * critical_density * box * box * box / static_cast<double>(particles);
}

template <Real T>
Writer write_gadget_uncommitted(std::filesystem::path const& path, GadgetHeader const& header,
                                std::function<void(GadgetBlock<T> const&)> const& fill,
                                GadgetOptions const& options) {
  expects_valid(header, options);
  std::int64_t const n = header.particles;
  Writer writer(path);
  write_header(writer, header, std::is_same_v<T, double>);
  writer.make_dataset(positions_name, type_of<T>, {n, 3});
  writer.make_dataset(velocities_name, type_of<T>, {n, 3});
  writer.make_dataset(ids_name, Type::uint64, {n});
  write_scaling(writer, positions_name,
                {1, -1, 1, 0, 0, cm_in(header.length), "Comoving positions, in U_L"});
  write_scaling(writer, velocities_name,
                {0.5, 0, 0, 0, 1, cm_per_s_in_km_per_s,
                 "Velocities a dx/dt over the root of the scale factor, in U_V"});
  write_scaling(writer, ids_name, {0, 0, 0, 0, 0, 0, "Identifiers"});
  if (header.particle_mass > 0) {
    // The header's mass is enough for GADGET; other readers look for this dataset and its units.
    writer.write_constant(masses_name, static_cast<T>(header.particle_mass), {n});
    write_scaling(writer, masses_name, {0, -1, 0, 1, 0, g_in_1e10_msun, "Masses, in U_M"});
  }

  T const root_a = static_cast<T>(std::sqrt(header.scale_factor));
  std::vector<T> positions, velocities;
  std::vector<std::uint64_t> ids;
  for (std::int64_t first = 0; first < n; first += options.block) {
    auto const count = static_cast<std::size_t>(std::min(options.block, n - first));
    positions.assign(3 * count, T(0));
    velocities.assign(3 * count, T(0));
    ids.resize(count);
    std::iota(ids.begin(), ids.end(), static_cast<std::uint64_t>(first) + 1);
    fill({first, positions, velocities, ids});
    for (T& v : velocities) v /= root_a;
    writer.append(positions_name, std::span<T const>(positions));
    writer.append(velocities_name, std::span<T const>(velocities));
    writer.append(ids_name, std::span<std::uint64_t const>(ids));
  }
  return writer;
}

template <Real T>
void write_gadget(std::filesystem::path const& path, GadgetHeader const& header,
                  std::function<void(GadgetBlock<T> const&)> const& fill,
                  GadgetOptions const& options) {
  write_gadget_uncommitted<T>(path, header, fill, options).commit();
}

GadgetHeader read_gadget_header(std::filesystem::path const& path) {
  Reader const reader(path);
  return HeaderReader(path, reader).read();
}

template <Real T>
GadgetHeader read_gadget(std::filesystem::path const& path,
                         std::function<void(GadgetBlock<T const> const&)> const& take,
                         GadgetOptions const& options) {
  expects(options.block >= 1, "block must be 1 or more", options.block);
  Reader const reader(path);
  GadgetHeader const header = HeaderReader(path, reader).read();
  std::int64_t const n = header.particles;
  if (n == 0) return header;  // GADGET leaves the group out
  reader.expects_shape(positions_name, {n, 3});
  reader.expects_shape(velocities_name, {n, 3});
  reader.expects_shape(ids_name, {n});

  T const root_a = static_cast<T>(std::sqrt(header.scale_factor));
  std::vector<T> positions, velocities;
  std::vector<std::uint64_t> ids;
  for (std::int64_t first = 0; first < n; first += options.block) {
    auto const count = static_cast<std::size_t>(std::min(options.block, n - first));
    positions.resize(3 * count);
    velocities.resize(3 * count);
    ids.resize(count);
    reader.read_rows(positions_name, first, std::span<T>(positions));
    reader.read_rows(velocities_name, first, std::span<T>(velocities));
    read_ids(reader, first, ids);
    for (T& v : velocities) v *= root_a;
    take({first, positions, velocities, ids});
  }
  return header;
}

template Writer write_gadget_uncommitted<float>(
    std::filesystem::path const&, GadgetHeader const&,
    std::function<void(GadgetBlock<float> const&)> const&, GadgetOptions const&);
template Writer write_gadget_uncommitted<double>(
    std::filesystem::path const&, GadgetHeader const&,
    std::function<void(GadgetBlock<double> const&)> const&, GadgetOptions const&);
template void write_gadget<float>(std::filesystem::path const&, GadgetHeader const&,
                                  std::function<void(GadgetBlock<float> const&)> const&,
                                  GadgetOptions const&);
template void write_gadget<double>(std::filesystem::path const&, GadgetHeader const&,
                                   std::function<void(GadgetBlock<double> const&)> const&,
                                   GadgetOptions const&);
template GadgetHeader read_gadget<float>(
    std::filesystem::path const&, std::function<void(GadgetBlock<float const> const&)> const&,
    GadgetOptions const&);
template GadgetHeader read_gadget<double>(
    std::filesystem::path const&, std::function<void(GadgetBlock<double const> const&)> const&,
    GadgetOptions const&);

}  // namespace coir::hdf5
