// Preloaded by nbody_ranks_test.cpp: fsync fails for files whose paths contain COIR_TEST_FILE, as
// on a disk that is broken.

#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

namespace {

std::string name_of(int descriptor) {
  char path[4096] = {};
  std::string const link = "/proc/self/fd/" + std::to_string(descriptor);
  return readlink(link.c_str(), path, sizeof path - 1) > 0 ? path : "";
}

}  // namespace

extern "C" int fsync(int descriptor) {
  char const* const name = std::getenv("COIR_TEST_FILE");
  if (name == nullptr || name_of(descriptor).find(name) == std::string::npos)
    return reinterpret_cast<int (*)(int)>(dlsym(RTLD_NEXT, "fsync"))(descriptor);
  errno = EIO;
  return -1;
}
