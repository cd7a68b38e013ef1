# ruff: noqa: N803, N806, N815 - names end in the letters of their shapes
"""Every generator of the paper, and one beyond it, all in this file.

    post ────▶ Bi-GRU ──▶ h^p ─┐                     ┌─▶ merge ─▶ v^p ─┐
                               ├─ hybrid bi-attention ┤                 ├─▶ attention GRU ─▶ words
    context ─▶ Bi-GRU ──▶ h^c ─┘     (weights w)      └─▶ merge ─▶ v^c ─┘

Section 2.2 of the paper; where it is silent, Wang et al. (2019), whom it follows, and the released
code. `seq2seq` is the upper row alone, without bi-attention and merge.

Letters of shapes: B posts, P post words, C context words, M = P + C words of memory, R hashtags
(or hypotheses) of all posts together, K rows a post has at most, T hashtag words, N = all words of
all hashtags, D hidden, E embedding, V hashtag words known, O words that can only be copied.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from hashnews.arrays import Array
from hashnews.generate.batch import Batch, slots
from hashnews.generate.config import GeneratorConfig
from hashnews.generate.vocabulary import START

NEVER = float("-inf")
LEAST = 1e-30  # the smallest probability whose logarithm is taken


class DecoderMemory(NamedTuple):
    """What the decoder looks at: the words read, and which of them are there."""

    words_BMD: Tensor
    mask_BM: Tensor


class DecoderState(NamedTuple):
    """Where the decoder is: its GRU, and the attentional vector fed back into it."""

    hidden_RD: Tensor
    fed_RD: Tensor


class DecoderStep(NamedTuple):
    """What a step of the decoder gives: the vector the output layer reads, and where it looked."""

    state: DecoderState
    attention_RM: Tensor


def mask(length_B: Tensor, longest: int) -> Tensor:
    """True where there is a word."""
    return torch.arange(longest, device=length_B.device) < length_B[:, None]


def masked_softmax(scores: Tensor, mask: Tensor, dim: int) -> Tensor:
    """Softmax over what is there; padding gets exactly nothing. There always is something."""
    return scores.masked_fill(~mask, NEVER).softmax(dim)


def reverse(words_BLD: Tensor, length_B: Tensor) -> Tensor:
    """Each sequence backwards, its padding left behind it; twice is as before."""
    place = torch.arange(words_BLD.shape[1], device=length_B.device)
    there = place < length_B[:, None]
    place_BL = torch.where(there, length_B[:, None] - 1 - place, place)
    return words_BLD.gather(1, place_BL[:, :, None].expand(-1, -1, words_BLD.shape[2]))


def affinity(post_BPD: Tensor, w_b_DD: Tensor, context_BCD: Tensor) -> Tensor:
    """s_ij = h^p_i · W_b · h^c_j."""
    return post_BPD @ w_b_DD @ context_BCD.transpose(1, 2)


def post_attention(affinity_BPC: Tensor, post_mask_BP: Tensor) -> Tensor:
    """a^p_ij = exp(s_ij) / Σ_i' exp(s_i'j): which post words a context word looks at."""
    return masked_softmax(affinity_BPC, post_mask_BP[:, :, None], 1)


def context_attention(affinity_BPC: Tensor, weight_BC: Tensor, context_mask_BC: Tensor) -> Tensor:
    """a^c_ij = exp(w_j s_ij) / Σ_j' exp(w_j' s_ij'): which context words a post word looks at."""
    return masked_softmax(affinity_BPC * weight_BC[:, None, :], context_mask_BC[:, None, :], 2)


def copied_probability(attention_NM: Tensor, copy_NM: Tensor, word_N: Tensor) -> Tensor:
    """Σ of the attention on all places that hold the word."""
    return (attention_NM * (copy_NM == word_N[:, None])).sum(1)


def mixed(vocabulary: Tensor, copying: Tensor, gate: Tensor) -> Tensor:
    """p(y) = (1 - z) softmax(y) + z Σ attention on y (pointer-generator, See et al. 2017)."""
    return (1 - gate) * vocabulary + gate * copying


