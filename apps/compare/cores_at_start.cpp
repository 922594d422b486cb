#include "cores_at_start.hpp"

#include <cstdlib>  // says whether this is glibc

#if defined(__linux__) && defined(__GLIBC__)
#include <sched.h>
#endif

namespace coir::apps::compare {

#if defined(__linux__) && defined(__GLIBC__)

namespace {

// Plain data: before main() no constructor has run.
constinit cpu_set_t cores = {};
constinit bool are_known = false;

void remember_cores(int, char**, char**) {
  are_known = sched_getaffinity(0, sizeof cores, &cores) == 0;
}

// Functions in this section of a program run before the constructors of its libraries.
__attribute__((section(".preinit_array"),
               used)) void (*const before_libraries)(int, char**, char**) = remember_cores;

}  // namespace

void return_to_cores_at_start() {
  if (are_known) sched_setaffinity(0, sizeof cores, &cores);
}

#else

void return_to_cores_at_start() {}

#endif

}  // namespace coir::apps::compare
