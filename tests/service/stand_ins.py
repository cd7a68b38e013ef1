"""Work that sleeps, dies, hangs or fails when it is told to: what real work does only sometimes."""

import json
import os
import sys
import time

from hashnews.errors import ModelError
from hashnews.service.schemas import Holdings


class Held:
    def __init__(self, greeting="hello"):
        if greeting == "broken":
            raise ModelError("the greeting is broken")
        if greeting == "bug":
            raise KeyError(greeting)
        self.greeting = greeting

    def greet(self, name):
        return f"{self.greeting} {name}"

    def pid(self):
        return os.getpid()

    def origin(self):
        shared = sys.modules.get("hashnews.service.shared")
        return os.getppid(), shared is not None and shared.SHARED is not None

    def sleep(self, seconds):
        time.sleep(seconds)
        return "slept"

    def die(self):
        os._exit(1)

    def refuse(self):
        raise ModelError("no")

    def fail(self):
        raise KeyError("why")


class SlowSuggestProcess:
    """Takes 20 ms for a batch, says which model it has and how many posts came together."""

    def __init__(self, news, model):
        self.model = None if model is None else (model / "name").read_text()
        if self.model == "broken":
            raise ModelError("this model is broken")

    def refresh(self):
        pass

    def suggest(self, asked):
        time.sleep(0.02)
        for ask in asked:
            if ask.post.text == "die":
                os._exit(1)
            if ask.post.text == "hang":
                time.sleep(60)
        told = {"model": self.model, "together": len(asked), "pid": os.getpid()}
        return [json.dumps({**told, "text": ask.post.text}).encode() for ask in asked]

    def retrieve(self, asked):
        return self.suggest(asked)


class EmptyNewsProcess:
    def __init__(self, news, writes):
        pass

    def refresh(self):
        return Holdings(0, None, None)

    def article(self, identifier):
        return None
