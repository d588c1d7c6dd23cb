"""The sets that serving is measured on, made by gridctl. They stay in the
folder of BENCH_DATA for the next run; otherwise in a scratch folder."""

import csv
import hashlib
import json
import os
import random
import shutil
import subprocess

from serve_kit import BUILD

GRIDCTL = os.path.join(BUILD, "tools", "gridctl", "gridctl")
LARGEST = "12345"  # gridctl demo's code for it
GROWTH = (1000, 10000, 130000, 1000000)

# name: what `gridctl demo` is told, for the full form and the quick one.
SETS = {
    "std": (dict(articles=130000, suppliers=400, stores=6),
            dict(articles=13000, suppliers=40, stores=6)),
    "wide": (dict(articles=130000, suppliers=1000, stores=1, total=1000000),
             dict(articles=13000, suppliers=100, stores=1, total=100000)),
}
for number in GROWTH:
    SETS["grow-%d" % number] = (
        dict(articles=number, suppliers=1, stores=1),
        dict(articles=number // 10, suppliers=1, stores=1))


def program_mark():
    """Another gridctl may store otherwise: then a set is made anew."""
    with open(GRIDCTL, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


class Set:
    def __init__(self, root, name, quick):
        self.name = name
        self.options = SETS[name][quick]
        self.folder = os.path.join(root, name + "-quick" if quick else name)
        self.csv = os.path.join(self.folder, "csv")
        self.data = os.path.join(self.folder, "data")
        self.make()

    def gridctl(self, *words, data=None):
        return subprocess.run(
            [GRIDCTL, "--data", data or self.data] + list(words), check=True,
            stdout=subprocess.PIPE).stdout.decode()

    def make(self):
        mark = os.path.join(self.folder, "made")
        wanted = json.dumps([self.options, program_mark()])
        os.makedirs(self.folder, exist_ok=True)
        if os.path.exists(mark) and open(mark).read() == wanted:
            return
        print("making the set %s" % self.name, flush=True)
        if not os.path.exists(os.path.join(self.csv, "gammes.csv")):
            words = []
            for option, value in self.options.items():
                words += ["--" + option, str(value)]
            self.gridctl("demo", "--out", self.csv, *words)
        shutil.rmtree(self.data, ignore_errors=True)
        self.gridctl("init")
        self.gridctl("import", "-q", self.csv)
        self.gridctl("compute", "-q", "--all")
        self.gridctl("index", "-q")
        with open(mark, "w") as file:
            file.write(wanted)

    def copy(self, folder):
        """A data directory that may be written to; what is immutable is
        linked where that can be."""
        os.makedirs(folder)

        def link(source, target):
            try:
                os.link(source, target)
            except OSError:
                shutil.copy2(source, target)
        for name in os.listdir(self.data):
            source = os.path.join(self.data, name)
            target = os.path.join(folder, name)
            if name in ("snapshots", "facts"):
                shutil.copytree(source, target, copy_function=link)
            elif os.path.isdir(source):
                shutil.copytree(source, target)
            elif name == "words.idx":
                link(source, target)
            else:
                shutil.copy2(source, target)
        return folder

    def suppliers(self):
        with open(os.path.join(self.csv, "articles.csv")) as file:
            seen = {row[0]: True for row in csv.reader(file)}
        return sorted(set(seen) - {"fournisseur"})

    def rows(self, supplier):
        """The rows of its snapshot, as JSON texts."""
        with subprocess.Popen([GRIDCTL, "--data", self.data, "dump",
                               supplier], stdout=subprocess.PIPE) as process:
            yield from process.stdout
        assert process.returncode == 0, supplier

    def words(self, count, supplier=None, seed=1):
        """What people look for: words, fragments, bar codes, and misses."""
        chance = random.Random(seed)
        labels, gtins = [], []
        with open(os.path.join(self.csv, "articles.csv")) as file:
            for row in csv.DictReader(file):
                if supplier in (None, row["fournisseur"]) and \
                        chance.random() < 0.02:
                    labels += row["libelle1"].split()
                    gtins += [row["gtin"]] if row["gtin"] else []
        labels = sorted({word for word in labels if len(word) > 2})
        found = []
        while len(found) < count:
            kind = chance.random()
            word = chance.choice(labels)
            if kind < 0.4:
                found.append(word)
            elif kind < 0.7:
                size = chance.randint(3, min(6, len(word)))
                at = chance.randint(0, len(word) - size)
                found.append(word[at:at + size])
            elif kind < 0.9:
                found.append(chance.choice(gtins))
            else:
                found.append("".join(chance.choice("bcdfghjkqvwxz")
                                     for _ in range(6)))
        return found
