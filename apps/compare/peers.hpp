#pragma once

/// Other packages that do the same work, such as NumPy: scripts of bench/peers, in a Python that
/// has the packages.

#include <string>
#include <vector>

namespace coir::apps::compare {

struct PeerSettings {
  /// Names as peers_in() reads them; empty: all peers that the Python has.
  std::vector<std::string> names = {};
  bool none = false;               ///< no peers at all
  std::string python = "python3";  ///< found as shells find it
};

struct Peer {
  std::string name;                  ///< "numpy"
  std::string version;               ///< "2.4.6"
  std::string device;                ///< what it runs on, in coir-info's words
  std::vector<std::string> command;  ///< to which --measure and rows' names are added
  std::vector<std::string> rows;     ///< names up to the sizes, as our benchmarks have them
};

/// Reads "auto", "none" or names with commas between them.
///
/// \throws PreconditionError naming all peers if one is unknown or named twice
void set_peers(PeerSettings& settings, std::string const& text);

/// Asks the peers what they run on.
///
/// \param notes  if there are none though none were named, why is added here
/// \throws EnvironmentError if one that was named can't run
std::vector<Peer> find_peers(PeerSettings const& settings, std::vector<std::string>& notes);

}  // namespace coir::apps::compare
