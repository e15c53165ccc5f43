#include "runtime/checkpoint/hdf5/hdf5_error.h"

#include <hdf5.h>

#include <algorithm>
#include <string_view>

namespace trireme::checkpoint {
namespace {

// Keeps the innermost record: it is the cause.
herr_t keep_first(unsigned depth, const H5E_error2_t* record, void* text) {
  if (depth == 0 && record->desc != nullptr) *static_cast<std::string*>(text) = record->desc;
  return 0;
}

}  // namespace

std::string hdf5_reason() {
  std::string text;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &text);
  // Of system calls, libhdf5 says much: "…, errno = 28, error message = 'No space left on device', …".
  constexpr std::string_view kMark = "error message = '";
  if (const std::size_t mark = text.find(kMark); mark != std::string::npos) {
    const std::size_t begin = mark + kMark.size();
    text = text.substr(begin, text.find('\'', begin) - begin);
  }
  std::ranges::replace(text, '\n', ' ');
  return text.empty() ? "failed" : text;
}

}  // namespace trireme::checkpoint
