"""Handlers that the bundled worker and AWS's own client run alike: name, source and event."""

from __future__ import annotations

HANDLERS: dict[str, tuple[str, bytes]] = {
    "returns an object": (
        "def handler(event, context):\n    return {'a': [1, 2.5, None, True], 'é': event}",
        b'{"x": "y"}',
    ),
    "returns nothing": (
        "def handler(event, context):\n    pass",
        b"{}",
    ),
    "returns letters": (
        "def handler(event, context):\n    return 'élève заказ ñ 🙂'",
        b"{}",
    ),
    "returns bytes": (
        "def handler(event, context):\n    return b'[1,  2]'",
        b"{}",
    ),
    "returns decimals": (
        "from decimal import Decimal as D\n"
        "def handler(event, context):\n"
        "    return [D('1.10'), {'n': D('4')}, D('NaN'), D('1E+3')]",
        b"{}",
    ),
    "returns a named tuple": (
        "from collections import namedtuple\n"
        "P = namedtuple('P', 'x y')\n"
        "def handler(event, context):\n"
        "    return [P(1, (2, 3)), {'p': P(None, P('a', 'b'))}]",
        b"{}",
    ),
    "returns odd keys": (
        "def handler(event, context):\n    return {1: 'a', None: 'b', True: 'c', 2.5: 'd'}",
        b"{}",
    ),
    "returns too much": (
        "def handler(event, context):\n    return 'x' * 6_300_000",
        b"{}",
    ),
    "returns a set": (
        "def handler(event, context):\n    return {1}",
        b"{}",
    ),
    "returns a circle": (
        "def handler(event, context):\n    a = []\n    a.append(a)\n    return a",
        b"{}",
    ),
    "returns a tuple key": (
        "def handler(event, context):\n    return {(1, 2): 3}",
        b"{}",
    ),
    "raises": (
        "def check(n):\n    raise ValueError(f'quantité {n}')\ndef handler(event, context):\n    check(0)",
        b"{}",
    ),
    "raises with a cause": (
        "def handler(event, context):\n"
        "    try:\n"
        "        {}['id']\n"
        "    except KeyError as e:\n"
        "        raise RuntimeError('no order') from e",
        b"{}",
    ),
    "raises without a message": (
        "class Bad(Exception): pass\ndef handler(event, context):\n    raise Bad",
        b"{}",
    ),
    "raises lines": (
        "def handler(event, context):\n    raise ValueError('one\\n  two')",
        b"{}",
    ),
    "raises a group": (
        "def handler(event, context):\n    raise ExceptionGroup('several', [ValueError('a'), TypeError('b')])",
        b"{}",
    ),
    "raises in a library": (
        "import json\ndef handler(event, context):\n    json.loads(event['text'])",
        b'{"text": "{"}',
    ),
    "exits": (
        "import sys\ndef handler(event, context):\n    print('bye')\n    sys.exit(0)",
        b"{}",
    ),
    "exits with a status": (
        "import sys\ndef handler(event, context):\n    sys.exit(3)",
        b"{}",
    ),
    "ends at once": (
        "import os\ndef handler(event, context):\n    print('bye')\n    os._exit(0)",
        b"{}",
    ),
    "takes too long": (
        "import time\ndef handler(event, context):\n    print('start')\n    time.sleep(60)",
        b"{}",
    ),
    "imports what is missing": (
        "import no_such_module\ndef handler(event, context):\n    pass",
        b"{}",
    ),
    "has no handler": (
        "def other(event, context):\n    pass",
        b"{}",
    ),
    "has a syntax error": (
        "def handler(event, context)\n    pass",
        b"{}",
    ),
    "fails while loading": (
        "raise LookupError('no table')",
        b"{}",
    ),
    "prints": (
        "import sys\n"
        "def handler(event, context):\n"
        "    print('one\\ntwo')\n"
        "    print('é', file=sys.stderr)\n"
        "    print('without an end', end='')",
        b"{}",
    ),
    "logs": (
        "import logging\n"
        "def handler(event, context):\n"
        "    logging.warning('two\\nlines %s', 'é')\n"
        "    logging.getLogger('x').error('e')\n"
        "    logging.info('hidden')\n"
        "    context.log('by context')",
        b"{}",
    ),
    "describes its context": (
        "\n"
        '        NAMES = ("function_name", "function_version", "invoked_function_arn", '
        '"memory_limit_in_mb", "log_group_name")\n'
        "\n"
        "        def handler(event, context):\n"
        "            told = {name: getattr(context, name) for name in NAMES}\n"
        '            told["left"] = context.get_remaining_time_in_millis() > 500\n'
        '            return told | {"client": repr(context.client_context), "identity": '
        "repr(context.identity)}\n"
        "        ",
        b"{}",
    ),
    "is asynchronous": (
        "async def handler(event, context):\n    return 1",
        b"{}",
    ),
    "raises what cannot be shown": (
        "class Bad(Exception):\n"
        "    def __str__(self): raise ValueError('no text')\n"
        "def handler(event, context):\n"
        "    raise Bad",
        b"{}",
    ),
    "raises letters": (
        "def handler(event, context):\n    raise ValueError('заказ \\U0001f642 \\udc80')",
        b"{}",
    ),
    "raises a base exception": (
        "class Stop(BaseException): pass\ndef handler(event, context):\n    raise Stop('now')",
        b"{}",
    ),
    "is interrupted": (
        "def handler(event, context):\n    raise KeyboardInterrupt",
        b"{}",
    ),
    "exits with a text": (
        "import sys\ndef handler(event, context):\n    sys.exit('good bye')",
        b"{}",
    ),
    "exits with a large status": (
        "import sys\ndef handler(event, context):\n    sys.exit(256 + 7)",
        b"{}",
    ),
    "exits while loading": (
        "import sys\nprint('loading')\nsys.exit(2)\ndef handler(event, context):\n    pass",
        b"{}",
    ),
    "ends while loading": (
        "import os\nprint('loading')\nos._exit(3)\ndef handler(event, context):\n    pass",
        b"{}",
    ),
    "aborts": (
        "import os\ndef handler(event, context):\n    print('x')\n    os.abort()",
        b"{}",
    ),
    "raises a base exception while loading": (
        "raise BaseException('no')\ndef handler(event, context):\n    pass",
        b"{}",
    ),
    "prints while loading": (
        "import logging\nprint('loading')\nlogging.error('early')\ndef handler(event, context):\n    print('running')",
        b"{}",
    ),
    "imports a name that is missing": (
        "from json import nothing\ndef handler(event, context):\n    pass",
        b"{}",
    ),
    "prints before it crashes": (
        "import os\ndef handler(event, context):\n    print('first')\n    print('last', end='')\n    os._exit(1)",
        b"{}",
    ),
    "gets what is no number": (
        "def handler(event, context):\n    return str(event)",
        b"[NaN, Infinity]",
    ),
    "gets a broken event": (
        "def handler(event, context):\n    return event",
        b'{"a": ',
    ),
    "returns large": ("def handler(event, context):\n    return event * 2", b'"' + b"z" * 2_500_000 + b'"'),
}
"""Each in a process of its own."""

