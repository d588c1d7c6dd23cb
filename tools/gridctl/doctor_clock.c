/* gridctl doctor: whether a time server keeps the clock. */
#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/timex.h>

#include "tools/gridctl/doctor.h"

/*
 * The kernel notes STA_UNSYNC at boot, and some nine hours after the last
 * correction. It is never DOCTOR_WRONG: a hypervisor may keep the time of its
 * guest, and chrony without rtcsync keeps it, too, both without telling the
 * kernel; a container can repair nothing of it.
 */
void
doctor_clock(struct doctor *doctor, int state, const struct timex *kernel)
{
	assert(doctor != NULL && kernel != NULL);
	if (state == -1)
		doctor_say(doctor, DOCTOR_FINE, "clock", NULL,
		    "the kernel does not tell whether it is kept (%s): not "
		    "looked at",
		    strerror(errno));
	else if ((kernel->status & STA_UNSYNC) != 0)
		doctor_say(doctor, DOCTOR_LOOK, "clock",
		    "'apt install' systemd-timesyncd or chrony, on the host of "
		    "a container; 'timedatectl' shows the result. Nothing "
		    "where a hypervisor keeps the time",
		    "no time server keeps it, as far as the kernel knows");
	else
		doctor_say(doctor, DOCTOR_FINE, "clock", NULL,
		    "a time server keeps it, to within %s ms",
		    cmd_count(
			((unsigned long long)kernel->maxerror + 999) / 1000));
}
