#pragma once

#include "run.hpp"

#include <support/report.hpp>

#include <cstdint>
#include <string>

namespace coir::apps::nbody {

/// Seconds of the run's phases on a rank, or on average, or at most.
struct Phases {
  double start = 0, paint = 0, fft = 0, readout = 0, push = 0, sort = 0, migrate = 0, spectra = 0,
         pictures = 0, io = 0, exchange = 0;
};

/// How phases differ between ranks.
struct Spread {
  Phases mean, most;
  std::int64_t messages = 0, bytes = 0;  ///< that all ranks have sent
  std::int64_t peak = 0;                 ///< the most memory that one of them has had on the host
  MemoryPlan predicted;                  ///< the most that one of them was expected to have
};

/// Collective.
Spread spread_of(distributed::Group const& ranks, Figures const& figures);

/// Three lines before the run. Collective.
///
/// \param transport  of exchanges between ranks
std::string plan_of(Run const& run, MemoryPlan const& memory, Hardware const& hardware,
                    std::string const& transport);

/// Some lines after it.
std::string summary_of(Run const& run, Figures const& figures, Spread const& spread);

/// The report, as --report writes it. Over ranks its phases are those of the rank that took
/// longest.
Report report_of(Run const& run, Figures const& figures, Spread const& spread);

}  // namespace coir::apps::nbody
