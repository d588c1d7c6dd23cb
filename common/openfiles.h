/*
 * openfiles: why no more files can be opened, for whoever must raise a limit.
 */
#pragma once

#define OPENFILES_TEXT_MAX 160

/*
 * What an errno value says. "Too many open files" comes with the limit, how
 * many this process has open, and where the limit is set; every other value is
 * strerror's. `text` is returned.
 */
const char *openfiles_why(char text[OPENFILES_TEXT_MAX], int errnum);
