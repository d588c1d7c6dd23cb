/* gridctl cluster nginx: what nginx needs of a node. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/count.h"
#include "common/fs.h"
#include "common/opt.h"
#include "lmdb-schema/store/cluster.h"
#include "tools/gridctl/cluster_nginx.h"
#include "tools/gridctl/cmd.h"

static const struct opt_spec nginx_spec = {
    .usage = "gridctl [--data DIR] cluster nginx",
    .about = "Prints what nginx needs so that it serves files to the other "
	     "nodes, answers them for its part of the suppliers, and passes on "
	     "requests for suppliers that this one does not keep; it has the "
	     "nodes' secret.",
};

static const char location[] =
    "# Files for the other nodes of Product Grid, by gridctl cluster nginx.\n"
    "# It has the nodes' secret: only root may read it.\n"
    "location ~ \"^/cluster/files/(?<grid_file>[0-9a-f]{64})$\" {\n"
    "	error_page 401 /cluster/refused;\n"
    "	if ($http_authorization != \"%s\") {\n"
    "		return 401;\n"
    "	}\n"
    "	alias \"%s/files/$grid_file\";\n"
    "	default_type application/octet-stream;\n"
    "	types { }\n"
    "	etag off;\n"
    "	sendfile_max_chunk 1m;\n"
    "	add_header Cache-Control no-store;\n"
    "}\n"
    "# What another node asks of its part of the suppliers.\n"
    "location = /cluster/part {\n"
    "	error_page 401 /cluster/refused;\n"
    "	if ($http_authorization != \"%s\") {\n"
    "		return 401;\n"
    "	}\n"
    "	set $grid_part 1;\n"
    "	fastcgi_pass $grid_to_pages;\n"
    "}\n"
    "location = /cluster/refused {\n"
    "	internal;\n"
    "	default_type application/json;\n"
    "	add_header X-Request-Id $request_id always;\n"
    "	add_header Cache-Control no-store always;\n"
    "	return 200 '{\"error\":{\"code\":\"unauthorized\",\"message\":\""
    "This is for the nodes of a cluster, which send the secret that they "
    "share.\"}}\\n';\n"
    "}\n"
    "location /cluster/ {\n"
    "	return 404;\n"
    "}\n";

/*
 * A location asks one node, and the next location another one; set comes before the
 * first, whose answer takes the place of the worker's. No part of the address is of
 * the request. HTTP/1.0 may leave Host out, which HTTP/1.1 between nodes needs.
 * All are there three times: a write is not sent twice; a page comes at once, and
 * nodes whose nginx or gridapi hangs must not hold it up for as long as a computation
 * may take.
 */
static const char head[] =
    "# Requests for suppliers that this node does not keep: a worker says "
    "where to.\n"
    "fastcgi_param GRID_PASSES 1;\n";

static const char first_holder[] =
    "location %s {\n"
    "	set $grid_holder_1 $upstream_http_x_grid_holder_1;\n"
    "	set $grid_holder_2 $upstream_http_x_grid_holder_2;\n"
    "	set $grid_holder_3 $upstream_http_x_grid_holder_3;\n"
    "	set $grid_holder_seen $upstream_http_x_grid_holder_seen;\n"
    "	set $grid_holder_host $http_host;\n"
    "	if ($http_host = \"\") {\n"
    "		set $grid_holder_host $host;\n"
    "	}\n";

static const char next_holder[] = "location %s%u {\n"
				  "	if ($grid_holder_%u = \"\") {\n"
				  "		error_page 502 = @here;\n"
				  "		return 502;\n"
				  "	}\n";

static const char any_holder[] =
    "	proxy_pass $grid_holder_%u;\n"
    "	proxy_http_version 1.1;\n"
    "	proxy_set_header Connection \"\";\n"
    "	proxy_set_header Host $grid_holder_host;\n"
    "	proxy_set_header X-Grid-Passed \"%s\";\n"
    "	proxy_set_header X-Request-Id $request_id;\n"
    "	proxy_set_header X-Grid-Seen $grid_holder_seen;\n"
    "	proxy_hide_header Strict-Transport-Security;\n"
    "	add_header Strict-Transport-Security $grid_hsts always;\n"
    "	proxy_hide_header X-Request-Id;\n"
    "	add_header X-Request-Id $request_id always;\n"
    "	proxy_connect_timeout 2s;\n"
    "	proxy_read_timeout %us;\n"
    "	proxy_buffer_size 64k;\n"
    "	proxy_buffers 16 64k;\n"
    "	proxy_busy_buffers_size 512k;\n"
    "	proxy_max_temp_file_size 0;\n"
    "	proxy_next_upstream off;\n"
    "	proxy_intercept_errors on;\n"
    "	recursive_error_pages on;\n"
    "	proxy_ssl_server_name on;\n"
    "	proxy_ssl_verify on;\n"
    "	proxy_ssl_verify_depth 4;\n"
    "	proxy_ssl_trusted_certificate \"%s\";\n";

