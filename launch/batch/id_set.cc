#define XXH_INLINE_ALL
#include "launch/batch/id_set.h"

#include <xxhash.h>

#include <algorithm>
#include <string>
#include <utility>

namespace trireme::launch {
namespace {

constexpr std::uint64_t kTextSeed = 1, kNumberSeed = 2;  // 7 and "7" are two ids

}  // namespace

bool IdSet::insert(const RowId& id) {
  if (const auto* text = std::get_if<std::string>(&id)) {
    return insert_hash(XXH3_64bits_withSeed(text->data(), text->size(), kTextSeed));
  }
  if (const auto* number = std::get_if<std::int64_t>(&id)) {
    return insert_hash(XXH3_64bits_withSeed(number, sizeof *number, kNumberSeed));
  }
  return true;
}

bool IdSet::insert_hash(std::uint64_t hash) {
  hash = std::max<std::uint64_t>(hash, 1);
  if ((count_ + 1) * 8 > slots_.size() * 7) grow();
  std::size_t slot = hash % slots_.size();
  while (slots_[slot] != 0) {
    if (slots_[slot] == hash) return false;
    slot = (slot + 1) % slots_.size();
  }
  slots_[slot] = hash;
  ++count_;
  return true;
}

void IdSet::grow() {
  std::vector<std::uint64_t> old(slots_.empty() ? 1024 : slots_.size() + slots_.size() / 2);
  std::swap(old, slots_);
  count_ = 0;
  for (const std::uint64_t hash : old) {
    if (hash != 0) insert_hash(hash);
  }
}

}  // namespace trireme::launch
