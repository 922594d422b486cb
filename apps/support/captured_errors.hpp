#pragma once

#include <string>

namespace coir::apps {

/// A pipe in place of stderr.
///
/// Plain functions of integers: before main() neither constructors nor streams have run.
struct ErrorPipe {
  int kept = -1;  ///< what stderr was
  int end = -1;   ///< where to read what was written

  /// Redirects stderr into a pipe. Text that doesn't fit into it is lost rather than waited for.
  void open();
  /// Restores stderr, and returns the text that was written since open().
  std::string close();
};

/// While one lives, what the process writes to stderr is kept, as far as it fits into a pipe.
class CapturedErrors {
 public:
  CapturedErrors();
  ~CapturedErrors();
  CapturedErrors(CapturedErrors const&) = delete;
  CapturedErrors& operator=(CapturedErrors const&) = delete;

  /// Restores stderr, and returns the text that was written so far.
  std::string text();

 private:
  ErrorPipe pipe_;
};

}  // namespace coir::apps