class Encoder(nn.Module):
    """Bi-GRU over padded sequences: h_i = [forward; backward], "two-layered Bi-GRU cells".

    The backward half reads each sequence from its own last word. So what comes out at a word does
    not depend on padding, and the padded GRU, much faster than a packed one, is exact.
    """

    def __init__(self, config: GeneratorConfig):
        super().__init__()
        half = config.hidden // 2
        sizes = [config.embedding] + [config.hidden] * (config.layers - 1)
        self.forwards = nn.ModuleList(nn.GRU(size, half, batch_first=True) for size in sizes)
        self.backwards = nn.ModuleList(nn.GRU(size, half, batch_first=True) for size in sizes)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, words_BLE: Tensor, length_B: Tensor) -> tuple[Tensor, Tensor]:
        """All states BLD and the last ones of both directions BD."""
        states = words_BLE
        for number, (ahead, back) in enumerate(zip(self.forwards, self.backwards, strict=True)):
            inputs = self.dropout(states) if number else states
            ahead_BLH, _ = ahead(inputs)
            back_BLH, _ = back(reverse(inputs, length_B))
            states = torch.cat([ahead_BLH, reverse(back_BLH, length_B)], 2)
        last_B1H = (length_B - 1)[:, None, None].expand(-1, 1, ahead_BLH.shape[2])
        last_BD = torch.cat([ahead_BLH.gather(1, last_B1H), back_BLH.gather(1, last_B1H)], 2)
        return states, last_BD[:, 0]


