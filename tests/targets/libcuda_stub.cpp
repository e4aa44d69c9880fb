// Stands in for libcuda.so.1 where there is no driver: prints the calls that a launch makes.
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace {

void* current = nullptr;  // the context of device d is 0x100 + d

struct LaunchConfig {
  unsigned grid[3], block[3], shared;
  void* stream;
  void* attributes;
  unsigned count;
};

int succeed() { return 0; }

}  // namespace

extern "C" {

int cuDriverGetVersion(int* version) { return *version = 13000, 0; }
int cuDeviceGetCount(int* count) { return *count = 2, 0; }
int cuDeviceGet(int* device, int ordinal) { return *device = ordinal, 0; }
int cuDeviceGetAttribute(int* value, int, int) { return *value = 0, 0; }
int cuCtxGetCurrent(void** context) { return *context = current, 0; }

int cuCtxGetDevice(int* device) {
  *device = static_cast<int>(reinterpret_cast<intptr_t>(current) - 0x100);
  return 0;
}

int cuDevicePrimaryCtxRetain(void** context, int device) {
  *context = reinterpret_cast<void*>(static_cast<intptr_t>(0x100 + device));
  return 0;
}

int cuCtxSetCurrent(void* context) {
  current = context;
  std::printf("current %p\n", context);
  return 0;
}

int cuLibraryLoadData(void** library, const char* code, void*, void*, unsigned, void*, void*,
                      unsigned) {
  std::printf("load %.3s\n", code + 1);
  *library = reinterpret_cast<void*>(0x200);
  return 0;
}

int cuLibraryGetKernel(void** kernel, void* library, const char* name) {
  std::printf("kernel %p %s\n", library, name);
  *kernel = reinterpret_cast<void*>(0x300);
  return 0;
}

int cuKernelSetAttribute(int attribute, int value, void* kernel, int device) {
  std::printf("attribute %d %d %p %d\n", attribute, value, kernel, device);
  return value > 200000;  // CUDA_ERROR_INVALID_VALUE
}

// The parameters of every kernel here: (float* x, int n, float f).
int cuLaunchKernelEx(const LaunchConfig* config, void* kernel, void** values, void**) {
  std::printf("launch %p grid %u %u %u block %u %u %u shared %u stream %p", kernel,
              config->grid[0], config->grid[1], config->grid[2], config->block[0],
              config->block[1], config->block[2], config->shared, config->stream);
  std::printf(" x %p n %d f %.9g\n", *static_cast<void**>(values[0]),
              *static_cast<int*>(values[1]), *static_cast<float*>(values[2]));
  return 0;
}

int cuGetProcAddress_v2(const char* symbol, void** function, int, uint64_t, int* found) {
  if (found != nullptr) *found = 0;
#define KNOWN(name) \
  if (std::strcmp(symbol, #name) == 0) return *function = reinterpret_cast<void*>(name), 0
  KNOWN(cuDriverGetVersion);
  KNOWN(cuDeviceGetCount);
  KNOWN(cuDeviceGet);
  KNOWN(cuDeviceGetAttribute);
  KNOWN(cuCtxGetCurrent);
  KNOWN(cuCtxGetDevice);
  KNOWN(cuDevicePrimaryCtxRetain);
  KNOWN(cuCtxSetCurrent);
  KNOWN(cuLibraryLoadData);
  KNOWN(cuLibraryGetKernel);
  KNOWN(cuKernelSetAttribute);
  KNOWN(cuLaunchKernelEx);
  KNOWN(cuGetProcAddress_v2);
#undef KNOWN
  *function = reinterpret_cast<void*>(succeed);
  return 0;
}

int cuGetProcAddress(const char* symbol, void** function, int version, uint64_t flags) {
  return cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}
}
