#include "tools/gridctl/doctor.h"

#include <assert.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/jsonr.h"
#include "common/origin.h"
#include "lmdb-schema/store/store.h"
#include "tools/gridctl/running.h"

#define PATIENCE_S 5 /* of each step of the question to the site */

/* A map of LMDB reserves addresses: compute has asked for 110 GB. */
#define ADDRESSES_MIN ((rlim_t)256 << 30)
#define FILES_MIN 1024

/* --- the site ------------------------------------------------------------- */

static int
connect_to(const struct origin *site, const char *at)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found, *one;
	struct timeval patience = {.tv_sec = PATIENCE_S};
	unsigned port = site->at.port != 0 ? site->at.port
					   : origin_default_port(site->scheme);
	struct span name = span_of(at);
	char host[256], service[16];
	int fd = -1;

	if (name.len > 2 && name.ptr[0] == '[')
		name = span_sub(name, 1, name.len - 1);
	snprintf(service, sizeof(service), "%u", port);
	if (!span_copy(host, sizeof(host), name) ||
	    getaddrinfo(host, service, &hints, &found) != 0) {
		errno = EADDRNOTAVAIL;
		return -1;
	}
	for (one = found; one != NULL && fd < 0; one = one->ai_next) {
		fd = socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd < 0)
			continue;
		setsockopt(
		    fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
		setsockopt(
		    fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
		if (connect(fd, one->ai_addr, one->ai_addrlen) != 0) {
			int kept = errno;

			close(fd);
			errno = kept;
			fd = -1;
		}
	}
	freeaddrinfo(found);
	return fd;
}

#define ANSWER_MAX 4096

/* The answer of /readyz. */
struct ready {
	int status; /* -1: nothing, with errno */
	char place[STORE_IDENTITY_MAX]; /* whose data; "": it does not say */
	char message[512]; /* of an error; "": none */
};

/* Of {"error":{"message":"..."}}; a control character would reach a terminal. */
static void
take_message(struct ready *ready, struct span body)
{
	static const struct jsonr_limits limits = {
	    .bytes = ANSWER_MAX, .depth = 8};
	struct jsonr *doc = NULL;
	struct fault fault;

	fault_clear(&fault);
	if (jsonr_parse(&doc, body, &limits, &fault) != ERR_OK)
		return;
	if (span_copy(ready->message, sizeof(ready->message),
		jsonr_as_string(jsonr_member(
		    jsonr_member(jsonr_root(doc), "error"), "message"))))
		for (char *at = ready->message; *at != '\0'; at++)
			if ((unsigned char)*at < ' ' || *at == 127)
				*at = ' ';
	jsonr_free(doc);
}

/* Asks curl by TLS, with a line on the certificate. */
static void
ask_by_tls(struct ready *ready, struct doctor *doctor,
    const struct origin *site, const char *host)
{
	char command[3 * DOCTOR_ADDRESS_MAX], line[ANSWER_MAX];
	FILE *out;
	int rc;

	/* Nothing in it needs quotes: origin_read() has passed both. */
	snprintf(command, sizeof(command),
	    "curl -sk -m %d --noproxy '*' --connect-to '::%s:' "
	    "-w '\n/readyz: %%{http_code} %%header{x-grid-data}\n%%{certs}' "
	    "'https://%.*s:%u/readyz' 2>/dev/null",
	    PATIENCE_S, host, (int)site->at.host.len, site->at.host.ptr,
	    site->at.port != 0 ? site->at.port : 443);
	out = popen(command, "re");
	if (out == NULL)
		return;
	while (fgets(line, sizeof(line), out) != NULL &&
	    sscanf(line, "/readyz: %d %39s", &ready->status, ready->place) < 1)
		take_message(ready, span_of(line));
	if (ready->place[0] == '%') /* a curl before 7.84 */
		ready->place[0] = '\0';
	if (ready->status > 0)
		doctor_certificate(doctor, out);
	else
		ready->status = -1;
	rc = pclose(out);
	errno = rc == 127 << 8 ? ENOPKG
	    : rc == 28 << 8    ? ETIMEDOUT /* of curl */
			       : ECONNREFUSED;
}

