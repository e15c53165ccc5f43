#include "launch/server/core/request_service.h"

#include <utility>

#include "launch/server/core/active_request_state.h"

namespace trireme::server {

using scheduler::FinishReason;
using scheduler::RequestId;

namespace {

// Nobody knows when the queue will have room; clients back off further on their own.
constexpr std::chrono::milliseconds kRetryAfter{1000};

}  // namespace

ActiveRequest& ActiveRequest::operator=(ActiveRequest&& other) noexcept {
  if (this == &other) return *this;
  cancel();
  stream_ = std::move(other.stream_);
  service_ = std::exchange(other.service_, nullptr);
  id_ = other.id_;
  cached_ = other.cached_;
  return *this;
}

TokenStream::Batch ActiveRequest::take() {
  if (!stream_) return {};
  TokenStream::Batch batch = stream_->take();
  if (batch.end) service_ = nullptr;  // nothing is left to cancel
  return batch;
}

void ActiveRequest::cancel() {
  stream_ = nullptr;
  if (RequestService* service = std::exchange(service_, nullptr)) service->cancel(id_);
}

RequestService::RequestService(engine::Engine& engine, ServiceLimits limits, ServiceObserver& observer,
                               std::function<void()> wake)
    : engine_(engine),
      limits_(limits),
      observer_(observer),
      wake_(std::move(wake)),
      queue_(limits.waiting),
      cache_(limits.response_cache),
      dialogues_(limits.dialogues) {
  engine_.on_start([this](const engine::RequestStart& start) { on_start(start); });
}

RequestService::~RequestService() {
  engine_.on_start({});
}

Refusal RequestService::refuse(Refusal::Kind kind, std::string message) {
  observer_.on_refused(kind);
  const bool later = kind == Refusal::Kind::kOverloaded || kind == Refusal::Kind::kShuttingDown;
  return {kind, std::move(message), later ? kRetryAfter : std::chrono::milliseconds(0)};
}

std::variant<ActiveRequest, Refusal> RequestService::submit(Submission submission) {
  scheduler::Request& request = submission.request;
  if (draining()) return refuse(Refusal::Kind::kShuttingDown, "the server is shutting down");
  if (auto fits = engine_.check(request); !fits) return refuse(Refusal::Kind::kInvalid, fits.error().message);
  std::string key;
  // A dialogue's answers end with it.
  if (submission.determined && submission.dialogue.empty() && cache_.enabled()) {
    key = ResponseCache::key_of(request);
    if (auto cached = answer_from_cache(request, key)) return std::move(*cached);
  }
  if (!submission.dialogue.empty()) {
    auto scope = dialogues_.use(request.tenant, submission.dialogue, Clock::now());
    if (!scope) return refuse(Refusal::Kind::kNotFound, scope.error().message);
    request.cache_scope = *scope;
  }
  return enqueue(std::move(submission), std::move(key));
}

std::optional<ActiveRequest> RequestService::answer_from_cache(const scheduler::Request& request,
                                                               const std::string& key) {
  const auto answer = cache_.find(key);
  if (!answer) return std::nullopt;
  RequestRecord record = record_of(request);
  record.id = RequestId(next_id_++);
  record.from_response_cache = true;
  record.submitted = record.started = record.first_token = record.last_token = record.ended = Clock::now();
  for (const EventPtr& event : *answer) {
    if (event->token) ++record.output_tokens;
    if (event->finish_reason != FinishReason::kNone) observer_.on_choice_finished(event->finish_reason);
  }
  observer_.on_ended(record);
  ActiveRequest result;
  result.stream_ = std::make_shared<TokenStream>(*answer);
  result.id_ = record.id;
  result.cached_ = true;
  return result;
}

std::variant<ActiveRequest, Refusal> RequestService::enqueue(Submission submission, std::string cache_key) {
  auto active = std::make_unique<Active>();
  submission.request.id = RequestId(next_id_++);
  active->request = std::make_shared<const scheduler::Request>(std::move(submission.request));
  active->stream = std::make_shared<TokenStream>(limits_.stream_bytes, std::move(submission.on_ready));
  active->cache_key = std::move(cache_key);
  active->in_dialogue = !submission.dialogue.empty();
  active->unfinished = active->request->num_choices;
  active->last_token.resize(static_cast<std::size_t>(active->request->num_choices));
  active->record = record_of(*active->request);
  active->record.submitted = Clock::now();

  ActiveRequest result;
  result.stream_ = active->stream;
  result.service_ = this;
  result.id_ = active->request->id;
  const auto request = active->request;
  {
    const std::lock_guard lock(mutex_);
    incoming_.emplace(request->id, std::move(active));
  }
  if (const auto pushed = queue_.push(request); !pushed) {
    result.service_ = nullptr;
    {
      const std::lock_guard lock(mutex_);
      incoming_.erase(request->id);
    }
    if (!submission.dialogue.empty()) dialogues_.release(request->cache_scope, Clock::now());
    return refuse(draining() ? Refusal::Kind::kShuttingDown : Refusal::Kind::kOverloaded, pushed.error().message);
  }
  wake_();
  return result;
}

void RequestService::cancel(RequestId id) {
  if (!queue_.cancel(id)) return wake_();
  // It never reached the engine.
  std::unique_ptr<Active> dropped;
  {
    const std::lock_guard lock(mutex_);
    auto node = incoming_.extract(id);
    dropped = std::move(node.mapped());
  }
  if (dropped->in_dialogue) dialogues_.release(dropped->request->cache_scope, Clock::now());
  dropped->record.ended = Clock::now();
  dropped->record.end = StreamEnd::Kind::kCancelled;
  observer_.on_ended(dropped->record);
}

base::Result<std::string> RequestService::begin_dialogue(const std::string& tenant) {
  if (draining()) return base::resource_exhausted("the server is shutting down");
  return dialogues_.begin(tenant, Clock::now());
}

base::Status RequestService::end_dialogue(const std::string& tenant, const std::string& id) {
  auto ended = dialogues_.end(tenant, id);
  if (ended) wake_();
  return ended;
}

ServiceStats RequestService::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

void RequestService::drain(Clock::time_point deadline) {
  drain_deadline_ = deadline.time_since_epoch().count();
  draining_ = true;
  queue_.close();
  wake_();
}

}  // namespace trireme::server