/* The next one may be asked for a read, whatever became of it. */
static const char after_read[] = "	error_page 421 502 503 504 = %s;\n";

/*
 * A write goes on to the next one where it was surely not taken: by a 421, or where
 * there was no connection. A 503 of gridapi says itself what became of it.
 */
static const char after_write[] = "	error_page 421 = %s;\n"
				  "	error_page 502 504 = @unsent%u;\n";

static const char unsent[] = "location @unsent%u {\n"
			     "	recursive_error_pages on;\n"
			     "	error_page 502 = %s;\n"
			     "	error_page 503 = @unknown;\n"
			     "	if ($upstream_connect_time ~ \"-$\") {\n"
			     "		return 502;\n"
			     "	}\n"
			     "	return 503;\n"
			     "}\n";

static const char unknown[] =
    "location @unknown {\n"
    "	default_type application/json;\n"
    "	add_header Strict-Transport-Security $grid_hsts always;\n"
    "	add_header X-Request-Id $request_id always;\n"
    "	add_header Cache-Control no-store always;\n"
    "	if ($grid_language = fr) {\n"
    "		return 503 '%s%s%s';\n"
    "	}\n"
    "	return 503 '%s%s%s';\n"
    "}\n";

static const char unknown_begins[] =
    "{\"error\":{\"code\":\"internal_error\",\"message\":\"";

static const char unknown_en[] =
    "It may have been stored, or not: the node that it was passed on to did "
    "not answer. Look again before you repeat it.";

static const char unknown_fr[] =
    "Peut-être enregistré, peut-être pas : le nœud auquel la requête a été "
    "transmise n’a pas répondu. Vérifier avant de la répéter.";

static const char unknown_ends[] =
    "\",\"details\":{\"outcome\":\"unknown\"}}}\\n";

static const char no_holder[] = "location @here {\n"
				"	set $grid_alone 1;\n"
				"	fastcgi_pass $grid_to_pages;\n"
				"}\n";

#define SYSTEMS_CA "/etc/ssl/certs/ca-certificates.crt"
#define HOLDERS 3
#define COMPUTATION_S 330u /* beyond a worker's 300 */

/* For a page, of each holder in turn: 20 seconds in all. */
static const unsigned page_s[HOLDERS] = {10, 5, 5};

/* "https://192.0.2.11", and not a name. */
static bool
is_number(const char *address)
{
	const char *host = strstr(address, "://");

	host = host == NULL ? address : host + 3;
	return *host == '[' ||
	    strspn(host, "0123456789.") == strcspn(host, ":/");
}

#define RESOLV "/etc/resolv.conf"
#define RESOLV_MAX 65536

/* nginx takes numbers without a zone, and refuses its settings for others. */
static void
add_server(struct buf *out, struct span server)
{
	char text[INET6_ADDRSTRLEN];
	struct in6_addr number;

	if (!span_copy(text, sizeof(text), server))
		return;
	if (inet_pton(AF_INET, text, &number) == 1)
		buf_addf(out, " %s", text);
	else if (inet_pton(AF_INET6, text, &number) == 1)
		buf_addf(out, " [%s]", text);
}