static void
ask(struct ready *ready, const struct origin *site, const char *host)
{
	static const char name[] = "\nX-Grid-Data: ";
	char question[512], answer[ANSWER_MAX];
	const char *found, *body;
	size_t len = 0;
	ssize_t got;
	int fd = connect_to(site, host);

	if (fd < 0)
		return;
	snprintf(question, sizeof(question),
	    "GET /readyz HTTP/1.0\r\nHost: %.*s\r\n\r\n",
	    (int)site->at.host.len, site->at.host.ptr);
	if (fs_write_all(fd, question, strlen(question)) == ERR_OK)
		while (len + 1 < sizeof(answer) &&
		    (got = read(fd, answer + len, sizeof(answer) - 1 - len)) >
			0)
			len += (size_t)got;
	answer[len] = '\0';
	if (sscanf(answer, "HTTP/1.%*c %d", &ready->status) != 1) {
		ready->status = -1;
		errno = errno == EAGAIN ? ETIMEDOUT : EPROTO;
	}
	found = strstr(answer, name);
	if (found != NULL)
		sscanf(found + strlen(name), "%39s", ready->place);
	body = strstr(answer, "\r\n\r\n");
	if (body != NULL)
		take_message(ready, span_of(body + 4));
	close(fd);
}

/* The site's file names no address that can be asked. */
static void
no_address(struct doctor *doctor, const char *file)
{
	if (access(file, R_OK) == 0)
		doctor_say(doctor, DOCTOR_WRONG, "site",
		    "--url names an address", "%s listens nowhere", file);
	else if (errno == ENOENT)
		doctor_say(doctor, DOCTOR_WRONG, "site",
		    access("/etc/nginx", F_OK) != 0
			? "'apt install nginx' enables the site; --url names "
			  "another address"
			: "'ln -sf ../sites-available/product-grid "
			  "/etc/nginx/sites-enabled/', then 'nginx -t' and "
			  "'systemctl reload nginx'; --url names another "
			  "address",
		    "%s is not there: the site is not enabled", file);
	else
		doctor_say(doctor, DOCTOR_WRONG, "site", "sudo gridctl doctor",
		    "%s: %s", file, strerror(errno));
}

/* After a 200: is it a gridapi with these data? */
static void
judge_ready(
    struct doctor *doctor, const char *url, const char *place, const char *data)
{
	char ours[STORE_IDENTITY_MAX];

	store_identity(ours, data);
	if (place[0] == '\0' || ours[0] == '\0' || strcmp(place, ours) == 0)
		doctor_say(doctor, DOCTOR_FINE, "site", NULL,
		    "%s answers through nginx", url);
	else
		doctor_say(doctor, DOCTOR_WRONG, "site",
		    "is --data right? Else 'ss -ltnp' names who listens "
		    "there: end that, or give the site's file another port, "
		    "then 'systemctl reload nginx'",
		    "%s serves other data than %s", url, data);
}

/* By errno; a gridapi that hangs lets nginx wait. */
static void
no_answer(struct doctor *doctor, const char *url, const char *data)
{
	char text[RUNNING_TEXT_MAX];
	int code = errno;
	const char *todo = code == ENOPKG
	    ? "'apt install curl', by which it is asked"
	    : code == ETIMEDOUT ? running_todo(text, data)
				: NULL;

	if (todo == NULL)
		todo = "'systemctl status nginx'; where it runs, 'nginx -t' "
		       "and 'systemctl reload nginx' take the site in; "
		       "--url names another address";
	doctor_say(doctor, DOCTOR_WRONG, "site", todo, "%s does not answer: %s",
	    url, strerror(code));
}

/* A 503 is gridapi's own answer, with the reason. */
static void
not_ready(struct doctor *doctor, const struct ready *ready, const char *data)
{
	char text[RUNNING_TEXT_MAX];
	const char *todo =
	    ready->status == 503 ? NULL : running_todo(text, data);

	if (todo == NULL)
		todo = "'journalctl -u gridapi -n 50' names the reason, or "
		       "gridapi's own output where systemd does not run; on a "
		       "node of a cluster 'gridctl cluster status' tells of "
		       "the log and the nodes";
	doctor_say(doctor, DOCTOR_WRONG, "site", todo, "/readyz answers %d: %s",
	    ready->status,
	    ready->message[0] != '\0' ? ready->message
				      : "gridapi does not answer");
}

void
doctor_site(
    struct doctor *doctor, const char *url, const char *file, const char *data)
{
	char found[DOCTOR_ADDRESS_MAX], host[DOCTOR_ADDRESS_MAX];
	struct ready ready = {.status = -1};
	struct origin site;

