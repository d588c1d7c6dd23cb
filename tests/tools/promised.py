"""What /api/v1 promises to go on taking and giving, compared with its description.

    promised.py TOP            compares; "N passed, N failed"
    promised.py TOP --print    the lines of the description, for a new addition to
                               tests/tools/promised/v1.txt

A line of v1.txt is an operation, a parameter, or a member of a body or an answer,
with its type. Lines may be added; none may go, and nothing that is required of a
caller may come.
"""

import copy
import json
import os
import sys


def kind(schema):
    """A type in a word: "string|null", "Product", "[Product]"."""
    if "$ref" in schema:
        return schema["$ref"].rsplit("/", 1)[1]
    for many in ("anyOf", "oneOf", "allOf"):
        if many in schema:
            return "|".join(sorted(kind(one) for one in schema[many]))
    of = schema.get("type", "any")
    if of == "array":
        return "[%s]" % kind(schema.get("items", {}))
    return of if isinstance(of, str) else "|".join(sorted(of))


def members(name, schema, says):
    """Members of an object, those of objects in it as well."""
    needed = set(schema.get("required", ())) if says == "body" else ()
    for member, inner in schema.get("properties", {}).items():
        yield "%s %s.%s %s%s" % (says, name, member, kind(inner),
                                 " required" if member in needed else "")
        yield from members("%s.%s" % (name, member), inner, says)


def lines(description):
    schemas = description["components"]["schemas"]
    taken = set()
    for path, item in description["paths"].items():
        for method, operation in item.items():
            at = "%s %s" % (method.upper(), path)
            yield "operation %s %s" % (at, operation["operationId"])
            for one in operation.get("parameters", ()):
                if "name" in one:
                    yield "parameter %s %s %s%s" % (
                        at, one["in"], one["name"],
                        " required" if one.get("required") else "")
            body = operation.get("requestBody")
            if body:
                schema = kind(body["content"]["application/json"]["schema"])
                taken.add(schema)
                yield "takes %s %s" % (at, schema)
            for media, content in operation["responses"]["200"].get(
                    "content", {}).items():
                yield "gives %s %s %s" % (at, media,
                                          kind(content.get("schema", {})))
    taken |= {name for name in schemas if name == "GammeChange"}
    for name, schema in schemas.items():
        yield from members(name, schema, "body" if name in taken else "member")
    for code in schemas["ErrorBody"]["properties"]["code"]["enum"]:
        yield "code " + code


def broken(promised, now):
    """What a caller of before would trip over."""
    return sorted(
        ["is gone: " + line for line in promised - now] +
        ["is newly required: " + line for line in now - promised
         if line.endswith(" required")])


def check(name, ok, said=()):
    print(("ok: " if ok else "not ok: ") + name)
    for line in said:
        print("    " + line)
    return bool(ok)


def planted(description, promised):
    """The comparison finds what would break a caller, and nothing else."""
    def after(change):
        other = copy.deepcopy(description)
        change(other["components"]["schemas"], other["paths"])
        return broken(promised, set(lines(other)))

    def new_member(schemas, _):
        schemas["Product"]["properties"]["couleur"] = {"type": "string"}

    def new_parameter(_, paths, **more):
        paths["/grid"]["get"]["parameters"].append(
            dict({"name": "couleur", "in": "query"}, **more))

    yield check("a new member breaks nothing", not after(new_member))
    yield check("nor does a new parameter", not after(new_parameter))
    yield check("one that is required does", after(
        lambda *at: new_parameter(*at, required=True)))
    yield check("so does a member that is gone", after(
        lambda schemas, _: schemas["Product"]["properties"].pop("gtin")))
    yield check("or has another type", after(
        lambda schemas, _: schemas["Product"]["properties"].update(
            gtin={"type": "number"})))
    yield check("and an operation that is gone", after(
        lambda _, paths: paths.pop("/magasins")))


def main():
    top = sys.argv[1]
    with open(os.path.join(top, "docs", "openapi.json")) as file:
        description = json.load(file)
    now = set(lines(description))
    if "--print" in sys.argv:
        print("\n".join(sorted(now)))
        return 0
    with open(os.path.join(top, "tests", "tools", "promised", "v1.txt")) as file:
        promised = set(file.read().splitlines())
    trouble = broken(promised, now)
    results = [check("%d lines are kept" % len(promised),
                     len(promised) > 300 and not trouble, trouble)]
    results += planted(description, promised)
    print("%d passed, %d failed" % (sum(results), len(results) - sum(results)))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
