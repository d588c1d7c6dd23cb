#include "common/owner.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char became[64];

/*
 * Keeps at most one of root's capabilities: reading any file. Root in a
 * container may lack it; the process then reads what the user may read.
 */
static int
keep_reading(bool reading)
{
	const uint32_t wanted = reading ? 1U << CAP_DAC_READ_SEARCH : 0;
	struct __user_cap_header_struct head = {
	    .version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct had[_LINUX_CAPABILITY_U32S_3];
	struct __user_cap_data_struct kept[_LINUX_CAPABILITY_U32S_3] = {{0}};

	if (syscall(SYS_capget, &head, had) != 0)
		return -1;
	kept[0].permitted = had[0].permitted & wanted;
	kept[0].effective = kept[0].permitted;
	return (int)syscall(SYS_capset, &head, kept);
}

/* Libraries look for files there, and root's HOME is closed to the user. */
static int
move_home(const struct passwd *entry)
{
	return entry == NULL ? unsetenv("HOME")
			     : setenv("HOME", entry->pw_dir, 1);
}

/* Groups first: without root they can no longer be set. */
static int
become(uid_t user, gid_t group, bool reading)
{
	const struct passwd *entry = getpwuid(user);

	if (entry == NULL) {
		snprintf(became, sizeof(became), "%lu", (unsigned long)user);
		if (setgroups(1, &group) != 0)
			return -1;
	} else {
		snprintf(became, sizeof(became), "%s", entry->pw_name);
		group = entry->pw_gid;
		if (initgroups(entry->pw_name, group) != 0)
			return -1;
	}
	if (move_home(entry) != 0 || setresgid(group, group, group) != 0 ||
	    prctl(PR_SET_KEEPCAPS, 1) != 0 || setresuid(user, user, user) != 0)
		return -1;
	return keep_reading(reading);
}

enum err
owner_become(const char *dir, bool reading, struct fault *fault)
{
	struct stat st;
	int errnum;

	if (geteuid() != 0 || stat(dir, &st) != 0 || st.st_uid == 0)
		return ERR_OK;
	if (become(st.st_uid, st.st_gid, reading) == 0)
		return ERR_OK;
	errnum = errno;
	fault_set(fault, dir,
	    "belongs to the user %s, and root cannot become that user: %s; "
	    "run this as that user",
	    became, strerror(errnum));
	became[0] = '\0';
	return err_from_errno(errnum);
}

enum err
owner_read_own(void)
{
	if (became[0] == '\0' || keep_reading(false) == 0)
		return ERR_OK;
	return err_from_errno(errno);
}

const char *
owner_name(void)
{
	return became[0] == '\0' ? NULL : became;
}
