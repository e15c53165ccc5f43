// The dashboard at /.
#include "launch/server/dashboard/page.h"
#include "launch/server/http/api.h"

namespace trireme::http {

void add_dashboard_route(Router& router) {
  // It holds nothing secret, and says to browsers that it needs nothing but this server.
  router.add({"GET", "/", Needs::kNothing, RunsOn::kConnectionThread, [](const ExchangePtr& exchange) {
                HttpResponse response;
                response.content_type = "text/html; charset=utf-8";
                response.body = server::dashboard_page();
                response.headers = {{"Content-Security-Policy",
                                     "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
                                     "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'self'; "
                                     "frame-ancestors 'none'"},
                                    {"X-Content-Type-Options", "nosniff"},
                                    {"Cache-Control", "no-cache"}};
                exchange->respond(std::move(response));
              }});
}

}  // namespace trireme::http
