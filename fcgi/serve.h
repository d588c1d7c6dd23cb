/*
 * serve: a request's whole life, from plain data to the last byte. No socket
 * and no process in it: a test serves into a buffer.
 */
#pragma once

#include "common/err.h"
#include "common/sink.h"
#include "fcgi/http/request.h"

struct metrics;
struct serving; /* server.h */

/*
 * Answers the request into `out`: "Status: 200 OK", header lines, an empty
 * line, the body, as CGI has them. The first put holds the whole head, and for
 * short answers all of it. The result is ERR_OK when all was put, or the
 * sink's failure: then the connection must not look as though it ended well.
 */
enum err serve(
    struct serving *serving, const struct request *request, struct sink *out);

/* The same where no store can be opened: 503, whatever is asked for. */
enum err serve_without_store(
    struct metrics *metrics, const struct request *request, struct sink *out);
