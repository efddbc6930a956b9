"""From messages to tokens and back: tokenizer, chat template, tool calls."""
