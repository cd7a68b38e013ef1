"""The plug-in for `llm`: its real command line, a model that calls tools, and our answer."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from endpoints import endpoint

pytest.importorskip("llm", reason="needs the tool it is for: pip install llm")
TEXT = "Marching tonight in Minneapolis for George Floyd"


def run(*arguments, **environment):
    command = [sys.executable, "-m", "llm", *arguments]
    done = subprocess.run(
        command, env={**os.environ, **environment}, text=True, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def plugged(tmp_path):
    """An environment in which `llm` finds the plug-in as it does once the package is installed."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    (place,) = project["project"]["entry-points"]["llm"].items()
    notes = tmp_path / "hashnews_as_installed-1.0.dist-info"
    notes.mkdir()
    (notes / "METADATA").write_text("Metadata-Version: 2.1\nName: hashnews-as-installed\n", "utf-8")
    (notes / "entry_points.txt").write_text("[llm]\n{} = {}\n".format(*place), "utf-8")
    paths = [str(tmp_path), os.environ.get("PYTHONPATH", "")]
    return {
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "LLM_LOAD_PLUGINS": "hashnews-as-installed",
        "LLM_USER_PATH": str(tmp_path),
        "HASHNEWS_NEWS": "",
    }


def test_a_model_calls_it(plugged, tmp_path):
    called = {"name": "suggest_hashtags", "arguments": json.dumps({"text": TEXT})}
    call = {"id": "1", "type": "function", "function": called}

    def answer(request, _):
        message = {"role": "assistant", "tool_calls": [call]}
        if request["messages"][-1]["role"] == "tool":
            message = {"role": "assistant", "content": "Take those."}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        return json.dumps({"choices": [{"message": message}], "usage": usage})

    assert "suggest_hashtags(text: str)" in run("tools", "list", **plugged)
    with endpoint(answer) as (url, asked):
        model = f"- model_id: here\n  model_name: here\n  api_base: {url}\n  supports_tools: true\n"
        (tmp_path / "extra-openai-models.yaml").write_text(model, "utf-8")
        told = run(
            "-m", "here", "-T", "suggest_hashtags", "--no-stream", "--key", "x", TEXT, **plugged
        )
    assert told.strip() == "Take those."
    (tool,) = asked[0][2]["tools"]
    assert tool["function"]["name"] == "suggest_hashtags"
    assert tool["function"]["parameters"]["properties"]["text"]["type"] == "string"
    given = json.loads(asked[1][2]["messages"][-1]["content"])
    assert "#GeorgeFloyd" in [one["hashtag"] for one in given["hashtags"]]
    assert all(one["because"] for one in given["hashtags"])
