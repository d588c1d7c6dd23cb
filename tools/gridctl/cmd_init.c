#include <stdio.h>

#include "common/opt.h"
#include "lmdb-schema/store/store.h"
#include "tools/gridctl/cmd.h"

static const struct opt_spec spec = {
    .usage = "gridctl [--data DIR] init",
    .about =
	"Creates an empty data directory. An existing one is left as it is.",
};

int
cmd_init(int argc, char **argv)
{
	struct fault fault;
	int args, result = cmd_options(NULL, &spec, argc, argv, &args);
	enum err err;

	if (result != CMD_GO)
		return result;
	fault_clear(&fault);
	err = store_create(cmd_data_dir(), &fault);
	if (err != ERR_OK)
		return cmd_fail("init", err, &fault);
	printf("%s is ready: 'gridctl import DIR' takes CSV files in\n",
	    cmd_data_dir());
	return CMD_DONE;
}
