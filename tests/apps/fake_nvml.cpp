// A library with the name and a few functions of NVIDIA's NVML, for machines without a device.
// FAKE_NVML_DEVICES says how many there are, FAKE_NVML_START which error nvmlInit gives. The second
// device supports neither power nor temperature, the third can't be asked.

#include <cstdio>
#include <cstdlib>

namespace {

constexpr int success = 0, invalid_argument = 2, not_supported = 3, no_permission = 4;

int variable(char const* name, int otherwise) {
  char const* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

struct Device {
  unsigned index;
} devices[8] = {{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}};

bool is_second(void* device) { return static_cast<Device*>(device)->index == 1; }

}  // namespace

extern "C" {

struct Utilization {
  unsigned kernels, memory;
};
struct Memory {
  unsigned long long total, free, used;
};

int nvmlInit_v2() { return variable("FAKE_NVML_START", success); }
int nvmlShutdown() { return success; }

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(variable("FAKE_NVML_DEVICES", 1));
  return success;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  unsigned count = 0;
  nvmlDeviceGetCount_v2(&count);
  if (index >= count) return invalid_argument;
  if (index == 2) return no_permission;
  *device = &devices[index];
  return success;
}

int nvmlDeviceGetHandleByUUID(char const*, void** device) {
  *device = &devices[1];
  return success;
}

int nvmlDeviceGetName(void* device, char* name, unsigned length) {
  std::snprintf(name, length, "Fake %u", static_cast<Device*>(device)->index);
  return success;
}

int nvmlDeviceGetUtilizationRates(void* device, Utilization* rates) {
  *rates = {is_second(device) ? 0U : 97U, 40};
  return success;
}

int nvmlDeviceGetMemoryInfo(void*, Memory* memory) {
  *memory = {80ULL << 30, 70ULL << 30, 10ULL << 30};
  return success;
}

int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  *milliwatts = 612'500;
  return is_second(device) ? not_supported : success;
}

int nvmlDeviceGetTemperature(void* device, int sensor, unsigned* degrees) {
  if (sensor != 0) return invalid_argument;
  *degrees = 54;
  return is_second(device) ? not_supported : success;
}

int nvmlDeviceGetClockInfo(void*, int clock, unsigned* megahertz) {
  constexpr int of_multiprocessors = 1;
  *megahertz = clock == of_multiprocessors ? 1980 : 1;
  return success;
}

int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* millijoules) {
  *millijoules = is_second(device) ? 2'500 : 1'500;
  return success;
}
}
