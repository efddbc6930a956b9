"""Sampling with the real vLLM: `npm test -- vllm`."""
