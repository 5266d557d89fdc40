"""Requests in other programs' protocols, whatever they are."""

import json
from typing import Any

from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st

from appliance.errors import Problem
from appliance.http.compat import ollama, openai
from appliance.http.compat.body import Bodies, Sent, understood
from appliance.http.compat.question import Programs
from tests.appliance.http.compat.served import ScriptedAsking

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.sampled_from(["model", "messages", "role"]), inner),
)
NEARLY = st.fixed_dictionaries({}, optional=dict.fromkeys(("model", "messages", "stream", "n", "format"), ANY_JSON))


MODELS: tuple[type[Sent], ...] = (openai.ChatRequest, ollama.ChatRequest, ollama.ShowRequest)


@given(sent=ANY_JSON | NEARLY | st.binary())
def test_any_request_is_understood_or_refused_in_a_sentence(sent: Any) -> None:
    """By each protocol: to think a request up takes longer than all three take to read it."""
    content = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
    for model in MODELS:
        sentence = ""
        try:
            understood(model, content)
        except Problem as problem:
            sentence = problem.sentence
        assert "\n" not in sentence, model
        assert not sentence or ": " in sentence, model


def test_the_document_describes_the_requests_without_loose_references() -> None:
    app = FastAPI()
    for protocol in (openai, ollama):
        app.include_router(protocol.router(ScriptedAsking(), Programs(), Bodies()))
    document = app.openapi()
    for path in ("/v1/chat/completions", "/api/chat"):
        body = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
        assert "role" in json.dumps(body["properties"]["messages"])
        assert "$ref" not in json.dumps(body)
