#pragma once

namespace coir::apps {

/// Opens stdin, stdout and stderr where whoever started the program closed them, so that no other file takes their
/// numbers and gets what is printed. Writing to them and reading from them are errors all the same.
void open_standard_streams();

}  // namespace coir::apps
