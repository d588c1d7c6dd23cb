/*
 * cmd: the commands of gridctl, each in a file of its own. They are given
 * their own name in argv[0] and return the exit code.
 */
#pragma once

int cmd_demo(int argc, char **argv);
