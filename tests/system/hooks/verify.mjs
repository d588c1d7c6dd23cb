/*
 * verify.mjs MODULES: for each line of JSON, {secret, headers, body}, what the
 * libraries of others say of it: a line {standardwebhooks, svix}, each "" or why
 * not.
 */
import {createRequire} from "node:module";
import readline from "node:readline";

const require = createRequire(process.argv[2] + "/x.js");
const libraries = {
	standardwebhooks: require("standardwebhooks").Webhook,
	svix: require("svix").Webhook,
};

for await (const line of readline.createInterface({input: process.stdin})) {
	const {secret, headers, body} = JSON.parse(line);
	const said = {};

	for (const [name, Webhook] of Object.entries(libraries))
		try {
			const event = new Webhook(secret).verify(body, headers);

			said[name] = event.type === JSON.parse(body).type ?
			    "" : "another event";
		} catch (error) {
			said[name] = String(error.message);
		}
	console.log(JSON.stringify(said));
}
