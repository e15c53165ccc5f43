// Stream: a cheap view of an ordered queue of device work, passed to every operation and transport call.
// On the CPU the handle is null and work is done before the call returns; on a GPU it holds a cudaStream_t.
#pragma once

namespace trireme::base {

struct Stream {
  void* handle = nullptr;
};

}  // namespace trireme::base
