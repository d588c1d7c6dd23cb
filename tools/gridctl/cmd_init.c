#include <stdio.h>

#include "common/opt.h"
#include "lmdb-schema/store/store.h"
#include "tools/gridctl/cmd.h"

static const struct opt_spec spec = {
    .usage = "gridctl [--data DIR] init",
    .about = "Makes an empty data directory. One that exists is left alone.",
};

int
cmd_init(int argc, char **argv)
{
	struct fault fault;
	int args;
	enum err err;

	switch (opt_read(NULL, &spec, argc, argv, &args)) {
	case OPT_GO:
		break;
	case OPT_HELP:
		return CMD_DONE;
	case OPT_WRONG:
		return CMD_USAGE;
	}
	fault_clear(&fault);
	err = store_create(cmd_data_dir(), &fault);
	if (err != ERR_OK)
		return cmd_fail("init", err, &fault);
	printf("%s is ready: 'gridctl import DIR' takes CSV files in\n",
	    cmd_data_dir());
	return CMD_DONE;
}
