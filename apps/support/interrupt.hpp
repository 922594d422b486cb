#pragma once

/// SIGINT (Ctrl-C), SIGTERM and SIGHUP: one line, no file that isn't whole, and an end within a
/// second whatever the program is doing.

#include <filesystem>
#include <string>
#include <string_view>

namespace coir::apps {

/// From now on the first of these signals asks the program to stop: interrupted() stays true. Who
/// polls it ends the program in its own words; if nobody has after half a second, the program is
/// ended where it is: files that aren't whole are removed (see io::remove_unfinished), one line
/// says what it was doing, and the exit code is that of the signal.
///
/// Further signals change nothing. One that was ignored when the program started stays ignored, as
/// nohup wants it.
///
/// \param program  its name, for the line
void answer_signals(std::string const& program);

/// Whether a signal's end is silent from now on. Launchers send their signals to all ranks, of
/// which one tells of it.
void be_silent_when_stopped(bool silent);

/// True once the user has asked the program to stop, until its end.
bool interrupted();

/// The signal that asked it, 0 if none did.
int signal_that_came();

/// Acts as if this signal had come. For signals to another process of the same program.
void be_interrupted_by(int signal);

/// The exit code of shells for the signal that came: 130 for SIGINT, 143 for SIGTERM, 129 for
/// SIGHUP.
int interrupt_code();

/// Names the program's activity, for the line that an interrupt ends it with: "stopped while
/// reading photo.png; nothing was written". For phases, not for steps: the texts are kept until the
/// end.
class Activity {
 public:
  explicit Activity(std::string const& doing);
  ~Activity();
  Activity(Activity const&) = delete;
  Activity& operator=(Activity const&) = delete;

 private:
  char const* before_;  // of which this one is a part
};

/// From now on a signal's end also removes this folder, if it is empty. There is one of them, the
/// last.
void remove_empty_folder_when_stopped(std::filesystem::path const& folder);

/// From now on the line says this of the files; at first it is "what was written is whole".
void say_of_files(std::string const& text);

/// \throws Failure that says what the program was doing, if it is to stop
void stop_if_interrupted();

/// Who gets true writes the program's last line; everybody else leaves it at that.
bool claim_last_line();

/// Writes a line to stderr in one piece, whatever signals come meanwhile.
void write_last_line(std::string_view line);

/// The program is over and returns `code`, which a signal from now on changes no more.
void settle(int code);

}  // namespace coir::apps
