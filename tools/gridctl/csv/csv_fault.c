#include "tools/gridctl/csv/csv_fault.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>

void
csv_faults_add(struct csv_faults *faults, const char *file, uint64_t line,
    const char *column, const char *format, ...)
{
	char place[sizeof(faults->kept[0].place)];
	char message[sizeof(faults->kept[0].message)];
	struct fault *fault;
	va_list args;

	assert(file != NULL && format != NULL);
	if (faults->count++ >= CSV_FAULTS_KEPT)
		return;
	fault = &faults->kept[faults->count - 1];
	if (line == 0)
		snprintf(place, sizeof(place), "%s", file);
	else if (column == NULL)
		snprintf(place, sizeof(place), "%s:%" PRIu64, file, line);
	else
		snprintf(place, sizeof(place), "%s:%" PRIu64 ": %s", file, line,
		    column);
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	fault_clear(fault);
	fault_set(fault, place, "%s", message);
}

void
csv_faults_join(struct csv_faults *faults, const struct csv_faults *from)
{
	assert(faults != from);
	for (uint64_t i = 0; i < from->count && i < CSV_FAULTS_KEPT; i++)
		if (faults->count + i < CSV_FAULTS_KEPT)
			faults->kept[faults->count + i] = from->kept[i];
	faults->count += from->count;
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
