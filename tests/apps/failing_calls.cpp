// Preloaded by nbody_ranks_test.cpp: the call that COIR_TEST_FAILS names, fsync or rename, fails for files whose paths contain
// COIR_TEST_FILE, as on a disk that is broken.

#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

namespace {

bool fails(char const* call, std::string const& file) {
  char const *const failing = std::getenv("COIR_TEST_FAILS"), *const name =
                                                                  std::getenv("COIR_TEST_FILE");
  return failing != nullptr && name != nullptr && std::string(failing) == call &&
         file.find(name) != std::string::npos;
}

template <class Function>
Function next(char const* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

std::string name_of(int descriptor) {
  char path[4096] = {};
  std::string const link = "/proc/self/fd/" + std::to_string(descriptor);
  return readlink(link.c_str(), path, sizeof path - 1) > 0 ? path : "";
}

}  // namespace

extern "C" int rename(char const* from, char const* to) noexcept {
  if (!fails("rename", to)) return next<int (*)(char const*, char const*)>("rename")(from, to);
  errno = EIO;
  return -1;
}

extern "C" int fsync(int descriptor) {
  if (!fails("fsync", name_of(descriptor))) return next<int (*)(int)>("fsync")(descriptor);
  errno = EIO;
  return -1;
}
