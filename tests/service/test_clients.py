"""Clients made from the description, in Python and in TypeScript, ask a real service."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from servers import KEY

TOOLS = Path(__file__).parents[2] / "tools" / "typescript"
POST = {
    "id": "p1",
    "text": "Marching tonight in Minneapolis for George Floyd.",
    "created_at": "2020-05-29T20:00:00Z",
}


@pytest.fixture(scope="module")
def description(server, tmp_path_factory):
    path = tmp_path_factory.mktemp("description") / "openapi.json"
    path.write_text(server.client.get("/openapi.json").text)
    return path


@pytest.fixture(scope="module")
def hashtags(server):
    answer = server.client.post("/v1/suggest", json=POST, params={"n": 3}).json()
    return [suggestion["hashtag"] for suggestion in answer["suggestions"]]


def run(*command, **options):
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # ruff is there
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "PATH": path},
        **options,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def python_client(description, tmp_path, monkeypatch):
    pytest.importorskip("openapi_python_client", reason="needs openapi-python-client")
    told = run(
        sys.executable, "-m", "openapi_python_client", "generate", "--path", description,
        "--output-path", tmp_path / "hashnews_client", "--meta", "none", "--fail-on-warning",
    )  # fmt: skip
    assert "arning" not in told
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    for name in [name for name in sys.modules if name.startswith("hashnews_client")]:
        del sys.modules[name]


@pytest.mark.usefixtures("python_client")
def test_a_generated_python_client(server, hashtags):
    from hashnews_client import AuthenticatedClient, Client
    from hashnews_client.api.news import article, trends
    from hashnews_client.api.posts import add_posts, delete_post
    from hashnews_client.api.suggest import suggest, suggest_batch
    from hashnews_client.models import AskedPost, AskedPosts, ErrorAnswer, GivenPosts

    post = AskedPost.from_dict(POST)
    with Client(base_url=server.url, timeout=120) as client:
        answer = suggest.sync(client=client, body=post, n=3)
        assert [one.hashtag for one in answer.suggestions] == hashtags
        assert answer.suggestions[0].because[0].label
        assert answer.articles[0].published_at
        both = suggest_batch.sync(client=client, body=AskedPosts(posts=[post, post]), n=3)
        assert [one.hashtag for one in both.answers[1].suggestions] == hashtags
        rising = trends.sync(client=client, at="2020-05-29T20:00:00Z", n=1)
        assert rising.trends[0].entity == "George Floyd"
        missing = article.sync(client=client, identifier="none")
        assert isinstance(missing, ErrorAnswer)
        assert missing.error.code == "not_found"
        assert article.sync(client=client, identifier="s001").title
    given = GivenPosts(
        posts=[AskedPost(id="by-python", text="Bread #sourdough", created_at=POST["created_at"])]
    )
    with AuthenticatedClient(base_url=server.url, token=KEY, timeout=120) as client:
        assert add_posts.sync(client=client, body=given).added == 1
        assert delete_post.sync(client=client, identifier="by-python").deleted == 1
    with AuthenticatedClient(base_url=server.url, token="wrong", timeout=120) as client:
        assert add_posts.sync(client=client, body=given).error.code == "unauthorized"


@pytest.fixture(scope="module")
def typescript():
    if not shutil.which("npm"):
        pytest.skip("needs npm")
    done = subprocess.run([TOOLS / "install.sh"], capture_output=True, text=True, timeout=600)
    if done.returncode:
        pytest.skip("npm cannot install openapi-typescript here")
    return Path(done.stdout.strip())


def test_a_generated_typescript_client(typescript, description, server, hashtags, tmp_path):
    programs = typescript / "node_modules" / ".bin"
    (tmp_path / "node_modules").symlink_to(typescript / "node_modules")
    shutil.copy(typescript / "package.json", tmp_path)
    shutil.copy(TOOLS / "use.ts", tmp_path)
    run(programs / "openapi-typescript", description, "-o", tmp_path / "hashnews.d.ts")
    compiler = (programs / "tsc", "--strict", "--target", "es2022", "--module", "nodenext")
    run(*compiler, "use.ts", cwd=tmp_path)
    told = json.loads(run("node", "use.js", server.url, KEY, cwd=tmp_path))
    assert told == {
        "hashtags": hashtags,
        "rising": "George Floyd",
        "none": "not_found",
        "added": 1,
        "deleted": 1,
    }
    wrong = (tmp_path / "use.ts").read_text().replace("one.hashtag", "one.hashtags")
    (tmp_path / "wrong.ts").write_text(wrong)
    refused = subprocess.run(
        [*compiler, "--noEmit", "wrong.ts"], cwd=tmp_path, capture_output=True, text=True
    )
    assert "hashtags" in refused.stdout
    assert refused.returncode != 0
