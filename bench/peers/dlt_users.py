"""Loads `/users` with dlt as its page on performance advises: days in parallel,
whole pages yielded, its own requests and JSON (orjson). Its settings are environment.

    dlt_users.py <duckdb|filesystem> <parquet|default> <tables|json> <append|merge> <url> <key> <first> <last>
"""

import sys
from datetime import date, timedelta

import dlt
from dlt.common import json
from dlt.sources.helpers import requests

destination, file_format, nested, disposition, url, key, first, last = sys.argv[1:]


@dlt.resource
def days():
    begin, end = date.fromisoformat(first), date.fromisoformat(last)
    for count in range((end - begin).days + 1):
        yield (begin + timedelta(days=count)).isoformat()


@dlt.transformer(
    data_from=days,
    parallelized=True,
    max_table_nesting=0 if nested == "json" else None,
    write_disposition=disposition,
    primary_key=("user_id", "date") if disposition == "merge" else None,
)
def users(day):
    params = {"startDate": day, "endDate": day, "limit": 100}
    headers = {"authorization": f"Bearer {key}"}
    while True:
        response = requests.get(f"{url}/api/v1/analytics/users", params=params, headers=headers)
        answer = json.loadb(response.content)
        yield answer["data"]
        if not answer["meta"]["has_more"]:
            return
        params["cursor"] = answer["meta"]["next_cursor"]


# What normalizes in processes of its own imports this file again.
if __name__ == "__main__":
    pipeline = dlt.pipeline(
        "peers", destination=destination, dataset_name="usage", pipelines_dir="pipelines"
    )
    loaded = pipeline.run(
        days | users, loader_file_format=None if file_format == "default" else file_format
    )
    loaded.raise_on_failed_jobs()
