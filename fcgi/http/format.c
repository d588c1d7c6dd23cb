#include "fcgi/http/format.h"

#include "fcgi/http/coding.h"

#define TEXT(literal) \
	{ \
		literal, sizeof(literal) - 1 \
	}

const struct format_info format_infos[FORMATS] = {
    [FORMAT_JSON] = {TEXT("json"), TEXT("application/json"), "application/json",
	"json", false, false, "an object with data and meta"},
    [FORMAT_NDJSON] = {TEXT("ndjson"), TEXT("application/x-ndjson"),
	"application/x-ndjson", "ndjson", false, false, "an object a line"},
    [FORMAT_CSV] = {TEXT("csv"), TEXT("text/csv"),
	"text/csv; charset=utf-8; header=present", "csv", true, false,
	"commas, decimal points, a header line; an empty cell is null"},
    [FORMAT_CSV_FR] = {TEXT("csv-fr"), TEXT("text/csv"),
	"text/csv; charset=utf-8; header=present", "csv", true, false,
	"semicolons, decimal commas, a byte order mark and CRLF, for "
	"spreadsheets of this country"},
    [FORMAT_TSV] = {TEXT("tsv"), TEXT("text/tab-separated-values"),
	"text/tab-separated-values; charset=utf-8", "tsv", true, false,
	"tabs, decimal points, a header line; quotes only where a cell needs "
	"them"},
    [FORMAT_XLSX] = {TEXT("xlsx"),
	TEXT("application/vnd.openxmlformats-officedocument.spreadsheetml."
	     "sheet"),
	"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	"xlsx", true, true,
	"a workbook (ISO/IEC 29500): codes as texts, numbers and dates as "
	"such"},
    [FORMAT_PARQUET] = {TEXT("parquet"), TEXT("application/vnd.apache.parquet"),
	"application/vnd.apache.parquet", "parquet", true, true,
	"Apache Parquet: texts, DECIMAL(38,6), INT64 and DATE, all nullable; "
	"zstd; row groups of 50,000 at most"},
};

enum format
format_find(struct span name)
{
	enum format format = FORMAT_JSON;

	while (format < FORMATS && !span_eq(name, format_infos[format].name))
		format++;
	return format;
}

/* FORMATS when the type is none of ours. */
static enum format
of_type(struct span type)
{
	enum format format = FORMAT_JSON;

	if (span_eq(type, SPAN("*/*")) ||
	    span_eq_nocase(type, SPAN("application/*")))
		return FORMAT_JSON;
	while (format < FORMATS &&
	    !span_eq_nocase(type, format_infos[format].type))
		format++;
	return format;
}

enum format
format_accepted(struct span accept)
{
	struct span range, rest = accept;
	enum format best = FORMAT_JSON;
	unsigned most = 0;

	while (span_cut(&range, &rest, ',')) {
		size_t end = span_find(range, ';');
		struct span type = span_trim(span_sub(range, 0, end));
		unsigned q = coding_weight(span_from(range, end + 1));
		enum format format = of_type(type);

		if (format < FORMATS && q > most) {
			best = format;
			most = q;
		}
	}
	return best;
}