SMALL: dict[str, tuple[str, bytes]] = {
    "returns a generator": (
        "def handler(event, context):\n    return (n for n in range(3))",
        b"{}",
    ),
    "returns a date": (
        "import datetime\ndef handler(event, context):\n    return {'at': datetime.datetime(2026, 1, 1)}",
        b"{}",
    ),
    "returns a float that is no number": (
        "def handler(event, context):\n    return [float('nan'), float('inf'), -float('inf'), -0.0, 1e300]",
        b"{}",
    ),
    "returns bytes that are no text": (
        "def handler(event, context):\n    return b'\\xff\\x00'",
        b"{}",
    ),
    "returns a bytearray": (
        "def handler(event, context):\n    return bytearray(b'{}')",
        b"{}",
    ),
    "returns an enum": (
        "import enum\n"
        "class E(enum.IntEnum):\n"
        "    A = 1\n"
        "class S(str, enum.Enum):\n"
        "    B = 'b'\n"
        "def handler(event, context):\n"
        "    return [E.A, S.B, {E.A: S.B}]",
        b"{}",
    ),
    "returns half a pair of surrogates": (
        "def handler(event, context):\n    return {'\\ud800': 'a\\udfffb'}",
        b"{}",
    ),
    "returns a deep list": (
        "def handler(event, context):\n    a = []\n    for _ in range(5000): a = [a]\n    return a",
        b"{}",
    ),
    "returns a large number": (
        "def handler(event, context):\n    return [10 ** 400, -(2 ** 64)]",
        b"{}",
    ),
    "returns a class": (
        "def handler(event, context):\n    return handler",
        b"{}",
    ),
    "returns a data class": (
        "import dataclasses\n"
        "@dataclasses.dataclass\n"
        "class P:\n"
        "    x: int\n"
        "def handler(event, context):\n"
        "    return P(1)",
        b"{}",
    ),
    "returns decimals without end": (
        "from decimal import Decimal as D\n"
        "def handler(event, context):\n"
        "    return {'a': D('Infinity'), 'b': D('-0'), 'c': D('1E-30'), 'd': D('sNaN')}",
        b"{}",
    ),
    "is an object": (
        "class H:\n    def __call__(self, event, context): return 'called'\nhandler = H()",
        b"{}",
    ),
    "recurses": (
        "def handler(event, context):\n    return handler(event, context)",
        b"{}",
    ),
    "raises numbers": (
        "def handler(event, context):\n    raise KeyError(5, 'a')",
        b"{}",
    ),
    "raises with notes": (
        "def handler(event, context):\n    e = ValueError('a')\n    e.add_note('a note')\n    raise e",
        b"{}",
    ),
    "raises groups in groups": (
        "def handler(event, context):\n"
        "    raise ExceptionGroup('out', [ExceptionGroup('in', [ValueError('a')]), KeyError('b')])",
        b"{}",
    ),
    "raises in a context": (
        "def handler(event, context):\n    try: 1 / 0\n    except ZeroDivisionError: raise RuntimeError('while')",
        b"{}",
    ),
    "raises a syntax error": (
        "def handler(event, context):\n    exec('a b')",
        b"{}",
    ),
    "raises much": (
        "def handler(event, context):\n    raise ValueError('x' * 300_000)",
        b"{}",
    ),
    "raises from deep inside": (
        "def down(n):\n    if n: down(n - 1)\n    raise ValueError('deep')\ndef handler(event, context):\n    down(50)",
        b"{}",
    ),
    "raises in a lambda": (
        "handler = lambda event, context: event['missing']",
        b"{}",
    ),
    "raises an os error": (
        "def handler(event, context):\n    open('/no/such/file')",
        b"{}",
    ),
    "raises an unicode error": (
        "def handler(event, context):\n    b'\\xff'.decode()",
        b"{}",
    ),
    "logs at each level": (
        "import logging\n"
        "log = logging.getLogger()\n"
        "log.setLevel('DEBUG')\n"
        "def handler(event, context):\n"
        "    for n in ('debug', 'info', 'warning', 'error', 'critical'): getattr(log, n)('%s "
        "%d', n, 5)\n"
        "    logging.log(35, 'between')",
        b"{}",
    ),
    "logs an exception": (
        "import logging\n"
        "def handler(event, context):\n"
        "    try: 1 / 0\n"
        "    except ZeroDivisionError: logging.exception('caught'); logging.warning('w', "
        "stack_info=False, exc_info=True)",
        b"{}",
    ),
    "logs what cannot be formatted": (
        "import logging\n"
        "def handler(event, context):\n"
        "    logging.warning('%d', 'a')\n"
        "    logging.warning('%s %s', 1)\n"
        "    return 1",
        b"{}",
    ),
    "configures logging": (
        "import logging\n"
        "logging.basicConfig(level='INFO', format='%(message)s')\n"
        "def handler(event, context):\n"
        "    logging.info('seen?')",
        b"{}",
    ),
    "logs letters": (
        "import logging\n"
        "def handler(event, context):\n"
        "    logging.warning('заказ \\U0001f642')\n"
        "    logging.warning('')\n"
        "    logging.warning('end\\n')",
        b"{}",
    ),
    "has a handler of its own": (
        "import logging, sys\n"
        "log = logging.getLogger('own')\n"
        "log.addHandler(logging.StreamHandler(sys.stdout))\n"
        "log.propagate = False\n"
        "def handler(event, context):\n"
        "    log.error('own')",
        b"{}",
    ),
    "warns": (
        "import warnings\n"
        "def handler(event, context):\n"
        "    warnings.warn_explicit('old', DeprecationWarning, 'f.py', 1)\n"
        "    warnings.warn_explicit('odd', UserWarning, 'f.py', 2)",
        b"{}",
    ),
    "prints lines of all kinds": (
        "def handler(event, context):\n"
        "    print()\n"
        "    print('a\\rb')\n"
        "    print('\\x1b[31mred')\n"
        "    print('tab\\t.')\n"
        "    print('x', 'y', sep='\\n')\n"
        "    print(' lead')",
        b"{}",
    ),
    "prints bytes": (
        "import os, sys\n"
        "def handler(event, context):\n"
        "    sys.stdout.buffer.write(b'buffered\\n'); sys.stdout.flush()\n"
        "    os.write(1, b'raw\\n')\n"
        "    os.write(1, b'\\xff\\n')",
        b"{}",
    ),
    "prints much in one line": (
        "def handler(event, context):\n    print('x' * 300_000)",
        b"{}",
    ),
    "prints half a pair of surrogates": (
        "def handler(event, context):\n    print('a\\ud800b')",
        b"{}",
    ),
    "gets letters": (
        "def handler(event, context):\n    return [event, len(event['a'])]",
        b'{"a": "\xc3\xa9\xf0\x9f\x99\x82", "b": "\\ud83d\\ude42"}',
    ),
    "gets a number": (
        "def handler(event, context):\n    return [event, type(event).__name__]",
        b"12345678901234567890.10",
    ),
    "gets null": (
        "def handler(event, context):\n    return event is None",
        b"null",
    ),
    "gets a name twice": (
        "def handler(event, context):\n    return event",
        b'{"a": 1, "a": 2}',
    ),
    "reads its clock": (
        "import time\n"
        "def handler(event, context):\n"
        "    a = context.get_remaining_time_in_millis()\n"
        "    time.sleep(0.05)\n"
        "    b = context.get_remaining_time_in_millis()\n"
        "    return [type(a).__name__, 0 < a <= 2000, 40 <= a - b < 900]",
        b"{}",
    ),
    "changes its context": (
        "def handler(event, context):\n"
        "    context.function_name = 'other'\n"
        "    context.extra = 1\n"
        "    return [context.function_name, context.extra]",
        b"{}",
    ),
    "has arguments without end": (
        "def handler(*args, **more):\n    return [len(args), len(more)]",
        b"{}",
    ),
    "changes the event": (
        "def handler(event, context):\n    event['seen'] = True\n    return event",
        b'{"a": 1}',
    ),
    "reads its traces": (
        "import os\ndef handler(event, context):\n    return os.environ['_X_AMZN_TRACE_ID'][:7]",
        b"{}",
    ),
}
"""Handlers that leave their process as it is: each client runs all of them in one process, one module each."""
