#include "config.h"

#include "lmdb-schema/store/cluster.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/digest.h"
#include "common/fs.h"
#include "common/origin.h"
#include "common/version.h"
#include "lmdb-schema/store/engine_etcd.h"
#include "lmdb-schema/store/engine_pg.h"
#include "lmdb-schema/store/write_log.h"

struct cluster_settings {
	char *etcd, *postgres, *name, *node, *address;
	char *ca, *cert, *key, *user, *password_file, *secret_file;
	char *bucket, *bucket_region, *bucket_key, *bucket_secret_file;
	char *bucket_ca;
	int64_t copies, keep;
};

#define AT(member) offsetof(struct cluster_settings, member)
#define TEXT(name, fallback, help) \
	{ \
		"cluster", #name, CONF_TEXT, AT(name), fallback, 0, 0, NULL, \
		    help \
	}

const struct conf_row cluster_rows[] = {
    TEXT(etcd, "", "etcd's members: http://host:port, by commas"),
    TEXT(postgres, "",
	"instead of etcd, a PostgreSQL server: libpq's connection string"),
    TEXT(name, "product-grid",
	"of the cluster: what its keys in etcd begin with, or its rows have"),
    TEXT(node, "", "this node's name among them; empty: the host's"),
    TEXT(address, "", "where others reach its nginx: http://host:port"),
    TEXT(ca, "",
	"certificates that etcd's and the other nodes' are checked "
	"with; empty: the system's"),
    TEXT(cert, "", "the own certificate, where etcd asks for one"),
    TEXT(key, "", "its key"),
    TEXT(user, "", "etcd's user; empty: none"),
    TEXT(password_file, "", "a file with the user's password"),
    TEXT(secret_file, "", "a file with the secret that the nodes share"),
    {"cluster", "copies", CONF_INT, AT(copies), "2", 1, 64, NULL,
	"nodes that have an import's files before the nodes show it"},
    {"cluster", "keep", CONF_INT, AT(keep), "0", 0, 64, NULL,
	"nodes that keep a supplier's snapshot; 0: all"},
    TEXT(
	bucket, "", "a bucket with the nodes' files, too: https://host/bucket"),
    TEXT(bucket_region, "us-east-1", "its region"),
    TEXT(bucket_key, "", "the id of the key that signs requests to it"),
    TEXT(bucket_secret_file, "", "a file with the key's secret"),
    TEXT(bucket_ca, "",
	"certificates that the bucket's are checked with; empty: the "
	"system's"),
};

const size_t cluster_count = sizeof(cluster_rows) / sizeof(cluster_rows[0]);

#define PASSWORD_MAX 1024

/* The first line of the file that `setting` names; "" when it names none. */
static enum err
read_secret(struct buf *password, const char *setting, const char *path,
    struct fault *fault)
{
	enum err err = ERR_OK;

	if (path[0] != '\0')
		err = fs_read(password, path);
	if (err != ERR_OK)
		fault_set(fault, path,
		    "cannot be read: %s: %s of cluster.conf names it: copy it "
		    "from another node, readable for the user of gridapi",
		    err_text(err), setting);
	password->len = span_find(buf_span(password), '\n');
	buf_add_char(password, '\0');
	return err == ERR_OK ? buf_end(password) : err;
}

static enum err
open_etcd(struct engine **out, uint64_t epoch,
    const struct cluster_settings *from, const char *password,
    struct fault *fault)
{
	const struct engine_etcd_settings settings = {.members = from->etcd,
	    .name = from->name,
	    .ca = from->ca,
	    .cert = from->cert,
	    .key = from->key,
	    .user = from->user,
	    .epoch = epoch,
	    .password = password};

	return engine_etcd_open(out, &settings, fault);
}

static enum err
open_pg(struct engine **out, uint64_t epoch,
    const struct cluster_settings *from, const char *password,
    struct fault *fault)
{
	const struct engine_pg_settings settings = {.postgres = from->postgres,
	    .name = from->name,
	    .epoch = epoch,
	    .password = password};

	if (from->etcd[0] != '\0') {
		fault_set(fault, "postgres", "and etcd: one of them is named");
		return ERR_BAD_INPUT;
	}
	/* `ca` is of the nodes alone then. */
	if (from->cert[0] != '\0' || from->key[0] != '\0' ||
	    from->user[0] != '\0') {
		fault_set(fault, "cert, key and user",
		    "are of etcd: the connection string has sslcert, sslkey "
		    "and user");
		return ERR_BAD_INPUT;
	}
	return engine_pg_open(out, &settings, fault);
}

