// Health, version, metrics and the list of models.
#include <nlohmann/json.hpp>

#include "launch/server/http/api.h"
#include "launch/server/http/error_body.h"
#include "launch/version.h"

namespace trireme::http {
namespace {

using nlohmann::ordered_json;

HttpResponse health(const Api& api) {
  const Served* served = api.now();
  if (served == nullptr) return error_response(503, "Loading model");
  if (served->service->draining()) return error_response(503, "Shutting down");
  return json_response({{"status", "ok"}});
}

ordered_json model_entry(const server::ServedModel& model, const std::string& name, const ordered_json& parent) {
  return {{"id", name},
          {"object", "model"},
          {"created", model.created},
          {"owned_by", "trireme"},
          {"root", model.root},
          {"parent", parent},
          {"max_model_len", model.max_context},
          {"permission", ordered_json::array()}};
}

HttpResponse models(const Served& served) {
  const server::ServedModel& model = *served.model;
  ordered_json list = ordered_json::array();
  for (const std::string& name : model.names) list.push_back(model_entry(model, name, nullptr));
  for (const std::string& name : model.adapters) list.push_back(model_entry(model, name, model.names.front()));
  return json_response({{"object", "list"}, {"data", std::move(list)}});
}

HttpResponse metrics(const Api& api) {
  const Served* served = api.now();
  HttpResponse response;
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  response.body = served == nullptr ? api.metrics.text({}, "")
                                    : api.metrics.text(served->service->stats(), served->model->names.front());
  return response;
}

}  // namespace

void add_status_routes(Api& api, Router& router) {
  const auto here = RunsOn::kConnectionThread;
  for (const char* path : {"/health", "/ping"}) {
    router.add(
        {"GET", path, Needs::kNothing, here, [&api](const ExchangePtr& exchange) { exchange->respond(health(api)); }});
  }
  router.add({"GET", "/version", Needs::kNothing, here, [](const ExchangePtr& exchange) {
                exchange->respond(json_response({{"version", launch::version()}}));
              }});
  router.add({"GET", "/v1/models", Needs::kKeyAndModel, here,
              [&api](const ExchangePtr& exchange) { exchange->respond(models(*api.now())); }});
  router.add({"GET", "/metrics", Needs::kNothing, RunsOn::kWorker, [&api](const ExchangePtr& exchange) {
                exchange->post([exchange, response = metrics(api)] { exchange->respond(response); });
              }});
}

}  // namespace trireme::http
