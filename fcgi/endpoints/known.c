#include "fcgi/endpoints/known.h"

#include "fcgi/call.h"
#include "fcgi/fail.h"
#include "fcgi/rows/holder.h"
#include "fcgi/rows/shared_source.h"
#include "lmdb-schema/facts/source.h"
#include "lmdb-schema/snapshot/snapshot.h"

void
known_by_snapshot(struct known *known, struct snapshot *snap)
{
	*known = (struct known){.snap = snap, .name = snapshot_name(snap)};
}

enum err
known_open(struct known *known, struct call *call, struct span supplier)
{
	struct source_supplier info = {.articles = 0};
	enum err err = holder_pass_import(call);

	*known = (struct known){.supplier = supplier};
	if (err != ERR_OK)
		return err;
	err = ERR_NOT_FOUND;
	if (call_sees(call, supplier))
		err = shared_source_get(&known->source, call);
	if (err == ERR_OK)
		err = source_supplier(known->source->source, supplier, &info);
	if (err == ERR_NOT_FOUND || (err == ERR_OK && info.articles == 0))
		return fail_no_supplier(call, supplier);
	known->name = info.name;
	return err;
}

void
known_close(struct known *known)
{
	shared_source_release(known->source);
}

enum err
known_find(const struct known *known, struct span codein)
{
	bool lists = false;
	uint32_t row;
	enum err err;

	if (known->snap != NULL)
		return snapshot_find(known->snap, codein, &row);
	err = source_lists(
	    &lists, known->source->source, known->supplier, codein);
	return err == ERR_OK && !lists ? ERR_NOT_FOUND : err;
}
