"""Each command of docs/tour.md, in its order, after tools/quickstart, and a fact of
what it does; as readme.py does it for README.md.
"""

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import readme  # noqa: E402
from stack import TOP, needs_build_folder, run_tests  # noqa: E402

PAGE = r"\Acodein,libelle1,codeGamme,totalCa\r?\n(\"\d+\",[^\n]*\n?){3}\Z"
FACTS = [
    (r"^\. \S+/activate$", r"^$"),
    (r"/grid\?.*limit=3&", PAGE),
    (r"^best=", r"^$"),
    (r"-X PUT .*/gamme", r'"modifie":true,"statut":"a_valider"'),
    (r"proposals list ", r"(?m) A .*: a tour$"),
    (r"proposals save ", r"^1 proposals? saved"),
    (r"proposals log ", r"a tour"),
    (r"gammes export", r"(?m)^fournisseur,codein,gamme"),
    (r"^own=|^printf |^mkdir |^sed |^echo merge", r"^$"),
    (r"import --merge --check", r"new"),
    (r"import --merge ", r"(?m)^  articles\.csv +2 lines$"),
    (r"gridctl compute ACME", r"."),
    (r"fournisseur=ACME&fields=libelle1,prixVente",
     r'(?s)"1001","Soap",,2\.5.*"1002","Towel","B",9\.9'),
    (r"night run", r"(?m)^  backup +done"),
    (r"fournisseur=ACME&fields=libelle1", r'"1001","Soap, new recipe"'),
    (r"night test-restore", r"restored, and every byte"),
    (r"gridctl doctor", r"(?m)^0 wrong, "),
]


def main():
    readme.README = os.path.join(TOP, "docs", "tour.md")
    readme.FACTS, readme.ELSEWHERE = FACTS, {}
    needs_build_folder()
    run_tests([readme.every_command_does_what_is_said,
               readme.nothing_is_left_out])


if __name__ == "__main__":
    main()
