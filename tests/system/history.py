"""What clients asked and were told, and whether one register could have told
them so: histories of operations on a key, searched for an order that respects
time (linearizability, by Wing and Gong, with Lowe's memory of states).

An operation is a dictionary: `key`, `begin`, `end` (None: no answer came, so that
it may happen at any later time or never), and what it does:

    kind "write"   puts `value`
    kind "read"    saw `value`
    kind "change"  puts `value` if the present one is `seen`; `done` is whether
                   it did; `found` is what it found where it did not, or None.
                   A node refuses by what it has itself, which may be behind:
                   `found` is then a value of before, and nothing is stored
"""


def step(state, op):
    """Whether the operation fits the state, and the state behind it."""
    if op["kind"] == "write":
        return True, op["value"]
    if op["kind"] == "read":
        return op["value"] == state, state
    if op["end"] is None:
        return True, op["value"] if op["seen"] == state else state
    if op["done"]:
        return op["seen"] == state, op["value"]
    if op["found"] is None:
        return op["seen"] != state, state
    return op["seen"] != op["found"], state


def has_been(op, ops, first):
    """Whether the value that a refused change found was there by then."""
    return op["found"] is None or op["found"] == first or any(
        other["kind"] != "read" and other["value"] == op["found"] and
        other["begin"] < op["end"] and other is not op for other in ops)


def is_linearizable(ops, first):
    """Of one key, whose state is `first` before all of them."""
    ops = sorted(ops, key=lambda op: op["begin"])
    if not all(has_been(op, ops, first) for op in ops
               if op["kind"] == "change" and op["end"] is not None and
               not op["done"]):
        return False
    ends = [float("inf") if op["end"] is None else op["end"] for op in ops]
    needed = sum(1 << i for i, op in enumerate(ops) if op["end"] is not None)
    seen = set()
    stack = [(0, first)]
    while stack:
        done, state = stack.pop()
        if done & needed == needed:
            return True
        # The next one began before any other that is left has ended.
        limit = float("inf")
        for i, op in enumerate(ops):
            if done >> i & 1:
                continue
            if op["begin"] > limit:
                break
            limit = min(limit, ends[i])
            fits, after = step(state, op)
            place = (done | 1 << i, after)
            if fits and place not in seen:
                seen.add(place)
                stack.append(place)
    return False


def not_linearizable(ops, first):
    """The keys whose operations no order explains; `first` tells a key's first
    state."""
    keys = {}
    for op in ops:
        keys.setdefault(op["key"], []).append(op)
    return [key for key, mine in sorted(keys.items())
            if not is_linearizable(mine, first(key))]


def accounts(acknowledged, refused, stored):
    """What is wrong with the names that are stored, each of one write."""
    counts = {}
    for name in stored:
        counts[name] = counts.get(name, 0) + 1
    return (["lost: " + name for name in acknowledged if name not in counts] +
            ["refused and stored: " + name for name in refused
             if name in counts] +
            ["stored %d times: %s" % (count, name)
             for name, count in counts.items() if count > 1])


def out_of_time(writes, stored):
    """Pairs of writes of which one had its answer before the other was asked
    for, and that are stored the other way round. `writes`: name, begin, end."""
    place = {name: i for i, name in enumerate(stored)}
    mine = sorted((place[name], begin, end, name)
                  for name, begin, end in writes if name in place)
    wrong = []
    latest = (float("-inf"), "")  # the latest beginning so far
    for _, begin, end, name in mine:
        if end < latest[0]:
            wrong.append((latest[1], name))
        latest = max(latest, (begin, name))
    return wrong


def not_fresh(shown):
    """Answers that show less than an answer that they were to follow: pairs of
    that one and the answer. An answer has `key`, `version`, which grows, and
    `seen`, the number of the log that it shows; `sent` is the number that the
    request named, or None."""
    wrong = []
    keys = {}
    for answer in shown:
        keys.setdefault(answer["key"], []).append(answer)
    for answers in keys.values():
        known = sorted((answer for answer in answers
                        if answer["seen"] is not None),
                       key=lambda answer: answer["seen"])
        best, i = None, 0
        for answer in sorted((answer for answer in answers
                              if answer["sent"] is not None),
                             key=lambda answer: answer["sent"]):
            while i < len(known) and known[i]["seen"] <= answer["sent"]:
                if best is None or known[i]["version"] > best["version"]:
                    best = known[i]
                i += 1
            if best is not None and answer["version"] < best["version"]:
                wrong.append((best, answer))
    return wrong


def wrong_imports(imports, seen, last):
    """What is wrong with the imports that pages showed. `imports`: their numbers and
    outcomes, in their order; `seen`: node and numbers on one page, in the order of the
    answers; `last`: the numbers that all nodes show in the end."""
    outcomes = dict(imports)
    wrong = ["of several imports: %s" % numbers
             for _, numbers in seen + [("all", last)] if len(numbers) != 1]
    newest = {}
    for node, numbers in seen:
        number = max(numbers, default=0)
        if outcomes.get(number) == "refused":
            wrong.append("refused and shown: %d" % number)
        if number < newest.get(node, 0):
            wrong.append("node %s showed %d after %d" % (
                node, number, newest[node]))
        newest[node] = max(number, newest.get(node, 0))
    number = max(last, default=0)
    for later, outcome in imports:
        if outcome == "published" and later > number:
            wrong.append("lost: import %d, %d is shown" % (later, number))
    return wrong


