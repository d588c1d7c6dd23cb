/* gridctl doctor: what nginx has for the other nodes of a cluster. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fs.h"
#include "lmdb-schema/store/cluster.h"
#include "tools/gridctl/cluster_nginx.h"
#include "tools/gridctl/doctor.h"

#define SITE_MAX (4 << 20)
#define LOCATION "location "

/* Of the site, without which requests for others' suppliers fail or go round. */
static const char *const needed[] = {"fastcgi_param HTTP_X_GRID_SEEN ",
    "fastcgi_param HTTP_X_GRID_PASSED ", "fastcgi_param GRID_ALONE ",
    "fastcgi_param GRID_PART "};
#define NEEDED (sizeof(needed) / sizeof(needed[0]))

static const char mend[] =
    "as root: '(umask 077; gridctl cluster nginx >%s)', then 'nginx -t' and "
    "'systemctl reload nginx'";

struct doctor_nginx {
	const char *site;
	struct buf of_site, of_nodes;
	enum err site_err, nodes_err;
	char nodes[FS_PATH_MAX]; /* the file that the site includes; "": none */
};

/* --- reading --------------------------------------------------------------- */

/*
 * Takes "/etc/product-grid/cluster-nginx.con[f]" of an include, whose pattern lets
 * nginx start without the file; false for another line.
 */
static bool
take_include(struct doctor_nginx *nginx, struct span line)
{
	static const struct span include = {"include", 7};
	char pattern[FS_PATH_MAX];
	struct span value;
	char *end;

	line = span_trim(line);
	if (!span_starts(line, include))
		return false;
	value = span_trim(span_from(line, include.len));
	if (!span_copy(pattern, sizeof(pattern), value))
		return false;
	pattern[strcspn(pattern, ";")] = '\0';
	end = strstr(pattern, ".con[f]");
	if (end == NULL || strstr(pattern, "cluster") == NULL)
		return false;
	memcpy(end, ".conf", sizeof(".conf"));
	return span_copy(nginx->nodes, sizeof(nginx->nodes), span_of(pattern));
}

/* The doctor tells of a file that this user may not read, so that no log does. */
static enum err
read_file(struct buf *out, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_from_errno(errno);
	close(fd);
	return fs_read(out, path);
}

struct doctor_nginx *
doctor_nginx_read(const char *site)
{
	struct doctor_nginx *nginx = calloc(1, sizeof(*nginx));
	struct span line, rest;

	assert(site != NULL);
	if (nginx == NULL)
		return NULL;
	nginx->site = site;
	buf_init(&nginx->of_site, SITE_MAX);
	buf_init(&nginx->of_nodes, SITE_MAX);
	nginx->site_err = read_file(&nginx->of_site, site);
	if (nginx->site_err != ERR_OK)
		return nginx;
	rest = buf_span(&nginx->of_site);
	while (span_cut(&line, &rest, '\n'))
		if (take_include(nginx, line))
			break;
	if (nginx->nodes[0] != '\0')
		nginx->nodes_err = read_file(&nginx->of_nodes, nginx->nodes);
	return nginx;
}

/* --- judging --------------------------------------------------------------- */

static bool
has(const struct buf *text, struct span part)
{
	return text->len > 0 &&
	    memmem(text->data, text->len, part.ptr, part.len) != NULL;
}

/* The first of them that the site does not have; NULL: it has all. */
static const char *
lacking(const struct buf *site)
{
	for (size_t i = 0; i < NEEDED; i++)
		if (!has(site, span_of(needed[i])))
			return needed[i];
	return NULL;
}

/* Finds the first location of `printed` that the file does not have. */
static bool
lacks_location(struct span *found, const struct doctor_nginx *nginx,
    const struct buf *printed)
{
	struct span rest = buf_span(printed), line;

	while (span_cut(&line, &rest, '\n'))
		if (span_starts(line, SPAN(LOCATION)) &&
		    !has(&nginx->of_nodes, line)) {
			*found = line;
			return true;
		}
	return false;
}

