// A file of its own, so that only programs that ask for the text have their stderr kept back.

#include <support/captured_errors.hpp>
#include <support/errors_before_main.hpp>

namespace coir::apps {

namespace {

constinit ErrorPipe before_main;

#if defined(__linux__) && defined(__GLIBC__)
void start_before_main(int, char**, char**) { before_main.open(); }

// Functions in this section of a program run before the constructors of its libraries.
__attribute__((section(".preinit_array"),
               used)) void (*const before_libraries)(int, char**, char**) = start_before_main;
#endif

}  // namespace

std::string errors_before_main() { return before_main.close(); }

}  // namespace coir::apps
