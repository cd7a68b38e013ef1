"""From a dataset to the steps that make its table; `actions` and `case_studies` do them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from hashnews.errors import DataError
from hashnews.prepare.datasets import DATASET
from hashnews.prepare.public_sets import PublicSet, public_set
from hashnews.prepare.splits import Split
from hashnews.reproduce import actions, case_studies
from hashnews.reproduce.config import ReproduceConfig, TableModel
from hashnews.reproduce.runner import Step

# Settings that change how long a training takes, not what comes out.
FREE = {"posts", "contexts", "threads", "checkpoint_steps"}


class Dataset(NamedTuple):
    """Where the raw data is, and what of it is taken."""

    folder: Path
    split: Split = "chronological"
    collection: str | None = None
    never: tuple[str, ...] = ()
    split_seed: int = 1

    @property
    def name(self) -> str:
        """What its folder of steps is called."""
        return f"{self.collection or 'all'}-{self.how_split}"

    @property
    def how_split(self) -> str:
        """A public dataset has a split of its own."""
        return "own" if self.public else self.split

    @property
    def public(self) -> PublicSet | None:
        """Which public dataset it is, if it is one: in its authors' own files, without news."""
        return None if self.file("posts") else public_set(self.folder)

    def file(self, stem: str) -> Path | None:
        """`posts`, `news` or `reference`, packed or not."""
        for name in (f"{stem}.jsonl.gz", f"{stem}.jsonl"):
            if (self.folder / name).is_file():
                return self.folder / name
        return None

    def needed(self, stem: str) -> Path:
        """A file that must be there."""
        path = self.file(stem)
        if path is None:
            raise DataError(f"has no {stem}.jsonl or {stem}.jsonl.gz", self.folder)
        return path


class Run(NamedTuple):
    """One model with one seed, and where its files are."""

    model: TableModel
    seed: int
    suggestions: Path
    metrics: Path | None  # the learning curve
    trained: Path | None = None  # the model directory of a generator


class Plan(NamedTuple):
    """All steps in order, and where to find what they make."""

    steps: list[Step]
    posts: Path
    stats: Path
    contexts: dict[str, Path]
    runs: list[Run]
    cases: dict[str, Path]


def plan(dataset: Dataset, config: ReproduceConfig, folder: Path) -> Plan:
    """The steps; what several runs can share (the news) stands above what is of one split."""
    return _Planner(dataset, config, folder / dataset.folder.resolve().name).plan()


