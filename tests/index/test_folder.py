"""The index is bound to its store: what does not belong is noticed, told and built again."""

import json
import os
import random
import resource
import shutil
import signal
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from click.testing import CliRunner
from stores import add, assert_as_fresh, news, withdraw

from hashnews.cli import main
from hashnews.errors import ModelError, StoreError
from hashnews.index import folder as index_folder
from hashnews.index.day import Settings, build_day, empty_day
from hashnews.index.folder import NewsIndex, folder_of
from hashnews.news.keys import keys_of
from hashnews.news.store import New, NewsStore


@pytest.fixture
def path(tmp_path):
    """A store with an index."""
    path = tmp_path / "news.db"
    add(path, news(40))
    with NewsStore(path) as store:
        NewsIndex.open(store)
    return path


@pytest.fixture
def told(caplog):
    """The lines told since it was last asked."""

    def lines():
        said = [record.getMessage() for record in caplog.records]
        caplog.clear()
        return said

    return lines


def opened(path):
    with NewsStore(path) as store:
        index = NewsIndex.open(store)
        assert_as_fresh(index, store)
        assert NewsIndex.check(store) is None
    return index


def files(path):
    return {file.name: file.stat().st_ino for file in folder_of(path).glob("*.day")}


def test_nothing_is_told_of_a_good_index(path, told):
    opened(path)
    add(path, news(20, prefix="b"))
    opened(path)
    assert told() == []


def test_only_the_days_of_late_and_withdrawn_articles_are_built_again(path, told):
    before = files(path)
    late = news(1, days=1, prefix="late")
    add(path, late)
    opened(path)
    assert len(before.items() - files(path).items()) == 1
    before = files(path)
    assert withdraw(path, ["late0", "unknown"]) == 1
    opened(path)
    assert len(before.items() - files(path).items()) == 1
    assert told() == []


def test_a_day_whose_articles_all_go_is_gone(path):
    with NewsStore(path) as store:
        first = [one.article for one in store.read() if one.article.published_at.day == 1]
    withdraw(path, [article.id for article in first])
    index = opened(path)
    assert len(index.numbers()) == len(files(path)) == 4
    add(path, first)
    assert len(opened(path).numbers()) == 5


def test_an_open_index_forgets_what_was_withdrawn(path):
    with NewsStore(path) as store:
        index = NewsIndex.open(store)
        assert_as_fresh(index, store)
        withdraw(path, [f"a{n}" for n in range(10)])
        assert index.refresh(store) is True
        assert index.refresh(store) is False
        assert_as_fresh(index, store)


def test_posts_do_not_touch_the_index(path):
    from hashnews.posts.table import add_posts, delete_posts
    from hashnews.records import Hashtag, PreparedPost

    post = PreparedPost(
        id="p", body="x", entities=(), created_at="2020-06-02T00:00:00Z",
        hashtags=(Hashtag(("bridge",), "Bridge"),),
    )  # fmt: skip
    before = files(path)
    with NewsStore(path, "write") as store:
        index = NewsIndex.open(store)
        add_posts(store, [post])
        assert index.refresh(store) is False
        delete_posts(store, ["p"])
        assert index.refresh(store) is False
    assert files(path) == before


def another_store(path, tmp_path):
    path.unlink()
    add(path, news(60, prefix="other"))


def another_store_of_the_same_size(path, tmp_path):
    path.unlink()
    add(path, news(40, prefix="other"))


def an_empty_store(path, tmp_path):
    path.unlink()
    NewsStore(path, "write").close()


def a_backup(path, tmp_path):
    with NewsStore(path) as store:
        store.backup(tmp_path / "copy.db")
    add(path, news(20, prefix="later"))
    opened(path)
    os.replace(tmp_path / "copy.db", path)


def a_backup_that_grew_again(path, tmp_path):
    a_backup(path, tmp_path)
    add(path, news(20, prefix="instead"))


def a_backup_in_which_something_was_deleted(path, tmp_path):
    a_backup(path, tmp_path)
    for n in range(3):
        withdraw(path, [f"a{n}"])


def rows_gone_unseen(path, tmp_path):
    with closing(sqlite3.connect(path)) as db, db:
        triggers = db.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for (name,) in triggers:
            db.execute(f"DROP TRIGGER {name}")
        db.execute("DELETE FROM keys WHERE row > 30")
        db.execute("DELETE FROM articles WHERE row > 30")
        db.execute("INSERT INTO search (search) VALUES ('rebuild')")


