// The HTTP endpoint before there is a model, its routes and their guard, and a whole server in this process.
#include "launch/server/http/http_endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "launch/server/http/api.h"
#include "tests/launch/server/plain_client.h"
#include "tests/launch/server/serving_thread.h"
#include "tests/support/temporary_folder.h"

namespace trireme::server {
namespace {

using test::exchange;
using test::http_request;
using testing::HasSubstr;
using testing::StartsWith;

class HttpEndpointTest : public testing::Test {
 protected:
  std::unique_ptr<NetworkEndpoint> open() { return open(everybody_); }
  std::unique_ptr<NetworkEndpoint> open(const Access& access) {  // which outlives the endpoint
    config_.server.http_port = 0;
    auto endpoint = open_http_endpoint({config_.server, access, metrics_, log_});
    if (!endpoint) throw std::runtime_error(endpoint.error().message);
    return std::move(endpoint).value();
  }

  config::Config config_ = test::default_config(test_model());
  const Access everybody_{};
  Metrics metrics_{false};
  launch::Log log_;
};

TEST_F(HttpEndpointTest, SaysThatItIsLoadingAsLongAsThereIsNoModel) {
  const auto endpoint = open();
  for (const std::string& request : {http_request("GET", "/health"), http_request("GET", "/v1/models"),
                                     http_request("POST", "/v1/completions", R"({"prompt":"x"})")}) {
    const std::string answer = exchange(endpoint->port(), request);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 503 "));
    EXPECT_THAT(answer, HasSubstr("Loading model"));
  }
  EXPECT_THAT(exchange(endpoint->port(), http_request("GET", "/version")), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(exchange(endpoint->port(), http_request("GET", "/metrics")), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpEndpointTest, EveryRouteThatNeedsAKeyRefusesThoseWithout) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("keys", "sk-a\n").string();
  std::filesystem::permissions(path, std::filesystem::perms::owner_read);
  const auto access = Access::from_file(path);
  ASSERT_TRUE(access.ok()) << access.error().message;
  const auto endpoint = open(*access);
  http::Api api{config_.server, *access, metrics_, log_};
  http::Router router;
  http::add_status_routes(api, router);
  http::add_tokenize_routes(api, router);
  http::add_completion_routes(api, router);
  http::add_dashboard_route(router);
  std::size_t num_guarded = 0;
  for (const http::Route& route : router.routes()) {
    const std::string answer = exchange(endpoint->port(), http_request(route.method, route.path, ""));
    if (route.needs == http::Needs::kNothing) {
      EXPECT_THAT(answer, testing::Not(StartsWith("HTTP/1.1 401 "))) << route.path;
      continue;
    }
    ++num_guarded;
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 401 ")) << route.path;
  }
  EXPECT_GE(num_guarded, 5u);
}

TEST_F(HttpEndpointTest, TwoCannotListenOnOnePort) {
  const auto first = open();
  config::ServerConfig same = config_.server;
  same.http_port = first->port();
  const auto second = open_http_endpoint({same, everybody_, metrics_, log_});
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error().message, HasSubstr("in use"));
}

TEST_F(HttpEndpointTest, ServesFromSeveralRanksAndStopsWithClientsConnected) {
  const auto endpoint = open();
  {
    ServingThread serving(config_, {endpoint.get()}, 3);
    const std::string body = R"({"prompt":[5,6],"max_tokens":6,"temperature":0,"ignore_eos":true})";
    const std::string answer = exchange(endpoint->port(), http_request("POST", "/v1/completions", body));
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
    const auto json = nlohmann::json::parse(answer.substr(answer.find("\r\n\r\n")));
    EXPECT_EQ(json["usage"]["completion_tokens"], 6);
    const auto num_running = [&] { return serving.service().stats().num_running; };
    while (num_running() > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // figures are a little old
    std::thread client([&] {
      const std::string endless =
          R"({"prompt":[5],"max_tokens":250,"n":64,"temperature":1,"ignore_eos":true,"stream":true})";
      const std::string cut = exchange(endpoint->port(), http_request("POST", "/v1/completions", endless));
      EXPECT_THAT(cut, HasSubstr("shutting down"));
    });
    while (num_running() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    serving.signal();
    serving.signal();
    EXPECT_EQ(serving.join(), StopKind::kForced);
    client.join();
  }
}

}  // namespace
}  // namespace trireme::server
