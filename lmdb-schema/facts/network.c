/* The stored and the shown form of the network's metrics. */
#include <assert.h>

#include "common/date.h"
#include "common/num.h"
#include "lmdb-schema/facts/live.h"
#include "lmdb-schema/pack.h"
#include "lmdb-schema/row.h"
#include "lmdb-schema/schema.h"

bool
network_code_ok(struct span code)
{
	if (!span_starts(code, SPAN("10000")) || code.len < 6 ||
	    code.len > SCHEMA_CODE_MAX)
		return false;
	for (size_t i = 0; i < code.len; i++)
		if (code.ptr[i] < '0' || code.ptr[i] > '9')
			return false;
	return true;
}

void
network_write(struct buf *buf, const struct network *network)
{
	int32_t before = 0;

	assert(network->months <= LIVE_MONTHS_MAX);
	pack_add_decimal(buf, network->ca);
	pack_add_decimal(buf, network->qte);
	pack_add_unsigned(buf,
	    network->stores == NUM_NULL ? 0 : (uint64_t)network->stores + 1);
	pack_add_decimal(buf, network->ca_per_store);
	pack_add_decimal(buf, network->margin);
	pack_add_unsigned(buf, (uint64_t)(network->fetched_ms + 1));
	pack_add_unsigned(buf, network->months);
	for (unsigned i = 0; i < network->months; i++) {
		pack_add_unsigned(buf, (uint64_t)(network->month[i] - before));
		pack_add_decimal(buf, network->month_qte[i]);
		before = network->month[i];
	}
}

enum err
network_read(struct network *network, struct span value)
{
	struct unpack from;
	uint64_t month = 0;

	unpack_init(&from, value);
	network->ca = unpack_decimal(&from);
	network->qte = unpack_decimal(&from);
	network->stores = (int64_t)unpack_unsigned(&from) - 1;
	if (network->stores < 0)
		network->stores = NUM_NULL;
	network->ca_per_store = unpack_decimal(&from);
	network->margin = unpack_decimal(&from);
	network->fetched_ms = (int64_t)unpack_unsigned(&from) - 1;
	network->months = (unsigned)unpack_unsigned(&from);
	if (network->months > LIVE_MONTHS_MAX)
		return ERR_DAMAGED;
	for (unsigned i = 0; i < network->months; i++) {
		month += unpack_unsigned(&from);
		if (month > SCHEMA_MONTH_MAX)
			return ERR_DAMAGED;
		network->month[i] = (int32_t)month;
		network->month_qte[i] = unpack_decimal(&from);
	}
	return unpack_done(&from) ? ERR_OK : ERR_DAMAGED;
}

int64_t
network_number(const struct network *network, unsigned column, int64_t margin)
{
	int64_t gap;

	assert(column < ROW_COLUMNS);
	if (network == NULL)
		return NUM_NULL;
	switch (column) {
	case COL_caReseau:
		return network->ca;
	case COL_qteReseau:
		return network->qte;
	case COL_nbMagasinsReseau:
		return network->stores;
	case COL_caParMagasinReseau:
		return network->ca_per_store;
	case COL_margePctReseau:
		return network->margin;
	case COL_presenceReseauPct:
		return network->stores == NUM_NULL
		    ? NUM_NULL
		    : num_ratio(network->stores, SCHEMA_NETWORK_STORES);
	case COL_ecartMargeReseau:
		return margin != NUM_NULL && network->margin != NUM_NULL &&
			num_add(&gap, margin, -network->margin)
		    ? gap
		    : NUM_NULL;
	default:
		return NUM_NULL;
	}
}

static void
add_decimal(struct buf *buf, int64_t micro)
{
	if (micro == NUM_NULL)
		buf_add_text(buf, "null");
	else
		num_add_decimal(buf, micro);
}

unsigned
network_first_shown(const struct network *network)
{
	unsigned first = network->months;

	assert(network->months <= LIVE_MONTHS_MAX);
	while (first > 0 &&
	    network->month[first - 1] >
		network->month[network->months - 1] - SCHEMA_MONTHS)
		first--;
	return first;
}

void
network_months_json(struct buf *buf, const struct network *network)
{
	unsigned first = network_first_shown(network);
	char text[DATE_TEXT_MAX];

	if (network->months == 0) {
		buf_add_text(buf, "null");
		return;
	}
	for (unsigned i = first; i < network->months; i++) {
		size_t len = date_month_dashed_text(text, network->month[i]);

		buf_add_char(buf, i == first ? '{' : ',');
		buf_add_char(buf, '"');
		buf_add(buf, text, len);
		buf_add_text(buf, "\":");
		add_decimal(buf, network->month_qte[i]);
	}
	buf_add_char(buf, '}');
}

void
network_json(struct buf *buf, const struct network *network)
{
	char text[DATE_TEXT_MAX];

	buf_add_text(buf, "{\"caReseau\":");
	add_decimal(buf, network->ca);
	buf_add_text(buf, ",\"qteReseau\":");
	add_decimal(buf, network->qte);
	buf_add_text(buf, ",\"nbMagasinsReseau\":");
	if (network->stores == NUM_NULL)
		buf_add_text(buf, "null");
	else
		num_add_int(buf, network->stores);
	buf_add_text(buf, ",\"caParMagasinReseau\":");
	add_decimal(buf, network->ca_per_store);
	buf_add_text(buf, ",\"margePctReseau\":");
	add_decimal(buf, network->margin);
	buf_add_text(buf, ",\"qteByMonth\":");
	network_months_json(buf, network);
	buf_add_text(buf, ",\"fetchedAt\":");
	if (network->fetched_ms < 0)
		buf_add_text(buf, "null}");
	else {
		buf_add_char(buf, '"');
		buf_add(
		    buf, text, date_instant_text(text, network->fetched_ms));
		buf_add_text(buf, "\"}");
	}
}
