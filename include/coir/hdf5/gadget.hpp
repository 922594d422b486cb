#pragma once

/// \file
/// Snapshots of particles in GADGET's HDF5 format, as yt, pynbody and GADGET itself read them.

#include <coir/core/concepts.hpp>
#include <coir/hdf5/writer.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <numbers>
#include <span>
#include <type_traits>

namespace coir::hdf5 {

/// The critical density today in 1e10 Msun/h per (Mpc/h)^3: 3 (100 km/s/Mpc)^2 / (8 pi G) =
/// 27.7536...
///
/// G Msun = 1.3271244e20 m^3 s^-2 (IAU 2015, Resolution B3), so that no measured G is needed. A
/// parsec is 648000/pi astronomical units (IAU 2015, Resolution B2) of 149 597 870 700 m (IAU 2012,
/// Resolution B2).
inline constexpr double critical_density = [] {
  double const mpc = 1e6 * 648000 / std::numbers::pi * 149597870.7;  // km
  double const g_msun = 1.3271244e11 / mpc;                          // (km/s)^2 Mpc
  return 3 * 1e4 / (8 * std::numbers::pi * g_msun) / 1e10;
}();

/// The mass of each of N equal particles that make up all matter of a box: omega_m critical_density
/// box^3 / N.
///
/// \param omega_m    density of matter today over the critical one, > 0
/// \param box        side of the box, Mpc/h, > 0
/// \param particles  N > 0
/// \return in 1e10 Msun/h
/// \throws PreconditionError if a requirement is broken
double particle_mass(double omega_m, double box, std::int64_t particles);

/// The unit of positions and of the box.
enum class GadgetLength {
  kpc_per_h,  ///< GADGET's default, which many readers assume
  mpc_per_h
};

/// A snapshot's header. coir writes and reads particles of type 1 (dark matter) alone.
struct GadgetHeader {
  std::int64_t particles = 0;  ///< in this file
  std::int64_t particles_total =
      0;                    ///< in all files of the snapshot; 0 means as many as in this one
  int files = 1;            ///< that the snapshot is spread over
  double scale_factor = 1;  ///< a > 0, 1 today; the redshift is 1/a - 1
  double box = 0;           ///< comoving side of the periodic box, in `length`
  GadgetLength length = GadgetLength::kpc_per_h;
  double particle_mass =
      0;  ///< 1e10 Msun/h; 0 where a file gives each particle its own, which is not read
  double omega_m = 0;       ///< density of matter today over the critical one
  double omega_lambda = 0;  ///< the same of the cosmological constant
  double hubble = 0;        ///< h > 0: H0 over 100 km/s/Mpc
};

/// Particles first, first + 1, ... of a file, in host memory. T is float or double, const when
/// reading.
template <class T>
struct GadgetBlock {
  std::int64_t first;
  std::span<T> positions;   ///< x, y, z of each, comoving, in the header's unit of length
  std::span<T> velocities;  ///< x, y, z of each: peculiar velocities a dx/dt, km/s
  std::span<std::conditional_t<std::is_const_v<T>, std::uint64_t const, std::uint64_t>> ids;

  std::int64_t count() const { return static_cast<std::int64_t>(ids.size()); }
};

/// Options of write_gadget and read_gadget.
struct GadgetOptions {
  std::int64_t block = 1 << 18;  ///< particles at a time, 1 or more; 32 or 56 bytes each
};

/// Writes one file of a snapshot, block by block, with little memory for any number of particles.
///
/// The file has /Header with GADGET-2's attributes, /Parameters with GADGET-4's names of them and
/// the units, and /PartType1 with Coordinates and Velocities (N, 3) in T, and ParticleIDs (N).
/// Velocities are stored as GADGET does: the peculiar velocity divided by sqrt(a). If a snapshot
/// has several files, the caller names them: "snap.0.hdf5", "snap.1.hdf5".
///
/// \param path    the file appears when it is whole, and replaces an earlier one
/// \param header  the content of /Header; there may be no particles
/// \param fill    called for each block in turn, to set positions and velocities. IDs are set to
///   first + 1, first + 2, ..., as GADGET counts, and may be overwritten
///
/// \throws PreconditionError if a value of the header is out of its range
/// \throws ResourceError as Writer
/// \see Springel, MNRAS 364 (2005) 1105, and the user's guides of GADGET-2 (section 6) and GADGET-4
///   (snapshot format)
template <Real T>
void write_gadget(std::filesystem::path const& path, GadgetHeader const& header,
                  std::function<void(GadgetBlock<T> const&)> const& fill,
                  GadgetOptions const& options = {});

/// Writes a snapshot as write_gadget() does, but commit() of the result gives the file its name:
/// for the files of one snapshot, which are to appear together.
template <Real T>
Writer write_gadget_uncommitted(std::filesystem::path const& path, GadgetHeader const& header,
                                std::function<void(GadgetBlock<T> const&)> const& fill,
                                GadgetOptions const& options = {});

/// Reads a snapshot's header as GADGET-2 to GADGET-4 write it. If a file names no units, they are
/// kpc/h, 1e10 Msun/h and km/s.
///
/// \throws InputError if the file is no such snapshot, or GadgetHeader lacks its units
GadgetHeader read_gadget_header(std::filesystem::path const& path);

/// Reads one file of a snapshot, block by block.
///
/// \param take  called for each block in turn; T may be float where the file has double, and the
///   reverse
/// \return the header
/// \throws InputError as Reader, or if the number of particles differs from the header's
template <Real T>
GadgetHeader read_gadget(std::filesystem::path const& path,
                         std::function<void(GadgetBlock<T const> const&)> const& take,
                         GadgetOptions const& options = {});

}  // namespace coir::hdf5
