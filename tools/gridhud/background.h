/*
 * background: the window without a face, for a service of the session: it
 * stores, reads aloud and shows notifications while no other window is open.
 */
#pragma once

/* Until SIGTERM; the exit code. `config` and `now` as those of app_open(). */
int background_run(const char *config, const char *now);
