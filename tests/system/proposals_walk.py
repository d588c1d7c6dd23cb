"""Random sequences of all that can happen to proposals, through nginx, held
after each step against a model that is written from the document's table.

    GRID_LONG=1                              for 5000 steps
    GRID_WALK_STEPS=20000 GRID_WALK_SEED=7   for more, and for another one
"""

import os
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from grid import Grid, write  # noqa: E402
from stack import run_tests  # noqa: E402

LONG = os.environ.get("GRID_LONG", "") not in ("", "0")
STEPS = int(os.environ.get("GRID_WALK_STEPS", "5000" if LONG else "1000"))
SEED = int(os.environ.get("GRID_WALK_SEED", "1"))
RANGES = "ABCYZ"


class Model:
    """What the document's table says, and nothing of how it is stored."""

    def __init__(self, server):
        self.server = dict(server)
        self.validated = {}
        self.pending = {}  # codein: (range, author)
        self.sent = {}  # codein: the ranges that are on their way, in order
        self.trail = []

    def recorded(self, codein):
        return self.validated.get(codein) or self.server[codein]

    def note(self, event, actor, codein, gamme, before):
        self.trail.append((event, actor, codein, gamme, before))

    def propose(self, author, codein, gamme):
        """The result, as the answer shows it."""
        before = self.recorded(codein)
        differs = gamme != before
        older = self.pending.get(codein)
        if differs and older is None:
            self.note("proposed", author, codein, gamme, before)
        elif differs and older != (gamme, author):
            self.note("replaced", author, codein, gamme, older[0])
        elif not differs and older is not None:
            self.note("withdrawn", author, codein, older[0], before)
            del self.pending[codein]
        if differs:
            self.pending[codein] = (gamme, author)
        return {"codein": codein, "gamme": gamme, "gammePrecedente": before,
                "codeGammeServeur": self.server[codein], "modifie": differs,
                "statut": "a_valider" if differs else "inchangee"}

    def record(self, codein, gamme):
        self.validated.pop(codein, None)
        if gamme != self.server[codein] or self.other_sent(codein, gamme):
            self.validated[codein] = gamme

    def other_sent(self, codein, gamme):
        return set(self.sent.get(codein, [])) - {gamme}

    def hand_over(self):
        for codein, gamme in self.validated.items():
            sent = self.sent.setdefault(codein, [])
            if sent[-1:] != [gamme]:
                sent.append(gamme)

    def save(self, actor, codein):
        if codein in self.pending:
            before = self.recorded(codein)
            gamme, _ = self.pending.pop(codein)
            self.record(codein, gamme)
            self.note("validated", actor, codein, gamme, before)

    def cancel(self, actor, codein):
        if codein in self.pending:
            gamme, _ = self.pending.pop(codein)
            self.note("rejected", actor, codein, gamme, self.recorded(codein))

    def edit(self, actor, codein, gamme):
        if codein in self.pending and self.pending[codein][0] == gamme:
            self.save(actor, codein)
            return
        self.cancel(actor, codein)
        before = self.recorded(codein)
        if gamme != before or (codein not in self.validated and
                               self.other_sent(codein, gamme)):
            self.record(codein, gamme)
            self.note("edited", actor, codein, gamme, before)

    def take_in(self, server):
        self.server.update(server)
        for codein in sorted(self.validated):
            gamme = self.validated[codein]
            if gamme == self.server[codein] and \
                    self.sent.get(codein, [gamme])[-1] == gamme:
                del self.validated[codein]
                self.note("arrived", "gridctl", codein, gamme, gamme)
        for codein in list(self.sent):
            if self.sent[codein] == [self.server[codein]]:
                del self.sent[codein]
        for codein in sorted(self.pending):
            gamme, _ = self.pending[codein]
            if gamme == self.recorded(codein):
                del self.pending[codein]
                self.note("withdrawn", "gridctl", codein, gamme, gamme)

    def row(self, codein):
        pending = self.pending.get(codein)
        return (self.server[codein], self.recorded(codein),
                pending[0] if pending else None)


