// The viewer shows the description that this very server gives. No address of
// anybody else: no validator badge, no query parameters that name another file.
"use strict";

window.SwaggerUIBundle({
  dom_id: "#docs",
  url: "/api/v1/openapi.json",
  deepLinking: true,
  queryConfigEnabled: false,
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
  docExpansion: "list",
  tryItOutEnabled: true,
  presets: [window.SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  // The description may name a public address; what is tried goes here.
  requestInterceptor(request) {
    const url = new URL(request.url, window.location.href);
    const at = url.pathname.indexOf("/api/v1/");
    if (at >= 0)
      request.url = window.location.origin + url.pathname.slice(at) + url.search;
    return request;
  },
});
