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
void ep_healthz(struct call *call);
void ep_readyz(struct call *call);
void ep_metrics(struct call *call);
