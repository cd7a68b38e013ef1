"""Schemathesis: requests made from the service's own description, right ones and wrong ones."""

import pytest
from hypothesis import HealthCheck, given, settings
from servers import HTTP

schemathesis = pytest.importorskip("schemathesis", reason="needs schemathesis")
OPERATIONS = [
    "POST /suggest",
    "POST /suggest/batch",
    "POST /retrieve",
    "GET /trends",
    "GET /articles/{identifier}",
    "POST /news",
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
