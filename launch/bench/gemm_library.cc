#include "launch/bench/gemm_library.h"

#include <dlfcn.h>

namespace trireme::launch {

GemmLibraries load_gemm_libraries() {
  GemmLibraries libraries;
  for (const char* module_name : {"libtrireme_gemm_onednn.so", "libtrireme_gemm_openblas.so"}) {
    void* module = ::dlopen(module_name, RTLD_NOW | RTLD_LOCAL);
    if (module == nullptr) {
      libraries.missing.emplace_back(::dlerror());
      continue;
    }
    const auto make = reinterpret_cast<MakeGemmLibrary*>(::dlsym(module, kMakeGemmLibrary));
    std::unique_ptr<GemmLibrary> library(make == nullptr ? nullptr : make());
    if (library == nullptr)
      libraries.missing.push_back(std::string(module_name) + ": cannot be used");
    else
      libraries.loaded.push_back(std::move(library));
  }
  return libraries;
}

}  // namespace trireme::launch
