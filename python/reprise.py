"""Reads what Reprise keeps and writes, for analysis in Python.

    import reprise
    runs = reprise.load("~/.local/share/reprise")        # a store: one row for each run
    runs = reprise.load()                                # ... the usual one
    tidy = reprise.load(path, tidy=True)                 # ... one row for each number, with its unit
    launches = reprise.load(path, kernels=True)          # ... one row for each launch of a kernel, or number of it
    runs = reprise.load("report.json")                   # what reprise run --json wrote: one row for each launch
    runs = reprise.load("compare.json")                  # what reprise compare --json wrote: one row for each run

load() gives a pandas data frame; without pandas, a list of dictionaries, and a warning says so. rows() gives the list in any case.
docs/results.md says what the columns of a store are.
"""
import contextlib
import json
import os
import pathlib
import sqlite3
import warnings

__all__ = ["load", "query", "rows"]


def usual_store():
    """Where runs are kept unless somebody says otherwise."""
    if os.environ.get("REPRISE_STORE"):
        return pathlib.Path(os.environ["REPRISE_STORE"])
    data = os.environ.get("XDG_DATA_HOME") or pathlib.Path.home() / ".local" / "share"
    return pathlib.Path(data) / "reprise"


def query(sql, path=None, values=()):
    """The rows of a question in SQL to a store, as dictionaries."""
    path = pathlib.Path(path or usual_store()).expanduser()
    path = path / "runs.db" if path.is_dir() else path
    if not path.exists():
        raise FileNotFoundError(f"there is no store at {path}; reprise compare, repro and sweep make one")
    uri = path.resolve().as_uri() + "?mode=ro"
    with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=60)) as db:
        db.row_factory = sqlite3.Row
        return [dict(row) for row in db.execute(sql, values)]


def _flat(what, prefix=""):
    """A dictionary of one level: {"energy": {"total": 1}} becomes {"energy.total": 1}; counters keep their names."""
    out = {}
    for name, value in what.items():
        if isinstance(value, dict):
            out.update(_flat(value, "" if name in ("counters", "derived", "totals", "metrics") else f"{prefix}{name}."))
        else:
            out[prefix + name] = value
    return out


def rows(path=None, tidy=False, kernels=False):
    """The rows of a store or of a JSON file, as dictionaries."""
    if path is None or not str(path).endswith(".json"):
        view = ("tidy_kernels" if tidy else "kernels") if kernels else "tidy" if tidy else "runs"
        return query(f"SELECT * FROM {view}", path)
    report = json.loads(pathlib.Path(path).expanduser().read_text())
    shared = {name: report[name] for name in ("gpu", "cpu", "mech") if name in report}
    lists = [report[name] for name in ("runs", "kernels", "programs") if isinstance(report.get(name), list)]
    if not lists:
        raise ValueError(f"{path} is no report of Reprise: it has no runs, kernels or programs")
    table = [{**shared, **_flat(row)} for row in lists[0]]
    if not tidy:
        return table
    return [{**{k: v for k, v in row.items() if isinstance(v, str)}, "name": name, "value": value}
            for row in table for name, value in row.items() if isinstance(value, (int, float)) and not isinstance(value, bool)]


def load(path=None, tidy=False, kernels=False):
    """The rows of a store or of a JSON file, as a pandas data frame."""
    table = rows(path, tidy, kernels)
    try:
        import pandas
    except ImportError:
        warnings.warn("pandas is not installed (Debian: python3-pandas): this is a list of dictionaries", stacklevel=2)
        return table
    return pandas.DataFrame(table)