class Walk:
    def __init__(self, grid):
        self.grid = grid
        self.random = random.Random(SEED)
        self.model = Model(grid.server)
        self.session = grid.login()
        self.keys = {"robot": grid.key}
        self.names = 0
        self.seen = max(e["number"] for e in grid.log_of())

    def ranges(self, codeins):
        return {code: self.random.choice(RANGES) for code in codeins}

    def some(self, most):
        return self.random.sample(self.grid.articles,
                                  self.random.randint(1, most))

    # --- steps: each does it and tells the model ------------------------------

    def put(self):
        name, key = self.random.choice(sorted(self.keys.items()))
        codein, gamme = self.some(1)[0], self.random.choice(RANGES)
        answer = self.grid.put(codein, gamme, key=key)
        assert answer.status == 200, answer.text
        data = answer.json["data"]
        del data["codeFournisseur"], data["nomFournisseur"]
        assert data == self.model.propose(name, codein, gamme), answer.text

    def put_as_user(self):
        codein, gamme = self.some(1)[0], self.random.choice(RANGES)
        answer = self.grid.put(codein, gamme, key="", headers=self.session)
        assert answer.status == 200, answer.text
        self.model.propose("marie", codein, gamme)

    def post(self):
        name, key = self.random.choice(sorted(self.keys.items()))
        chosen = self.ranges(self.some(8))
        changes = [(code, chosen[code]) for code in
                   self.random.choices(list(chosen), k=len(chosen))]
        answer = self.grid.post(changes, key=key)
        assert answer.status == 200, answer.text
        expected = [self.model.propose(name, *change) for change in changes]
        assert answer.json["data"] == expected, (answer.text, expected)
        changed = sum(item["modifie"] for item in expected)
        meta = answer.json["meta"]
        assert (meta["demandes"], meta["modifies"], meta["aValider"]) == (
            len(changes), changed, changed)

    def bad_post(self):
        """With an unknown article, or a clash: nothing of it happens."""
        code = self.some(1)[0]
        bad = self.random.choice([[(code, "A"), ("unknown", "A")],
                                  [(code, "A"), (code, "B")]])
        assert self.grid.post(bad).status in (404, 400)

    def decide(self):
        """In the screen; sometimes of what is not so any more."""
        items, edits, expected = [], [], []
        for codein in self.some(4):
            _, recorded, pending = self.model.row(codein)
            shown = pending or self.random.choice(RANGES)
            if self.random.random() < 0.2:
                shown = self.random.choice(RANGES)
            fits = shown == pending
            items.append({"codein": codein, "gamme": shown,
                          "codeGamme": recorded})
            expected.append((codein, fits))
        save = self.random.random() < 0.6
        body = {"fournisseur": "S1", "proposals": items}
        named = {codein for codein, _ in expected}
        if save and self.random.random() < 0.5:
            for codein in self.some(3):
                if codein in named:
                    continue
                _, recorded, pending = self.model.row(codein)
                edits.append({"codein": codein, "codeGamme": recorded,
                              "gamme": self.random.choice(RANGES),
                              "gammeAValider": pending})
            body["edits"] = edits
        answer = self.grid.app(self.session, "POST",
                               "/save" if save else "/cancel", body)
        assert answer.status == 200, answer.text
        for codein, fits in expected:
            if fits and save:
                self.model.save("marie", codein)
            elif fits:
                self.model.cancel("marie", codein)
        for edit in edits:
            self.model.edit("marie", edit["codein"], edit["gamme"])
        told = [item["result"] == "applied" for item in answer.json["data"]]
        assert told == [fits for _, fits in expected] + [True] * len(edits), (
            answer.text, expected)
        for item in answer.json["data"]:
            assert self.model.row(item["codein"]) == (
                item["codeGammeServeur"], item["codeGamme"],
                item["gammeAValider"]), answer.text

    def decide_all(self):
        pending = self.grid.app(self.session, "GET",
                                "/pending?fournisseur=S1").json
        save = self.random.random() < 0.5
        answer = self.grid.app(
            self.session, "POST", "/save" if save else "/cancel",
            {"fournisseur": "S1", "all": True,
             "version": pending["meta"]["version"]})
        assert answer.status == 200, answer.text
        assert answer.json["meta"]["reste"] == len(self.model.pending)
        for codein in sorted(self.model.pending):
            if save:
                self.model.save("marie", codein)
            else:
                self.model.cancel("marie", codein)

    def by_gridctl(self):
        codein = self.some(1)[0]
        command = self.random.choice(("save", "cancel"))
        done = self.grid.ctl("proposals", command, "S1", codein, check=False)
        assert (done.returncode == 0) == (codein in self.model.pending)
        getattr(self.model, command)("gridctl", codein)

    def take_in(self):
        """What was exported comes back; or anything else."""
        if self.random.random() < 0.5:
            path = self.grid.path("export.csv")
            self.grid.ctl("gammes", "export", "--out", path)
            self.model.hand_over()
            if self.random.random() < 0.5:
                return  # it is on its way
            server = dict(self.model.validated)
        else:
            path = self.grid.path("gammes.csv")
            server = {code: self.random.choice(RANGES) for code in
                      self.some(4)}
            write(path, ["fournisseur,codein,gamme"] + [
                "S1,%s,%s" % pair for pair in server.items()])
        self.grid.ctl("gammes", "import", "--quiet", path)
        self.model.take_in(server)

    def recompute(self):
        self.grid.ctl("compute", "--quiet", "S1")

    def change_keys(self):
        """One is revoked, and a proposal by it refused; another is made."""
        if len(self.keys) > 2:
            name = self.random.choice(sorted(self.keys))
            key = self.keys.pop(name)
            self.grid.ctl("key", "revoke", key.split("_")[1])
            codein = self.some(1)[0]
            answer = self.grid.put(codein, "A", key=key)
            assert answer.status == 401, answer.text
            self.grid.key = next(iter(self.keys.values()))
        self.names += 1
        name = "key%d" % self.names
        self.keys[name] = self.grid.make_key(name, "propose")

    # --- looking --------------------------------------------------------------

    def check_rows(self):
        rows = self.grid.rows()["data"]
        shown = {row["codein"]: (row["codeGammeServeur"], row["codeGamme"],
                                 row["gammeAValider"]) for row in rows}
        expected = {code: self.model.row(code) for code in
                    self.grid.articles}
        assert shown == expected, {
            code: (shown[code], expected[code]) for code in shown
            if shown[code] != expected[code]}

    def check_filter(self):
        gamme = self.random.choice(RANGES)
        found = self.grid.rows(more="&gamme=" + gamme)
        expected = {code for code in self.grid.articles
                    if self.model.recorded(code) == gamme}
        assert {row["codein"] for row in found["data"]} == expected
        assert found["pagination"]["total"] == len(expected)

    def check_pending(self):
        shown = self.grid.app(self.session, "GET",
                              "/pending?fournisseur=S1").json["data"]
        assert {item["codein"]: (item["gamme"], item["author"])
                for item in shown} == self.model.pending, shown

    def check_trail(self):
        """What came since the last look; entries about keys aside."""
        entries = self.grid.log_of("--from", str(self.seen + 1))
        if entries:
            self.seen = entries[-1]["number"]
        shown = [(e["event"], e["actor"], e["codein"], e["gamme"],
                  e["before"]) for e in entries if e["fournisseur"] == "S1"]
        assert shown == self.model.trail, (shown, self.model.trail)
        self.model.trail = []

    def step(self):
        """The parts that start a program are rarer: they take longer."""
        step = self.random.choices(
            [self.put, self.put_as_user, self.post, self.bad_post, self.decide,
             self.decide_all, self.by_gridctl, self.take_in, self.recompute,
             self.change_keys],
            [30, 8, 20, 4, 25, 2, 3, 4, 1, 1])[0]
        step()
        self.check_rows()
        self.check_filter()
        self.check_pending()
        self.check_trail()
        return step.__name__


def every_step_is_as_the_table_says():
    counts = {}
    with Grid(articles=24) as grid:
        walk = Walk(grid)
        for number in range(STEPS):
            try:
                name = walk.step()
            except AssertionError:
                print("at step %d of seed %d" % (number, SEED))
                raise
            counts[name] = counts.get(name, 0) + 1
    print("%d steps: %s" % (STEPS, ", ".join(
        "%d %s" % (count, name) for name, count in sorted(counts.items()))))


if __name__ == "__main__":
    run_tests([every_step_is_as_the_table_says])
