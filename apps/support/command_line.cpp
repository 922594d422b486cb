#include <support/command_line.hpp>
#include <support/messages.hpp>

#include <coir/core/errors.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace coir::apps {

Option Option::required() const { return Option(option_->required()); }

Option Option::type_name(std::string const& words) const {
  return Option(option_->type_name(words));
}

Option Option::group(std::string const& heading) const { return Option(option_->group(heading)); }

Option Option::expected(int least, int most) const {
  return Option(option_->expected(least, most));
}

Option Option::excludes(Option other) const { return Option(option_->excludes(other.option_)); }

Option Option::needs(Option other) const { return Option(option_->needs(other.option_)); }

Option Option::only_on_command_line() const { return Option(option_->configurable(false)); }

bool Option::is_given() const { return option_->count() > 0; }

std::string Option::text() const { return is_given() ? option_->as<std::string>() : ""; }

CommandLine::CommandLine(std::string const& name, std::string const& description,
                         std::string const& examples)
    : app_(std::make_shared<CLI::App>(description, name)), given_(std::make_shared<Names>()) {
  app_->footer(examples);
}

CommandLine::CommandLine(std::shared_ptr<CLI::App> app, std::shared_ptr<Names> given)
    : app_(std::move(app)), given_(std::move(given)) {}

/// What `set` refuses names the option, or of a value that is in a configuration the file and the
/// key.
template <class Value>
std::function<void(Value const&)> CommandLine::naming_it(
    std::string const& name, std::function<void(Value const&)> const& set) const {
  return [=, app = app_.get(), given = given_](Value const& value) {
    try {
      set(value);
    } catch (PreconditionError const& error) {
      std::string const what = error.what();
      bool const begins_with_it = what.starts_with(name);
      CLI::Option const* const file = app->get_config_ptr();
      bool const is_in_file =
          file != nullptr && file->count() > 0 && name.starts_with("--") && !given->contains(name);
      bool const has_it = what.find(name) != std::string::npos;
      if (!is_in_file) throw PreconditionError(has_it ? what : name + ": " + what);
      throw InputError(file->as<std::string>() + ": '" + name.substr(2) + "'" +
                       (begins_with_it ? what.substr(name.size()) : ": " + what));
    }
  };
}

Option CommandLine::add_flag(std::string const& name, bool& value, std::string const& help) {
  return Option(app_->add_flag(name, value, help));
}

Option CommandLine::add_flag(std::string const& name, std::function<void()> const& set,
                             std::string const& help) {
  return Option(app_->add_flag_callback(name, set, help));
}

Option CommandLine::add_flag(std::string const& name, std::function<void(bool)> const& set,
                             std::string const& help) {
  auto const set_by_count = [set](std::int64_t count) { set(count > 0); };
  return Option(app_->add_flag_function(name, set_by_count, help));
}

Option CommandLine::add_option(std::string const& name, std::string& value,
                               std::string const& help) {
  return Option(app_->add_option(name, value, help));
}

Option CommandLine::add_option(std::string const& name,
                               std::function<void(std::string const&)> const& set,
                               std::string const& help) {
  return Option(app_->add_option_function(name, naming_it(name, set), help));
}

Option CommandLine::add_list(std::string const& name, std::vector<std::string>& values,
                             std::string const& help) {
  return Option(app_->add_option(name, values, help));
}

Option CommandLine::add_list(std::string const& name,
                             std::function<void(std::vector<std::string> const&)> const& set,
                             std::string const& help) {
  return Option(app_->add_option_function(name, naming_it(name, set), help));
}

CommandLine CommandLine::add_subcommand(std::string const& name, std::string const& description) {
  app_->require_subcommand(1);
  return {app_->get_subcommand_ptr(app_->add_subcommand(name, description)), given_};
}

bool CommandLine::is_chosen() const { return app_->parsed(); }

void CommandLine::leave_out_short_help() { app_->set_help_flag("--help"); }

void CommandLine::add_help_and_version(std::string const& text) {
  app_->get_option("--help")->description("Print this help and exit");
  app_->set_version_flag("--version", text, "Print the version and exit");
}

std::string const& CommandLine::name() const { return app_->get_name(); }

bool CommandLine::has(std::string const& option) const {
  return app_->get_option_no_throw(option) != nullptr;
}

Option CommandLine::option(std::string const& name) const { return Option(app_->get_option(name)); }

bool CommandLine::is_given(std::string const& option) const {
  return app_->get_option(option)->count() > 0;
}

bool CommandLine::is_on_command_line(std::string const& option) const {
  return given_->contains(option);
}

bool CommandLine::is_on(std::string const& flag) const {
  CLI::Option const* const option = app_->get_option_no_throw(flag);
  return option != nullptr && option->count() > 0 && option->as<bool>();
}

CommandLine::Wish CommandLine::parse(std::vector<std::string> const& arguments) {
  std::vector<std::string> words = arguments;
  std::replace(words.begin(), std::find(words.begin(), words.end(), "--"), std::string("-h"),
               std::string("--help"));
  CLI::App const& part = *part_in_use(app_.get(), words);
  std::string const misused = misused_option(part, words);
  expects(misused.empty(), misused);
  for (auto word = words.begin(); word != words.end() && *word != "--"; ++word)
    given_->insert(word->substr(0, word->find('=')));
  if (!words.empty()) words.erase(words.begin());
  std::reverse(words.begin(), words.end());  // as CLI11 takes them
  try {
    app_->parse(std::move(words));
  } catch (CLI::CallForHelp const&) {
    return {"--help", app_->help()};
  } catch (CLI::CallForVersion const& version) {
    return {"--version", version.what() + std::string("\n")};
  } catch (CLI::ParseError const& error) {
    throw PreconditionError(explain(*app_, error));
  }
  return {};
}

}  // namespace coir::apps
