"""The plain serving peer: `generate` of transformers with peft's mixed adapters in one static batch."""

from typing import TypedDict

import torch
import worker
from peft import PeftModel
from transformers import AutoModelForCausalLM

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


class Request(TypedDict):
    prompt_ids: list[int]
    max_tokens: int
    adapter: str


class Generator:
    def __init__(self) -> None:
        self.model: PeftModel

    def load(self, base: str, adapters: dict[str, str], threads: int, dtype: str) -> None:
        """Loads the model folder `base` in `dtype` and the PEFT folders of `adapters` (name -> folder)."""
        torch.set_num_threads(threads)
        model = AutoModelForCausalLM.from_pretrained(base, dtype=DTYPES[dtype]).eval()
        names = list(adapters)
        self.model = PeftModel.from_pretrained(model, adapters[names[0]], adapter_name=names[0])
        for name in names[1:]:
            self.model.load_adapter(adapters[name], name)
        self.model.eval()

    def generate(self, requests: list[Request], batch: int) -> list[list[int]]:
        """Greedy completions of exactly `max_tokens` tokens each, `batch` requests at a time."""
        return [ids for start in range(0, len(requests), batch) for ids in self._batch(requests[start : start + batch])]

    def _batch(self, requests: list[Request]) -> list[list[int]]:
        """One batch, padded on the left. All rows run as long as the longest, and surplus tokens are cut off."""
        width = max(len(request["prompt_ids"]) for request in requests)
        steps = max(request["max_tokens"] for request in requests)
        padded = [[0] * (width - len(request["prompt_ids"])) + request["prompt_ids"] for request in requests]
        mask = [[0] * (width - len(request["prompt_ids"])) + [1] * len(request["prompt_ids"]) for request in requests]
        with torch.inference_mode():
            rows = self.model.generate(
                input_ids=torch.tensor(padded),
                attention_mask=torch.tensor(mask),
                adapter_names=[request["adapter"] for request in requests],
                do_sample=False,
                max_new_tokens=steps,
                min_new_tokens=steps,
                eos_token_id=None,
                pad_token_id=0,
            )
        return [
            row[width : width + request["max_tokens"]].tolist() for row, request in zip(rows, requests, strict=True)
        ]

    def logprobs(self, prompt_ids: list[int], token_ids: list[int], adapter: str) -> list[float]:
        """Log-probabilities of given tokens by one full forward pass, without a cache."""
        self.model.set_adapter(adapter)
        ids = torch.tensor([prompt_ids + token_ids])
        with torch.inference_mode():
            logits = self.model(input_ids=ids).logits[0, len(prompt_ids) - 1 : -1].float()
        targets = torch.tensor(token_ids)[:, None]
        return torch.log_softmax(logits, -1).gather(1, targets)[:, 0].tolist()


if __name__ == "__main__":
    generator = Generator()
    worker.serve({"load": generator.load, "generate": generator.generate, "logprobs": generator.logprobs})
