"""A tool in the form of OpenAI's chat; it allows no other fields, which the shipped model would write without end."""

from typing import Any

ADD: Any = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Adds two numbers",
        "parameters": {
            "type": "object",
            "properties": {"a": {"enum": [3, 4]}, "b": {"enum": [3, 4]}},
            "required": ["a", "b"],
            "additionalProperties": False,
        },
    },
}