	assert(doctor != NULL && file != NULL && data != NULL);
	if (url == NULL) {
		if (!doctor_listens(found, host, file)) {
			no_address(doctor, file);
			return;
		}
		url = found;
	} else if (origin_read(&site, span_of(url)))
		span_copy(host, sizeof(host), site.at.host);
	if (!origin_read(&site, span_of(url)) ||
	    origin_default_port(site.scheme) == 0) {
		doctor_say(doctor, DOCTOR_WRONG, "site",
		    "--url http://HOST[:PORT] or https://, as nginx listens "
		    "on this machine",
		    "%s is no address that can be asked", url);
		return;
	}
	if (origin_default_port(site.scheme) == 443)
		ask_by_tls(&ready, doctor, &site, host);
	else
		ask(&ready, &site, host);
	if (ready.status == 200)
		judge_ready(doctor, url, ready.place, data);
	else if (ready.status < 0)
		no_answer(doctor, url, data);
	else if (ready.status == 502 || ready.status == 503 ||
	    ready.status == 504)
		not_ready(doctor, &ready, data);
	else if (ready.status == 404)
		doctor_say(doctor, DOCTOR_WRONG, "site",
		    "another site answers there: is Product Grid's enabled? "
		    "--url names another address",
		    "%s has no /readyz", url);
	else
		doctor_say(doctor, DOCTOR_LOOK, "site",
		    "ask /readyz by hand, on this machine",
		    "/readyz answers %d", ready.status);
}

/* --- services ------------------------------------------------------------- */

static bool
run_for_line(char *line, size_t size, const char *command)
{
	FILE *out = popen(command, "re");
	bool got;

	if (out == NULL)
		return false;
	got = fgets(line, (int)size, out) != NULL;
	if (got)
		line[strcspn(line, "\n")] = '\0';
	pclose(out);
	return got;
}

static void
look_at_service(struct doctor *doctor, const char *name)
{
	char command[128], state[64];

	snprintf(command, sizeof(command),
	    "systemctl is-active %s.service 2>/dev/null", name);
	if (!run_for_line(state, sizeof(state), command))
		doctor_say(doctor, DOCTOR_LOOK, name, NULL,
		    "systemctl says nothing of it");
	else if (strcmp(state, "active") == 0)
		doctor_say(doctor, DOCTOR_FINE, name, NULL, "is active");
	else
		doctor_say(doctor, DOCTOR_WRONG, name,
		    "'systemctl status' with that name shows why, 'systemctl "
		    "enable --now' starts it",
		    "is %s", state);
}

void
doctor_services(struct doctor *doctor)
{
	char unit[256];

	assert(doctor != NULL);
	if (access("/run/systemd/system", F_OK) != 0) {
		doctor_say(doctor, DOCTOR_FINE, "services", NULL,
		    "systemd does not run here: not looked at");
		return;
	}
	look_at_service(doctor, "gridapi");
	look_at_service(doctor, "nginx");
	if (run_for_line(unit, sizeof(unit),
		"systemctl list-units --state=failed --plain --no-legend "
		"'gridctl*' 'product-grid*' 2>/dev/null"))
		doctor_say(doctor, DOCTOR_WRONG, "jobs",
		    "'journalctl -u' with that name shows why",
		    "has failed: %s", unit);
}

void
doctor_limits(struct doctor *doctor)
{
	struct rlimit addresses, files;

	assert(doctor != NULL);
	if (getrlimit(RLIMIT_AS, &addresses) != 0 ||
	    getrlimit(RLIMIT_NOFILE, &files) != 0) {
		doctor_say(doctor, DOCTOR_LOOK, "limits", NULL,
		    "cannot be read: %s", strerror(errno));
		return;
	}
	if (addresses.rlim_cur != RLIM_INFINITY &&
	    addresses.rlim_cur < ADDRESSES_MIN)
		doctor_say(doctor, DOCTOR_WRONG, "address space",
		    "'ulimit -v unlimited', LimitAS=infinity: files are "
		    "mapped, which takes addresses and no memory",
		    "is limited to %s",
		    cmd_bytes((unsigned long long)addresses.rlim_cur));
	if (files.rlim_max < FILES_MIN)
		doctor_say(doctor, DOCTOR_WRONG, "open files",
		    "raise 'ulimit -Hn', or LimitNOFILE of the service",
		    "are limited to %llu", (unsigned long long)files.rlim_max);
	else if (addresses.rlim_cur == RLIM_INFINITY)
		doctor_say(doctor, DOCTOR_FINE, "limits", NULL,
		    "none on addresses, %s open files",
		    cmd_count((unsigned long long)files.rlim_max));
}
