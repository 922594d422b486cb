#pragma once

#include <string>

namespace coir::apps {

/// While one lives, what the process writes to stderr is kept, as far as it fits into a pipe.
class CapturedErrors {
 public:
  CapturedErrors();
  ~CapturedErrors();
  CapturedErrors(CapturedErrors const&) = delete;
  CapturedErrors& operator=(CapturedErrors const&) = delete;

  /// What was written so far. From here on stderr is what it was before.
  std::string text();

 private:
  int stderr_ = -1;
  int pipe_ = -1;
};

/// What libraries said on stderr before main(): on Linux it is kept back until this is called, once.
///
/// OpenMP's runtime reads its environment variables then, and complains of them whether or not the program is to be
/// quiet.
std::string errors_before_main();

}  // namespace coir::apps
