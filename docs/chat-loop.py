#!/usr/bin/env python3
"""A model's function calls, performed by gridhook: the whole loop.

    MODEL_URL=http://127.0.0.1:8000/v1/chat/completions \\
        python3 chat-loop.py "Take a look at my screen."

MODEL_URL is any server that speaks chat completions; MODEL_NAME and MODEL_KEY
are passed on to it. GRIDHOOK and GRIDHOOK_CONFIG name the program and its
settings where they are not the usual ones.
"""
import json
import os
import subprocess
import sys
import urllib.request

MODEL_URL = os.environ["MODEL_URL"]
TURNS = 10


def gridhook(*args, stdin=None):
    command = [os.environ.get("GRIDHOOK", "gridhook")]
    if "GRIDHOOK_CONFIG" in os.environ:
        command += ["--config", os.environ["GRIDHOOK_CONFIG"]]
    done = subprocess.run(command + list(args), input=stdin, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.stdout or json.dumps({"isError": True, "content": [{"type": "text", "text": done.stderr}]})


def complete(messages, tools):
    headers = {"Content-Type": "application/json"}
    if "MODEL_KEY" in os.environ:
        headers["Authorization"] = "Bearer " + os.environ["MODEL_KEY"]
    body = {"model": os.environ.get("MODEL_NAME", "default"), "messages": messages, "tools": tools}
    request = urllib.request.Request(MODEL_URL, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)["choices"][0]["message"]


def split(call, text):
    """A result as the formats of the day take it: the message of role tool, which is text, and image parts."""
    result = json.loads(text)
    kept, images = [], []
    for item in result["content"]:
        if item["type"] == "image":
            images.append({"type": "image_url", "image_url": {
                "url": "data:%s;base64,%s" % (item["mimeType"], item["data"])}})
            item = {"type": "text", "text": "An %s, which the next message of role user shows." % item["mimeType"]}
        kept.append(item)
    result["content"] = kept
    if images:
        images.insert(0, {"type": "text", "text": "What %s returned (tool call %s):" % (
            call["function"]["name"], call["id"])})
    return {"role": "tool", "tool_call_id": call["id"], "content": json.dumps(result, ensure_ascii=False)}, images


def main():
    tools = json.loads(gridhook("tools", "--format", "chat-completions"))
    messages = [{"role": "user", "content": " ".join(sys.argv[1:])}]
    for _ in range(TURNS):
        message = complete(messages, tools)
        messages.append(message)
        calls = message.get("tool_calls") or []
        if not calls:
            print(message["content"])
            return 0
        shown = []
        for call in calls:
            result = gridhook("call", call["function"]["name"], "-", stdin=call["function"]["arguments"] or "{}")
            answer, images = split(call, result)
            messages.append(answer)
            shown += images
        # No model sees an image in a message of role tool; those must stand together, so this comes behind them all.
        if shown:
            messages.append({"role": "user", "content": shown})
    print("the model did not come to an end", file=sys.stderr)
    return 1


sys.exit(main())
