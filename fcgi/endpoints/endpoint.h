/*
 * endpoint: one function an endpoint, one file each (ep_<name>.c). By the time
 * it runs, the caller is known and the parameters are read.
 */
#pragma once

struct call;

void ep_openapi(struct call *call);
void ep_fournisseurs(struct call *call);
void ep_nomenclatures(struct call *call);
void ep_grid(struct call *call);
void ep_search(struct call *call);
void ep_product(struct call *call);
void ep_network(struct call *call);
void ep_put_gamme(struct call *call);
void ep_post_gammes(struct call *call);
void ep_login(struct call *call);
void ep_session(struct call *call);
void ep_logout(struct call *call);
void ep_pending(struct call *call);
void ep_save(struct call *call);
void ep_cancel(struct call *call);
void ep_keys(struct call *call);
void ep_key_create(struct call *call);
void ep_key_revoke(struct call *call);
void ep_healthz(struct call *call);
void ep_readyz(struct call *call);
void ep_metrics(struct call *call);
