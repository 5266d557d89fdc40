"""litellm alone: one question to an OpenAI-compatible server, the answer printed as it comes."""

import sys

import litellm


def main(url: str) -> None:
    """Ask, and print."""
    question = [{"role": "user", "content": "What time is it?"}]
    for chunk in litellm.completion("openai/m", question, api_key="-", api_base=url, stream=True):
        for choice in chunk.choices:
            calls = choice.delta.tool_calls or []
            print(choice.delta.content or "".join(call.function.arguments for call in calls), end="", flush=True)


main(*sys.argv[1:])
