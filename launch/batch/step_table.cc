#include "launch/batch/step_table.h"

#include <chrono>
#include <utility>

namespace trireme::launch {

base::Result<StepTable> StepTable::create(const std::string& path) {
  std::ofstream file(path, std::ios::trunc);
  // One line per stage of each step, so that the columns are the same for any number of stages.
  file << "replica,step,sequences,prefill_tokens,decode_tokens,scheduled_us,completed_us,stage,rows,busy_us,wait_us,"
          "receive_us,send_us,sent_bytes\n";
  if (!file.flush()) return base::invalid_argument(path + ": cannot be written");
  return StepTable(path, std::move(file));
}

void StepTable::add(const engine::StepRecord& record) {
  if (!start_) start_ = record.scheduled;
  const auto micros = [this](scheduler::TimePoint time) {
    return std::chrono::duration_cast<std::chrono::microseconds>(time - *start_).count();
  };
  const scheduler::StepComposition& composition = record.composition;
  for (const scheduler::StageTiming& timing : record.timings) {
    file_ << record.replica << ',' << record.step << ',' << composition.num_sequences << ','
          << composition.prefill_tokens << ',' << composition.decode_tokens << ',' << micros(record.scheduled) << ','
          << micros(record.completed) << ',' << timing.stage << ',' << timing.num_rows << ',' << timing.busy_us << ','
          << timing.wait_us << ',' << timing.receive_us << ',' << timing.send_us << ',' << timing.sent_bytes << '\n';
  }
}

base::Status StepTable::finish() {
  if (file_.flush()) return base::ok_status();
  return base::resource_exhausted(path_ + ": writing failed");
}

}  // namespace trireme::launch
