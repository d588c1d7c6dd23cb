#include "fcgi/fail.h"

#include "fcgi/call.h"

void
fail_no_supplier(struct call *call, struct span supplier)
{
	reply_fail(call->reply, 404, CODE_NOT_FOUND,
	    "There is no supplier %.*s with articles; /fournisseurs lists "
	    "them.",
	    SPAN_ARG(supplier));
}

void
fail_storage(struct call *call, enum err err)
{
	reply_fail(call->reply, 500, CODE_INTERNAL,
	    "The data could not be read (%s). The request can be repeated; "
	    "the server's log says more.",
	    err_text(err));
}

void
fail_write(struct call *call, enum err err)
{
	if (err == ERR_NO_SPACE)
		reply_fail(call->reply, 500, CODE_INTERNAL,
		    "The server's disk is full. Nothing was stored; the "
		    "request can be repeated when there is room.");
	else if (err == ERR_READ_ONLY)
		reply_fail(call->reply, 500, CODE_INTERNAL,
		    "The server's disk takes no writes at present. Nothing was "
		    "stored; the request can be repeated when it does. What "
		    "is there can be read.");
	else
		reply_fail(call->reply, 500, CODE_INTERNAL,
		    "It could not be stored (%s): look again before you repeat "
		    "it; the server's log says more.",
		    err_text(err));
}
