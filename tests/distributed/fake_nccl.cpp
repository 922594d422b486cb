// A library with NCCL's functions for nccl_test.cpp. Ranks are connected when all have called,
// which the test knows; where one fails, the others wait for ever, as NCCL's do.

#include <unistd.h>

#include <cstddef>
#include <cstdlib>

namespace {
struct UniqueId {
  std::byte bytes[128];
};
int number_of(char const* variable) {
  char const* const text = std::getenv(variable);
  return text == nullptr ? -1 : std::atoi(text);
}
int communicator = 0;
}  // namespace

extern "C" {
int ncclGetVersion(int* version) {
  *version = 22803;
  return 0;
}
int ncclGetUniqueId(UniqueId* id) {
  *id = {};
  return 0;
}
int ncclCommInitRank(void** made, int, UniqueId, int rank) {
  int const failing = number_of("COIR_FAKE_NCCL_FAILS");
  if (failing == rank) return 2;
  while (failing >= 0) sleep(1);
  *made = &communicator;
  return 0;
}
int ncclCommAbort(void*) { return 0; }
int ncclCommDestroy(void*) { return 0; }
int ncclCommGetAsyncError(void*, int* status) {
  *status = 0;
  return 0;
}
char const* ncclGetErrorString(int) { return "unhandled system error"; }
int ncclGroupStart() { return 0; }
int ncclGroupEnd() { return 0; }
int ncclSend(void const*, std::size_t, int, int, void*, void*) { return 0; }
int ncclRecv(void*, std::size_t, int, int, void*, void*) { return 0; }
}
