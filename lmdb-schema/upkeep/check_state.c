/*
 * Checks the API's own data: each record is decoded, and its references are
 * looked up. These data cannot be made again from others: the remedy is a
 * backup.
 */
#include <string.h>

#include "common/kv/kv.h"
#include "lmdb-schema/state/access.h"
#include "lmdb-schema/state/audit.h"
#include "lmdb-schema/state/proposal.h"
#include "lmdb-schema/state/session.h"
#include "lmdb-schema/state/trail_lost.h"
#include "lmdb-schema/state/trail_parts.h"
#include "lmdb-schema/state/user.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/check_priv.h"

static const char *
help(const struct checking *checking)
{
	return checking_help(checking, CHECKING_STATE, "restore a backup");
}

struct state_check {
	struct checking *checking;
	struct state_view *view;
	struct span supplier;
	uint64_t next; /* expected number of the next audit entry */
};

/* --- people --------------------------------------------------------------- */

static enum err
check_key(void *context, const struct access_key *key)
{
	struct state_check *check = context;

	check->checking->counts->people++;
	if (key->id.len != ACCESS_ID_LEN || !access_name_ok(key->name))
		checking_tell(check->checking, SPAN("state.mdb"),
		    "key %.*s is broken: revoke it and make another",
		    SPAN_ARG(key->id));
	return ERR_OK;
}

static enum err
check_user(void *context, const struct user *user)
{
	struct state_check *check = context;
	struct span hash;

	check->checking->counts->people++;
	if (!access_name_ok(user->name) ||
	    user_hash(state_view_txn(check->view), user->name, &hash) !=
		ERR_OK ||
	    !digest_password_ok(hash))
		checking_tell(check->checking, SPAN("state.mdb"),
		    "user %.*s is broken: give another password",
		    SPAN_ARG(user->name));
	return ERR_OK;
}

static enum err
check_session(
    void *context, struct span id, const struct session_record *record)
{
	struct state_check *check = context;
	struct span hash;

	check->checking->counts->people++;
	check->checking->counts->references++;
	if (id.len != DIGEST_SHA256_LEN ||
	    (!record->outside &&
		user_hash(state_view_txn(check->view), record->user, &hash) !=
		    ERR_OK))
		checking_tell(check->checking, SPAN("state.mdb"),
		    "a session of %.*s, who is no user: change that user's "
		    "password, or %s",
		    SPAN_ARG(record->user), help(check->checking));
	return ERR_OK;
}

/* --- proposals ------------------------------------------------------------ */

/* The article itself is not looked up: later facts may legitimately lack it. */
static enum err
check_proposal(
    void *context, struct span codein, const struct proposal *proposal)
{
	struct state_check *check = context;

	check->checking->counts->proposals++;
	if (proposal->author.len == 0)
		checking_tell(check->checking, SPAN("state.mdb"),
		    "the range of article %.*s of supplier %.*s has no author: "
		    "propose it again",
		    SPAN_ARG(codein), SPAN_ARG(check->supplier));
	return ERR_OK;
}

static enum err
check_supplier(
    void *context, struct span supplier, const struct proposal_counts *counts)
{
	struct state_check *check = context;
	enum err err;

	(void)counts;
	check->supplier = supplier;
	err = proposal_pending(check->view, supplier, check_proposal, check);
	return err == ERR_OK
	    ? proposal_validated(check->view, supplier, check_proposal, check)
	    : err;
}

/* Entries are numbered without a gap, and never altered. */
static enum err
check_entry(void *context, const struct audit_entry *entry)
{
	struct state_check *check = context;

	check->checking->counts->entries++;
	if (check->next != 0 && entry->number != check->next)
		checking_tell(check->checking, SPAN("state.mdb"),
		    "the audit trail lacks entry %llu: %s",
		    (unsigned long long)check->next, help(check->checking));
	check->next = entry->number + 1;
	return ERR_OK;
}

/* Reads a part as a whole; one in an archive may be elsewhere. */
static enum err
check_part(void *context, const struct trail_parts_row *row)
{
	struct state_check *check = context;
	struct checking *checking = check->checking;
	struct trail_part *part;
	struct trail_lost lost;
	enum err err = trail_parts_open(&part, checking->store, row);

	if (check->next != row->first)
		checking_tell(checking, SPAN("state.mdb"),
		    "the audit trail lacks entry %llu: %s",
		    (unsigned long long)check->next, help(checking));
	check->next = row->last + 1;
	if (err == ERR_OK) {
		err = trail_part_verify(part);
		checking->counts->sections += TRAIL_PART_SECTIONS;
		checking->counts->bytes += row->bytes;
		checking->counts->entries += row->last - row->first + 1;
	} else if (err == ERR_NOT_FOUND) {
		checking->counts->archived++;
		err = ERR_OK;
	}
	trail_part_close(part);
	if (err_is_limit(err))
		return err;
	if (err != ERR_OK) {
		trail_lost(&lost, checking->store, row, err);
		checking->counts->unreadable = err != ERR_DAMAGED;
		checking_tell(checking, span_of(lost.path), "%s: %s", lost.what,
		    lost.todo);
		checking->counts->unreadable = false;
	}
	if (checking->at != NULL)
		checking->at(checking->context, checking->counts->bytes);
	return ERR_OK;
}

