/*
 * version: the program's, with the commit behind a '+' where it was built in a clone:
 * so that builds of one release can be told apart.
 */
#pragma once

extern const char version_text[];
