// The Thrift endpoint in this process, with a whole server behind it.
#include "launch/server/thrift/thrift_endpoint.h"

#include <Inference.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thrift/protocol/TCompactProtocol.h>
#include <thrift/transport/TBufferTransports.h>
#include <thrift/transport/TSocket.h>

#include "tests/launch/server/plain_client.h"
#include "tests/launch/server/serving_thread.h"

namespace trireme::server {
namespace {

using apache::thrift::protocol::TCompactProtocol;
using apache::thrift::transport::TFramedTransport;
using apache::thrift::transport::TSocket;

class Client {
 public:
  explicit Client(std::uint16_t port)
      : socket_(std::make_shared<TSocket>("127.0.0.1", port)),
        transport_(std::make_shared<TFramedTransport>(socket_)),
        client_(std::make_shared<TCompactProtocol>(transport_)) {
    socket_->setRecvTimeout(60'000);
    transport_->open();
  }
  api::InferenceClient* operator->() { return &client_; }

 private:
  std::shared_ptr<TSocket> socket_;
  std::shared_ptr<TFramedTransport> transport_;
  api::InferenceClient client_;
};

api::GenerateRequest request(std::int32_t max_tokens, std::int32_t num_choices = 1) {
  api::GenerateRequest result;
  result.prompt.__set_tokens({5, 6});
  result.__set_max_tokens(max_tokens);
  result.__set_num_choices(num_choices);
  result.__set_ignore_eos(true);
  return result;
}

class ThriftEndpointTest : public testing::Test {
 protected:
  std::unique_ptr<NetworkEndpoint> open() {
    config_.server.thrift_port = 0;
    auto endpoint = open_thrift_endpoint({config_.server, everybody_, metrics_, log_});
    if (!endpoint) throw std::runtime_error(endpoint.error().message);
    return std::move(endpoint).value();
  }
  // All pieces' tokens of the first choice.
  static std::vector<std::int32_t> poll_all(Client& client, const std::string& id) {
    std::vector<std::int32_t> tokens;
    api::PollResponse part;
    do {
      client->poll(part, id, part.next_seq, 10'000, "");
      for (const api::Piece& piece : part.pieces) {
        if (piece.choice == 0 && piece.__isset.token) tokens.push_back(piece.token.id);
      }
    } while (!part.finished);
    return tokens;
  }

  config::Config config_ = test::default_config(test_model());
  const Access everybody_{};
  Metrics metrics_{false};
  launch::Log log_;
};

TEST_F(ThriftEndpointTest, SaysThatItIsLoadingAsLongAsThereIsNoModel) {
  const auto endpoint = open();
  Client client(endpoint->port());
  EXPECT_EQ(client->getStatus(), api::Status::STARTING);
  api::GenerateResponse response;
  EXPECT_THROW(client->generate(response, request(1), ""), api::Unavailable);
}

TEST_F(ThriftEndpointTest, TwoCannotListenOnOnePort) {
  const auto first = open();
  config::ServerConfig same = config_.server;
  same.thrift_port = first->port();
  const auto second = open_thrift_endpoint({same, everybody_, metrics_, log_});
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error().message, testing::HasSubstr("in use"));
}

TEST_F(ThriftEndpointTest, PolledPiecesAreTheWholeAnswer) {
  const auto endpoint = open();
  ServingThread serving(config_, {endpoint.get()}, 2);
  Client client(endpoint->port());
  api::GenerateResponse whole;
  client->generate(whole, request(12), "");
  ASSERT_EQ(whole.choices.size(), 1u);
  std::vector<std::int32_t> expected;
  for (const api::Token& token : whole.choices[0].tokens) expected.push_back(token.id);
  EXPECT_EQ(expected.size(), 12u);
  std::string id;
  client->submit(id, request(12), "");
  EXPECT_EQ(poll_all(client, id), expected);
}

TEST_F(ThriftEndpointTest, BytesThatAreNoMessageCloseTheirConnectionAlone) {
  const auto endpoint = open();
  ServingThread serving(config_, {endpoint.get()});
  Client client(endpoint->port());
  using namespace std::string_literals;
  for (const std::string& bytes : {"\0\0\0\0"s, "\xff\xff\xff\xff"s, "\0\0\0\1x"s, "\0\0\0\2\x82\x21"s,
                                   "GET / HTTP/1.1\r\n\r\n"s, "\0\0\0\x10\x82\x21\1\xff\xff\xff\xff\x0fgetName\0"s}) {
    EXPECT_EQ(test::exchange(endpoint->port(), bytes), "");
  }
  EXPECT_EQ(client->getStatus(), api::Status::ALIVE);
}

TEST_F(ThriftEndpointTest, StopsWithClientsThatWait) {
  const auto endpoint = open();
  ServingThread serving(config_, {endpoint.get()});
  std::thread waiting([&] {
    Client client(endpoint->port());
    api::GenerateRequest endless = request(240, 64);
    endless.sampling.__set_temperature(1.0);
    endless.__isset.sampling = true;
    api::GenerateResponse response;
    EXPECT_THROW(client->generate(response, endless, ""), apache::thrift::TException);
  });
  std::thread leaving([&] {
    Client client(endpoint->port());
    std::string id;
    client->submit(id, request(240, 64), "");
  });
  leaving.join();
  while (serving.service().stats().num_running < 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  serving.signal();
  serving.signal();
  EXPECT_EQ(serving.join(), StopKind::kForced);
  waiting.join();
}

}  // namespace
}  // namespace trireme::server
