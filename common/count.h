/*
 * count: how many elements an array has; the compilers warn of a pointer.
 */
#pragma once

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
