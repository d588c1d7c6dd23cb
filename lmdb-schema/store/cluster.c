#include "lmdb-schema/store/cluster.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/fs.h"
#include "lmdb-schema/store/engine_etcd.h"

struct cluster_settings {
	char *etcd, *name, *ca, *cert, *key, *user, *password_file;
};

#define AT(member) offsetof(struct cluster_settings, member)
#define TEXT(name, fallback, help) \
	{ \
		"cluster", #name, CONF_TEXT, AT(name), fallback, 0, 0, NULL, \
		    help \
	}

const struct conf_row cluster_rows[] = {
    TEXT(etcd, "", "etcd's members: http://host:port, by commas"),
    TEXT(name, "product-grid", "what the cluster's keys in etcd begin with"),
    TEXT(ca, "",
	"certificates that etcd's are checked with; empty: the "
	"system's"),
    TEXT(cert, "", "the own certificate, where etcd asks for one"),
    TEXT(key, "", "its key"),
    TEXT(user, "", "etcd's user; empty: none"),
    TEXT(password_file, "", "a file with the user's password"),
};

const size_t cluster_count = sizeof(cluster_rows) / sizeof(cluster_rows[0]);

#define PASSWORD_MAX 1024

/* The first line of the file; "" when none is named. */
static enum err
read_password(struct buf *password, const char *path, struct fault *fault)
{
	enum err err = ERR_OK;

	if (path[0] != '\0')
		err = fs_read(password, path);
	if (err != ERR_OK)
		fault_set(fault, path, "cannot be read: %s", err_text(err));
	password->len = span_find(buf_span(password), '\n');
	buf_add_char(password, '\0');
	return err == ERR_OK ? buf_end(password) : err;
}

static enum err
open_engine(struct engine **out, const struct cluster_settings *from,
    const char *path, struct fault *fault)
{
	struct engine_etcd_settings settings = {.members = from->etcd,
	    .name = from->name,
	    .ca = from->ca,
	    .cert = from->cert,
	    .key = from->key,
	    .user = from->user};
	struct fault inner;
	struct buf password;
	enum err err;

	fault_clear(&inner);
	buf_init(&password, PASSWORD_MAX);
	err = read_password(&password, from->password_file, fault);
	settings.password = password.data;
	if (err == ERR_OK)
		err = engine_etcd_open(out, &settings, &inner);
	if (err != ERR_OK && fault_is_set(&inner))
		fault_set(
		    fault, path, "[cluster] %s %s", inner.place, inner.message);
	buf_fini(&password);
	return err;
}

bool
cluster_is_told(const char *dir)
{
	char path[FS_PATH_MAX];

	return fs_path(path, "%s/cluster.conf", dir) == ERR_OK &&
	    access(path, F_OK) == 0;
}

enum err
cluster_open(struct engine **out, const char *dir, struct fault *fault)
{
	struct cluster_settings settings;
	char path[FS_PATH_MAX];
	enum err err = fs_path(path, "%s/cluster.conf", dir);

	*out = NULL;
	if (err != ERR_OK || !cluster_is_told(dir))
		return err;
	memset(&settings, 0, sizeof(settings));
	err = conf_defaults(&settings, cluster_rows, cluster_count, fault);
	if (err == ERR_OK)
		err = conf_read(
		    &settings, cluster_rows, cluster_count, path, fault);
	if (err == ERR_OK)
		err = open_engine(out, &settings, path, fault);
	conf_fini(&settings, cluster_rows, cluster_count);
	return err;
}
