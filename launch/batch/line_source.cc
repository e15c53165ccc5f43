#include "launch/batch/line_source.h"

#include <pthread.h>

#include <utility>

#include "launch/batch/id_set.h"
#include "runtime/checkpoint/error_text.h"

namespace trireme::launch {
namespace {

constexpr std::size_t kMaxNotedFields = 16;

std::size_t weight_of(const PreparedLine& line) {
  const auto* request = std::get_if<scheduler::Request>(&line.request);
  return sizeof(PreparedLine) + (request == nullptr ? 0 : request->prompt.size() * sizeof(scheduler::TokenId));
}

}  // namespace

LineSource::LineSource(LineSourceInput input, std::function<void(const std::string&)> warn)
    : input_(std::move(input)), warn_(std::move(warn)), queue_(QueueLimits{}), thread_([this] { run(); }) {}

LineSource::~LineSource() {
  queue_.close();
  thread_.join();
}

void LineSource::run() {
  ::pthread_setname_np(::pthread_self(), "input");
  try {
    status_ = read_all();
  } catch (const std::exception& failure) {
    status_ = base::resource_exhausted("reading the input failed: " + std::string(failure.what()));
  }
  queue_.close();
}

// Lines that are done are looked at too, for their ids: whether a line is a duplicate must not depend on where the
// job started again.
base::Status LineSource::read_all() {
  IdSet ids;
  InputLine text;
  for (std::uint64_t number = 1; number <= input_.num_lines; ++number) {
    const auto more = input_.reader.next(text);
    if (!more) return more.error();
    if (!*more) return base::not_found("the input has become shorter while it was being read");
    BatchLine line = input_.parser.parse(text);
    if (!ids.insert(line.identity.id)) {
      const char* field = line.identity.form == BatchForm::kOpenAi ? "custom_id" : "id";
      line.request = RequestError{field, std::string(field) + ": an earlier line has the same"};
    }
    if (input_.done->contains(number)) continue;
    note_unknown(line);
    PreparedLine prepared = prepare(std::move(line));
    const std::size_t weight = weight_of(prepared);
    if (!queue_.push(std::move(prepared), weight)) return base::ok_status();
  }
  return base::ok_status();
}

PreparedLine LineSource::prepare(BatchLine line) {
  PreparedLine prepared;
  prepared.identity = std::move(line.identity);
  if (auto* error = std::get_if<RequestError>(&line.request)) {
    prepared.request = std::move(*error);
    return prepared;
  }
  auto request = input_.binder->bind(std::get<RequestSpec>(std::move(line.request)));
  if (request) {
    prepared.request = std::move(request).value();
  } else {
    prepared.request = RequestError{"", request.error().message};
  }
  return prepared;
}

void LineSource::note_unknown(const BatchLine& line) {
  for (const std::string& field : line.unknown_fields) {
    if (noted_fields_.size() >= kMaxNotedFields || !noted_fields_.insert(field).second) continue;
    warn_("line " + std::to_string(line.identity.line) + ": " + checkpoint::in_quotes(field) +
          " is no field of a request, and is ignored; further lines with it are not named");
  }
}

}  // namespace trireme::launch
