#include "scheduler/sequence_table.h"

#include <algorithm>

#include "base/check.h"

namespace trireme::scheduler {

Sequence& SequenceTable::add(std::unique_ptr<Sequence> owned, bool shares_prompt, TimePoint now) {
  Sequence& sequence = *owned;
  batcher_.joined(sequence, now);
  all_.emplace(sequence.id, std::move(owned));
  if (sequence.request->deadline) deadlines_.emplace(*sequence.request->deadline, &sequence);
  sequence.state = SequenceState::kWaiting;
  if (shares_prompt) {
    const auto [family, is_first] = families_.try_emplace(sequence.request->id);
    if (is_first) {
      family->second.leader = sequence.id;
    } else {
      family->second.parked.push_back(&sequence);
      sequence.state = SequenceState::kParked;
    }
  }
  enter(sequence);
  return sequence;
}

Sequence* SequenceTable::find(SequenceId id) const {
  const auto found = all_.find(id);
  return found == all_.end() ? nullptr : found->second.get();
}

void SequenceTable::erase(Sequence& sequence) {
  leave(sequence);
  if (is_running(sequence.state)) stop_running(sequence);
  leave_family(sequence);
  batcher_.left(sequence);
  if (sequence.request->deadline) deadlines_.erase({*sequence.request->deadline, &sequence});
  all_.erase(SequenceId{sequence.id});
}

void SequenceTable::move(Sequence& sequence, SequenceState state) {
  leave(sequence);
  const bool was_running = is_running(sequence.state);
  sequence.state = state;
  if (was_running && !is_running(state)) stop_running(sequence);
  if (!was_running && is_running(state)) {
    running_.insert(&sequence);
    batcher_.runs(sequence);
  }
  enter(sequence);
}

void SequenceTable::stop_running(Sequence& sequence) {
  running_.erase(&sequence);
  batcher_.runs_no_longer(sequence);
}

void SequenceTable::prompt_computed(const Sequence& sequence) {
  const auto family = families_.find(sequence.request->id);
  if (family == families_.end() || family->second.leader != sequence.id) return;
  const std::deque<Sequence*> parked = std::move(family->second.parked);
  families_.erase(family);
  for (Sequence* sibling : parked) move(*sibling, SequenceState::kWaiting);
}

Sequence* SequenceTable::any_expired(TimePoint now) const {
  if (deadlines_.empty() || deadlines_.begin()->first > now) return nullptr;
  return deadlines_.begin()->second;
}

void SequenceTable::enter(Sequence& sequence) {
  switch (sequence.state) {
    case SequenceState::kWaiting: batcher_.waits(sequence); break;
    case SequenceState::kCatchingUp: catching_up_.insert(&sequence); break;
    case SequenceState::kReady: ready_.push_back(&sequence); break;
    case SequenceState::kParked:
    case SequenceState::kDraining:
    case SequenceState::kInFlight: break;
  }
}

void SequenceTable::leave(Sequence& sequence) {
  switch (sequence.state) {
    case SequenceState::kWaiting: batcher_.waits_no_longer(sequence); break;
    case SequenceState::kCatchingUp: catching_up_.erase(&sequence); break;
    case SequenceState::kReady: {
      const auto place = std::find(ready_.begin(), ready_.end(), &sequence);
      TRIREME_CHECK(place != ready_.end()) << "sequence " << sequence.id;
      ready_.erase(place);
      break;
    }
    case SequenceState::kParked:
    case SequenceState::kDraining:
    case SequenceState::kInFlight: break;
  }
}

void SequenceTable::leave_family(Sequence& sequence) {
  const auto found = families_.find(sequence.request->id);
  if (found == families_.end()) return;
  Family& family = found->second;
  if (family.leader != sequence.id) {
    std::erase(family.parked, &sequence);
  } else if (family.parked.empty()) {
    families_.erase(found);
  } else {
    Sequence* next = family.parked.front();
    family.parked.pop_front();
    family.leader = next->id;
    move(*next, SequenceState::kWaiting);
  }
}

}  // namespace trireme::scheduler
