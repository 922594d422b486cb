#include <coir/core/errors.hpp>
#include <coir/distributed/together.hpp>

#include <algorithm>
#include <cstddef>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace coir::distributed {

namespace {

/// The classes of exceptions, in the order in which they are tried.
enum class Kind { none, precondition, input, resource, environment, numerical, memory, other };

std::pair<Kind, std::string> kind_of(std::exception_ptr const& error) {
  if (!error) return {Kind::none, {}};
  try {
    std::rethrow_exception(error);
  } catch (PreconditionError const& e) {
    return {Kind::precondition, e.what()};
  } catch (InputError const& e) {
    return {Kind::input, e.what()};
  } catch (ResourceError const& e) {
    return {Kind::resource, e.what()};
  } catch (EnvironmentError const& e) {
    return {Kind::environment, e.what()};
  } catch (NumericalError const& e) {
    return {Kind::numerical, e.what()};
  } catch (std::bad_alloc const&) {
    return {Kind::memory, {}};
  } catch (std::exception const& e) {
    return {Kind::other, e.what()};
  } catch (...) {
    return {Kind::other, "an exception that isn't a std::exception"};
  }
}

[[noreturn]] void throw_as(Kind kind, std::string const& text) {
  switch (kind) {
    case Kind::precondition: throw PreconditionError(text);
    case Kind::input: throw InputError(text);
    case Kind::resource: throw ResourceError(text);
    case Kind::environment: throw EnvironmentError(text);
    case Kind::numerical: throw NumericalError(text);
    case Kind::memory: throw std::bad_alloc();
    default: throw std::runtime_error(text);
  }
}

std::string in_one_line(std::string const& text) {
  std::string line;
  for (char const c : text)
    if (c == '\n')
      line += "\\n";
    else
      line += c;
  return line;
}

}  // namespace

void agree(Group const& group, std::exception_ptr const& error) {
  if (group.size() == 1) {
    if (error) std::rethrow_exception(error);
    return;
  }
  auto const [kind, text] = kind_of(error);
  auto const kinds = group.gather(kind);
  auto const failed =
      std::find_if(kinds.begin(), kinds.end(), [](Kind one) { return one != Kind::none; });
  if (failed == kinds.end()) return;
  auto const rank = static_cast<int>(failed - kinds.begin());
  std::string const said = group.broadcast(text, rank);
  // This rank's own exception with the same text may hold more, such as an application's exit code.
  if (rank == group.rank() || (error && kind == *failed && text == said))
    std::rethrow_exception(error);
  throw_as(*failed, said);
}

void expects_alike(Group const& group, std::vector<Setting> const& settings) {
  if (group.size() == 1) return;
  // Values may hold any character, so that each has its length before it.
  std::string values;
  for (Setting const& one : settings) values += std::to_string(one.value.size()) + ' ' + one.value;
  std::string const of_first = group.broadcast(values);
  together(group, [&] {
    std::size_t at = 0;
    for (Setting const& one : settings) {
      std::size_t const text = of_first.find(' ', at) + 1;
      std::size_t const length = std::stoul(of_first.substr(at));
      std::string const value = of_first.substr(text, length);
      at = text + length;
      if (one.value != value)
        throw PreconditionError("all ranks must be given the same " + one.name + ": it is " +
                                in_one_line(value) + " on rank 0 and " + in_one_line(one.value) +
                                " on rank " + std::to_string(group.rank()));
    }
  });
}

}  // namespace coir::distributed