class HybridBiAttention(nn.Module):
    """News-aware post words and post-aware news words; with all weights one, plain bi-attention."""

    def __init__(self, hidden: int):
        super().__init__()
        self.w_b_DD = nn.Parameter(torch.empty(hidden, hidden))

    def forward(
        self,
        post_BPD: Tensor,
        context_BCD: Tensor,
        post_mask_BP: Tensor,
        context_mask_BC: Tensor,
        weight_BC: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """r^c_i = Σ_j a^c_ij h^c_j for every post word, r^p_j = Σ_i a^p_ij h^p_i for the news."""
        affinity_BPC = affinity(post_BPD, self.w_b_DD, context_BCD)
        news_BPD = context_attention(affinity_BPC, weight_BC, context_mask_BC) @ context_BCD
        posts_BCD = post_attention(affinity_BPC, post_mask_BP).transpose(1, 2) @ post_BPD
        return news_BPD, posts_BCD


class Merge(nn.Module):
    """v = tanh(W [h; r] + b): a word and what it saw on the other side, made one."""

    def __init__(self, hidden: int):
        super().__init__()
        self.linear = nn.Linear(2 * hidden, hidden)

    def forward(self, own_BLD: Tensor, other_BLD: Tensor) -> Tensor:
        """The merged words."""
        return torch.tanh(self.linear(torch.cat([own_BLD, other_BLD], 2)))


class Reader(nn.Module):
    """From numbers of words to the memory and the first state of the decoder."""

    def __init__(self, config: GeneratorConfig, source_words: int):
        super().__init__()
        hidden, both = config.hidden, config.reads_context
        self.embed = nn.Embedding(source_words, config.embedding)
        self.post = Encoder(config)
        self.context = Encoder(config) if both else None
        if both:
            self.attend = HybridBiAttention(hidden)
            self.merge_post = Merge(hidden)
            self.merge_context = Merge(hidden)
        self.start = nn.Linear(2 * hidden if both else hidden, hidden)

    def forward(
        self,
        post_BP: Tensor,
        post_length_B: Tensor,
        context_BC: Tensor,
        context_length_B: Tensor,
        weight_BC: Tensor,
    ) -> tuple[DecoderMemory, Tensor]:
        """The memory of every post, and where the decoder starts: tanh(W [last^p; last^c] + b)."""
        post_BPD, last_BD = self.post(self.embed(post_BP), post_length_B)
        post_mask_BP = mask(post_length_B, post_BP.shape[1])
        if self.context is None:
            return DecoderMemory(post_BPD, post_mask_BP), torch.tanh(self.start(last_BD))
        context_BCD, last_news_BD = self.context(self.embed(context_BC), context_length_B)
        context_mask_BC = mask(context_length_B, context_BC.shape[1])
        news_BPD, posts_BCD = self.attend(
            post_BPD, context_BCD, post_mask_BP, context_mask_BC, weight_BC.to(post_BPD.dtype)
        )
        merged = [self.merge_post(post_BPD, news_BPD), self.merge_context(context_BCD, posts_BCD)]
        memory = DecoderMemory(torch.cat(merged, 1), torch.cat([post_mask_BP, context_mask_BC], 1))
        return memory, torch.tanh(self.start(torch.cat([last_BD, last_news_BD], 1)))


class Decoder(nn.Module):
    """Attention GRU with input feeding, one word a step (Luong et al. 2015, "general")."""

    def __init__(self, config: GeneratorConfig, hashtag_words: int):
        super().__init__()
        hidden = config.hidden
        self.hashtag_words = hashtag_words
        # One row before the words for the start, one after them for all that is only copied.
        self.embed = nn.Embedding(hashtag_words + 2, config.embedding)
        self.gru = nn.GRUCell(config.embedding + hidden, hidden)
        self.query = nn.Linear(hidden, hidden, bias=False)
        self.combine = nn.Linear(2 * hidden, hidden, bias=False)
        self.dropout = nn.Dropout(config.dropout)
        self.write = nn.Linear(hidden, hashtag_words)
        self.gate = nn.Linear(hidden, 1) if config.copies else None

    def forward(
        self,
        memory: DecoderMemory,
        state: DecoderState,
        last_R: Tensor,
        row_BK: Tensor,
        slot_R: Tensor,
    ) -> DecoderStep:
        """One step for every row: h = GRU([y; a], h), a = tanh(W [Σ softmax(h W m) m; h])."""
        last_RE = self.embed((last_R - START).clamp(max=self.hashtag_words + 1))
        hidden_RD = self.gru(torch.cat([last_RE, state.fed_RD], 1), state.hidden_RD)
        query_BKD = self.query(hidden_RD)[row_BK]
        scores_BKM = query_BKD @ memory.words_BMD.transpose(1, 2)
        attention_BKM = masked_softmax(scores_BKM, memory.mask_BM[:, None, :], 2)
        seen_RD = (attention_BKM @ memory.words_BMD).flatten(0, 1)[slot_R]
        fed_RD = torch.tanh(self.combine(torch.cat([seen_RD, hidden_RD], 1)))
        attention_RM = attention_BKM.flatten(0, 1)[slot_R]
        return DecoderStep(DecoderState(hidden_RD, self.dropout(fed_RD)), attention_RM)

    def log_probabilities(
        self, step: DecoderStep, copy_BM: Tensor, post_R: Tensor, own_O: Tensor
    ) -> Tensor:
        """The log p of every word RV; in a copying model of the posts' own words too, R(V + O)."""
        fed_RD = step.state.fed_RD
        if self.gate is None:
            log_RV: Tensor = self.write(fed_RD).log_softmax(1)
            return log_RV
        copy_RM = copy_BM[post_R]
        weights_RM = step.attention_RM * (copy_RM >= 0)
        words_RV = self.write(fed_RD).softmax(1)
        none_RO = words_RV.new_zeros(words_RV.shape[0], own_O.shape[0])
        words_RW = torch.cat([words_RV, none_RO], 1)
        copied_RW = torch.zeros_like(words_RW).scatter_add(1, copy_RM.clamp(min=0), weights_RM)
        gate_R1 = torch.sigmoid(self.gate(fed_RD))
        return mixed(words_RW, copied_RW, gate_R1).clamp(min=LEAST).log()

    def losses(
        self, fed_ND: Tensor, attention_NM: Tensor, copy_NM: Tensor, word_N: Tensor
    ) -> Tensor:
        """The -log p of the words that were written, only of those."""
        known_N = word_N < self.hashtag_words
        target_N = torch.where(known_N, word_N, 0)
        written_N = -functional.cross_entropy(self.write(fed_ND), target_N, reduction="none")
        if self.gate is None:
            return -written_N
        copied_N = copied_probability(attention_NM, copy_NM, word_N)
        gate_N = torch.sigmoid(self.gate(fed_ND))[:, 0]
        return -mixed(written_N.exp() * known_N, copied_N, gate_N).clamp(min=LEAST).log()


class GeneratorModel(nn.Module):
    """The whole network; `forward` gives the loss of every word of every hashtag of a batch."""

    def __init__(self, config: GeneratorConfig, source_words: int, hashtag_words: int):
        super().__init__()
        self.config = config
        self.reader = Reader(config, source_words)
        self.decoder = Decoder(config, hashtag_words)
        for parameter in self.parameters():  # as in the released code
            nn.init.uniform_(parameter, -0.1, 0.1)

    def encode(self, batch: Batch) -> tuple[DecoderMemory, DecoderState]:
        """Memory and first state, one row a post."""
        parts = (batch.post_BP, batch.post_length_B, batch.context_BC, batch.context_length_B)
        memory, hidden_BD = self.reader(
            *(torch.from_numpy(part) for part in parts), torch.from_numpy(batch.weight_BC)
        )
        return memory, DecoderState(hidden_BD, torch.zeros_like(hidden_BD))

    def forward(self, batch: Batch) -> Tensor:
        """-log p of the words of all hashtags (N), each post read once.

        Hashtags come longest first, so those that have a word at step t are the first rows.
        """
        memory, first = self.encode(batch)
        post_R = torch.from_numpy(batch.post_R)
        state = DecoderState(first.hidden_RD[post_R], first.fed_RD[post_R])
        last_R = torch.full_like(post_R, START)
        fed, attention, posts, words = [], [], [], []
        for t in range(batch.hashtag_RT.shape[1]):
            alive = int((batch.hashtag_length_R > t).sum())
            row_BK, slot_R = map(torch.from_numpy, slots(batch.post_R[:alive], batch.size))
            state = DecoderState(state.hidden_RD[:alive], state.fed_RD[:alive])
            step = self.decoder(memory, state, last_R[:alive], row_BK, slot_R)
            state, last_R = step.state, torch.from_numpy(batch.hashtag_RT[:alive, t])
            fed.append(state.fed_RD)
            attention.append(step.attention_RM)
            posts.append(post_R[:alive])
            words.append(last_R)
        copy_NM = torch.from_numpy(batch.copy_BM)[torch.cat(posts)]
        word_N = torch.cat(words)
        return self.decoder.losses(torch.cat(fed), torch.cat(attention), copy_NM, word_N)


class TorchRuntime:
    """The model as the beam search sees it, run by torch (`OnnxRuntime` is the served one)."""

    def __init__(self, model: GeneratorModel):
        self.model = model

    @torch.inference_mode()
    def start(self, batch: Batch) -> tuple[tuple[DecoderMemory, Batch], tuple[Array, ...]]:
        """Read posts."""
        memory, state = self.model.encode(batch)
        return (memory, batch), tuple(part.numpy() for part in state)

    @torch.inference_mode()
    def step(
        self,
        memory: tuple[DecoderMemory, Batch],
        state: tuple[Array, ...],
        last_R: Array,
        post_R: Array,
    ) -> tuple[Array, tuple[Array, ...]]:
        """Write one word more for every row."""
        seen, batch = memory
        decoder = self.model.decoder
        row_BK, slot_R = map(torch.from_numpy, slots(post_R, batch.size))
        before = DecoderState(*map(torch.from_numpy, state))
        step = decoder(seen, before, torch.from_numpy(last_R), row_BK, slot_R)
        own_O = torch.from_numpy(np.zeros(max(map(len, batch.own)), dtype=np.int64))
        copies = (torch.from_numpy(batch.copy_BM), torch.from_numpy(post_R), own_O)
        log_RW = decoder.log_probabilities(step, *copies)
        return log_RW.numpy(), tuple(part.numpy() for part in step.state)
