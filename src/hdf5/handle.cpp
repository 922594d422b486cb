#include "handle.hpp"

#include <cstdlib>
#include <string_view>

namespace coir::hdf5 {

namespace {

// The stack begins with the innermost call.
herr_t keep_first(unsigned depth, H5E_error2_t const* error, void* data) {
  if (depth != 0 || error->desc == nullptr) return 0;
  auto* const failure = static_cast<Failure*>(data);
  failure->text = error->desc;
  return 0;
}

}  // namespace

Failure last_failure() {
  Failure failure;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, &keep_first, &failure);
  std::string_view const mark = "errno = ";
  std::size_t const at = failure.text.find(mark);
  if (at != std::string::npos) failure.error = std::atoi(failure.text.c_str() + at + mark.size());
  failure.text = failure.text.substr(0, failure.text.find_first_of("\r\n"));
  if (failure.text.empty()) failure.text = "no reason given";
  return failure;
}

}  // namespace coir::hdf5
