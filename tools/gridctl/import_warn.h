/* import_warn: the warning of an import whose months lie in the future. */
#pragma once

struct intake;

/*
 * Warns on standard error of future months: names the files of this import, and
 * the base of a merge when its newest month is later.
 */
void import_warn_ahead(const struct intake *intake);
