"""Runs one job of a build as Spark SQL: its models in the order of their graph, then its checks.

Run by `spark-submit driver.py JOB`. JOB is a JSON file; src/model/engines/spark.ts writes it and
reads what is printed here: one JSON object a line for the session, each node and each check.
"""

import json
import os
import re
import sys
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager
from threading import Lock

from pyspark.sql import SparkSession

EXAMPLES = 21
EXECUTOR_WAIT_S = 120
SAYING = Lock()


def say(**line):
    with SAYING:
        print(json.dumps(line, default=str), flush=True)


def reason(error):
    """What Spark said, without the trace of the driver."""
    text = str(error).split("\nDriver stacktrace:")[0].split("\nJVM stacktrace:")[0]
    lines = [line for line in text.split("\n") if not line.startswith("\t")]
    causes = [line for line in lines if line.startswith("Caused by: ")]
    return "\n".join(causes[-1:] + lines).strip()[:4000] or type(error).__name__


def await_executor(spark):
    """A cluster that accepts the application may have no room for it: then nothing ever runs."""
    context = spark.sparkContext
    if context.master.startswith("local"):
        return
    executors = context._jsc.sc().getExecutorMemoryStatus
    end = time.time() + EXECUTOR_WAIT_S
    while executors().size() < 2:  # the driver is one
        if time.time() > end:
            raise RuntimeError(f"no executor came within {EXECUTOR_WAIT_S} s")
        time.sleep(0.2)


class Refused(Exception):
    """A statement that Spark does not run."""


@contextmanager
def naming(sql, what=""):
    """Adds to an error which statement it is of, and the line that Spark names."""
    try:
        yield
    except Exception as error:
        why = reason(error)
        place = re.search(r"line (\d+)[, ]+pos", why)
        lines = sql.split("\n")
        found = place and int(place[1]) <= len(lines)
        line = f"\nLINE {place[1]}: {lines[int(place[1]) - 1].strip()}" if found else ""
        raise Refused(f"{what}{why}{line}") from error


class Stopped(Exception):
    """The session has ended: nothing more can run."""


class Runner:
    def __init__(self, spark, job):
        self.spark = spark
        self.made = set()
        for schema in job["schemas"]:
            spark.sql(f"create database if not exists {schema}")
        for given in job["given"]:
            self.table(given["relation"], given["path"])

    def table(self, relation, path):
        sql = f"create table {relation} using parquet location '{path}'"
        with naming(sql, f"table {relation} of {path}: "):
            self.spark.sql(sql)

    def update(self, node):
        """What is kept of the table, which the statement reads; then the new rows, and what is
        kept of other intervals: DuckDB replaces each interval that has new rows."""
        relation, path, kept, key = (node[name] for name in ["relation", "path", "kept", "key"])
        self.table(relation, kept)
        self.spark.sql(node["sql"]).write.parquet(path)
        self.spark.sql(f"drop table {relation}")
        columns = ", ".join(f"`{column}`" for column in key)
        same = " and ".join(f"kept.`{column}` = new.`{column}`" for column in key)
        intervals = f"(select distinct {columns} from parquet.`{path}`) as new"
        others = f"select kept.* from parquet.`{kept}` as kept left anti join {intervals} on {same}"
        both = f"select * from parquet.`{path}` union all {others}"
        self.spark.sql(f"create view {relation} as {both}")

    def node(self, node):
        """A model: its unit tests first; then a view, or a table of Parquet files."""
        differences = [self.differences(test) for test in node["tests"]]
        if not any(differences):
            with naming(node["sql"]):
                self.make(node)
            self.made.add(node["name"])
        return {"tests": differences}

    def differences(self, test):
        with naming(test["sql"], f"unit test '{test['name']}': "):
            return [row.asDict() for row in self.spark.sql(test["sql"]).limit(EXAMPLES).collect()]

    def make(self, node):
        if node["path"] is None:
            self.spark.sql(f"create view {node['relation']} as {node['sql']}")
        elif node["kept"] is not None:
            self.update(node)
        else:
            self.spark.sql(node["sql"]).write.parquet(node["path"])
            self.table(node["relation"], node["path"])

    def check(self, check):
        with naming(check["sql"]):
            return {"failures": [int(n) for n in self.spark.sql(check["sql"]).collect()[0]]}

    def run(self, kind, task):
        if not os.path.exists(sys.argv[1]):  # the build was killed, and another has begun
            raise Stopped("the job is gone")
        started = time.time()
        try:
            result = getattr(self, kind)(task)
        except Exception as error:
            if self.spark.sparkContext._jsc.sc().isStopped():
                raise Stopped(reason(error)) from error
            result = {"error": reason(error)}
        say(kind=kind, name=task["name"], ms=round((time.time() - started) * 1000), **result)

    def run_all(self, job):
        """Always the earliest tasks that are ready. What reads a node that failed is left out."""
        waiting = [("node", each) for each in job["nodes"]]
        waiting += [("check", each) for each in job["checks"]]
        unfinished = {each["name"] for each in job["nodes"]}
        running = {}
        with ThreadPoolExecutor(job["threads"]) as pool:
            while waiting or running:
                for entry in list(waiting):
                    if len(running) == job["threads"]:
                        break
                    kind, task = entry
                    if any(name in unfinished for name in task["reads"]):
                        continue
                    waiting.remove(entry)
                    if all(name in self.made for name in task["reads"]):
                        running[pool.submit(self.run, kind, task)] = entry
                    elif kind == "node":
                        unfinished.discard(task["name"])
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    kind, task = running.pop(future)
                    if kind == "node":
                        unfinished.discard(task["name"])
                    future.result()


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        job = json.load(file)
    try:
        spark = SparkSession.builder.getOrCreate()
        await_executor(spark)
        say(kind="session", version=spark.version, application=spark.sparkContext.applicationId)
        runner = Runner(spark, job)
        runner.made.update(job["made"])
        runner.run_all(job)
    except Exception as error:
        say(kind="stopped", reason=reason(error))
        sys.exit(1)
    spark.stop()


main()