static void
say_of_nodes(struct doctor *doctor, const struct doctor_nginx *nginx,
    const struct buf *printed)
{
	char todo[FS_PATH_MAX + sizeof(mend)];
	struct span location;

	snprintf(todo, sizeof(todo), mend, nginx->nodes);
	if (nginx->nodes_err == ERR_NOT_FOUND)
		doctor_say(doctor, DOCTOR_WRONG, "nodes", todo,
		    "%s is not there: other nodes get no files and no answers "
		    "of this one",
		    nginx->nodes);
	else if (nginx->nodes_err != ERR_OK)
		doctor_say(doctor, DOCTOR_LOOK, "nodes", "sudo gridctl doctor",
		    "%s: %s", nginx->nodes, err_text(nginx->nodes_err));
	else if (lacks_location(&location, nginx, printed))
		doctor_say(doctor, DOCTOR_WRONG, "nodes", todo,
		    "%s has no \"%.*s\": it is of an earlier version or of "
		    "other settings, and requests between nodes fail",
		    nginx->nodes,
		    SPAN_ARG(span_sub(location, 0, location.len - 2)));
	else if (!has(&nginx->of_nodes, buf_span(printed)))
		doctor_say(doctor, DOCTOR_LOOK, "nodes", todo,
		    "%s is not what 'gridctl cluster nginx' prints now",
		    nginx->nodes);
	else
		doctor_say(doctor, DOCTOR_FINE, "nodes", NULL,
		    "%s is what the other nodes need", nginx->nodes);
}

static void
say_of_site(struct doctor *doctor, const struct doctor_nginx *nginx)
{
	static const char take[] =
	    "take the site of this version (the package's is "
	    "/etc/nginx/sites-available/product-grid, or beside it as "
	    ".dpkg-dist), then 'nginx -t' and 'systemctl reload nginx'";
	const char *name = lacking(&nginx->of_site);

	if (nginx->nodes[0] == '\0')
		doctor_say(doctor, DOCTOR_WRONG, "nodes", take,
		    "%s includes no cluster-nginx.conf: it is of an earlier "
		    "version, and other nodes get no files of this one",
		    nginx->site);
	else if (name != NULL)
		doctor_say(doctor, DOCTOR_WRONG, "nodes", take,
		    "%s has no \"%s\": it is of an earlier version, and "
		    "requests between nodes fail",
		    nginx->site, name);
}

/* Settings that the nodes' files need no nginx for have nothing to be said of. */
static void
judge(struct doctor *doctor, const struct doctor_nginx *nginx, const char *data)
{
	struct cluster_sharing sharing;
	struct buf printed;
	struct fault fault;
	enum err err;

	buf_init(&printed, CLUSTER_NGINX_MAX);
	fault_clear(&fault);
	err = cluster_sharing(&sharing, data, &fault);
	if (err == ERR_OK && sharing.files)
		err = cluster_nginx_text(&printed, data, &fault);
	if (err != ERR_OK)
		doctor_say(doctor, DOCTOR_WRONG, "nodes", DOCTOR_MEND_CLUSTER,
		    "%s: %s", fault.place[0] != '\0' ? fault.place : data,
		    fault.message[0] != '\0' ? fault.message : err_text(err));
	else if (sharing.files && nginx->site_err == ERR_OK) {
		say_of_site(doctor, nginx);
		if (nginx->nodes[0] != '\0')
			say_of_nodes(doctor, nginx, &printed);
	}
	buf_fini(&printed);
}

void
doctor_nginx(
    struct doctor *doctor, struct doctor_nginx *nginx, const char *data)
{
	assert(doctor != NULL && data != NULL);
	if (nginx == NULL)
		return;
	/* The site's own look tells of one that is not there. */
	if (cluster_is_told(data))
		judge(doctor, nginx, data);
	buf_fini(&nginx->of_site);
	buf_fini(&nginx->of_nodes);
	free(nginx);
}
