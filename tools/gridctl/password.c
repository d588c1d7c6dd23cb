#include "tools/gridctl/password.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "common/digest.h"

#define CTRL_C 3 /* a plain byte while echo is off */

/* Reads unbuffered, so that no part of the secret stays in stdio's memory. */
static enum err
read_line(char *line, size_t size, struct fault *fault)
{
	size_t len = 0;
	char byte;

	while (read(STDIN_FILENO, &byte, 1) == 1) {
		if (byte == '\n') {
			line[len] = '\0';
			return ERR_OK;
		}
		if (byte == CTRL_C) {
			fault_set(fault, "password", "was given up");
			return ERR_BAD_INPUT;
		}
		if (byte == '\0' || len + 1 == size) {
			fault_set(fault, "password",
			    byte == '\0' ? "holds a NUL" : "is too long");
			return ERR_BAD_INPUT;
		}
		line[len++] = byte;
	}
	/* Accept a last line without a newline. */
	line[len] = '\0';
	if (len > 0)
		return ERR_OK;
	fault_set(fault, "password",
	    "is not there: type it, or give it as a line on standard input");
	return ERR_BAD_INPUT;
}

static enum err
ask(const char *prompt, char *line, size_t size, struct fault *fault)
{
	enum err err;

	fputs(prompt, stderr);
	err = read_line(line, size, fault);
	fputc('\n', stderr);
	return err;
}

static enum err
ask_twice(char *password, size_t size, struct fault *fault)
{
	char again[2048];
	enum err err = ask("Password: ", password, size, fault);

	if (err == ERR_OK)
		err = ask("The same again: ", again,
		    size < sizeof(again) ? size : sizeof(again), fault);
	if (err == ERR_OK && strcmp(password, again) != 0) {
		fault_set(fault, "password", "was not the same both times");
		err = ERR_BAD_INPUT;
	}
	digest_forget(again, sizeof(again));
	return err;
}

enum err
password_read(char *password, size_t size, struct fault *fault)
{
	struct termios shown, hidden;
	enum err err;

	assert(password != NULL && size > 1);
	if (!isatty(STDIN_FILENO))
		return read_line(password, size, fault);
	if (tcgetattr(STDIN_FILENO, &shown) != 0) {
		fault_set(fault, "password", "the terminal cannot be set up");
		return ERR_SYSTEM;
	}
	hidden = shown;
	hidden.c_lflag &= ~(tcflag_t)ECHO;
	/* Read Ctrl-C as a byte: an interrupt would leave the echo off. */
	hidden.c_lflag &= ~(tcflag_t)ISIG;
	if (tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden) != 0) {
		fault_set(fault, "password", "the terminal cannot be set up");
		return ERR_SYSTEM;
	}
	err = ask_twice(password, size, fault);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown);
	return err;
}