static enum err
open_engine(struct engine **out, uint64_t epoch,
    const struct cluster_settings *from, const char *path, struct fault *fault)
{
	struct fault inner;
	struct buf password;
	enum err err;

	fault_clear(&inner);
	buf_init(&password, PASSWORD_MAX);
	err =
	    read_secret(&password, "password_file", from->password_file, fault);
	if (err == ERR_OK)
		err = from->postgres[0] != '\0'
		    ? open_pg(out, epoch, from, password.data, &inner)
		    : open_etcd(out, epoch, from, password.data, &inner);
	if (err != ERR_OK && fault_is_set(&inner))
		fault_set(
		    fault, path, "[cluster] %s %s", inner.place, inner.message);
	buf_fini(&password);
	return err;
}

static const char node_letters[] = "abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";

static bool
is_node_name(struct span name)
{
	if (name.len == 0)
		return false;
	for (size_t i = 0; i < name.len; i++)
		if (memchr(node_letters, name.ptr[i],
			sizeof(node_letters) - 1) == NULL)
			return false;
	return true;
}

static bool
is_address(struct span text)
{
	struct origin origin;

	return text.len == 0 ||
	    (origin_read(&origin, text) &&
		(span_eq(origin.scheme, SPAN("http")) ||
		    span_eq(origin.scheme, SPAN("https"))));
}

static enum err
take_node(void *out, const struct cluster_settings *settings, const char *path,
    struct fault *fault)
{
	struct engine_node *node = out;
	char host[ENGINE_NODE_NAME_MAX] = "";
	struct span name = span_of(settings->node);

	if (name.len == 0 && gethostname(host, sizeof(host) - 1) == 0)
		name = span_of(host);
	if (!is_node_name(name) ||
	    !span_copy(node->name, sizeof(node->name), name)) {
		fault_set(fault, path,
		    "[cluster] node is 1 to %d letters, digits, '.', '-' and "
		    "'_': \"%.*s\"",
		    ENGINE_NODE_NAME_MAX - 1, SPAN_ARG(name));
		return ERR_BAD_INPUT;
	}
	if (!is_address(span_of(settings->address)) ||
	    !span_copy(node->address, sizeof(node->address),
		span_of(settings->address))) {
		fault_set(fault, path,
		    "[cluster] address is no address such as "
		    "http://192.0.2.1, without a path: \"%s\"",
		    settings->address);
		return ERR_BAD_INPUT;
	}
	return ERR_OK;
}

bool
cluster_is_told(const char *dir)
{
	char path[FS_PATH_MAX];

	return fs_path(path, "%s/cluster.conf", dir) == ERR_OK &&
	    access(path, F_OK) == 0;
}

enum err
cluster_untold(const char *dir, struct fault *fault)
{
	char left[FS_PATH_MAX];
	enum err err = fs_path(left, "%s/cluster.conf.left", dir);

	if (err != ERR_OK)
		return err;
	if (access(left, F_OK) == 0)
		fault_set(fault, dir,
		    "has left its cluster, and is of a machine on its own: the "
		    "way back is to rename cluster.conf.left to cluster.conf, "
		    "and 'gridctl cluster join --anew'");
	else
		fault_set(fault, dir,
		    "has no cluster.conf: it is of a machine on its own; "
		    "docs/cluster.md says what is in that file, then 'gridctl "
		    "cluster init' begins a cluster, and 'gridctl cluster "
		    "join' joins one");
	return ERR_NOT_FOUND;
}

enum err
cluster_cut_off(const char *dir, struct fault *fault)
{
	char path[FS_PATH_MAX];
	enum err err = fs_path(path, "%s/cluster.conf", dir);

	if (err != ERR_OK)
		return err;
	fault_set(fault, path,
	    "is missing, and the state beside it is of a node of several, so "
	    "that nothing is stored: " CLUSTER_CUT_OFF_TODO);
	return ERR_CUT_OFF;
}

static enum err
read_settings(
    struct cluster_settings *settings, const char *path, struct fault *fault)
{
	enum err err =
	    conf_defaults(settings, cluster_rows, cluster_count, fault);

	return err == ERR_OK
	    ? conf_read_once(settings, cluster_rows, cluster_count, path, fault)
	    : err;
}