# --- what the checks above must find ------------------------------------------

def write(value, begin, end):
    return {"key": "k", "kind": "write", "value": value, "begin": begin,
            "end": end}


def read(value, begin, end):
    return {"key": "k", "kind": "read", "value": value, "begin": begin,
            "end": end}


def change(seen, value, begin, end, done=True, found=None):
    return {"key": "k", "kind": "change", "seen": seen, "value": value,
            "begin": begin, "end": end, "done": done, "found": found}


def the_checker_finds_what_is_wrong():
    good = [
        [],
        [write(1, 0, 1), read(1, 2, 3)],
        [write(1, 0, 9), read(0, 1, 2), read(1, 3, 4)],
        # No answer: it happened late, or never.
        [write(1, 0, None), read(0, 1, 2), read(1, 3, 4)],
        [write(1, 0, None), read(0, 1, 2)],
        [change(0, 1, 0, 1), change(0, 2, 2, 3, False, 1),
         change(1, 2, 4, 5), read(2, 6, 7)],
        [change(0, 1, 0, None), change(0, 2, 1, 2, False, 1)],
        # Refused by a node that is behind.
        [change(0, 1, 0, 1), change(1, 2, 2, 3), change(2, 3, 4, 5, False, 1)],
    ]
    for ops in good:
        assert is_linearizable(ops, 0), ops
    bad = [
        # A log that forgets: acknowledged, and not there.
        [write(1, 0, 1), read(0, 2, 3)],
        [change(0, 1, 0, 1), change(0, 2, 2, 3)],
        # A duplicate: the old value is back.
        [write(1, 0, 1), write(2, 2, 3), read(2, 4, 5), read(1, 6, 7)],
        # A stale read, where none was promised.
        [write(1, 0, 9), read(1, 1, 2), read(0, 3, 4)],
        # Two decided upon the same sight.
        [change(0, 1, 0, 5), change(0, 2, 1, 6)],
        [change(0, 1, 0, 1, False, 0)],
        [change(0, 1, 0, 1, False)],
        [change(0, 1, 0, 1), change(0, 2, 2, 3, False, 9)],
        # No answer is no licence to happen twice.
        [write(1, 0, None), read(1, 1, 2), write(2, 3, 4), read(2, 5, 6),
         read(1, 7, 8)],
    ]
    for ops in bad:
        assert not is_linearizable(ops, 0), ops
    assert not_linearizable(bad[0] + [dict(op, key="l") for op in good[1]],
                            lambda key: 0) == ["k"]

    names = ["w%d" % i for i in range(2000)]
    assert accounts(names, ["x"], names) == []
    forgets = [name for i, name in enumerate(names) if i % 500 != 499]
    assert len(accounts(names, [], forgets)) == 4
    assert accounts(names, [], names + ["w7"]) == ["stored 2 times: w7"]
    assert accounts([], ["x"], ["x"]) == ["refused and stored: x"]
    times = [(name, i, i + 1.5) for i, name in enumerate(names)]
    assert out_of_time(times, names) == []
    assert out_of_time(times, [names[1], names[0]] + names[2:]) == []
    assert out_of_time(times, names[2:] + names[:2]) != []

    def shows(key, sent, seen, version):
        return {"key": key, "sent": sent, "seen": seen, "version": version}

    fresh = [shows("k", None, 5, 1), shows("k", None, 9, 2),
             shows("k", 5, 6, 1), shows("k", 5, 9, 2), shows("k", 8, 8, 1),
             shows("k", 9, 9, 2), shows("l", 9, 9, 0), shows("k", None, 3, 0)]
    assert not_fresh(fresh) == []
    # An answer of before, to a write's number or to another answer's.
    for old in (shows("k", 9, 9, 1), shows("k", 12, 12, 1),
                shows("k", 5, 5, 0), shows("k", 6, 5, 0)):
        assert [pair[1] for pair in not_fresh([old] + fresh)] == [old], old
    # A number that is too low for what the answer shows is found, too.
    assert not_fresh(fresh + [shows("k", None, 7, 2)]) != []

    imports = [(1, "published"), (2, "refused"), (3, "unknown"),
               (4, "published")]
    assert wrong_imports(imports, [("a", {1}), ("a", {3}), ("b", {1}),
                                   ("a", {4}), ("b", {4})], {4}) == []
    assert wrong_imports(imports[:3], [("a", {1})], {3}) == []
    for seen_, last in (([("a", {1, 4})], {4}), ([("a", {2})], {4}),
                        ([("a", {4}), ("a", {3})], {4}), ([], {3}), ([], set()),
                        ([("a", set())], {4})):
        assert wrong_imports(imports, seen_, last) != [], (seen_, last)
