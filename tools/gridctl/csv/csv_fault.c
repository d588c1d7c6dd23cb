#include "tools/gridctl/csv/csv_fault.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

static void fill(struct fault *fault, const char *file, uint64_t line,
    const char *column, const char *format, va_list args)
    __attribute__((format(printf, 5, 0)));

static void
fill(struct fault *fault, const char *file, uint64_t line, const char *column,
    const char *format, va_list args)
{
	char place[sizeof(fault->place)];
	char message[sizeof(fault->message)];

	if (line == 0)
		snprintf(place, sizeof(place), "%s", file);
	else if (column == NULL)
		snprintf(place, sizeof(place), "%s:%" PRIu64, file, line);
	else
		snprintf(place, sizeof(place), "%s:%" PRIu64 ": %s", file, line,
		    column);
	vsnprintf(message, sizeof(message), format, args);
	fault_clear(fault);
	fault_set(fault, place, "%s", message);
}

void
csv_faults_add(struct csv_faults *faults, const char *file, uint64_t line,
    const char *column, const char *format, ...)
{
	uint64_t at = faults->count++;
	va_list args;

	assert(file != NULL && format != NULL);
	if (at >= CSV_FAULTS_KEPT)
		return;
	faults->lines[at] = line;
	va_start(args, format);
	fill(&faults->kept[at], file, line, column, format, args);
	va_end(args);
}

void
csv_faults_add_late(struct csv_faults *faults, const char *file, uint64_t line,
    const char *column, const char *format, ...)
{
	uint64_t kept = faults->count, at;
	va_list args;

	assert(file != NULL && format != NULL);
	if (kept > CSV_FAULTS_KEPT)
		kept = CSV_FAULTS_KEPT;
	faults->count++;
	for (at = kept; at > 0 && faults->lines[at - 1] > line; at--)
		;
	if (at == CSV_FAULTS_KEPT)
		return;
	if (kept == CSV_FAULTS_KEPT)
		kept--; /* the last one goes */
	memmove(&faults->kept[at + 1], &faults->kept[at],
	    (kept - at) * sizeof(faults->kept[0]));
	memmove(&faults->lines[at + 1], &faults->lines[at],
	    (kept - at) * sizeof(faults->lines[0]));
	faults->lines[at] = line;
	va_start(args, format);
	fill(&faults->kept[at], file, line, column, format, args);
	va_end(args);
}

void
csv_faults_print(const struct csv_faults *faults, FILE *file)
{
	assert(faults != NULL && file != NULL);
	for (uint64_t i = 0; i < faults->count && i < CSV_FAULTS_KEPT; i++)
		fprintf(file, "%s: %s\n", faults->kept[i].place,
		    faults->kept[i].message);
	if (faults->count > CSV_FAULTS_KEPT)
		fprintf(file, "... and %" PRIu64 " more\n",
		    faults->count - CSV_FAULTS_KEPT);
}