class _Planner:
    """Adds step after step; a method returns the file its step makes."""

    def __init__(self, dataset: Dataset, config: ReproduceConfig, shared: Path):
        self.dataset = dataset
        self.config = config
        self.shared = shared
        self.own = shared / dataset.name
        self.steps: list[Step] = []
        self.made: dict[Path, Step] = {}  # by folder

    def plan(self) -> Plan:
        models = [TableModel.parse(name) for name in self.config.models]
        rankings = list(dict.fromkeys(m.ranking for m in models if m.ranking))
        self.posts = self.prepare()
        if rankings:
            self.news = self.add_news()
            self.reference = self.dataset.file("reference") or self.older_news()
            self.indexed = [self.index()]
        self.contexts = {str(ranking): self.retrieve(str(ranking)) for ranking in rankings}
        runs = [
            run
            for seed in range(self.config.seeds)
            for model in models
            if seed == 0 or model.by_chance
            for run in [self.run(model, seed)]
        ]
        return Plan(
            self.steps, self.posts, self.posts.with_name(actions.STATS), self.contexts, runs,
            self.cases(runs) if rankings else {},
        )  # fmt: skip

    def prepare(self) -> Path:
        data, config = self.dataset, self.config
        settings: dict[str, Any]
        if public := data.public:
            settings = {"set": public.name, "finder": config.finder, "most": config.most_posts}
            adopt = partial(
                actions.prepare_public, dataset=data.folder, finder=config.finder,
                most=config.most_posts,
            )  # fmt: skip
            given = public.inputs(data.folder)
            return self._add(self.own / "prepare", adopt, settings, given, []) / actions.POSTS
        settings = {
            "split": data.split, "seed": data.split_seed, "collection": data.collection,
            "never": list(data.never), "finder": config.finder, "most": config.most_posts,
        }  # fmt: skip
        raw = data.needed("posts")
        run = partial(actions.prepare_posts, raw=raw, **settings)
        rules = data.folder / DATASET
        files = [raw, rules] if rules.is_file() else [raw]
        return self._add(self.own / "prepare", run, settings, files, []) / actions.POSTS

    def add_news(self) -> Path:
        settings = {"finder": str(self.config.finder)}
        news = self.dataset.needed("news")
        run = partial(actions.add_news, news=news, finder=self.config.finder)
        return self._add(self.shared / "news", run, settings, [news], []) / actions.NEWS

    def older_news(self) -> Path:
        news = self.dataset.needed("news")
        run = partial(actions.older_news, news=news, posts=self.posts)
        return self._add(self.own / "reference", run, {}, [news], [self.posts]) / actions.REFERENCE

    def index(self) -> Path:
        run = partial(actions.build_index, news=self.news, reference=self.reference)
        files, needs = self._reference_input()
        place = (self.own if needs else self.shared) / "index"  # one for all, if R is
        return self._add(place, run, {}, files, [self.news, *needs]) / "nothing"

    def retrieve(self, ranking: str) -> Path:
        run = partial(
            actions.retrieve_contexts, posts=self.posts, news=self.news, reference=self.reference,
            ranking=ranking,
        )  # fmt: skip
        needs = [self.posts, *self.indexed]
        folder = self.own / f"retrieve-{ranking}"
        return self._add(folder, run, {"ranking": ranking}, [], needs) / actions.CONTEXTS

    def run(self, model: TableModel, seed: int) -> Run:
        name = f"{model.name}-{seed}" if model.by_chance else model.name
        make = self.generator if model.is_generator else self.baseline
        return make(model, seed, name)

    def generator(self, model: TableModel, seed: int, name: str) -> Run:
        contexts = self.contexts[model.ranking] if model.ranking else None
        config = self.config.training_of(model, seed, self.posts, contexts)
        needs = [self.posts, contexts] if contexts else [self.posts]
        train = partial(actions.train_generator, config=config)
        settings = config.model_dump(mode="json", exclude=FREE)
        place = self.own / f"train-{name}"
        trained = self._add(place, train, settings, [], needs, version=2) / actions.MODEL
        n = self.config.suggestions
        suggest = partial(
            actions.suggest_by_generator, model=trained, posts=self.posts, contexts=contexts, n=n
        )
        folder = self._add(self.own / f"suggest-{name}", suggest, {"n": n}, [], [trained, *needs])
        curve = trained.with_name(f"{actions.MODEL}.training") / "metrics.jsonl"
        return Run(model, seed, folder / actions.SUGGESTIONS, curve, trained)

    def baseline(self, model: TableModel, seed: int, name: str) -> Run:
        config, n = self.config.lstm_top, self.config.suggestions
        validation = self.config.validation_posts
        suggest = partial(
            actions.suggest_by_baseline,
            name=model.variant, config=config, seed=seed, posts=self.posts, n=n,
            validation_posts=validation,
        )  # fmt: skip
        own = {"seed": seed, "validation_posts": validation} | config.model_dump(mode="json")
        settings = {"name": model.variant, "n": n} | (own if model.by_chance else {})
        folder = self._add(self.own / f"suggest-{name}", suggest, settings, [], [self.posts])
        curve = folder / "metrics.jsonl" if model.by_chance else None
        return Run(model, seed, folder / actions.SUGGESTIONS, curve)

    def cases(self, runs: Sequence[Run]) -> dict[str, Path]:
        """The case studies, as far as these models allow."""
        found = {}
        news = {"news": self.news, "reference": self.reference}
        if self.contexts:
            run = partial(case_studies.weigh_entities, posts=self.posts, **news)
            needs = [self.posts, *self.indexed]
            folder = self._add(self.own / "case-entities", run, {}, [], needs)
            found["entities"] = folder / actions.CASE
        trained = {run.model.name: run.trained for run in runs if run.seed == 0}
        models = [path for name in ("hashnews", "seq2seq") if (path := trained.get(name))]
        if len(models) == 2:
            finder = self.config.finder
            run = partial(
                case_studies.work_examples, reference=self.reference, with_news=models[0],
                without=models[1], finder=finder,
            )  # fmt: skip
            files, needs = self._reference_input()
            needs = [*needs, *models]
            folder = self._add(self.own / "case-examples", run, {"finder": finder}, files, needs)
            found["examples"] = folder / actions.CASE
        return found

    def _reference_input(self) -> tuple[list[Path], list[Path]]:
        """R comes with the dataset, or a step makes it."""
        given = self.reference == self.dataset.file("reference")
        return ([self.reference], []) if given else ([], [self.reference])

    def _add(
        self,
        place: Path,
        run: partial[None],
        settings: dict[str, Any],
        files: Sequence[Path],
        needs: Sequence[Path],
        version: int = 1,
    ) -> Path:
        """A step that needs these files from outside, and these files of steps before."""
        before = [self.made[folder] for folder in dict.fromkeys(path.parent for path in needs)]
        step = Step.new(place, run, settings, files, before, version)
        self.steps.append(step)
        self.made[step.folder] = step
        return step.folder
