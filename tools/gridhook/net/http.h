/*
 * http: bytes in, one request after the other out. The door to llhttp, with
 * every leniency off; what llhttp leaves to its user (limits, versions, one
 * Host) is added here. It knows nothing of sockets.
 *
 * A request is fed in two steps, so that a refusal can come before its body:
 * HTTP_GOT_HEAD once the header block is complete, HTTP_GOT_ALL once the body
 * is.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/span.h"

#define HTTP_LINE_MAX 8192 /* the request line */
#define HTTP_HEAD_MAX 16384 /* the whole header block */
#define HTTP_HEADERS_MAX 100

enum http_step {
	HTTP_MORE, /* all was taken; more bytes are needed */
	HTTP_GOT_HEAD, /* the head is complete; feed the rest to go on */
	HTTP_GOT_ALL, /* the request is complete; http_next() before more */
	HTTP_BAD, /* not HTTP/1.0 or 1.1 as it is written: 400 */
	HTTP_HEAD_TOO_LARGE, /* 431 */
	HTTP_LINE_TOO_LONG, /* 414 */
	HTTP_BODY_TOO_LARGE, /* 413; known from the length or found on the way
			      */
	HTTP_VERSION /* 505 */
};

enum http_method {
	METHOD_GET,
	METHOD_HEAD,
	METHOD_POST,
	METHOD_OTHER /* all others get the same answers here */
};

struct http;

/* `body_max` bytes of body are fine, one more is not. NULL: no memory. */
struct http *http_new(size_t body_max);
void http_free(struct http *http);

/*
 * Takes as many bytes as it can use, tells how many, and what has happened.
 * After one of the failures the connection cannot go on.
 */
enum http_step http_feed(struct http *http, struct span bytes, size_t *used);

/* Forgets the request and gives back the memory of a large body. */
void http_next(struct http *http);

/* True once the first byte of a request has come. */
bool http_has_begun(const struct http *http);

/* From HTTP_GOT_HEAD on. */
enum http_method http_method(const struct http *http);

/* As sent, never decoded; of an absolute address only the path and on. */
struct span http_target(const struct http *http);

/*
 * "a.example:80" of an absolute address, which RFC 9112 puts above Host; .ptr
 * NULL where there is none.
 */
struct span http_authority(const struct http *http);

/* The target up to the '?', and what stands behind it. */
struct span http_path(const struct http *http);
struct span http_query(const struct http *http);

/*
 * The value of a header, blanks trimmed; .ptr NULL when it is not there. One
 * that is sent several times gives its values joined by ", ".
 */
struct span http_header(struct http *http, const char *name);

/* The sender will use the connection again. */
bool http_keeps_alive(const struct http *http);
bool http_is_old(const struct http *http); /* HTTP/1.0 */
bool http_expects_continue(struct http *http);

/* A body is announced (which may be empty when it is chunked). */
bool http_has_body(const struct http *http);

/* The announced length is over the limit: HTTP_BODY_TOO_LARGE comes next. */
bool http_body_is_too_large(const struct http *http);

/* At HTTP_GOT_ALL; borrowed until http_next(). */
struct span http_body(const struct http *http);

/* The reason of a failure, for the log; never the sender's bytes. */
const char *http_why(const struct http *http);
