// InferenceCalls: the methods of the IDL, for one message. The generated code reads a call's arguments and writes its
// result; a method calls `done` or `fail` once, at once or later, from its worker or the thread of the connections.
#pragma once

#include <Inference.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "launch/server/core/access.h"
#include "launch/server/core/endpoint.h"
#include "launch/server/core/seed_source.h"
#include "launch/server/metrics/metrics.h"
#include "launch/server/thrift/framed_server.h"
#include "launch/server/thrift/submission_table.h"
#include "launch/server/thrift/whole_reply.h"
#include "runtime/config/config.h"

namespace trireme::thrift {

using server::Served;

// What all calls share.
struct Api {
  const config::ServerConfig& config;
  const server::Access& access;
  server::Metrics& metrics;
  SubmissionTable submissions;  // thread of the connections
  FramedServer* server = nullptr;
  std::int64_t alive_since = 0;
  std::atomic<const Served*> served{nullptr};  // null: loading
  server::SeedSource seeds{};
};

class InferenceCalls final : public api::InferenceCobSvIf {
 public:
  template <typename T>
  using Done = std::function<void(const T&)>;
  using Text = std::string;

  InferenceCalls(Api& api, FrameExchangePtr exchange) : api_(api), exchange_(std::move(exchange)) {}

  // BaseService: no key, and no model.
  void getName(Done<Text> done) override;
  void getVersion(Done<Text> done) override;
  void getStatus(Done<api::Status::type> done) override;
  void getStatusDetails(Done<Text> done) override;
  void getCounters(Done<std::map<Text, std::int64_t>> done) override;
  void getCounter(Done<std::int64_t> done, const Text& key) override;
  void aliveSince(Done<std::int64_t> done) override;

  void generate(Done<api::GenerateResponse> done, Throw fail, const api::GenerateRequest& request,
                const Text& api_key) override;
  void submit(Done<Text> done, Throw fail, const api::GenerateRequest& request, const Text& api_key) override;
  void poll(Done<api::PollResponse> done, Throw fail, const Text& id, std::int64_t from_seq, std::int32_t wait_ms,
            const Text& api_key) override;
  void cancel(std::function<void()> done, Throw fail, const Text& id, const Text& api_key) override;
  void tokenize(Done<std::vector<std::int32_t>> done, Throw fail, const api::Prompt& prompt, bool add_special,
                const Text& api_key) override;
  void detokenize(Done<Text> done, Throw fail, const std::vector<std::int32_t>& tokens, const Text& api_key) override;
  void scoreTokens(Done<api::Scores> done, Throw fail, const api::Prompt& prompt, const Text& api_key) override;
  void beginDialogue(Done<Text> done, Throw fail, const Text& api_key) override;
  void endDialogue(std::function<void()> done, Throw fail, const Text& dialogue, const Text& api_key) override;
  void listModels(Done<std::vector<api::ModelInfo>> done, Throw fail, const Text& api_key) override;

 private:
  struct Caller {
    std::string tenant;
    const Served* served = nullptr;
  };

  // Who calls; nothing, and `fail` has been called, if the key is wrong or there is no model yet.
  std::optional<Caller> admit(const Text& api_key, const Throw& fail) const;
  void refuse(const Throw& fail, const CallError& error) const;
  api::Status::type status() const;
  std::map<Text, std::int64_t> counters() const;
  // Reads the request and sets what concerns its caller; nothing, and `fail` has been called, if it is wrong.
  std::optional<server::Submission> read(const api::GenerateRequest& request, const Caller& caller,
                                         const Throw& fail) const;
  void add_submission(const Caller& caller, server::Submission submission, const Done<Text>& done,
                      const Throw& fail) const;
  void complete(const Caller& caller, server::Submission submission, const Throw& fail,
                const std::function<void(const WholeOutput&)>& done) const;

  Api& api_;
  const FrameExchangePtr exchange_;
};

}  // namespace trireme::thrift