/* A credential of the unit that has the file's name comes before the file. */
static enum err
prefer_credential(char **file)
{
	const char *folder = getenv("CREDENTIALS_DIRECTORY");
	const char *name = strrchr(*file, '/');
	char path[FS_PATH_MAX];
	char *copy;

	name = name == NULL ? *file : name + 1;
	if (folder == NULL || name[0] == '\0' ||
	    fs_path(path, "%s/%s", folder, name) != ERR_OK ||
	    access(path, F_OK) != 0)
		return ERR_OK;
	copy = span_dup(span_of(path));
	if (copy == NULL)
		return ERR_NO_MEMORY;
	free(*file);
	*file = copy;
	return ERR_OK;
}

static enum err
prefer_credentials(struct cluster_settings *settings)
{
	char **const files[] = {&settings->password_file,
	    &settings->secret_file, &settings->bucket_secret_file,
	    &settings->key};
	enum err err = ERR_OK;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (err == ERR_OK)
			err = prefer_credential(files[i]);
	return err;
}

/* Reads the file, if there is one, and gives it to `take`. */
static enum err
with_settings(const char *dir,
    enum err (*take)(void *out, const struct cluster_settings *settings,
	const char *path, struct fault *fault),
    void *out, struct fault *fault)
{
	struct cluster_settings settings;
	char path[FS_PATH_MAX];
	enum err err = fs_path(path, "%s/cluster.conf", dir);

	if (err != ERR_OK || !cluster_is_told(dir))
		return err;
	memset(&settings, 0, sizeof(settings));
	err = read_settings(&settings, path, fault);
	if (err == ERR_OK)
		err = prefer_credentials(&settings);
	if (err == ERR_OK)
		err = take(out, &settings, path, fault);
	conf_fini(&settings, cluster_rows, cluster_count);
	return err;
}

struct opening {
	struct engine *engine;
	uint64_t epoch;
};

static enum err
take_engine(void *out, const struct cluster_settings *settings,
    const char *path, struct fault *fault)
{
	struct opening *opening = out;
	struct engine_node node;
	enum err err = take_node(&node, settings, path, fault);

	return err == ERR_OK ? open_engine(&opening->engine, opening->epoch,
				   settings, path, fault)
			     : err;
}

enum err
cluster_open(
    struct engine **out, const char *dir, uint64_t epoch, struct fault *fault)
{
	struct opening opening = {.epoch = epoch};
	enum err err = with_settings(dir, take_engine, &opening, fault);

	*out = opening.engine;
	return err;
}

enum err
cluster_node(struct engine_node *out, const char *dir, struct fault *fault)
{
	memset(out, 0, sizeof(*out));
	out->log_version = write_log_newest();
	snprintf(out->program, sizeof(out->program), "%s", version_text);
	return with_settings(dir, take_node, out, fault);
}

/* --- the nodes' secret ---------------------------------------------------- */

/* Whether nginx's configuration and a header can have the text as it is. */
static bool
is_secret(struct span text)
{
	if (text.len < 16 || text.len > CLUSTER_SECRET_MAX)
		return false;
	for (size_t i = 0; i < text.len; i++)
		if (memchr(node_letters, text.ptr[i],
			sizeof(node_letters) - 1) == NULL)
			return false;
	return true;
}

static enum err
copy_trust(struct cluster_peers *peers, const struct cluster_settings *settings)
{
	const char *const from[] = {
	    settings->ca, settings->cert, settings->key};
	char *const to[] = {peers->ca, peers->cert, peers->key};

	for (unsigned i = 0; i < 3; i++)
		if (!span_copy(to[i], FS_PATH_MAX, span_of(from[i])))
			return ERR_TOO_LARGE;
	return ERR_OK;
}

static enum err
take_peers(void *out, const struct cluster_settings *settings, const char *path,
    struct fault *fault)
{
	struct cluster_peers *peers = out;
	struct span text;
	struct buf secret;
	enum err err = copy_trust(peers, settings);

	buf_init(&secret, PASSWORD_MAX);
	if (err == ERR_OK)
		err = read_secret(
		    &secret, "secret_file", settings->secret_file, fault);
	text = span_of(secret.data);
	if (err == ERR_OK && !is_secret(text)) {
		fault_set(fault, path,
		    "[cluster] secret_file names a file with 16 to %d letters, "
		    "digits, '.', '-' and '_', the same on each node: "
		    "'openssl rand -hex 32' makes them",
		    CLUSTER_SECRET_MAX);
		err = ERR_BAD_INPUT;
	}
	if (err == ERR_OK)
		snprintf(peers->token, sizeof(peers->token), "Bearer %s",
		    secret.data);
	digest_forget(secret.data, secret.len);
	buf_fini(&secret);
	return err;
}

