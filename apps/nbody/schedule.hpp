#pragma once

#include "checkpoint_parts.hpp"
#include "settings.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace coir::apps::nbody {

/// When a run makes its steps, and at which of their ends it writes.
struct Schedule {
  std::vector<double> scale_factors;  ///< at the start and after each step
  std::vector<int> outputs;  ///< indices into these, rising; the last one is always among them

  int steps() const { return static_cast<int>(scale_factors.size()) - 1; }
};

/// The steps that the settings ask for, with more of them where an output would lie within one.
///
/// \throws PreconditionError if scale factors don't rise, or an output is before the start or after
///   the end
Schedule schedule_of(Settings const& settings);

/// The steps of an earlier run, with outputs at their ends.
///
/// \throws PreconditionError if an output is at no step's end
Schedule schedule_of(Settings const& settings, std::vector<double> const& scale_factors);

/// The steps that settings name, without those that outputs add.
int steps_asked_for(Settings const& settings);

/// The steps of an earlier run, and more of the last one's width that lead on to a later end.
///
/// \throws PreconditionError unless the end is later
std::vector<double> with_later_end(Settings const& settings,
                                   std::vector<double> const& scale_factors, double a_end);

/// What a start as late as this costs; empty if it is early enough.
///
/// \param a  the scale factor at the start
std::string late_start_of(Settings const& settings, double a);

/// Whether one of rising scale factors is this one, but for rounding.
bool is_end_of_step(std::vector<double> const& scale_factors, double a);

/// The names of a run's files.
class FileNames {
 public:
  /// \param ranks  each of them has files of its own where there are several
  FileNames(Settings const& settings, Schedule const& schedule, int ranks = 1);

  /// "slab", 0.5, ".png" -> <folder>/slab_a0.500.png, or by redshift slab_z1.000.png; more digits
  /// where outputs would have the same name.
  std::filesystem::path at(std::string const& what, double a, std::string const& ending) const;
  std::filesystem::path config() const { return folder_ / "config.toml"; }
  /// <folder>/snapshot_a0.500.hdf5, or if it is in several files <folder>/snapshot_a0.500.0.hdf5,
  /// ....1.hdf5, as GADGET names them.
  std::filesystem::path snapshot(double a, int files, int file) const;
  std::filesystem::path checkpoint() const { return folder_ / checkpoint_name; }
  std::filesystem::path white_noise() const { return folder_ / "white_noise.npy"; }

  /// Every file that a run may write to its folder.
  std::vector<std::filesystem::path> all(Schedule const& schedule) const;

 private:
  std::string number_of(double a) const;

  std::filesystem::path folder_;
  NamedBy named_by_;
  int ranks_;
  int digits_ = 3;
};

}  // namespace coir::apps::nbody
