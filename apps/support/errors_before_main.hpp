#pragma once

#include <string>

namespace coir::apps {

/// The text that libraries wrote to stderr before main(). On Linux it is kept back until this is called, once.
///
/// OpenMP's runtime reads its environment variables then, and complains of them whether or not the program is to be
/// quiet. A program that links this file and never calls it loses its stderr.
std::string errors_before_main();

}  // namespace coir::apps
