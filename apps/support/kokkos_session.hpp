#pragma once

#include <support/backend.hpp>

#include <string>
#include <vector>

namespace coir::apps {

/// The arguments of a command line that are for Kokkos.
struct KokkosArguments {
  int threads = 0;                     ///< 0: as many as OpenMP starts by itself
  std::vector<std::string> passed_on;  ///< in Kokkos' own spelling
};

/// Takes the arguments that begin with --kokkos- out of a command line, the first of which is the program's name.
///
/// \throws PreconditionError if one is unknown, repeated or no number where there must be one
KokkosArguments take_kokkos_arguments(std::vector<std::string>& arguments);

/// Kokkos, started and stopped. It and OpenMP's runtime print nothing: what they would warn of is either wrong, and
/// an error, or as the user wants it.
class KokkosSession {
 public:
  /// \param backend           if kernels are to run on the cores, a device is left alone
  /// \param said_before_main  what errors_before_main() gave
  /// \throws ResourceError if the threads leave no memory
  /// \throws EnvironmentError if threads can't be started, a device was asked for and there is none, or an environment
  ///                          variable for Kokkos or OpenMP holds what it can't
  KokkosSession(KokkosArguments const& arguments, Backend backend,
                std::string const& said_before_main);
  ~KokkosSession();
  KokkosSession(KokkosSession const&) = delete;
  KokkosSession& operator=(KokkosSession const&) = delete;

  /// Where kernels run.
  Choice const& choice() const { return choice_; }

 private:
  Choice choice_;
};

/// Goes through what OpenMP's runtime said of its environment variables, and prints what wasn't meant as a complaint.
///
/// \throws EnvironmentError naming the variable that the runtime doesn't understand
void expects_no_complaint(std::string const& said);

}  // namespace coir::apps
