#include <support/exit_codes.hpp>
#include <support/interrupt.hpp>
#include <support/on_all.hpp>

namespace coir::apps {

bool share_interrupt(distributed::Group const& group) {
  if (group.size() == 1) return interrupted();
  int const signal = group.max(signal_that_came());
  if (signal != 0) be_interrupted_by(signal);
  return signal != 0;
}

void detail::rethrow_on_all(distributed::Group const& group) {
  if (group.size() == 1 || !share_interrupt(group)) throw;
  try {
    throw;
  } catch (std::exception const& error) {
    throw Failure(ExitCode::interrupted, error.what());
  }
}

}  // namespace coir::apps
