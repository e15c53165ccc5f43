#include "runtime/encoder/encoder_service.h"

#include <exception>
#include <utility>
#include <vector>

namespace trireme::encoder {

EncoderService::EncoderService(std::unique_ptr<TextEncoder> encoder, std::size_t max_waiting)
    : encoder_(std::move(encoder)), max_waiting_(max_waiting), thread_([this] { run(); }) {}

EncoderService::~EncoderService() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

base::Result<std::future<base::Result<LabelScores>>> EncoderService::classify(std::string text) {
  Job job{std::move(text), {}};
  auto result = job.answer.get_future();
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= max_waiting_) {
      return base::resource_exhausted("the encoder's queue of " + std::to_string(max_waiting_) + " texts is full");
    }
    waiting_.push_back(std::move(job));
  }
  changed_.notify_one();
  return result;
}

void EncoderService::run() {
  while (true) {
    std::deque<Job> jobs;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return ending_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      jobs.swap(waiting_);
    }
    answer(jobs);
  }
}

// All at once; where one is refused, each on its own.
void EncoderService::answer(std::deque<Job>& jobs) {
  std::vector<std::string> texts;
  for (const Job& job : jobs) texts.push_back(job.text);
  try {
    auto together = encoder_->classify(texts);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (together) {
        jobs[i].answer.set_value(std::move((*together)[i]));
        continue;
      }
      auto alone = encoder_->classify(std::span(&texts[i], 1));
      if (alone)
        jobs[i].answer.set_value(std::move(alone->front()));
      else
        jobs[i].answer.set_value(alone.error());
    }
  } catch (...) {
    for (Job& job : jobs) {
      try {
        job.answer.set_exception(std::current_exception());
      } catch (const std::future_error&) {
        // It has its answer already.
      }
    }
  }
}

}  // namespace trireme::encoder
