"""OpenNMT-py 3.5.1 as a peer of the generator: the same posts, contexts and vocabularies.

It declares an old torch; it runs on a new one when it is installed alone:

    pip install --no-deps OpenNMT-py==3.5.1 configargparse pyonmttok pyahocorasick rapidfuzz \
        fasttext-wheel sacrebleu portalocker colorama

A transform that is not used imports spacy: where it is missing, an empty spacy.py will do.

It reads post and context as one text and every hashtag as a pair of its own: somewhat less work for
a pair than a dual encoder with bi-attention, and no reading once for all hashtags.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from hashnews.generate.batch import Numbered, Numberer

warnings.filterwarnings("ignore")
os.environ["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"] = "1"

Pair = tuple[list[int], list[int]]


class Peer:
    """A two-layer Bi-GRU with attention and input feeding, of the sizes of the paper."""

    def __init__(self, numberer: Numberer):
        import pyonmttok
        from onmt import opts
        from onmt.constants import DefaultTokens
        from onmt.model_builder import build_base_model
        from onmt.utils.loss import LossCompute
        from onmt.utils.parse import ArgumentParser

        signs = [DefaultTokens.UNK, DefaultTokens.PAD, DefaultTokens.BOS, DefaultTokens.EOS]
        self.first = len(signs)
        self.vocabs: dict[str, Any] = {"data_task": "seq2seq"}
        for side, size in (("src", len(numberer.source)), ("tgt", len(numberer.hashtag))):
            tokens = [f"{side}{number}" for number in range(size)]
            self.vocabs[side] = pyonmttok.build_vocab_from_tokens(tokens, special_tokens=signs)
            self.vocabs[side].default_id = 0
        self.vocabs["decoder_start_token"] = DefaultTokens.BOS
        self.pad, self.bos, self.eos = 1, 2, 3
        parser = ArgumentParser()
        opts.train_opts(parser)
        config = numberer.config
        arguments = [
            *("-encoder_type", "brnn", "-decoder_type", "rnn", "-rnn_type", "GRU"),
            *("-word_vec_size", str(config.embedding), "-hidden_size", str(config.hidden)),
            *("-layers", str(config.layers), "-dropout", str(config.dropout)),
            *("-src_vocab", "none", "-data", "{}", "-save_model", "none"),
        ]
        options, _ = parser.parse_known_args(arguments)
        options = ArgumentParser.update_model_opts(options) or options
        self.model = build_base_model(options, self.vocabs)
        for parameter in self.model.parameters():
            torch.nn.init.uniform_(parameter, -0.1, 0.1)
        self.loss = LossCompute.from_opts(options, self.model, self.vocabs["tgt"])
        self.optimiser = torch.optim.Adam(self.model.parameters(), lr=0.001)

    def pairs(self, examples: Sequence[Numbered]) -> list[Pair]:
        """Every hashtag of every post as a pair of its own."""
        return [
            (self._source(example), [self.bos, *(n + self.first for n in tag[:-1]), self.eos])
            for example in examples
            for tag in example.hashtags
        ]

    def train(self, pairs: Sequence[Pair]) -> None:
        """One step of Adam."""
        self.model.train()
        src, src_len = self._padded([source for source, _ in pairs])
        tgt, tgt_len = self._padded([target for _, target in pairs])
        batch = {"src": src, "srclen": src_len, "tgt": tgt, "tgtlen": tgt_len}
        self.optimiser.zero_grad()
        out, attention = self.model(src, tgt, src_len, bptt=False, with_align=False)
        loss, _ = self.loss(batch, out, attention, trunc_start=0, trunc_size=tgt.size(1))
        (loss / len(pairs)).backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimiser.step()

    def translator(self, beam: int, n: int, longest: int) -> Any:
        """Its beam search."""
        from onmt.translate import GNMTGlobalScorer
        from onmt.translate.translator import Translator

        self.model.eval()
        scorer = GNMTGlobalScorer(0.0, 0.0, "none", "none")
        limits = {"beam_size": beam, "n_best": n, "max_length": longest, "max_length_ratio": 0}
        return Translator(self.model, self.vocabs, global_scorer=scorer, dump_beam="", **limits)

    def batch(self, examples: Sequence[Numbered]) -> dict[str, Any]:
        """Posts for the beam search."""
        src, src_len = self._padded([self._source(example) for example in examples])
        return {"src": src, "srclen": src_len, "ind_in_bucket": np.arange(len(examples))}

    def _source(self, example: Numbered) -> list[int]:
        return (np.concatenate([example.post, example.context]) + self.first).tolist()

    def _padded(self, rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        longest = max(map(len, rows))
        padded = torch.full((len(rows), longest, 1), self.pad)
        for place, row in enumerate(rows):
            padded[place, : len(row), 0] = torch.tensor(row)
        return padded, torch.tensor([len(row) for row in rows])
