#include "lmdb-schema/store/etcd_refusal.h"

#include <stdio.h>
#include <string.h>

static bool
has(const char *text, const char *part)
{
	return strstr(text, part) != NULL;
}

bool
etcd_refusal(struct engine_trouble *out, const char *text, const char *user,
    const char *name, bool writes)
{
	memset(out, 0, sizeof(*out));
	if (has(text, "authentication failed")) {
		snprintf(out->refusal, sizeof(out->refusal),
		    "refuses the user %.80s", user);
		snprintf(out->todo, sizeof(out->todo),
		    "user and the password in the file of password_file "
		    "(cluster.conf) are those that etcd has: 'etcdctl user "
		    "list', 'etcdctl user passwd %.80s'; "
		    "then " ENGINE_PASSWORD_TODO,
		    user);
	} else if (has(text, "authentication is not enabled")) {
		snprintf(
		    out->refusal, sizeof(out->refusal), "has no users enabled");
		snprintf(out->todo, sizeof(out->todo),
		    "'etcdctl auth enable', as docs/cluster.md has it; or take "
		    "user and password_file out of cluster.conf");
	} else if (has(text, "user name is empty")) {
		snprintf(out->refusal, sizeof(out->refusal), "asks for a user");
		snprintf(out->todo, sizeof(out->todo),
		    "set user and password_file in cluster.conf: "
		    "docs/cluster.md");
	} else if (has(text, "permission denied")) {
		snprintf(out->refusal, sizeof(out->refusal),
		    "does not let the user %.80s %s", user,
		    writes ? "write" : "read");
		snprintf(out->todo, sizeof(out->todo),
		    "grant the user's role readwrite of all keys that begin "
		    "with %.64s: 'etcdctl user get %.80s' names the role, "
		    "'etcdctl role grant-permission ROLE readwrite %.64s "
		    "--prefix' grants it",
		    name, user, name);
		out->of_rights = out->hides_nodes = writes;
	} else
		return false;
	snprintf(out->why, sizeof(out->why), "%s", text);
	return true;
}
