"""A Singer tap for `/users`, written as the guide of the Singer SDK advises: a REST stream with a
partition per day, a paginator, and the SDK's own retries. A tap reads one partition after another.

    tap_users.py --config <file with url, key, first and last> | target-duckdb --config <file>
"""

from datetime import date, timedelta

from singer_sdk import Tap
from singer_sdk import typing as th
from singer_sdk.authenticators import BearerTokenAuthenticator
from singer_sdk.pagination import JSONPathPaginator
from singer_sdk.streams import RESTStream

TEXTS = "user_id user_email date primary_model primary_model_tier delegation_level".split()
COUNTS = (
    "tool_calls files_created files_edited git_commits git_prs_created mcp_calls skill_calls "
    "slash_commands hooks sessions messages user_messages assistant_messages"
).split()
NUMBERS = "billable_tokens autonomy_ratio".split()


class Users(RESTStream):
    name = "users"
    path = "/api/v1/analytics/users"
    primary_keys = ("user_id", "date")
    records_jsonpath = "$.data[*]"
    schema = th.PropertiesList(
        *(th.Property(name, th.StringType) for name in TEXTS),
        *(th.Property(name, th.IntegerType) for name in COUNTS),
        *(th.Property(name, th.NumberType) for name in NUMBERS),
        th.Property("languages", th.ArrayType(th.StringType)),
    ).to_dict()

    @property
    def url_base(self):
        return self.config["url"]

    @property
    def authenticator(self):
        return BearerTokenAuthenticator(token=self.config["key"])

    @property
    def partitions(self):
        first, last = (date.fromisoformat(self.config[name]) for name in ("first", "last"))
        days = range((last - first).days + 1)
        return [{"day": (first + timedelta(days=count)).isoformat()} for count in days]

    def get_new_paginator(self):
        return JSONPathPaginator("$.meta.next_cursor")

    def get_url_params(self, context, next_page_token):
        params = {"startDate": context["day"], "endDate": context["day"], "limit": 100}
        return params if next_page_token is None else {**params, "cursor": next_page_token}


class TapUsers(Tap):
    name = "tap-users"
    config_jsonschema = th.PropertiesList(
        *(th.Property(name, th.StringType, required=True) for name in ("url", "key", "first", "last"))
    ).to_dict()

    def discover_streams(self):
        return [Users(self)]


if __name__ == "__main__":
    TapUsers.cli()
