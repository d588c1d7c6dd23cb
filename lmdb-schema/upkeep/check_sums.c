/*
 * Compares every record of the environments that can be overwritten with its
 * checksum; other files check the contents. Later walks skip damaged records,
 * so this one names them all.
 */
#include "common/count.h"
#include "common/kv/kv.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/check_priv.h"

#define BACKUP "restore a backup"
#define ANEW "import the server ranges again"

static const char *const live_help[] = {
    [LIVE_META] = "import the facts and the network again",
    [LIVE_NETWORK] = "import the network again ('gridctl network')",
    [LIVE_GAMMES] = ANEW " ('gridctl gammes')",
    [LIVE_GAMMEGEN] = ANEW " ('gridctl gammes')",
};
static const char *const catalog_help[] = {
    [CATALOG_META] = BACKUP ", and compute the suppliers",
    [CATALOG_CURRENT] = "compute this supplier again",
    [CATALOG_RETIRED] = "'gridctl prune' forgets it",
};
static const char *const state_help[] = {
    [STATE_META] = BACKUP,
    [STATE_KEYS] = BACKUP,
    [STATE_USERS] = BACKUP ", or remove this user and add it again",
    [STATE_SESSIONS] = "the next login sweeps it up",
    [STATE_PENDING] = BACKUP,
    [STATE_VALIDATED] = BACKUP,
    [STATE_AUDIT] = BACKUP,
    [STATE_VERSIONS] = "the supplier's next proposal or decision mends it",
};

static const struct env {
	struct kv *(*kv)(struct store *store);
	const char *file;
	const char *const *help; /* a remedy per table */
	unsigned tables;
	unsigned own; /* of them, those whose remedy is here also on a node */
} envs[] = {
    [CHECKING_LIVE] = {store_live, "live.mdb", live_help, COUNT(live_help),
	1u << LIVE_META},
    [CHECKING_CATALOG] = {store_catalog, "catalog.mdb", catalog_help,
	COUNT(catalog_help), 0},
    [CHECKING_STATE] = {store_state, "state.mdb", state_help, COUNT(state_help),
	1u << STATE_SESSIONS | 1u << STATE_VERSIONS},
};

static void
tell_record(struct checking *checking, const struct env *env, unsigned table,
    struct span key)
{
	const char *help = env->help[table];
	char text[KV_KEY_TEXT_MAX];

	kv_key_text(text, key);
	if ((env->own >> table & 1) == 0)
		help = checking_help(
		    checking, (enum checking_env)(env - envs), help);
	checking->spoilt = true;
	checking_tell(checking, span_of(env->file),
	    "record %s of table %s does not match its checksum: %s", text,
	    kv_table_name(env->kv(checking->store), table), help);
}

static enum err
check_table(struct checking *checking, const struct env *env,
    struct kv_txn *txn, unsigned table)
{
	struct kv_walk *walk = kv_walk_begin(txn, table, SPAN(""), SPAN(""));
	struct span key, value;
	enum err err = ERR_OK;

	while (err == ERR_OK) {
		err = kv_walk_next(walk, &key, &value);
		if (err == ERR_DAMAGED && key.len > 0) {
			tell_record(checking, env, table, key);
			err = ERR_OK;
		}
		if (err == ERR_OK)
			checking->counts->records++;
	}
	return kv_walk_done(walk, err);
}

enum err
checking_sums(struct checking *checking, enum checking_env which)
{
	const struct env *env = &envs[which];
	struct kv_txn *txn;
	enum err err = kv_read(&txn, env->kv(checking->store));

	checking->spoilt = false;
	if (err != ERR_OK)
		return err;
	for (unsigned i = 0; i < env->tables && err == ERR_OK; i++)
		err = check_table(checking, env, txn, i);
	kv_abort(txn);
	return err;
}
