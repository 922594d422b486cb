#pragma once

#include "model.hpp"

#include <compare/comparison.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace coir::apps::offload {

/// A number and where it is from.
struct Figure {
  double value;
  bool measured;       ///< as opposed to: told by an option
  std::string source;  ///< "host.json", "--host-flops"
};

/// Figures by the keys of figure_infos(), those that are known.
using MachineFigures = std::map<std::string, Figure>;

enum class Side { host, device };

/// A figure's words in all tables, options and messages, and where it counts.
struct FigureInfo {
  char const* key;         ///< in reports, and the option without its dashes
  char const* title;       ///< "flop rate of the cores"
  char const* unit;        ///< "flop/s"
  char const* remedy;      ///< where else than from its option it comes
  Side side;               ///< whose reports hold it
  std::string limit;       ///< its key among compare::Limits; empty for flop rates
  Law OffloadWork::* law;  ///< works for which this law isn't zero need it
  double Speeds::* speed;
};

/// All of them, in the order in which they are shown.
std::vector<FigureInfo> const& figure_infos();

Speeds speeds_of(MachineFigures const& figures);

/// Adds those of a side's figures that aren't known yet, from a file that coir-info --measure
/// --json printed.
///
/// \throws InputError naming the file if it isn't that
void add_info(MachineFigures& figures, Side side, std::filesystem::path const& path);

/// Two builds of a comparison, which must live longer.
struct Builds {
  std::string host_label, device_label;
  compare::Machine const *host_machine, *device_machine;
  compare::Build const *host, *device;
};

/// The builds of these names, as "cuda" or "laptop: cuda", or the first without and the first with
/// transfers.
///
/// \param file  for messages
/// \throws PreconditionError naming those that there are
Builds builds_in(compare::Comparison const& comparison, std::string const& host_name,
                 std::string const& device_name, std::string const& file);

/// Adds those figures that aren't known yet from a comparison: its measured limits, and the flop
/// rates of its best rows of matrix products.
///
/// \param matmul  the work: "matmul,double"
void add_comparison(MachineFigures& figures, compare::Comparison const& comparison,
                    Builds const& builds, std::string const& matmul, std::string const& file);

/// A work of a comparison at the sizes that both builds measured, under its name there.
///
/// \throws PreconditionError naming the works that there are: "must be ...", to be put behind the
///   name of an option
Measured measured_in(compare::Comparison const& comparison, Builds const& builds,
                     std::string const& work, std::string const& file);

/// \throws PreconditionError naming the first figure that the work needs and isn't known, and its
///   remedy
void expects_known(MachineFigures const& figures, OffloadWork const& work);

}  // namespace coir::apps::offload