enum err
cluster_peers(struct cluster_peers *out, const char *dir, struct fault *fault)
{
	memset(out, 0, sizeof(*out));
	return with_settings(dir, take_peers, out, fault);
}

static enum err
take_sharing(void *out, const struct cluster_settings *settings,
    const char *path, struct fault *fault)
{
	struct cluster_sharing *sharing = out;

	sharing->files =
	    settings->secret_file[0] != '\0' && settings->address[0] != '\0';
	if (settings->keep > 0 && !sharing->files) {
		fault_set(fault, path,
		    "[cluster] keep needs address and secret_file, too");
		return ERR_BAD_INPUT;
	}
	sharing->copies = (unsigned)settings->copies;
	sharing->keep = (unsigned)settings->keep;
	sharing->bucket = settings->bucket[0] != '\0';
	return ERR_OK;
}

enum err
cluster_sharing(
    struct cluster_sharing *out, const char *dir, struct fault *fault)
{
	memset(out, 0, sizeof(*out));
	return with_settings(dir, take_sharing, out, fault);
}

enum err
cluster_can_share(
    struct cluster_sharing *out, const char *dir, struct fault *fault)
{
	struct cluster_peers peers = {.token = ""};
	enum err err = cluster_sharing(out, dir, fault);

	if (err == ERR_OK && out->files)
		err = cluster_peers(&peers, dir, fault);
	digest_forget(peers.token, sizeof(peers.token));
	return err;
}

/* --- the bucket ----------------------------------------------------------- */

static bool
copy_bucket(struct bucket *bucket, const struct cluster_settings *settings)
{
	return span_copy(bucket->url, sizeof(bucket->url),
		   span_of(settings->bucket)) &&
	    span_copy(bucket->folder, sizeof(bucket->folder),
		span_of(settings->name)) &&
	    span_copy(bucket->region, sizeof(bucket->region),
		span_of(settings->bucket_region)) &&
	    span_copy(bucket->key, sizeof(bucket->key),
		span_of(settings->bucket_key)) &&
	    span_copy(
		bucket->ca, sizeof(bucket->ca), span_of(settings->bucket_ca));
}

static enum err
check_bucket(const struct cluster_settings *settings, const char *path,
    struct fault *fault)
{
	if (!bucket_is_url(span_of(settings->bucket)))
		fault_set(fault, path,
		    "[cluster] bucket is no address such as "
		    "https://host/bucket: \"%s\"",
		    settings->bucket);
	else if (settings->bucket_key[0] == '\0' ||
	    settings->bucket_secret_file[0] == '\0')
		fault_set(fault, path,
		    "[cluster] bucket needs bucket_key and "
		    "bucket_secret_file, too");
	else if (!is_node_name(span_of(settings->bucket_region)))
		fault_set(fault, path,
		    "[cluster] bucket_region is a name such as us-east-1: "
		    "\"%s\"",
		    settings->bucket_region);
	else
		return ERR_OK;
	return ERR_BAD_INPUT;
}

static enum err
take_bucket(void *out, const struct cluster_settings *settings,
    const char *path, struct fault *fault)
{
	struct bucket *bucket = out;
	struct buf secret;
	enum err err;

	if (settings->bucket[0] == '\0')
		return ERR_OK;
	buf_init(&secret, PASSWORD_MAX);
	err = check_bucket(settings, path, fault);
	if (err == ERR_OK)
		err = read_secret(&secret, "bucket_secret_file",
		    settings->bucket_secret_file, fault);
	if (err == ERR_OK &&
	    (!copy_bucket(bucket, settings) || secret.len < 2 ||
		!span_copy(bucket->secret, sizeof(bucket->secret),
		    span_of(secret.data)))) {
		fault_set(fault, path,
		    "[cluster] the settings of the bucket have at most %d "
		    "letters each, and its secret at least one",
		    BUCKET_TEXT_MAX - 1);
		err = ERR_BAD_INPUT;
	}
	digest_forget(secret.data, secret.len);
	buf_fini(&secret);
	return err;
}

#define STALL_S 60

enum err
cluster_bucket(struct bucket *out, const char *dir, struct fault *fault)
{
	memset(out, 0, sizeof(*out));
	out->piece = BUCKET_PIECE;
	out->stall_s = STALL_S;
	return with_settings(dir, take_bucket, out, fault);
}