def another_finder(path, tmp_path):
    from hashnews.news.reindex import Reindexing

    with NewsStore(path, "write") as store:
        finder = type("Other", (), {"name": "other", "find_all": lambda _, texts: [[]] * 2})()
        list(Reindexing(store, finder))


def older_code(path, tmp_path):
    edit(path, lambda manifest: manifest["about"].update(reading=1))


def the_first_release(path, tmp_path):
    manifest = json.loads((folder_of(path) / "manifest.json").read_text())
    kept = ("reading", "t", "q", "edition", "finder", "last_row")
    about = {name: manifest["about"][name] for name in kept}
    edit(path, lambda manifest: manifest.update(about=about))


def no_manifest(path, tmp_path):
    (folder_of(path) / "manifest.json").unlink()


def half_a_manifest(path, tmp_path):
    file = folder_of(path) / "manifest.json"
    file.write_bytes(file.read_bytes()[:300])


def odd_days(path, tmp_path):
    edit(path, lambda manifest: manifest["about"].update(waiting=["soon"]))


def odd_names(path, tmp_path):
    edit(path, lambda manifest: manifest["files"].update({"x.day": {"bytes": 0, "sha256": ""}}))


def the_index_of_another_store(path, tmp_path):
    other = tmp_path / "other.db"
    add(other, news(60, prefix="other"))
    opened(other)
    shutil.rmtree(folder_of(path))
    shutil.copytree(folder_of(other), folder_of(path))


def edit(path, change):
    file = folder_of(path) / "manifest.json"
    manifest = json.loads(file.read_text())
    change(manifest)
    file.write_text(json.dumps(manifest))


@pytest.mark.parametrize(
    ("happen", "why"),
    [
        (another_store, "belongs to another store"),
        (another_store_of_the_same_size, "belongs to another store"),
        (an_empty_store, "belongs to another store"),
        (a_backup, "was put back"),
        (a_backup_that_grew_again, "was put back"),
        (a_backup_in_which_something_was_deleted, "was put back"),
        (rows_gone_unseen, "30 articles, the index 40"),
        (another_finder, "found again"),
        (older_code, "another version"),
        (the_first_release, "another version"),
        (no_manifest, "manifest is missing"),
        (half_a_manifest, "damaged"),
        (odd_days, "damaged"),
        (odd_names, "damaged"),
        (the_index_of_another_store, "belongs to another store"),
    ],
)
def test_what_does_not_belong_is_told_in_one_line_and_built_again(
    path, tmp_path, told, happen, why
):
    happen(path, tmp_path)
    told()
    with NewsStore(path) as store:
        assert why in NewsIndex.check(store)
    with NewsStore(path) as store:
        index = NewsIndex.open(store)
        assert_as_fresh(index, store)
    (line,) = told()
    assert why in line
    assert line.startswith(str(folder_of(path)))
    assert line.endswith("it is rebuilt")
    opened(path)
    assert told() == []


def test_an_open_index_notices_that_the_store_was_put_back(path, tmp_path, told):
    """In place, under a service that runs on."""
    shutil.copyfile(path, tmp_path / "copy.db")
    add(path, news(20, prefix="later"))
    with NewsStore(path) as store:
        index = NewsIndex.open(store)
        shutil.copyfile(tmp_path / "copy.db", path)
        add(path, news(15, prefix="instead"))
        add(path, news(5, prefix="more"))
        index.refresh(store)
        assert_as_fresh(index, store)
    assert ["was put back" in line for line in told()] == [True]


