#pragma once

#include <stdexcept>
#include <string>

namespace coir::apps {

/// The exit codes of applications. Every README lists them.
enum class ExitCode : int {
  success = 0,
  unexpected = 1,     ///< an error nobody foresaw: a defect
  usage = 2,          ///< an unknown option, a value outside its range
  input = 3,          ///< an input file is missing, unreadable or malformed
  resources = 4,      ///< memory or disk space is short, or an output can't be written
  numerical = 5,      ///< the result is not finite, or the method can't reach what was asked
  environment = 6,    ///< no usable device, or Kokkos can't start
  interrupted = 130,  ///< stopped by Ctrl-C, as shells count it; 143 by SIGTERM, 129 by SIGHUP
};

/// Ends an application with one line on stderr and this code; for outcomes that aren't exceptions
/// of the library, such as a solve that ends in NaN.
class Failure : public std::runtime_error {
 public:
  Failure(ExitCode code, std::string const& line) : std::runtime_error(line), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

}  // namespace coir::apps
