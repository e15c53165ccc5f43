// Handle: move-only owner of an HDF5 identifier. Its destructor cannot report: who needs to know calls close().
#pragma once

#include <hdf5.h>

#include <utility>

namespace trireme::checkpoint {

template <herr_t (*Close)(hid_t)>
class Handle {
 public:
  Handle() = default;
  explicit Handle(hid_t id) : id_(id) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Handle() { close(); }

  hid_t get() const { return id_; }
  // Negative on failure; the identifier is gone either way.
  herr_t close() {
    const hid_t id = std::exchange(id_, H5I_INVALID_HID);
    return id < 0 ? 0 : Close(id);
  }

 private:
  hid_t id_ = H5I_INVALID_HID;
};

using FileHandle = Handle<H5Fclose>;
using DatasetHandle = Handle<H5Dclose>;
using SpaceHandle = Handle<H5Sclose>;
using TypeHandle = Handle<H5Tclose>;
using AttributeHandle = Handle<H5Aclose>;
using GroupHandle = Handle<H5Gclose>;
using PropertiesHandle = Handle<H5Pclose>;

}  // namespace trireme::checkpoint
