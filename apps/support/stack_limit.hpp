#pragma once

namespace coir::apps {

/// Ends the program with one line on stderr, and the code of ExitCode::environment, where its limit on the stack
/// (`ulimit -s`) is below least_stack_bytes: else it would crash without a word. Needs next to no stack and no
/// constructed libraries.
///
/// \param program  as it was called; may be null
void expects_usable_stack(char const* program);

}  // namespace coir::apps
