"""Providers that people choose by name, with what to put into the form. Facts of 2026-11; whatever is here can be overwritten there."""

from msgspec import Struct


class Preset(Struct, frozen=True, kw_only=True):
    """What goes into the form. `key_page`: where a person gets a key; "" = none is needed. A model that is "" is chosen from the provider's list."""

    id: str
    name: str
    base_url: str
    model: str
    key_page: str = ""


CHAT: tuple[Preset, ...] = (
    Preset(
        id="deepseek",
        name="DeepSeek",
        base_url="https://api.deepseek.com/v1",
        model="deepseek-flash",
        key_page="https://platform.deepseek.com/api_keys",
    ),
    Preset(
        id="dashscope",
        name="通义千问 Qwen (DashScope)",
        base_url="https://dashscope.aliyuncs.com/compatible-mode/v1",
        model="qwen-plus",
        key_page="https://bailian.console.aliyun.com/?tab=model#/api-key",
    ),
    Preset(
        id="siliconflow",
        name="硅基流动 SiliconFlow",
        base_url="https://api.siliconflow.cn/v1",
        model="",
        key_page="https://cloud.siliconflow.cn/account/ak",
    ),
    Preset(
        id="openai",
        name="OpenAI",
        base_url="https://api.openai.com/v1",
        model="",
        key_page="https://platform.openai.com/api-keys",
    ),
    Preset(id="ollama", name="Ollama", base_url="http://127.0.0.1:11434/v1", model=""),
    Preset(id="vllm", name="vLLM", base_url="http://127.0.0.1:8000/v1", model=""),
    Preset(id="llamacpp", name="llama.cpp", base_url="http://127.0.0.1:8080/v1", model="default"),
)
EMBEDDING: tuple[Preset, ...] = (
    Preset(
        id="dashscope",
        name="通义千问 Qwen (DashScope)",
        base_url="https://dashscope.aliyuncs.com/compatible-mode/v1",
        model="text-embedding-v4",
        key_page="https://bailian.console.aliyun.com/?tab=model#/api-key",
    ),
    Preset(
        id="siliconflow",
        name="硅基流动 SiliconFlow",
        base_url="https://api.siliconflow.cn/v1",
        model="BAAI/bge-m3",
        key_page="https://cloud.siliconflow.cn/account/ak",
    ),
    Preset(
        id="openai",
        name="OpenAI",
        base_url="https://api.openai.com/v1",
        model="text-embedding-3-small",
        key_page="https://platform.openai.com/api-keys",
    ),
    Preset(id="ollama", name="Ollama", base_url="http://127.0.0.1:11434/v1", model="bge-m3"),
)
RERANK: tuple[Preset, ...] = (
    Preset(
        id="siliconflow",
        name="硅基流动 SiliconFlow",
        base_url="https://api.siliconflow.cn/v1",
        model="BAAI/bge-reranker-v2-m3",
        key_page="https://cloud.siliconflow.cn/account/ak",
    ),
    Preset(
        id="dashscope",
        name="通义千问 Qwen (DashScope)",
        base_url="https://dashscope.aliyuncs.com/compatible-api/v1",
        model="qwen3-rerank",
        key_page="https://bailian.console.aliyun.com/?tab=model#/api-key",
    ),
    Preset(
        id="jina",
        name="Jina",
        base_url="https://api.jina.ai/v1",
        model="jina-reranker-v2-base-multilingual",
        key_page="https://jina.ai/api-dashboard",
    ),
)
