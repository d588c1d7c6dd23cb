#!/usr/bin/env python3
"""Names each variable that only loops use, and that stands outside their for.

    tools/dev/loop-variables.py [--fix] FILE...

docs/hacking.md wants `for (unsigned i = 0; ...)`. A variable may stand at the head
of its block when code outside of the loops reads it, when the loop counts two
variables, or when a loop continues with the value of the one before. --fix moves the
declaration; run tools/dev/check-format.sh --fix afterwards. Fails when it names one.
"""

import re
import sys

TEXTS = re.compile(
    r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', re.S)
BODY = re.compile(r'^\{\n(.*?)^\}', re.S | re.M)
LOOP = re.compile(r'\bfor \((\w+) = ')
# A declaration at the head of a block: a type, then names with or without values.
DECLARED = re.compile(
    r'^\t+((?:const )?(?:struct \w+|enum \w+|unsigned char|\w+)(?: const)?) '
    r'([^;(){}]*);$', re.M)
NAMED = re.compile(r'\s*(\**)(\w+)$')


def blanked(text):
    """The text with blanks for its strings and comments."""
    return TEXTS.sub(lambda found: re.sub(r'[^\n]', ' ', found.group()), text)


def closing(text, at, opener, closer):
    """The place behind the bracket that closes the one at `at`."""
    depth = 0
    while True:
        depth += (text[at] == opener) - (text[at] == closer)
        at += 1
        if depth == 0:
            return at


def statement_end(text, at):
    """The place behind the statement that begins at `at`."""
    at = re.compile(r'\s*').match(text, at).end()
    if text[at] == '{':
        return closing(text, at, '{', '}')
    head = re.compile(r'(for|if|while|switch) \(').match(text, at)
    if head:
        end = statement_end(text, closing(text, head.end() - 1, '(', ')'))
        behind = re.compile(r'\s*else\b').match(text, end)
        while head.group(1) == 'if' and behind:
            end = statement_end(text, behind.end())
            behind = re.compile(r'\s*else\b').match(text, end)
        return end
    if text.startswith('do', at) and not text[at + 2].isalnum():
        at = statement_end(text, at + 2)
    return text.index(';', at) + 1


def declaration_of(body, name):
    """The only declaration of a name without a value, and its star; or None."""
    found = []
    for declared in DECLARED.finditer(body):
        if declared.group(1) in ('return', 'goto', 'break', 'continue'):
            continue
        for part in declared.group(2).split(','):
            named = NAMED.match(part)
            if named and named.group(2) == name:
                found.append((declared, named.group(1)))
    return found[0] if len(found) == 1 else None


def loops_of(body, name):
    """From where to where each loop over a name goes; None when one has two."""
    spans = []
    for loop in re.finditer(r'\bfor \(%s = ' % name, body):
        head_end = closing(body, loop.start() + 4, '(', ')')
        first = body[loop.end():body.index(';', loop.end())]
        if re.search(r',(?![^()]*\))', first) or re.search(r'\w = ', first):
            return None
        spans.append((loop.start(), statement_end(body, head_end)))
    return spans


def movable(body):
    """The first name of a body whose declaration belongs into its loops."""
    for name in dict.fromkeys(LOOP.findall(body)):
        declared = declaration_of(body, name)
        spans = loops_of(body, name)
        if declared is None or spans is None:
            continue
        inside = [declared[0].span()] + spans
        uses = re.finditer(r'(?<![\w.>])%s\b' % name, body)
        if all(any(a <= use.start() < b for a, b in inside) for use in uses):
            yield name, declared


def moved(text, start, name, declared):
    """The text with one declaration moved into its loops."""
    match, star = declared
    kind = match.group(1)
    rest = [part.strip() for part in match.group(2).split(',')
            if NAMED.match(part) is None or NAMED.match(part).group(2) != name]
    line = text[start + match.start():start + match.end()]
    indent = line[:len(line) - len(line.lstrip('\t'))]
    new = indent + kind + ' ' + ', '.join(rest) + ';' if rest else ''
    body_end = start + re.search(r'^\}', text[start:], re.M).start()
    body = text[start + match.end():body_end]
    body = body.replace('for (%s = ' % name, 'for (%s %s%s = ' % (kind, star, name))
    before = text[:start + match.start()]
    if not rest:
        # The blank line behind the only declaration goes with it.
        alone = before.endswith('{\n') and body.startswith('\n\n')
        body = body[2:] if alone else body[1:]
    return before + new + body + text[body_end:]


def fixed(text):
    """The text with all such declarations moved."""
    while True:
        plain = blanked(text)
        for body in BODY.finditer(plain):
            found = next(movable(body.group(1)), None)
            if found:
                text = moved(text, body.start(1), *found)
                break
        else:
            return text


def main(files):
    """Names, or with --fix moves, such declarations of all files."""
    fix = files[:1] == ['--fix']
    wrong = 0
    for path in files[fix:]:
        with open(path, encoding='utf-8') as file:
            text = file.read()
        if fix:
            new = fixed(text)
            if new != text:
                with open(path, 'w', encoding='utf-8') as file:
                    file.write(new)
            continue
        plain = blanked(text)
        for body in BODY.finditer(plain):
            for name, declared in movable(body.group(1)):
                line = plain.count('\n', 0, body.start(1) + declared[0].start()) + 1
                print(f'not ok: {path}:{line}: {name} belongs inside its for')
                wrong += 1
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
