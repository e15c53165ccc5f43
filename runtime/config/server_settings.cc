#include "runtime/config/server_settings.h"

#include "runtime/config/setting_builders.h"

namespace trireme::config {
namespace {

WholeRange milliseconds(std::int64_t min, std::int64_t max) {
  return {.unit = Unit::kMilliseconds, .unit_name = "ms", .min = min, .max = max};
}

WholeRange bytes(std::int64_t min, std::int64_t max) {
  return {.unit = Unit::kBytes, .unit_name = "bytes", .min = min, .max = max};
}

constexpr std::int64_t kHour = 3'600'000;

}  // namespace

std::vector<Setting> server_address_settings() {
  return {
      text(
          {"server", "host", "--host", "address to listen on; 0.0.0.0: all of this host's"},
          [](auto& config) -> auto& { return config.server.host; }, "an IP address"),
      whole_number({"server", "http_port", "--port", "port of the HTTP endpoint; 0: any that is free"},
                   [](auto& config) -> auto& { return config.server.http_port; }, {Unit::kCount, "", 0, 65535}),
      whole_number({"server", "thrift_port", "--thrift-port",
                    "port of the Thrift endpoint; 0: any that is free; -1: no such endpoint"},
                   [](auto& config) -> auto& { return config.server.thrift_port; }, {Unit::kCount, "", -1, 65535}),
      text(
          {"server", "model_names", "--model-name",
           "names that requests may use for the model, the first being its own; empty: that of its file"},
          [](auto& config) -> auto& { return config.server.model_names; }, "names with commas between"),
      text(
          {"server", "api_keys", "--api-keys",
           "file of API keys, one \"KEY\" or \"TENANT KEY\" per line; empty: open to all"},
          [](auto& config) -> auto& { return config.server.api_keys; }, "a path"),
      text(
          {"server", "tls_certificate", "--tls-cert", "PEM file of the certificate chain; empty: no TLS"},
          [](auto& config) -> auto& { return config.server.tls_certificate; }, "a path"),
      text(
          {"server", "tls_key", "--tls-key", "PEM file of the certificate's key"},
          [](auto& config) -> auto& { return config.server.tls_key; }, "a path"),
      choice(
          {"server", "metrics_compat", "--metrics-compat", "also give metrics the names that vLLM's dashboards read"},
          [](auto& config) -> auto& { return config.server.metrics_compat_vllm; },
          std::vector<std::pair<std::string, bool>>{{"none", false}, {"vllm", true}}),
  };
}

std::vector<Setting> server_limit_settings() {
  return {
      whole_number({"server", "max_connections", "", "connections at a time; more are closed at once"},
                   [](auto& config) -> auto& { return config.server.max_connections; },
                   {.unit_name = "connections", .min = 1, .max = 1 << 20}),
      whole_number(
          {"server", "max_body_bytes", "", "longest request"},
          [](auto& config) -> auto& { return config.server.max_body_bytes; }, bytes(1024, 1 << 30)),
      whole_number(
          {"server", "header_limit_ms", "", "time for a client to send a request's header"},
          [](auto& config) -> auto& { return config.server.header_limit_ms; }, milliseconds(10, kHour)),
      whole_number(
          {"server", "body_limit_ms", "", "time for a client to send a request's body"},
          [](auto& config) -> auto& { return config.server.body_limit_ms; }, milliseconds(10, kHour)),
      whole_number(
          {"server", "idle_limit_ms", "", "time between two requests of a connection"},
          [](auto& config) -> auto& { return config.server.idle_limit_ms; }, milliseconds(10, kHour)),
      whole_number(
          {"server", "write_limit_ms", "", "time for a client to take what was written to it"},
          [](auto& config) -> auto& { return config.server.write_limit_ms; }, milliseconds(10, kHour)),
      whole_number(
          {"server", "unpolled_limit_ms", "",
           "time after which a request submitted over Thrift that nobody polls is cancelled"},
          [](auto& config) -> auto& { return config.server.unpolled_limit_ms; }, milliseconds(10, kHour)),
      whole_number({"server", "workers", "", "threads of each endpoint that turn requests into tokens"},
                   [](auto& config) -> auto& { return config.server.workers; },
                   {.unit_name = "threads", .min = 1, .max = 64}),
      whole_number({"server", "max_waiting", "", "requests that may wait to start; more are refused at once"},
                   [](auto& config) -> auto& { return config.server.max_waiting; },
                   {.unit_name = "requests", .min = 1, .max = 1 << 20}),
      whole_number({"server", "max_waiting_tokens", "", "prompt tokens that may wait to start"},
                   [](auto& config) -> auto& { return config.server.max_waiting_tokens; },
                   {.unit_name = "tokens", .min = 1, .max = std::int64_t{1} << 40}),
      whole_number(
          {"server", "stream_buffer_bytes", "", "output that a client may leave unread before it is dropped"},
          [](auto& config) -> auto& { return config.server.stream_buffer_bytes; }, bytes(1024, 1 << 30)),
      whole_number(
          {"server", "request_limit_ms", "", "time from a request's arrival to its end; 0: none"},
          [](auto& config) -> auto& { return config.server.request_limit_ms; }, milliseconds(0, 24 * kHour)),
      whole_number(
          {"server", "drain_limit_ms", "", "time that requests get to end after SIGTERM or SIGUSR1"},
          [](auto& config) -> auto& { return config.server.drain_limit_ms; }, milliseconds(0, 24 * kHour)),
  };
}

std::vector<Setting> server_memory_settings() {
  return {
      whole_number({"server", "response_cache_entries", "",
                    "answers kept for equal requests that are greedy or seeded; 0: none"},
                   [](auto& config) -> auto& { return config.server.response_cache_entries; },
                   {.unit_name = "answers", .max = 1 << 24}),
      whole_number(
          {"server", "response_cache_bytes", "", "memory that they may take"},
          [](auto& config) -> auto& { return config.server.response_cache_bytes; }, bytes(0, std::int64_t{1} << 40)),
      whole_number({"server", "max_dialogues", "", "dialogues that are open at a time"},
                   [](auto& config) -> auto& { return config.server.max_dialogues; },
                   {.unit_name = "dialogues", .min = 1, .max = 1 << 20}),
      whole_number(
          {"server", "dialogue_idle_ms", "", "time between two turns after which a dialogue ends"},
          [](auto& config) -> auto& { return config.server.dialogue_idle_ms; }, milliseconds(1, 24 * kHour)),
  };
}

}  // namespace trireme::config
