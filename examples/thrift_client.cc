// A client of `trireme serve` in C++: says which model it found, then streams a completion.
//   thrift_client PORT PROMPT [API_KEY]
#include <Inference.h>
#include <thrift/protocol/TCompactProtocol.h>
#include <thrift/transport/TBufferTransports.h>
#include <thrift/transport/TSocket.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

namespace api = trireme::api;
using apache::thrift::protocol::TCompactProtocol;
using apache::thrift::transport::TFramedTransport;
using apache::thrift::transport::TSocket;

namespace {

void stream(api::InferenceClient& client, const std::string& prompt, const std::string& api_key) {
  api::GenerateRequest request;
  request.prompt.__set_text(prompt);
  request.__set_max_tokens(32);
  std::string id;
  client.submit(id, request, api_key);
  api::PollResponse part;
  do {
    client.poll(part, id, part.next_seq, 10'000, api_key);
    for (const api::Piece& piece : part.pieces) std::fputs(piece.text.c_str(), stdout);
    std::fflush(stdout);
  } while (!part.finished);
  std::printf("\n%d tokens\n", part.usage.output_tokens);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string prompt = argv[2], api_key = argc > 3 ? argv[3] : "";
  try {
    const auto socket = std::make_shared<TSocket>("127.0.0.1", std::atoi(argv[1]));
    socket->setRecvTimeout(60'000);
    const auto transport = std::make_shared<TFramedTransport>(socket);
    api::InferenceClient client(std::make_shared<TCompactProtocol>(transport));
    transport->open();
    std::vector<api::ModelInfo> models;
    client.listModels(models, api_key);
    std::printf("model %s, context of %d tokens\n", models.front().name.c_str(), models.front().max_context);
    stream(client, prompt, api_key);
  } catch (const api::Overloaded& error) {
    std::fprintf(stderr, "overloaded: again after %d ms\n", error.retry_after_ms);
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
