/* gridctl doctor: where nginx's site listens, and its certificate. */
#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "common/date.h"
#include "common/origin.h"
#include "common/span.h"
#include "tools/gridctl/doctor.h"

#define LINE_BYTES 1024
#define DAY_MS INT64_C(86400000)
#define SOON_MS (14 * DAY_MS)

/* --- where it listens ------------------------------------------------------ */

struct listening {
	char listen[DOCTOR_ADDRESS_MAX]; /* "127.0.0.1:8080", "443" */
	char name[DOCTOR_ADDRESS_MAX]; /* the first server_name; may be "" */
	bool tls;
};

/* Takes the first value of the directive in this line; false: another one. */
static bool
value_of(struct span *value, struct span line, struct span directive)
{
	size_t len = 0;

	while (line.len > 0 && isspace((unsigned char)line.ptr[0]))
		line = span_from(line, 1);
	if (!span_starts(line, directive) || line.len == directive.len ||
	    !isspace((unsigned char)line.ptr[directive.len]))
		return false;
	line = span_from(line, directive.len);
	while (line.len > 0 && isspace((unsigned char)line.ptr[0]))
		line = span_from(line, 1);
	while (len < line.len && line.ptr[len] != ';' &&
	    !isspace((unsigned char)line.ptr[len]))
		len++;
	*value = span_sub(line, 0, len);
	return len > 0;
}

/* Of two, the one by TLS: the other one leads there. */
static void
take_line(struct listening *listening, const char *text)
{
	struct span line = span_of(text), value;
	bool tls = strstr(text, " ssl") != NULL;
	struct authority at;

	if (value_of(&value, line, SPAN("listen")) &&
	    !span_starts(value, SPAN("unix:")) &&
	    (listening->listen[0] == '\0' || (tls && !listening->tls)) &&
	    span_copy(listening->listen, sizeof(listening->listen), value))
		listening->tls = tls;
	if (value_of(&value, line, SPAN("server_name")) &&
	    listening->name[0] == '\0' && authority_read(&at, value) &&
	    !span_eq(value, SPAN("_")))
		span_copy(listening->name, sizeof(listening->name), value);
}

/* "127.0.0.1:8080", "8080", "*:80" or "[::1]:80": the host to connect to. */
static const char *
cut_port(char *listen, char host[DOCTOR_ADDRESS_MAX])
{
	char *colon = strrchr(listen, ':');

	if (strchr(listen, ']') != NULL && colon < strchr(listen, ']'))
		colon = NULL; /* an IPv6 address without a port */
	if (colon == NULL && strspn(listen, "0123456789") == strlen(listen)) {
		snprintf(host, DOCTOR_ADDRESS_MAX, "127.0.0.1");
		return listen;
	}
	if (colon != NULL)
		*colon = '\0';
	snprintf(host, DOCTOR_ADDRESS_MAX, "%s",
	    strcmp(listen, "*") == 0 || strcmp(listen, "0.0.0.0") == 0
		? "127.0.0.1"
		: strcmp(listen, "[::]") == 0 ? "[::1]"
					      : listen);
	return colon == NULL ? "" : colon + 1;
}

bool
doctor_listens(char url[DOCTOR_ADDRESS_MAX], char host[DOCTOR_ADDRESS_MAX],
    const char *file)
{
	struct listening listening = {.tls = false};
	struct authority at;
	char line[LINE_BYTES];
	const char *port;
	FILE *in = fopen(file, "re");
	int len;

	if (in == NULL)
		return false;
	while (fgets(line, sizeof(line), in) != NULL)
		take_line(&listening, line);
	fclose(in);
	if (listening.listen[0] == '\0')
		return false;
	port = cut_port(listening.listen, host);
	len = snprintf(url, DOCTOR_ADDRESS_MAX, "%s://%s%s%s",
	    listening.tls ? "https" : "http",
	    listening.name[0] != '\0' ? listening.name : host,
	    port[0] != '\0' ? ":" : "", port);
	return authority_read(&at, span_of(host)) && len > 0 &&
	    len < DOCTOR_ADDRESS_MAX;
}

/* --- its certificate -------------------------------------------------------- */

/* "Expire date:Jan  1 00:00:00 2027 GMT": milliseconds from now. */
static bool
ms_to(int64_t *ms, const char *line, const char *name)
{
	struct tm tm = {.tm_sec = 0};

	if (strncmp(line, name, strlen(name)) != 0 ||
	    strptime(line + strlen(name), "%b %d %H:%M:%S %Y", &tm) == NULL)
		return false;
	*ms = timegm(&tm) * INT64_C(1000) - date_now_ms();
	return true;
}

void
doctor_certificate(struct doctor *doctor, FILE *file)
{
	bool begins = false, ends = false;
	int64_t begin = 0, end = 0;
	char line[LINE_BYTES];

	/* The first one is the site's, those behind it its issuers'. */
	while (fgets(line, sizeof(line), file) != NULL) {
		begins = begins || ms_to(&begin, line, "Start date:");
		ends = ends || ms_to(&end, line, "Expire date:");
	}
	if (!begins || !ends)
		doctor_say(doctor, DOCTOR_LOOK, "certificate",
		    "'openssl s_client -connect' shows what is served",
		    "cannot be read");
	else if (begin > 0)
		doctor_say(doctor, DOCTOR_WRONG, "certificate",
		    "is the clock right ('timedatectl')? Else put the one "
		    "before back, and 'systemctl reload nginx'",
		    "counts in %lld days only", (long long)(begin / DAY_MS));
	else if (end < 0)
		doctor_say(doctor, DOCTOR_WRONG, "certificate",
		    "is the clock right ('timedatectl')? Else 'certbot "
		    "renew', or install a new one, and 'systemctl reload "
		    "nginx'",
		    "has expired %lld days ago", (long long)(-end / DAY_MS));
	else
		doctor_say(doctor, end < SOON_MS ? DOCTOR_LOOK : DOCTOR_FINE,
		    "certificate",
		    end < SOON_MS ? "'systemctl list-timers certbot.timer': "
				    "does its renewal run?"
				  : NULL,
		    "expires in %lld days", (long long)(end / DAY_MS));
}
