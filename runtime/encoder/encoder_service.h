// EncoderService: a TextEncoder on a thread of its own beside the engine, e.g. for a filter of what comes in and goes
// out. Any thread may ask; requests that wait are computed together.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.h"
#include "runtime/encoder/text_encoder.h"

namespace trireme::encoder {

class EncoderService {
 public:
  // At most max_waiting texts wait; more are refused at once.
  EncoderService(std::unique_ptr<TextEncoder> encoder, std::size_t max_waiting);
  // Answers all that waits.
  ~EncoderService();

  const EncoderDescription& description() const { return encoder_->description(); }

  // The scores of the classification head. Errors, in the result of the future: not UTF-8, no head; at once: full.
  base::Result<std::future<base::Result<LabelScores>>> classify(std::string text);

 private:
  struct Job {
    std::string text;
    std::promise<base::Result<LabelScores>> answer;
  };
  void run();
  void answer(std::deque<Job>& jobs);

  std::unique_ptr<TextEncoder> encoder_;  // of the thread
  const std::size_t max_waiting_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> waiting_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace trireme::encoder