@pytest.mark.parametrize("damage", ["truncated", "empty", "gone", "another", "a folder"])
def test_a_day_that_cannot_be_read_is_built_again_when_it_is_asked_for(path, told, damage):
    days = sorted(folder_of(path).glob("*.day"))
    content = days[0].read_bytes()
    days[0].unlink()
    match damage:
        case "truncated":
            days[0].write_bytes(content[: len(content) // 2])
        case "empty":
            days[0].touch()
        case "another":
            shutil.copyfile(days[1], days[0])
        case "a folder":
            days[0].mkdir()
            days[0].rmdir()
    with NewsStore(path) as store:
        assert "missing or damaged" in NewsIndex.check(store)
        assert_as_fresh(NewsIndex.open(store), store)
    (line,) = told()
    assert f"{days[0].name} is damaged; it is rebuilt" in line
    opened(path)
    assert told() == []


def test_an_index_deleted_under_its_reader_is_built_again(path):
    with NewsStore(path) as store:
        index = NewsIndex.open(store)
        shutil.rmtree(folder_of(path))
        assert_as_fresh(index, store)


def test_a_reader_that_comes_late_gets_the_days_others_built(path):
    with NewsStore(path) as store:
        index = NewsIndex.open(store)
        add(path, news(30, prefix="b"))
        opened(path)  # another program; the files our index knows are gone
        assert_as_fresh(index, store)


def stopping(after, error):
    """A build of days that fails."""
    left = [after]

    def build(*arguments):
        left[0] -= 1
        if left[0] < 0:
            raise error
        return build_day(*arguments)

    return build


def test_control_c_loses_nothing_that_is_built(path, monkeypatch, told):
    shutil.rmtree(folder_of(path))
    with NewsStore(path) as store:
        monkeypatch.setattr(index_folder, "build_day", stopping(3, KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            NewsIndex.open(store)
        monkeypatch.undo()
        built = files(path)
        assert len(built) == 3
        assert NewsIndex.check(store) == "2 days are not built yet"
        with pytest.raises(ModelError, match="half built"):
            NewsIndex.read(folder_of(path))
    opened(path)
    assert built.items() <= files(path).items()
    assert [line.endswith("2 days were not built yet; going on") for line in told()] == [True]


def limited(path, size):
    """Open the index in a process that may write files of so many bytes; give what it says."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            with NewsStore(path) as store:
                resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
                NewsIndex.open(store)
            said = "done"
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    with open(reading, encoding="utf-8") as stream:
        said = stream.read()
    os.waitpid(child, 0)
    return said


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_full_disk_is_one_line_and_harms_nothing(path):
    opened(path)
    sizes = sorted(file.stat().st_size for file in folder_of(path).iterdir())
    for size in (0, 10, 1000, sizes[-1] // 2, sizes[-1] - 1):
        add(path, news(5, days=1, prefix=f"first{size}"))
        said = limited(path, size)
        assert said.startswith(f"ModelError: {folder_of(path)} cannot be written: File too large")
        assert "\n" not in said
        opened(path)
        shutil.rmtree(folder_of(path))
        assert "cannot be written" in limited(path, size)
        assert not [file for file in folder_of(path).iterdir() if file.name.startswith(".")]
        opened(path)


def test_other_settings_are_told(path, told):
    with NewsStore(path) as store:
        NewsIndex.open(store, Settings(t=0.8))
        assert "other settings" in told()[0]
        assert NewsIndex.check(store) is None


def run(*arguments):
    return CliRunner().invoke(main, [*map(str, arguments)])


def test_the_check_of_the_command_line_compares_index_and_store(path, tmp_path):
    good = run("news", "stats", "--check", "--news", path)
    assert (good.exit_code, good.stderr) == (0, "")
    assert ["index", "good", None] in findings(path)
    a_backup_that_grew_again(path, tmp_path)
    bad = run("news", "stats", "--check", "--news", path, "--json")
    assert bad.stderr == (
        f"{path}.index: the store was put back to an earlier state; "
        "it will be rebuilt when it is next used\n"
    )
    assert json.loads(bad.stdout)["articles"] == 60
    (found,) = [line for line in findings(path) if line[0] == "index"]
    assert "was put back" in found[1]
    assert "will be rebuilt" in found[2]
    assert ["index", "good", None] in findings(path)  # the doctor's own post has done it


def findings(path):
    result = run("doctor", "--news", path, "--json")
    return [list(one.values()) for one in json.loads(result.stdout)]


def test_a_store_cut_short_answers_nothing(path, tmp_path):
    content = path.read_bytes()
    for cut in (0, 50, 100, 4096, len(content) // 3, len(content) // 2, len(content) - 4096):
        path.write_bytes(content[:cut])
        with pytest.raises(StoreError), NewsStore(path) as store:
            NewsIndex.open(store)
            NewsIndex.check(store)
    path.write_bytes(content)
    opened(path)


@pytest.mark.parametrize("seed", range(4))
def test_whatever_happens_the_index_is_that_of_the_store_it_is_asked_about(tmp_path, seed):
    """Two stores and their copies swapped at random, indexes kept open and opened anew."""
    chance = random.Random(seed)
    stores = [tmp_path / "one.db", tmp_path / "two.db"]
    copies = [tmp_path / "copy1.db", tmp_path / "copy2.db"]
    for number, path in enumerate(stores):
        add(path, news(30, prefix=f"start{number}-"))
    kept = {}
    for step in range(30):
        path, copy = chance.choice(stores), chance.choice(copies)
        match chance.choice(["add", "add", "withdraw", "save", "restore", "mix", "damage"]):
            case "add":
                add(path, news(chance.randrange(1, 10), prefix=f"{step}-"))
            case "withdraw":
                with NewsStore(path) as store:
                    ids = [one.article.id for one in store.read()]
                withdraw(path, chance.sample(ids, len(ids) // 3))
            case "save":
                copy.unlink(missing_ok=True)
                with NewsStore(path) as store:
                    store.backup(copy)
            case "restore" if copy.exists():
                shutil.copyfile(copy, tmp_path / "scratch")
                os.replace(tmp_path / "scratch", path)
            case "mix" if all(folder_of(store).exists() for store in stores):
                one, other = map(folder_of, stores)
                for name in ["manifest.json", *files(stores[1])]:
                    if chance.random() < 0.5:
                        (one / name).unlink(missing_ok=True)  # never under one who reads it
                        shutil.copyfile(other / name, one / name)
            case "damage" if folder_of(path).exists():
                for file in folder_of(path).iterdir():
                    if chance.random() < 0.3:
                        content = file.read_bytes()
                        file.unlink()
                        file.write_bytes(content[: chance.randrange(len(content) + 1)])
        if chance.random() < 0.7:
            with NewsStore(path) as store:
                index = kept.get(path) if chance.random() < 0.5 else None
                if index is None:
                    index = kept[path] = NewsIndex.open(store)
                else:
                    index.refresh(store)
                assert_as_fresh(index, store)


def test_readers_beside_a_writer_see_its_store_and_tell_nothing(path, told):
    chance, done = random.Random(1), threading.Event()

    def write():
        with NewsStore(path, "write") as store:
            for n in range(60):
                made = news(3, prefix=f"w{n}-")
                store.add([New(article, keys_of(article), True) for article in made], "fast")
                store.withdraw([f"w{chance.randrange(n + 1)}-{k}" for k in range(2)])
        done.set()

    def read():
        with NewsStore(path) as store:
            index = NewsIndex.open(store)
            while not done.is_set():
                index.refresh(store)
                index = NewsIndex.open(store) if chance.random() < 0.3 else index
                [index.day(number) for number in index.numbers()]
            index.refresh(store)
            assert_as_fresh(index, store)
            return True

    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        pool.submit(write).result()
        assert all(reader.result() for reader in readers)
    assert told() == []


@pytest.mark.parametrize("change", [{"t": None}, {"q": "x"}, {"t": []}, "name"])
def test_an_index_directory_with_an_odd_manifest_is_refused_in_one_line(tmp_path, change):
    """Odd names, or settings left out, were tracebacks."""
    path = tmp_path / "news.db"
    add(path, news(10))
    with NewsStore(path) as store:
        NewsIndex.open(store)
    place = folder_of(path) / "manifest.json"
    manifest = json.loads(place.read_text())
    del manifest["sum"]  # as if it was written so
    if change == "name":
        manifest["files"]["odd name"] = next(iter(manifest["files"].values()))
    else:
        manifest["about"] |= change
    place.write_text(json.dumps(manifest))
    with pytest.raises(ModelError, match="its manifest is damaged"):
        NewsIndex.read(folder_of(path))


@pytest.mark.parametrize(
    ("right", "wrong"),
    [('"18414-', '"118414-'), ('"last_row": 1', '"last_row": 9'), ('"counts"', '"count$"'),
     ('"18414": ', '"18404": ')],
)  # fmt: skip
def test_a_manifest_with_a_wrong_letter_is_not_believed(tmp_path, right, wrong):
    """A digit more in the name of a day was another day: the news of the right one was gone."""
    path = tmp_path / "news.db"
    add(path, news(10))
    with NewsStore(path) as store:
        NewsIndex.open(store)
        place = folder_of(path) / "manifest.json"
        assert right in place.read_text()
        place.write_text(place.read_text().replace(right, wrong, 1))
        assert NewsIndex.check(store)
        assert_as_fresh(NewsIndex.open(store), store)
        assert NewsIndex.check(store) is None
    add(path, news(10, prefix="b"))
    with NewsStore(path) as store:
        assert_as_fresh(NewsIndex.open(store), store)


def test_an_empty_day_is_what_is_built_of_nothing():
    built, empty = build_day([], Settings()).arrays, empty_day().arrays
    assert list(empty) == list(built)
    for name, array in built.items():
        assert (array.dtype, array.shape) == (empty[name].dtype, empty[name].shape), name
