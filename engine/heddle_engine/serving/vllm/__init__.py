"""Sampling with vLLM (https://docs.vllm.ai), one process for each base model, beside the trainer's weights."""
