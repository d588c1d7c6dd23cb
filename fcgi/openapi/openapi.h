/*
 * openapi: the interface description, OpenAPI 3.1.0, made from the tables that
 * the program itself works by: routes[], param_infos[], row_info[]; and from
 * openapi.def, which says what the bodies are.
 */
#pragma once

#include "common/buf.h"
#include "common/err.h"
#include "common/span.h"

/*
 * Appends the whole document. `server` is the absolute address that its paths
 * are relative to, "https://grid.example/api/v1".
 */
enum err openapi_write(struct buf *buf, struct span server);
