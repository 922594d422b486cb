#pragma once

#include <concepts>
#include <cstdio>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace coir {

/// Base class of the library's exceptions. what() is one line that a person can act on.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller broke a documented requirement: a shape, a range, a missing argument.
class PreconditionError : public Error {
 public:
  explicit PreconditionError(std::string const& what,
                             std::source_location where = std::source_location::current())
      : Error(what), where_(where) {}

  /// The file and line of the requirement that wasn't met: for those who write a program, as what()
  /// is for those who use it.
  std::source_location const& where() const { return where_; }

 private:
  std::source_location where_;
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

/// The result is NaN or infinite, or can't be reached.
class NumericalError : public Error {
 public:
  using Error::Error;
};

/// A value as text for a message: real numbers as "%g" writes them, integers by all digits, text as
/// it is.
template <class Value>
std::string in_words(Value const& value) {
  if constexpr (std::is_floating_point_v<Value>) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", static_cast<double>(value));
    return text;
  } else if constexpr (std::is_arithmetic_v<Value>) {
    return std::to_string(value);
  } else {
    return std::string(value);
  }
}

/// Checks a caller's argument.
///
/// \param holds        the requirement, evaluated
/// \param requirement  the requirement in words: "omega must lie in (0, 2)"
/// \param where        the error's where(): the line of this call unless said otherwise
/// \throws PreconditionError with the requirement as its text unless `holds`
inline void expects(bool holds, std::string_view requirement,
                    std::source_location where = std::source_location::current()) {
  if (!holds) throw PreconditionError(std::string(requirement), where);
}

/// Checks a caller's argument, and names its value: "omega must lie in (0, 2), not 2.5".
///
/// \throws PreconditionError with the requirement and the value as its text unless `holds`
template <class Value>
void expects(bool holds, std::string_view requirement, Value const& value,
             std::source_location where = std::source_location::current()) {
  if (!holds) throw PreconditionError(std::string(requirement) + ", not " + in_words(value), where);
}

/// Checks a caller's argument, and makes the text of the requirement only if it isn't met: for
/// functions that launch kernels of a few microseconds.
///
/// \param requirement  called without arguments unless `holds`; returns the requirement in words
/// \throws PreconditionError with the requirement and the value as its text unless `holds`
template <std::invocable Requirement, class Value>
void expects(bool holds, Requirement const& requirement, Value const& value,
             std::source_location where = std::source_location::current()) {
  if (!holds)
    throw PreconditionError(std::string(requirement()) + ", not " + in_words(value), where);
}

}  // namespace coir
