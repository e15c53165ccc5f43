"""Small tokenizers of every kind, trained on a list of texts by PyPI's `tokenizers` and `sentencepiece`."""
import base64
import json
import os
import tempfile

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

SPECIAL = ["<s>", "</s>", "<unk>", "[CLS]", "[SEP]", "[UNK]", "<|turn|>", "<mask>"]
O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def train_sentencepiece(corpus, model_type, path, **options):
    import sentencepiece
    with tempfile.TemporaryDirectory() as folder:
        text = os.path.join(folder, "corpus.txt")
        with open(text, "w", encoding="utf-8") as file:
            file.writelines(line.replace("\n", " ").replace("\0", " ") + "\n" for line in corpus)
        sentencepiece.SentencePieceTrainer.train(
            input=text, model_prefix=path[:-len(".model")], model_type=model_type, vocab_size=4000, byte_fallback=True,
            character_coverage=0.98, hard_vocab_limit=False, minloglevel=2, **options)


def charsmap(rule):
    """The table of normalisations of that name, as SentencePiece puts it into its models (field 3.2)."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rule.model")
        train_sentencepiece(["a b c d e f g h"] * 50, "unigram", path, normalization_rule_name=rule)
        with open(path, "rb") as file:
            return find_bytes(find_bytes(file.read(), 3), 2)


def find_bytes(message, number):
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        key = varint()
        if key & 7 == 0:
            varint()
        elif key & 7 == 2:
            size = varint()
            if key >> 3 == number:
                return message[at:at + size]
            at += size
        else:
            at += {1: 8, 5: 4}[key & 7]
    raise KeyError(number)


def with_field(tokenizer, *path, value):
    """The tokenizer with one field of its JSON changed."""
    state = json.loads(tokenizer.to_str())
    target = state
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value
    return Tokenizer.from_str(json.dumps(state))


def trained(model, trainer, corpus, **parts):
    tokenizer = Tokenizer(model)
    for name, part in parts.items():
        setattr(tokenizer, name, part)
    tokenizer.train_from_iterator(corpus, trainer)
    tokenizer.add_special_tokens([token for token in SPECIAL if tokenizer.token_to_id(token) is None][:4])
    tokenizer.add_special_tokens([AddedToken("<|turn|>", lstrip=True, rstrip=True)])
    tokenizer.add_tokens([AddedToken("<x>", single_word=True, normalized=False), AddedToken("rowing", normalized=True)])
    return tokenizer


def byte_level(corpus, pre_tokenizer=None, normalizer=None, trainer_options=None, model_options=None, **parts):
    trainer = trainers.BpeTrainer(vocab_size=1200, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
                                  special_tokens=["<s>", "</s>"], show_progress=False, **(trainer_options or {}))
    tokenizer = trained(models.BPE(**(model_options or {})), trainer, corpus,
                        pre_tokenizer=pre_tokenizer or pre_tokenizers.ByteLevel(add_prefix_space=False),
                        decoder=parts.pop("decoder", decoders.ByteLevel()), **parts)
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    return tokenizer


def sequence_of(*steps):
    return pre_tokenizers.Sequence(list(steps))


def llama2(corpus):
    trainer = trainers.BpeTrainer(vocab_size=1500, special_tokens=["<unk>", "<s>", "</s>"] + [f"<0x{i:02X}>" for i in range(256)],
                                  show_progress=False)
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
                                           decoders.Strip(" ", 1, 0)])
    tokenizer.train_from_iterator(corpus[:800], trainer)
    state = json.loads(tokenizer.to_str())
    state["added_tokens"] = [token for token in state["added_tokens"] if not token["content"].startswith("<0x")]
    return Tokenizer.from_str(json.dumps(state))


def gpt1(corpus):
    trainer = trainers.BpeTrainer(vocab_size=1200, end_of_word_suffix="</w>", special_tokens=["<unk>"], show_progress=False)
    return trained(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"), trainer, corpus[:500],
                   normalizer=normalizers.BertNormalizer(), pre_tokenizer=pre_tokenizers.BertPreTokenizer(),
                   decoder=decoders.BPEDecoder("</w>"))


def bpe_words(corpus, fuse, **options):
    trainer = trainers.BpeTrainer(vocab_size=1000, limit_alphabet=100, special_tokens=["<unk>"], show_progress=False, **options)
    return trained(models.BPE(unk_token="<unk>", fuse_unk=fuse, **options), trainer, corpus,
                   pre_tokenizer=pre_tokenizers.Whitespace())


def unigram(corpus, normalizer, metaspace, byte_fallback=False):
    trainer = trainers.UnigramTrainer(vocab_size=4000, unk_token="<unk>", special_tokens=["<s>", "</s>", "<unk>"],
                                      show_progress=False)
    tokenizer = trained(models.Unigram(), trainer, corpus[:1000], normalizer=normalizer, pre_tokenizer=metaspace,
                        decoder=decoders.Metaspace())
    if not byte_fallback:
        return tokenizer
    state = json.loads(tokenizer.to_str())
    size = len(state["model"]["vocab"])
    state["model"]["vocab"] = [entry for i, entry in enumerate(state["model"]["vocab"]) if i < size - 100]
    state["model"]["vocab"] += [[f"<0x{i:02X}>", -20.0] for i in range(256)]
    state["model"]["byte_fallback"] = True
    state["added_tokens"] = [token for token in state["added_tokens"] if token["id"] < 3]
    state["decoder"] = json.loads(decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()]).__getstate__())
    return Tokenizer.from_str(json.dumps(state))


def precompiled(rule):
    return lambda corpus: unigram(
        corpus, normalizers.Sequence([normalizers.Precompiled(charsmap(rule)), normalizers.Replace(Regex(" {2,}"), " ")]),
        pre_tokenizers.Metaspace())


def word_piece(corpus, **bert):
    trainer = trainers.WordPieceTrainer(vocab_size=1500, special_tokens=["[UNK]", "[CLS]", "[SEP]"], show_progress=False)
    tokenizer = trained(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=20), trainer, corpus[:1500],
                        normalizer=normalizers.BertNormalizer(**bert), pre_tokenizer=pre_tokenizers.BertPreTokenizer(),
                        decoder=decoders.WordPiece())
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    return tokenizer


def word_level(corpus):
    trainer = trainers.WordLevelTrainer(vocab_size=800, special_tokens=["[UNK]"], show_progress=False)
    return trained(models.WordLevel(unk_token="[UNK]"), trainer, corpus, pre_tokenizer=pre_tokenizers.WhitespaceSplit())


def roberta(corpus):
    tokenizer = byte_level(corpus, pre_tokenizers.ByteLevel(add_prefix_space=True))
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 1), ("<s>", 0))
    return tokenizer


def template(corpus):
    tokenizer = byte_level(corpus)
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing(single="<s> <s> $A </s>", pair="<s> $A </s> $B", special_tokens=[("<s>", 0), ("</s>", 1)])])
    tokenizer.enable_truncation(5000)
    tokenizer.enable_padding(length=1)
    return tokenizer


def split(behavior, pattern, invert=False):
    return lambda corpus: byte_level(corpus, sequence_of(pre_tokenizers.Split(pattern, behavior, invert),
                                                         pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)))


def normalized(*steps):
    return lambda corpus: byte_level(corpus, normalizer=normalizers.Sequence(list(steps)))


def cut(*steps):
    return lambda corpus: byte_level(corpus, sequence_of(*steps, pre_tokenizers.ByteLevel(add_prefix_space=False)))


BYTES = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
TOKENIZERS = {
    "gpt2": byte_level,
    "prefix-space": lambda corpus: byte_level(corpus, pre_tokenizers.ByteLevel(add_prefix_space=True)),
    "ignore-merges": lambda corpus: with_field(byte_level(corpus), "model", "ignore_merges", value=True),
    "o200k": split("isolated", Regex(O200K)),
    "split-removed": split("removed", Regex(r"\w+")),
    "split-removed-inverted": split("removed", Regex(r"\w+|\d"), invert=True),
    "split-merged-with-previous": split("merged_with_previous", Regex(r"[\s\p{P}]")),
    "split-merged-with-next": split("merged_with_next", " "),
    "split-contiguous": split("contiguous", Regex(r"\s|\d")),
    "split-boundary": split("isolated", Regex(r"\b\w|^.|.$|\W\B")),
    "digits": cut(pre_tokenizers.Digits(individual_digits=True)),
    "digits-together": cut(pre_tokenizers.Digits(individual_digits=False)),
    "punctuation": cut(pre_tokenizers.Punctuation("merged_with_previous")),
    "punctuation-contiguous": cut(pre_tokenizers.Punctuation("contiguous")),
    "char-delimiter": cut(pre_tokenizers.CharDelimiterSplit("e")),
    "falcon": lambda corpus: byte_level(corpus, sequence_of(
        pre_tokenizers.Punctuation("contiguous"), pre_tokenizers.ByteLevel(add_prefix_space=False),
        pre_tokenizers.Digits(individual_digits=False), pre_tokenizers.Split(Regex("[0-9][0-9][0-9]"), "isolated"))),
    "byte-level-normalizer": lambda corpus: byte_level(
        corpus, pre_tokenizers.Split(Regex("Ġ[^Ġ]+"), "isolated"), normalizers.ByteLevel()),
    "nfc": normalized(normalizers.NFC()), "nfd": normalized(normalizers.NFD()),
    "nfkc": normalized(normalizers.NFKC()), "nfkd": normalized(normalizers.NFKD()),
    "lowercase": normalized(normalizers.Lowercase()), "nmt": normalized(normalizers.Nmt()),
    "strip": normalized(normalizers.Strip(), normalizers.Replace(Regex(r"\s+"), " ")),
    "strip-accents": normalized(normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase()),
    "roberta": roberta, "template": template, "llama2": llama2, "gpt1": gpt1,
    "bpe-fused-unknown": lambda corpus: bpe_words(corpus, True),
    "bpe-unknown": lambda corpus: bpe_words(corpus, False),
    "bpe-continuation": lambda corpus: bpe_words(corpus, False, continuing_subword_prefix="##"),
    "unigram": lambda corpus: unigram(corpus, normalizers.NFKC(), pre_tokenizers.Metaspace()),
    "unigram-first": lambda corpus: unigram(corpus, normalizers.NFKD(), pre_tokenizers.Metaspace(prepend_scheme="first")),
    "unigram-whitespace": lambda corpus: unigram(
        corpus, normalizers.Lowercase(), sequence_of(pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace("_"))),
    "unigram-bytes": lambda corpus: unigram(corpus, normalizers.NFC(), pre_tokenizers.Metaspace(), byte_fallback=True),
    "precompiled-nmt-nfkc": precompiled("nmt_nfkc"), "precompiled-nmt-nfkc-cf": precompiled("nmt_nfkc_cf"),
    "word-piece": word_piece,
    "word-piece-cased": lambda corpus: word_piece(corpus, lowercase=False, handle_chinese_chars=False),
    "word-piece-accents": lambda corpus: word_piece(corpus, lowercase=True, strip_accents=False, clean_text=False),
    "word-level": word_level,
}
