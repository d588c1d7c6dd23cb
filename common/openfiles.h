/*
 * openfiles: why no more files can be opened, for the operator who raises a
 * limit.
 */
#pragma once

#define OPENFILES_TEXT_MAX 160

/*
 * Describes an errno value. "Too many open files" comes with the limit, how
 * many this process has open, and where the limit is set; any other value has
 * strerror's text. Returns `text`.
 */
const char *openfiles_why(char text[OPENFILES_TEXT_MAX], int errnum);
