"""The architectures of the zoo, by transformers' names of their kinds of model."""

from __future__ import annotations

_TEXT = """
    afmoe albert apertus arcee aria_text bamba beit bert big_bird bigbird_pegasus biogpt bitnet blenderbot
    blenderbot-small bloom camembert clip cohere cohere2 convbert cwm data2vec-audio data2vec-text deberta
    deberta-v2 deepseek_v3 deepseek_v4 deit dinov2 distilbert doge electra ernie ernie4_5 ernie4_5_moe
    eurobert exaone4 falcon falcon_h1 falcon_mamba flex_olmo fnet fsmt funnel gemma gemma2 gemma3_text glm
    glm4 glm4_moe gpt2 gpt_bigcode gpt_neox gpt_neox_japanese gpt_oss granite granitemoe granitemoehybrid
    granitemoeshared helium hubert ibert ijepa jais2 jamba jetmoe layoutlm led lfm2 llama llama4_text
    longcat_flash longformer longt5 m2m_100 mamba mamba2 marian mbart megatron-bert minimax ministral3 mistral
    mixtral mobilebert modernbert modernbert-decoder mpnet mpt mra mt5 mvp nanochat nllb-moe nystromformer
    olmo olmo2 olmo3 olmo_hybrid olmoe openai-gpt opt pegasus pegasus_x persimmon phi phi3 phimoe plbart
    prophetnet qwen2 qwen2_moe qwen3 qwen3_5_text qwen3_moe qwen3_next recurrent_gemma rembert roberta
    roberta-prelayernorm roc_bert roformer rwkv seed_oss sew siglip smollm3 solar_open squeezebert stablelm
    starcoder2 swin swinv2 switch_transformers t5 t5gemma umt5 unispeech vaultgemma vit vit_msn wav2vec2 wavlm
    whisper xglm xlm-roberta xlm-roberta-xl yoso youtu
"""
NAMES = tuple(_TEXT.split())


def of_the_day(day: int, count: int) -> list[str]:
    """`count` names that rotate with the days: each has its turn once in a round, and neighbours of a day are of different kinds."""
    rounds = -(-len(NAMES) // count)
    return list(NAMES[day % rounds :: rounds])
