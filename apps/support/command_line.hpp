#pragma once

/// The command line of an application: what it takes, and what the user gave.
///
/// CLI11 reads it. Its headers take g++ longer than most applications' own lines, so that sources
/// of apps/support alone include them.

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace coir::apps {

/// An option of a command line, which it must not outlive. A copy is the same option, and so is
/// what its members return, for the next one.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  /// It must be given.
  Option required() const;
  /// The word for its value in --help and in messages: "FILE".
  Option type_name(std::string const& words) const;
  /// The heading that it stands below in --help.
  Option group(std::string const& heading) const;
  /// It takes at least `least` values, and at most `most`.
  Option expected(int least, int most) const;
  /// It can't be given together with another one.
  Option excludes(Option other) const;
  /// It can be given only together with another one.
  Option needs(Option other) const;
  /// Configurations don't hold it.
  Option only_on_command_line() const;

  /// Whether the user gave it, on the command line or in a file.
  bool is_given() const;
  /// The value of an option with one value; empty if it wasn't given.
  std::string text() const;

 private:
  CLI::Option* option_;
};

/// The command line of an application, or of one of its subcommands. A copy is the same one.
///
/// Options have names like "--size"; those without dashes, like "FILE", stand for what is given by
/// its place. `help` is their text in --help, where further lines are put below the first.
/// Functions are copied; variables that options set, and what functions refer to, must live until
/// parse() has returned.
class CommandLine {
 public:
  /// \param name         of the program, which messages begin with
  /// \param description  above the options in --help
  /// \param examples     below them
  explicit CommandLine(std::string const& name, std::string const& description = "",
                       std::string const& examples = "");

  /// A flag that sets `value`.
  Option add_flag(std::string const& name, bool& value, std::string const& help);
  /// A flag that calls `set` unless it is turned off, which then is as if it weren't given.
  Option add_flag(std::string const& name, std::function<void()> const& set,
                  std::string const& help);
  /// A flag that calls `set` with what it was given: --name=false and configurations turn it off.
  Option add_flag(std::string const& name, std::function<void(bool)> const& set,
                  std::string const& help);

  /// An option with one value.
  Option add_option(std::string const& name, std::string& value, std::string const& help);
  /// An option with one value, which `set` is called with; that may throw a PreconditionError that
  /// says why it takes no such value. parse() names the option before it, if it doesn't name it; of
  /// a value in a configuration it throws an InputError that names the file and the key.
  Option add_option(std::string const& name, std::function<void(std::string const&)> const& set,
                    std::string const& help);

  /// An option with several values.
  Option add_list(std::string const& name, std::vector<std::string>& values,
                  std::string const& help);
  /// An option with several values, which `set` is called with.
  Option add_list(std::string const& name,
                  std::function<void(std::vector<std::string> const&)> const& set,
                  std::string const& help);

  /// A part of the application with options of its own. Users must name one of those that there
  /// are.
  CommandLine add_subcommand(std::string const& name, std::string const& description);
  /// Whether the user named this subcommand.
  bool is_chosen() const;

  /// Leaves -h to options of one letter: CLI11 from 2.4 on takes --h for a second one. run() gives
  /// help for -h all the same.
  void leave_out_short_help();
  /// Words --help as all applications do, and adds --version, which prints `text`.
  void add_help_and_version(std::string const& text);

  std::string const& name() const;
  /// Whether there is such an option.
  bool has(std::string const& option) const;
  /// The option of that name, which there must be.
  Option option(std::string const& name) const;
  /// Whether the user gave an option, on the command line or in a file. There must be one.
  bool is_given(std::string const& option) const;
  /// Whether the user gave an option where the program was started, rather than in a file.
  bool is_on_command_line(std::string const& option) const;
  /// Whether there is such a flag, and it was given and isn't turned off.
  bool is_on(std::string const& flag) const;

  /// Text that the user asks for in place of the application's work.
  struct Wish {
    std::string option{};  ///< "--help", "--version"; empty: none of these
    std::string text{};    ///< what it prints
  };

  /// Reads what the program was started with: sets variables, and calls what options were added
  /// with.
  ///
  /// \param arguments  as main() has them, the first of which is the program's name
  /// \throws PreconditionError, or what an option's function throws, for arguments that aren't
  /// understood
  Wish parse(std::vector<std::string> const& arguments);

  /// For sources of apps/support.
  CLI::App& app() const { return *app_; }

 private:
  using Names = std::set<std::string>;
  CommandLine(std::shared_ptr<CLI::App> app, std::shared_ptr<Names> given);

  template <class Value>
  std::function<void(Value const&)> naming_it(std::string const& name,
                                              std::function<void(Value const&)> const& set) const;

  std::shared_ptr<CLI::App> app_;
  std::shared_ptr<Names> given_;  // where the program was started, rather than in a file: "--size"
};

}  // namespace coir::apps
