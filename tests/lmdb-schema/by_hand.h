/*
 * by_hand: a change of the live data whose steps a test makes itself. The
 * product has live_change_run() only.
 */
#pragma once

struct live_change;
struct store;

struct live_change *hand_begin(struct store *store);

/* Both free the change. */
void hand_commit(struct live_change *change);
void hand_abort(struct live_change *change);