/* The parts, then the entries behind them. */
static enum err
check_trail(struct state_check *check)
{
	struct kv_txn *txn = state_view_txn(check->view);
	uint64_t closed;
	enum err err = trail_parts_last(txn, &closed);

	check->next = 1;
	if (err == ERR_OK)
		err = trail_parts_each(txn, check_part, check);
	if (err != ERR_OK)
		return err;
	if (check->next != closed + 1)
		checking_tell(check->checking, SPAN("state.mdb"),
		    "the audit trail lacks entry %llu: %s",
		    (unsigned long long)check->next, help(check->checking));
	check->next = closed == 0 ? 0 : closed + 1;
	return audit_each_in(txn, closed + 1, check_entry, check);
}

/*
 * --- the whole check
 * ------------------------------------------------------------
 */

static enum err
check_people(struct state_check *check)
{
	enum err err = access_key_each(check->view, check_key, check);

	if (err == ERR_OK)
		err = user_each(check->view, check_user, check);
	return err == ERR_OK ? session_each(check->view, check_session, check)
			     : err;
}

/* The walks by supplier must have met every record of both tables. */
static enum err
count_proposals(struct state_check *check)
{
	struct kv_txn *txn = state_view_txn(check->view);
	uint64_t pending = 0, validated = 0;
	enum err err = kv_count(txn, STATE_PENDING, &pending);

	if (err == ERR_OK)
		err = kv_count(txn, STATE_VALIDATED, &validated);
	unsigned long long all = pending + validated;

	if (err == ERR_OK && all != check->checking->counts->proposals)
		checking_tell(check->checking, SPAN("state.mdb"),
		    "%llu proposals, but their suppliers have %llu: %s", all,
		    (unsigned long long)check->checking->counts->proposals,
		    help(check->checking));
	return err;
}

static enum err
check_proposals(struct state_check *check)
{
	enum err err = proposal_suppliers(check->view, check_supplier, check);

	if (err == ERR_OK)
		err = count_proposals(check);
	return err == ERR_OK ? check_trail(check) : err;
}

enum err
checking_state(struct checking *checking)
{
	static const struct {
		enum err (*run)(struct state_check *check);
		const char *what;
	} parts[] = {
	    {check_people, "a key, user or session"},
	    {check_proposals, "a proposal or an entry of the audit trail"},
	};
	struct state_check check = {.checking = checking};
	enum err err;

	if (!checking_pages(checking, store_state(checking->store), "state.mdb",
		help(checking)))
		return ERR_OK;
	err = checking_sums(checking, CHECKING_STATE);
	if (err == ERR_OK)
		err = state_view_open(&check.view, checking->store);
	for (unsigned i = 0; i < 2 && err == ERR_OK; i++) {
		err = parts[i].run(&check);
		if (checking_broken(checking, err))
			checking_tell(checking, SPAN("state.mdb"),
			    "%s cannot be read: %s", parts[i].what,
			    help(checking));
		if (err == ERR_DAMAGED)
			err = ERR_OK;
	}
	state_view_close(check.view);
	return err;
}

/* --- leftovers of the trail ----------------------------------------------- */

struct left {
	struct checking *checking;
	struct kv_txn *txn;
	uint64_t closed;
};

/* Whether the file has the name of the part that begins with that entry. */
static enum err
is_named(bool *is, const struct left *left, const char *name, uint64_t first)
{
	struct trail_parts_row row;
	char path[FS_PATH_MAX];
	enum err err = trail_parts_row(&row, left->txn, first);

	*is = false;
	if (err == ERR_NOT_FOUND)
		return ERR_OK;
	if (err == ERR_OK)
		err = trail_parts_path(
		    path, left->checking->store, row.month, row.first, "");
	if (err == ERR_OK)
		*is = strcmp(strrchr(path, '/') + 1, name) == 0;
	return err;
}

/* Nothing removes a stray: it may be the copy of a month that somebody keeps. */
static enum err
look_at_part(void *context, const char *name)
{
	const struct left *left = context;
	bool temporary, is = false;
	uint64_t first = trail_parts_first(name, &temporary);
	enum err err = ERR_OK;

	if (first != 0 && (temporary || first > left->closed)) {
		left->checking->counts->leftovers++;
		return ERR_OK;
	}
	if (first != 0)
		err = is_named(&is, left, name, first);
	left->checking->counts->strays += err == ERR_OK && !is;
	return err;
}

enum err
checking_trail_left(struct checking *checking)
{
	struct left left = {.checking = checking};
	char path[FS_PATH_MAX];
	enum err err = kv_read(&left.txn, store_state(checking->store));

	if (err != ERR_OK)
		return err;
	err = trail_parts_last(left.txn, &left.closed);
	if (err == ERR_OK)
		err = fs_path(path, "%s/trail", store_dir(checking->store));
	if (err == ERR_OK)
		err = fs_list(path, look_at_part, &left);
	kv_abort(left.txn);
	/* No month was closed yet; or what is damaged was told. */
	return err == ERR_NOT_FOUND || err == ERR_DAMAGED ? ERR_OK : err;
}
