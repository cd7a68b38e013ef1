"""Schemathesis: requests made from the service's own description, right ones and wrong ones."""

import pytest
from hypothesis import HealthCheck, given, settings
from servers import HTTP

schemathesis = pytest.importorskip("schemathesis", reason="needs schemathesis")
OPERATIONS = [
    "POST /v1/suggest",
    "POST /v1/suggest/batch",
    "POST /v1/retrieve",
    "GET /v1/trends",
    "GET /v1/articles/{identifier}",
    "POST /v1/news",
    "POST /v1/posts",
    "DELETE /v1/posts/{identifier}",
    "GET /v1/feeds",
    "GET /v1/ways",
    "POST /v1/ways",
    "DELETE /v1/ways",
    "POST /v1/ways/pause",
    "POST /v1/ways/forget",
    "POST /v1/ways/archives",
    "PUT /v1/ways/parts",
    "GET /health",
    "GET /ready",
    "GET /metrics",
]
CHECKS = [
    schemathesis.checks.not_a_server_error,
    schemathesis.checks.status_code_conformance,
    schemathesis.checks.content_type_conformance,
    schemathesis.checks.response_schema_conformance,
]


@pytest.fixture(scope="module")
def operations(server):
    schema = schemathesis.openapi.from_url(f"{server.url}/openapi.json")
    return {found.ok().label: found.ok() for found in schema.get_all_operations()}


def test_all_operations_are_described(operations):
    assert sorted(operations) == sorted(OPERATIONS)


RIGHT, WRONG = schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE
CASES = [(label, RIGHT) for label in OPERATIONS]
CASES += [(label, WRONG) for label in OPERATIONS if "POST" in label or "trends" in label]


@pytest.mark.parametrize(("label", "mode"), CASES)
def test_every_answer_is_as_described(operations, label, mode):
    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
    @given(operations[label].as_strategy(generation_mode=mode))
    def holds(case):
        case.validate_response(case.call(headers=HTTP), checks=CHECKS)

    holds()
