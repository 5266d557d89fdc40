"""What search engines answer: each checks what it is asked as the real one does, and answers in its own form."""

import json
from typing import Any

from tests.agent.web.web_server import Answer, Asked, json_answer

URL = "https://daily.test/agents?a=1&b=2"
OTHER = "https://weekly.test/graphs"
WORDS = "The trend of 2025 &amp; of next year: agents that <strong>remember</strong>."


def wikipedia(asked: Asked) -> Answer:
    """MediaWiki's `action=query` with a generator; pages come in no order, with their rank in `index`."""
    wanted = {"action": "query", "format": "json", "generator": "search", "prop": "extracts|info", "inprop": "url"}
    if not wanted.items() <= asked.query.items() or not asked.query.get("gsrsearch"):
        return json_answer({"error": {"code": "missingparam", "info": "The parameter is missing."}})
    pages = [
        {"pageid": 2, "ns": 0, "title": "Graphs", "index": 2, "extract": "A graph.", "fullurl": OTHER, "touched": "x"},
        {"pageid": 1, "ns": 0, "title": "Agents that remember", "index": 1, "extract": WORDS, "fullurl": URL},
    ]
    return json_answer({"batchcomplete": True, "continue": {"gsroffset": 6}, "query": {"pages": pages}})


def searxng(asked: Asked) -> Answer:
    """SearXNG's `/search`: 400 without words, HTML unless JSON is asked for."""
    if not asked.query.get("q"):
        return json_answer({"error": "No query"}, 400)
    if asked.query.get("format") != "json":
        return Answer(b"<html>results</html>")
    blank = {"template": "default.html", "img_src": "", "thumbnail": "", "pubdate": "", "length": None, "author": ""}
    results: list[dict[str, Any]] = [
        {**blank, "url": URL, "title": "Agents that remember", "content": WORDS, "engine": "bing", "engines": ["bing"],
         "parsed_url": ["https", "daily.test", "/agents", "", "a=1&b=2", ""], "positions": [1], "score": 1.0,
         "publishedDate": "2025-11-02T00:00:00", "category": "general", "priority": ""},
        {**blank, "url": OTHER, "title": "Graphs", "content": None, "publishedDate": None, "engine": "wiby"},
    ]  # fmt: skip
    told = {"query": asked.query["q"], "number_of_results": 0, "results": results, "answers": [], "corrections": []}
    return json_answer({**told, "infoboxes": [], "suggestions": [], "unresponsive_engines": [["google", "CAPTCHA"]]})


def brave(asked: Asked) -> Answer:
    """Brave's `/res/v1/web/search`: 422 for a token that it does not know."""
    if asked.headers.get("x-subscription-token") != "good":
        detail = "The provided subscription token is invalid."
        error = {"code": "SUBSCRIPTION_TOKEN_INVALID", "detail": detail, "status": 422}
        return json_answer({"type": "ErrorResponse", "error": error}, 422)
    results = [
        {"type": "search_result", "title": "Agents that remember", "url": URL, "description": WORDS,
         "page_age": "2025-11-02T00:00:00", "age": "2 weeks ago", "meta_url": {"hostname": "daily.test"}},
        {"type": "search_result", "title": "Graphs", "url": OTHER, "description": "A graph."},
    ]  # fmt: skip
    query = {"original": asked.query["q"], "more_results_available": True}
    return json_answer({"type": "search", "query": query, "web": {"type": "search", "results": results}})


def tavily(asked: Asked) -> Answer:
    """Tavily's `/search`: 401 for a key that it does not know."""
    if asked.headers.get("authorization") != "Bearer good":
        return json_answer({"detail": {"error": "Unauthorized: missing or invalid API key."}}, 401)
    body = json.loads(asked.body)
    if asked.method != "POST" or not body.get("query"):
        return json_answer({"detail": {"error": "Query is missing."}}, 400)
    results = [
        {"title": "Agents that remember", "url": URL, "content": WORDS, "score": 0.9, "raw_content": None},
        {"title": "Graphs", "url": OTHER, "content": "A graph.", "score": 0.5},
    ]
    return json_answer({"query": body["query"], "answer": None, "images": [], "results": results, "response_time": 1.0})