/* The servers by which this machine looks up names; none where it has no file. */
static enum err
read_resolver(struct buf *out)
{
	static const struct span key = {"nameserver", 10};
	struct span line, rest;
	struct buf text;
	enum err err;

	buf_init(&text, RESOLV_MAX);
	err = fs_read(&text, RESOLV);
	rest = buf_span(&text);
	while (err == ERR_OK && span_cut(&line, &rest, '\n'))
		if (span_starts(line, key))
			add_server(out, span_trim(span_from(line, key.len)));
	buf_fini(&text);
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

/* Also where this node's address is a number: others may have names. */
static enum err
find_resolver(struct buf *out, bool needed, struct fault *fault)
{
	enum err err = read_resolver(out);

	if (err == ERR_OK)
		err = buf_end(out);
	if (err == ERR_OK && needed && out->len == 0)
		err = ERR_NOT_FOUND;
	if (err != ERR_OK)
		fault_set(fault, RESOLV,
		    "names no server by which nginx could look up names: "
		    "[cluster] address of each node is to be an IP address");
	return err;
}

/* `kind` is the name of the first location, and the beginning of the others'. */
static void
add_holder(struct buf *out, unsigned i, const char *kind,
    const struct cluster_peers *peers, const char *node,
    const struct buf *resolver)
{
	bool page = strcmp(kind, "@page") == 0;
	bool write = strcmp(kind, "@writer") == 0;
	char next[32] = "@here";

	if (i < HOLDERS)
		snprintf(next, sizeof(next), "%s%u", kind, i + 1);
	if (i == 1)
		buf_addf(out, first_holder, kind);
	else
		buf_addf(out, next_holder, kind, i, i);
	buf_addf(out, any_holder, i, node, page ? page_s[i - 1] : COMPUTATION_S,
	    peers->ca[0] == '\0' ? SYSTEMS_CA : peers->ca);
	if (peers->cert[0] != '\0')
		buf_addf(out,
		    "	proxy_ssl_certificate \"%s\";\n"
		    "	proxy_ssl_certificate_key \"%s\";\n",
		    peers->cert, peers->key);
	if (resolver->len > 0)
		buf_addf(out,
		    "	resolver%.*s valid=60s;\n"
		    "	resolver_timeout 2s;\n",
		    SPAN_ARG(buf_span(resolver)));
	if (write)
		buf_addf(out, after_write, next, i);
	else
		buf_addf(out, after_read, next);
	buf_addf(out, "}\n");
	if (write)
		buf_addf(out, unsent, i, next);
}

static enum err
check_trust(const struct cluster_peers *peers, struct fault *fault)
{
	if (peers->ca[0] != '\0' || access(SYSTEMS_CA, R_OK) == 0)
		return ERR_OK;
	fault_set(fault, SYSTEMS_CA,
	    "is not there: [cluster] ca names the certificates that the nodes' "
	    "are checked with, or install ca-certificates");
	return ERR_NOT_FOUND;
}

/* A node that keeps all passes nothing on. */
static enum err
add_holders(struct buf *out, const char *dir, const struct cluster_peers *peers,
    struct fault *fault)
{
	static const char *const kinds[] = {"@page", "@holder", "@writer"};
	struct cluster_sharing sharing;
	struct engine_node own;
	struct buf resolver;
	enum err err = cluster_sharing(&sharing, dir, fault);

	if (err == ERR_OK)
		err = cluster_node(&own, dir, fault);
	if (err != ERR_OK || sharing.keep == 0)
		return err;
	buf_init(&resolver, RESOLV_MAX);
	err = check_trust(peers, fault);
	if (err == ERR_OK)
		err = find_resolver(&resolver, !is_number(own.address), fault);
	if (err == ERR_OK) {
		buf_addf(out, "%s", head);
		for (unsigned kind = 0; kind < COUNT(kinds); kind++)
			for (unsigned i = 1; i <= HOLDERS; i++)
				add_holder(out, i, kinds[kind], peers, own.name,
				    &resolver);
		buf_addf(out, unknown, unknown_begins, unknown_fr, unknown_ends,
		    unknown_begins, unknown_en, unknown_ends);
		buf_addf(out, "%s", no_holder);
	}
	buf_fini(&resolver);
	return err;
}

enum err
cluster_nginx_text(struct buf *out, const char *data, struct fault *fault)
{
	struct cluster_peers peers;
	char dir[FS_PATH_MAX];
	enum err err;

	if (realpath(data, dir) == NULL || strpbrk(dir, "\"\\$"))
		fault_set(fault, data,
		    "is no path that nginx's configuration can have");
	else if (!cluster_is_told(dir))
		(void)store_untold_in(dir, fault);
	if (fault_is_set(fault))
		return ERR_BAD_INPUT;
	err = cluster_peers(&peers, dir, fault);
	if (err != ERR_OK)
		return err;
	buf_addf(out, location, peers.token, dir, peers.token);
	err = add_holders(out, dir, &peers, fault);
	return err == ERR_OK ? buf_end(out) : err;
}

int
cmd_cluster_nginx(int argc, char **argv)
{
	struct fault fault;
	struct buf text;
	int args, result = cmd_options(NULL, &nginx_spec, argc, argv, &args);
	enum err err;

	if (result != CMD_GO)
		return result;
	fault_clear(&fault);
	buf_init(&text, CLUSTER_NGINX_MAX);
	err = cluster_nginx_text(&text, cmd_data_dir(), &fault);
	if (err == ERR_OK)
		fwrite(text.data, 1, text.len, stdout);
	buf_fini(&text);
	return err == ERR_OK ? CMD_DONE
			     : cmd_fail("cluster nginx", err, &fault);
}
