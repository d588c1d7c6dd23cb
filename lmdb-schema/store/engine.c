#include "lmdb-schema/store/engine.h"

#include <stdio.h>
#include <string.h>

#include "common/hex.h"
#include "common/num.h"

void
engine_node_aside(
    struct engine_node *out, const struct engine_node *node, const char *run)
{
	*out = *node;
	snprintf(out->name, sizeof(out->name), "%.57s.%s", node->name, run);
	snprintf(out->run, sizeof(out->run), "%s", run);
	out->address[0] = '\0';
}

uint64_t
engine_epoch_number(struct span text)
{
	int64_t number;

	return num_int(&number, span_sub(text, 0, span_find(text, ' ')), 0,
		   INT64_MAX)
	    ? (uint64_t)number
	    : 0;
}

void
engine_epoch_text(
    struct buf *text, uint64_t epoch, uint64_t number, struct span chain)
{
	char digits[2 * ENGINE_CHAIN_LEN + 1];

	hex_text(digits, (const uint8_t *)chain.ptr, ENGINE_CHAIN_LEN);
	buf_clear(text);
	buf_addf(text, "%llu %llu %s", (unsigned long long)epoch,
	    (unsigned long long)number, digits);
}

void
engine_epoch_name(
    char out[ENGINE_EPOCH_NAME_MAX], const char *name, uint64_t epoch)
{
	if (epoch == 0)
		snprintf(out, ENGINE_EPOCH_NAME_MAX, "%s", name);
	else
		snprintf(out, ENGINE_EPOCH_NAME_MAX, "%s.%llu", name,
		    (unsigned long long)epoch);
}

/* As a log is whose entries are trimmed up to the end. */
static enum err
ended_append(struct engine *engine, enum store_env log, uint64_t after,
    struct span chain, struct span id, struct span entry)
{
	(void)engine, (void)log, (void)after;
	(void)chain, (void)id, (void)entry;
	return ERR_NOT_FOUND;
}

static enum err
ended_read(struct engine *engine, enum store_env log, uint64_t after,
    enum err (*each)(void *context, uint64_t number, struct span entry),
    void *context)
{
	(void)engine, (void)log, (void)after, (void)each, (void)context;
	return ERR_NOT_FOUND;
}

static enum err
ended_heads(struct engine *engine, bool sure, uint64_t heads[STORE_ENVS])
{
	(void)engine, (void)sure;
	memset(heads, 0, STORE_ENVS * sizeof(heads[0]));
	heads[STORE_STATE] = ENGINE_ENDED;
	return ERR_OK;
}

void
engine_end(struct engine *engine)
{
	engine->append = ended_append;
	engine->read = ended_read;
	engine->heads = ended_heads;
}

enum err
engine_check_name(const char *name, struct fault *fault)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
	size_t len = strlen(name);

	if (len > 0 && len <= ENGINE_NAME_MAX && strspn(name, letters) == len)
		return ERR_OK;
	fault_set(fault, "name",
	    "is 1 to %d small letters, digits and '-': \"%s\"", ENGINE_NAME_MAX,
	    name);
	return ERR_BAD_INPUT;
}
