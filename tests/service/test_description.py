"""The description of the interface: whole, stable, and true to what it describes."""

import pytest
from jsonschema import Draft202012Validator

from hashnews.service.app import create_app
from hashnews.service.metrics import Metrics
from hashnews.service.pool import Pool
from hashnews.service.settings import ServiceSettings

# What programs made from the description call the endpoints: a promise to them.
NAMES = {
    "POST /v1/suggest": "suggest",
    "POST /v1/suggest/batch": "suggest_batch",
    "POST /v1/retrieve": "retrieve",
    "GET /v1/trends": "trends",
    "GET /v1/articles/{identifier}": "article",
    "POST /v1/news": "add_news",
    "POST /v1/posts": "add_posts",
    "DELETE /v1/posts/{identifier}": "delete_post",
    "GET /v1/feeds": "feeds",
    "GET /health": "health",
    "GET /ready": "ready",
    "GET /metrics": "metrics",
}


@pytest.fixture(scope="module")
def told():
    app = create_app(Pool(ServiceSettings(), Metrics()))._app
    return app.openapi()


def operations(told):
    for path, methods in told["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def test_names_stay(told):
    found = {label: operation["operationId"] for label, operation in operations(told)}
    assert {label: found.get(label) for label in NAMES} == NAMES
    assert len(set(found.values())) == len(found)
    tags = {tag["name"] for tag in told["tags"]}
    for label, operation in operations(told):
        assert len(operation["tags"]) == 1, label
        assert set(operation["tags"]) <= tags, label
        assert operation["summary"], label
        assert operation["description"], label


def test_every_field_is_described(told):
    bare = [
        f"{name}.{field}"
        for name, schema in told["components"]["schemas"].items()
        for field, about in schema.get("properties", {}).items()
        if not about.get("description")
    ]
    assert bare == []
    bare = [
        name
        for name, schema in told["components"]["schemas"].items()
        if schema["type"] == "object" and not schema.get("description")
    ]
    assert bare == []


def test_every_parameter_and_body_has_an_example(told):
    for label, operation in operations(told):
        for parameter in operation.get("parameters", []):
            assert parameter["description"], (label, parameter)
            assert parameter.get("examples") or parameter["schema"].get("examples"), parameter
        for content in operation.get("requestBody", {}).get("content", {}).values():
            assert examples_of(content, told), label


def test_every_answer_is_described_with_an_example_that_fits(told):
    for label, operation in operations(told):
        for status, response in operation["responses"].items():
            assert response["description"], (label, status)
            for kind, content in response["content"].items():
                found = examples_of(content, told)
                assert found, (label, status, kind)
                schema = {**content["schema"], "components": told["components"]}
                for example in found:
                    Draft202012Validator(schema).validate(example)


def test_what_may_need_a_key_says_so(told):
    for label, operation in operations(told):
        if " /v1/" in label:
            writes = label.startswith(("POST /v1/news", "POST /v1/posts", "DELETE"))
            writes = writes or "/v1/ways" in label
            expected = [{"key": []}] if writes else [{}, {"key": []}]
            assert operation["security"] == expected, label
            assert {"401", "429"} <= set(operation["responses"]), label
        else:
            assert "security" not in operation


def examples_of(content, told):
    if "example" in content:
        return [content["example"]]
    name = content["schema"].get("$ref", "").rpartition("/")[2]
    return told["components"]["schemas"].get(name, content["schema"]).get("examples", [])
