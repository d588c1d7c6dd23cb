/*
 * endpoint: one function an endpoint, one file each (ep_<name>.c). By the time
 * it runs, the caller is known and the parameters are read.
 *
 * ERR_OK and ERR_ANSWERED mean that the answer is made, whatever its status.
 * After any other code steps.c answers 500: an endpoint that cannot read its
 * data just passes the code on.
 */
#pragma once

#include "common/err.h"

struct call;

enum err ep_openapi(struct call *call);
enum err ep_fournisseurs(struct call *call);
enum err ep_magasins(struct call *call);
enum err ep_nomenclatures(struct call *call);
enum err ep_grid(struct call *call);
enum err ep_part(struct call *call);
enum err ep_lookup(struct call *call);
enum err ep_aggregates(struct call *call);
enum err ep_search(struct call *call);
enum err ep_product(struct call *call);
enum err ep_network(struct call *call);
enum err ep_put_gamme(struct call *call);
enum err ep_post_gammes(struct call *call);
enum err ep_propositions(struct call *call);
enum err ep_history(struct call *call);
enum err ep_login(struct call *call);
enum err ep_session(struct call *call);
enum err ep_logout(struct call *call);
enum err ep_password(struct call *call);
enum err ep_outside(struct call *call);
enum err ep_outside_session(struct call *call);
enum err ep_pending(struct call *call);
enum err ep_waiting(struct call *call);
enum err ep_save(struct call *call);
enum err ep_cancel(struct call *call);
enum err ep_keys(struct call *call);
enum err ep_key_create(struct call *call);
enum err ep_key_revoke(struct call *call);
enum err ep_users(struct call *call);
enum err ep_user_add(struct call *call);
enum err ep_user_rights(struct call *call);
enum err ep_user_password(struct call *call);
enum err ep_user_remove(struct call *call);
enum err ep_kept(struct call *call);
enum err ep_kept_one(struct call *call);
enum err ep_kept_put(struct call *call);
enum err ep_kept_remove(struct call *call);
enum err ep_mcp(struct call *call); /* fcgi/mcp/ep_mcp.c */
enum err ep_healthz(struct call *call);
enum err ep_readyz(struct call *call);
enum err ep_metrics(struct call *call);
