"""A model that adds, and scorers of its answers, for the evaluations of the weave suites."""

import weave

EXAMPLES = [{"text": "3 + 4", "expected": "7"}, {"text": "1 + 1", "expected": "2"}]


class Adder(weave.Model):
    offset: int = 0

    @weave.op
    def predict(self, text: str) -> str:
        return str(sum(map(int, text.split(" + "))) + self.offset)


@weave.op
def exact(expected: str, output: str) -> dict[str, bool]:
    return {"correct": expected == output}
