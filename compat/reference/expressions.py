"""Makes random expressions of the query language: calls 3.6, objects 11."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import json_values

Expression = dict[str, Any]
COMPARISONS = ["$eq", "$gt", "$gte", "$lt", "$lte"]
CASTS = ["double", "int", "string", "bool", "exists"]


class Expressions:
    """Draws expressions; `field` draws a field's name and literals that are likely values of it."""

    def __init__(self, random: Random, field: Callable[[], tuple[str, list[Any]]]) -> None:
        self._random = random
        self._field = field

    def expression(self, depth: int = 2) -> Expression:
        random = self._random
        if depth == 0 or random.random() < 0.6:
            return self._leaf()
        operator = random.choice(["$and", "$or", "$not"])
        count = 1 if operator == "$not" else random.randrange(1, 4)
        return {operator: [self.expression(depth - 1) for _ in range(count)]}

    def _leaf(self) -> Expression:
        random = self._random
        name, literals = self._field()
        wanted = literals[0]
        operand: Expression = {"$getField": name}
        if random.random() < 0.2:
            operand = {"$convert": {"input": operand, "to": random.choice(CASTS)}}
        kind = random.random()
        if kind < 0.15:
            return {"$in": [operand, [{"$literal": one} for one in literals]]}
        if kind < 0.3:
            part = wanted if isinstance(wanted, str) else random.choice(json_values.TEXTS)
            contains: dict[str, Any] = {"input": operand, "substr": {"$literal": part}}
            return {"$contains": contains | random.choice([{}, {"case_insensitive": True}])}
        sides = [operand, {"$literal": wanted}]
        if kind < 0.35:
            sides.reverse()
        elif kind < 0.4 and not (name + (other := self._field()[0])).count("ed_at"):
            sides[1] = {"$getField": other}
        return {random.choice(COMPARISONS): sides}


def leaves(expression: Expression) -> Iterator[Expression]:
    """The comparisons and searches of an expression, without the operators that join them."""
    for operator in ("$and", "$or", "$not"):
        if operator in expression:
            for operand in expression[operator]:
                yield from leaves(operand)
            return
    yield expression


def simpler(expression: Expression) -> Iterator[Expression]:
    """Smaller expressions, the smallest first."""
    yield from (leaf for leaf in leaves(expression) if leaf != expression)
    for operator in ("$and", "$or"):
        operands = expression.get(operator, [])
        if len(operands) > 1:
            for index in range(len(operands)):
                yield {operator: operands[:index] + operands[index + 1 :]}
    for operator in ("$and", "$or", "$not"):
        for index, operand in enumerate(expression.get(operator, [])):
            for less in simpler(operand):
                yield {operator: [*expression[operator][:index], less, *expression[operator][index + 1 :]]}
