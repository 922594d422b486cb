#pragma once

#include <support/backend.hpp>

#include <string>
#include <vector>

namespace coir::apps {

/// The arguments of a command line that are for Kokkos.
struct KokkosArguments {
  int threads = 0;  ///< 0: those of thread_choice()
  int device = -1;  ///< -1: the one that Kokkos chooses
};

/// Takes the arguments that begin with --kokkos- out of a command line, the first of which is the
/// program's name.
///
/// \throws PreconditionError if one is unknown, or no number where there must be one
KokkosArguments take_kokkos_arguments(std::vector<std::string>& arguments);

/// Kokkos, started and stopped, without its warnings.
class KokkosSession {
 public:
  /// \param backend  if kernels are to run on the cores, a device is left alone
  /// \throws EnvironmentError if Kokkos can't start, or a device was asked for and there is none
  KokkosSession(KokkosArguments const& arguments, Backend backend);
  ~KokkosSession();
  KokkosSession(KokkosSession const&) = delete;
  KokkosSession& operator=(KokkosSession const&) = delete;

  /// Where kernels run.
  Choice const& choice() const { return choice_; }

 private:
  Choice choice_;
};

}  // namespace coir::apps
