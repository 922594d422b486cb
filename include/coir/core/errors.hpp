#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace coir {

/// What every exception of this library derives from. what() is one line that a person can act on.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller broke a documented requirement: a shape, a range, a missing argument.
class PreconditionError : public Error {
 public:
  using Error::Error;
};

/// A file that was to be read is missing, unreadable or malformed.
class InputError : public Error {
 public:
  using Error::Error;
};

/// Memory or disk space is short, or an output can't be written.
class ResourceError : public Error {
 public:
  using Error::Error;
};

/// The machine lacks what was asked for: a device, a backend.
class EnvironmentError : public Error {
 public:
  using Error::Error;
};

/// Checks a caller's argument.
///
/// \param holds        the requirement, evaluated
/// \param requirement  the requirement in words: "omega must lie in (0, 2)"
/// \throws PreconditionError with the requirement as its text unless `holds`
inline void expects(bool holds, std::string_view requirement) {
  if (!holds) throw PreconditionError(std::string(requirement));
}

/// The same with a value to name: "omega must lie in (0, 2), not 2.5".
template <class Value>
void expects(bool holds, std::string_view requirement, Value const& value) {
  if (holds) return;
  if constexpr (std::is_convertible_v<Value, std::string>)
    throw PreconditionError(std::string(requirement) + ", not " + std::string(value));
  else
    throw PreconditionError(std::string(requirement) + ", not " + std::to_string(value));
}

}  // namespace coir
