#include <support/messages.hpp>
#include <support/text.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace coir::apps {

namespace {

/// Number of single-character edits that turn one word into another.
std::size_t edit_distance(std::string const& from, std::string const& to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t(0));
  for (std::size_t i = 1; i <= from.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= to.size(); ++j) {
      std::size_t const replaced = diagonal + (from[i - 1] != to[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

/// "coir-compare merge"
std::string full_name(CLI::App const& app) {
  CLI::App const* const parent = app.get_parent();
  return (parent == nullptr ? "" : parent->get_name() + " ") + app.get_name();
}

std::vector<CLI::App const*> all_subcommands(CLI::App const& app) {
  return app.get_subcommands([](CLI::App const*) { return true; });
}

/// The names of all subcommands, for a message about a word that is none of them.
std::string subcommands_of(CLI::App const& app) {
  std::string names;
  for (CLI::App const* sub : all_subcommands(app))
    names += (names.empty() ? "" : ", ") + sub->get_name();
  return names;
}

std::string unknown_argument(CLI::App const& app, std::string const& argument) {
  std::string const help = full_name(app) + " --help lists what there is";
  std::string const subcommands = subcommands_of(app);
  if (!argument.starts_with("-"))
    return subcommands.empty() ? "one argument too many: " + argument + "; " + help
                               : argument + " is none of " + subcommands + "; " + help;

  std::string const name = argument.substr(0, argument.find('='));
  std::string const nearest = nearest_option(app, name);
  std::string const hint = !nearest.empty() ? ": did you mean " + nearest + "? "
                           : argument.starts_with("--")
                               ? "; "
                               : ": a file of this name is ./" + argument + "; ";
  return "unknown option " + name + hint + help;
}

/// A message about an option with too few or too many values, which says what it takes. CLI11 only
/// gives the number.
///
/// \return  empty unless the message begins with an option's name
std::string wrong_number_of_values(CLI::App const& app, std::string const& message) {
  for (CLI::Option const* option : app.get_options()) {
    std::string const name = option->get_name(), words = option->get_type_name();
    if (!message.starts_with(name + ":")) continue;
    if (option->results().empty())
      return name + " has no value: write " + name + " " + words + ", or leave it out";
    int const least = option->get_expected_min(), most = option->get_expected_max();
    std::string const count =
        (least == most ? "" : std::to_string(least) + " to ") + std::to_string(most);
    return name + " takes " + count + " values, " + words + ", not '" +
           joined(option->results(), " ") + "'";
  }
  return {};
}

/// Whether an option is a flag, such as --quiet; an option whose value may be left out is none.
bool is_flag(CLI::Option const& option) { return option.get_expected_max() == 0; }

}  // namespace

CLI::App const* part_in_use(CLI::App const* app, std::vector<std::string> const& arguments) {
  for (std::size_t n = 1; n < arguments.size(); ++n)
    for (CLI::App const* const sub : all_subcommands(*app))
      if (sub->get_name() == arguments[n]) return sub;
  return app;
}

std::string misused_option(CLI::App const& app, std::vector<std::string> const& arguments) {
  std::map<CLI::Option const*, int> times;
  for (std::size_t n = 1; n < arguments.size(); ++n) {
    std::string const& text = arguments[n];
    std::string const name = text.substr(0, text.find('='));
    if (text == "--") break;
    CLI::Option const* const option =
        text.starts_with("--") ? app.get_option_no_throw(name) : nullptr;
    if (option == nullptr) continue;
    ++times[option];
    std::string const value = text.substr(std::min(text.size(), name.size() + 1));
    if (!is_flag(*option) || name == text) continue;
    if (!option->get_configurable()) return name + " takes no value, such as '" + value + "'";
    if (value != "true" && value != "false")
      return name + " must be true or false, not '" + value + "'";
  }
  for (CLI::Option const* option : app.get_options()) {
    std::string const name = option->get_name();
    if (times[option] > 1)
      return name + " was given " + std::to_string(times[option]) + " times: give it once";
    std::string const opposite = "--no-" + name.substr(std::min<std::size_t>(2, name.size()));
    if (times[option] > 0 && times[app.get_option_no_throw(opposite)] > 0)
      return name + " and " + opposite + " contradict each other: leave one out";
  }
  return {};
}

std::string shortened(std::string const& line) {
  constexpr std::size_t most = 1000, kept = 450;
  if (line.size() <= most) return line;
  return line.substr(0, kept) + " [...] " + line.substr(line.size() - kept);
}

std::string nearest_option(CLI::App const& app, std::string const& name, bool in_files) {
  std::string nearest;
  std::size_t distance = 3;
  for (CLI::Option const* option : app.get_options()) {
    if (in_files && !option->get_configurable()) continue;
    for (std::string const& known : option->get_lnames())
      if (std::size_t const d = edit_distance(name, "--" + known); d < distance) {
        nearest = "--" + known;
        distance = d;
      }
  }
  return nearest;
}

std::string explain(CLI::App const& app, CLI::ParseError const& error) {
  if (auto const subs = app.get_subcommands(); !subs.empty()) return explain(*subs.front(), error);
  if (dynamic_cast<CLI::RequiredError const*>(&error) && !subcommands_of(app).empty())
    return (app.remaining().empty() ? "name one of " : app.remaining().front() + " is none of ") +
           subcommands_of(app) + "; see " + full_name(app) + " --help";
  auto const extras = app.remaining();
  bool const lacks_one = dynamic_cast<CLI::RequiredError const*>(&error) != nullptr;
  bool const looks_like_option = !extras.empty() && extras.front().starts_with("-");
  if ((dynamic_cast<CLI::ExtrasError const*>(&error) && !extras.empty()) ||
      (lacks_one && looks_like_option))
    return unknown_argument(app, extras.front());
  std::string message = error.what();
  if (dynamic_cast<CLI::ArgumentMismatch const*>(&error))
    if (auto const words = wrong_number_of_values(app, message); !words.empty()) message = words;
  if (dynamic_cast<CLI::ExcludesError const*>(&error)) message += ": leave one of them out";
  return message + "; see " + full_name(app) + " --help";
}

}  // namespace coir::apps
