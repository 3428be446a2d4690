#!/usr/bin/env python3
"""Makes src/ecc_tables.c from tables/*.csv: embed_tables.py LDPC_DIR > ecc_tables.c"""
import pathlib
import sys
import textwrap

tables = sorted((pathlib.Path(sys.argv[1]) / "tables").glob("*.csv"))
print("/* ecc_tables.c - made by tools/embed_tables.py from tables/; do not edit. */")
print('#include "builtin.h"\n')
print("/* clang-format off */")
print("const struct builtin_table ldpci_builtin_tables[] = {")
for path in tables:
    code, soft = path.stem.rsplit("-soft", 1)
    print(f'    {{"{code}", {soft},')
    for line in path.read_text(encoding="utf-8").splitlines():
        for part in textwrap.wrap(line + "$", 84, drop_whitespace=False):
            last = part.endswith("$")
            print('     "' + (part[:-1] + "\\n" if last else part) + '"')
    print("    },")
print("};")
print(f"const uint32_t ldpci_builtin_table_count = {len(tables)};")
