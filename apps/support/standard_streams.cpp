#include <support/standard_streams.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <initializer_list>

namespace coir::apps {

void open_standard_streams() {
  // open() takes the lowest number that is free.
  for (int const stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0)
      (void)!open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

}  // namespace coir::apps
