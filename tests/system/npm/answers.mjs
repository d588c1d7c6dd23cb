// answers.mjs DOCUMENT ANSWERS: each answer, as `cases.py --record` wrote them,
// against its schema in the description, with ajv's JSON Schema 2020-12.
// Members that the description does not name are refused here.
import fs from "node:fs";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

const [, , documentPath, answersPath] = process.argv;
const document = JSON.parse(fs.readFileSync(documentPath, "utf8"));
for (const schema of Object.values(document.components.schemas))
  if (schema.properties) schema.additionalProperties ??= false;

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats(ajv);
ajv.addSchema({ $id: "doc", ...document });

const escape = (text) => text.replaceAll("~", "~0").replaceAll("/", "~1");
const validators = new Map();

function validatorOf({ path, method, status }) {
  const operation = document.paths[path][method];
  let place = `/paths/${escape(path)}/${method}/responses/${status}`;
  const shared = operation.responses[status]?.$ref;
  if (shared) place = shared.slice(1);
  place += `/content/${escape("application/json")}/schema`;
  if (!validators.has(place))
    validators.set(
      place,
      ajv.compile({ $ref: `doc#${place.replaceAll("{", "%7B").replaceAll("}", "%7D")}` }),
    );
  return validators.get(place);
}

let passed = 0;
let failed = 0;
for (const line of fs.readFileSync(answersPath, "utf8").trim().split("\n")) {
  const answer = JSON.parse(line);
  const validate = validatorOf(answer);
  if (validate(answer.body)) {
    passed++;
    continue;
  }
  failed++;
  console.log(`not ok: ${answer.method} ${answer.uri} ${answer.status}`);
  console.log(JSON.stringify(validate.errors.slice(0, 3)));
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
