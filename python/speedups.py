#!/usr/bin/env python3
"""Speedups over the base machine, from the store: one line for each benchmark, one column for each mechanism, geometric means below.

speedups.py [STORE]     an example of what reprise.py is for; needs pandas
"""
import sys

import numpy
import reprise

runs = reprise.load(sys.argv[1] if len(sys.argv) > 1 else None)
runs = runs[runs.timed == "all"].dropna(subset=["cycles"])
what = ["benchmark", "size", "bits", "seed", "arguments", "gpu"]  # runs that differ in nothing else are compared
runs[what] = runs[what].astype(object).fillna("")
cycles = runs.pivot_table(index=what, columns=["mech", "settings"], values="cycles", aggfunc="last")
base = cycles[("base", "[]")]
table = cycles.drop(columns=[("base", "[]")]).rdiv(base, axis=0).dropna(how="all")
table.columns = [mech if settings == "[]" else f"{mech} {settings}" for mech, settings in table.columns]
table.index = [" ".join(str(x) for x in key if x not in ("", "[]")) for key in table.index]
table.loc["geometric mean"] = numpy.exp(numpy.log(table).mean())
print(table.round(3).to_string(na_rep="-"))
