"""Sums of many groups: they leave the pages' pool for the slow one, and go out
as they are written there.

    sums_many.py [ARTICLES]
"""

import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kit import API, Data, GRIDCTL, ONCE, Score, scratch, skip  # noqa: E402

ARTICLES = int(sys.argv[1]) if len(sys.argv) > 1 else 6000
VALUES = ("totalCa", "totalQuantite", "totalMarge", "prixAchat", "prixVente",
          "stockActuel", "stockValeur", "rangCa")
SUMS = API + "/grid/aggregates?fournisseur=S1&values=%s" % ",".join(VALUES)
HEAD = ("fournisseur,codein,libelle1,libelle2,marque,gtin,reference,"
        "codeCentrale,code3,pcb,prixAchat,prixVente,tva,gamme")


def fill(data):
    """Each article has a brand of its own, which the first price names."""
    csv = os.path.join(scratch(), "csv")
    os.makedirs(csv)
    lines = ["S1,%06d,Article,,Marque %d,,,,101010,1,%d,2,20,%s" % (
        i, i, i, "ABC"[i % 3]) for i in range(1, ARTICLES + 1)]
    for name, text in (
            ("suppliers", ["code,nom", "S1,Un"]),
            ("stores", ["magasin,nom", "001,Un"]),
            ("nomenclature", ["code,libelle", "10,A", "1010,B", "101010,C"]),
            ("articles", [HEAD] + lines),
            ("sales", ["fournisseur,codein,magasin,mois,quantite,ca,marge"]
             + ["S1,%06d,001,202510,1,%d,1" % (i, i)
                for i in range(1, ARTICLES + 1)])):
        with open(os.path.join(csv, name + ".csv"), "w") as file:
            file.write("\n".join(text) + "\n")
    data.gridctl("init")
    data.gridctl("import", csv)
    data.gridctl("compute", "--all")


def ask(data, key, uri, *more):
    """(headers, body) of a process that answers once."""
    done = subprocess.run(
        [ONCE, data.folder, GRIDCTL, uri, "HTTP_X_API_KEY=" + key] +
        list(more), check=True, stdout=subprocess.PIPE)
    head, _, body = done.stdout.partition(b"\r\n\r\n")
    return head.decode(), body


def main():
    if not os.path.exists(ONCE):
        skip(ONCE + " is not built")
    data, score = Data(), Score()
    fill(data)
    key = data.key()
    many = SUMS + "&groups=marque,code3,codeGamme&limit=1000000"
    head, body = ask(data, key, many)
    score.note("pages hand over what has many groups", [] if (
        "X-Accel-Redirect: @slow" in head and body == b"") else [head])
    head, body = ask(data, key, SUMS + "&groups=marque&limit=1000000"
                     + "&prixAchat=lte.500")
    score.note("pages answer what has few", [] if (
        "X-Accel-Redirect" not in head and
        len(json.loads(body)["data"]) == 500) else [head])
    head, body = ask(data, key, many, "SLOW=1")
    got = json.loads(body)
    problems = [] if len(got["data"]) == ARTICLES else [
        "%d groups" % len(got["data"])]
    for group in got["data"]:
        number = int(group["marque"].split()[1])
        values = group["valeurs"]
        if (values["prixAchat"]["sum"], values["totalCa"]["sum"],
                group["codeGamme"]) != (number, number, "ABC"[number % 3]):
            problems.append(json.dumps(group))
    if got["meta"]["totaux"]["prixAchat"]["sum"] != \
            ARTICLES * (ARTICLES + 1) // 2:
        problems.append(json.dumps(got["meta"]))
    if "Content-Length" in head:
        problems.append("it was gathered before it went out: " + head)
    score.note("each group goes out, with what it sums", problems[:5])
    head, body = ask(data, key, many.replace("limit=1000000", "limit=10"),
                     "SLOW=1")
    top = [group["marque"] for group in json.loads(body)["data"]]
    score.note("the ten largest of all", [] if top == [
        "Marque %d" % (ARTICLES - i) for i in range(10)] else [str(top)])
    score.end()


if __name__ == "__main__":
    main()
