"""The order of waiting work: tenants take turns, and within a tenant it is first come, first served."""

from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

Item = TypeVar("Item")


class TurnQueue(Generic[Item]):
    """Items that wait, in a line for each tenant. A tenant that is new, or has just been served, comes last."""

    def __init__(self) -> None:
        self._lines: OrderedDict[str, deque[Item]] = OrderedDict()

    def __iter__(self) -> Iterator[Item]:
        """All that wait when it is asked, which other threads may do: lines are copied, each in a moment of its own."""
        return iter([item for line in list(self._lines.values()) for item in list(line)])

    def __bool__(self) -> bool:
        return bool(self._lines)

    def tenants(self) -> list[str]:
        """The waiting tenants, in the order of their turns."""
        return list(self._lines)

    def line(self, tenant: str) -> Iterator[Item]:
        return iter(self._lines.get(tenant, ()))

    def add(self, tenant: str, item: Item) -> None:
        self._lines.setdefault(tenant, deque()).append(item)

    def add_first(self, tenant: str, item: Item) -> None:
        self._lines.setdefault(tenant, deque()).appendleft(item)

    def remove(self, tenant: str, item: Item) -> None:
        self._lines[tenant].remove(item)
        if not self._lines[tenant]:
            del self._lines[tenant]

    def served(self, tenant: str) -> None:
        """It is the others' turn, should `tenant` still wait for something."""
        if tenant in self._lines:
            self._lines.move_to_end(tenant)

    def discard(self, unwanted: Callable[[Item], bool]) -> None:
        for tenant, line in list(self._lines.items()):
            if any(unwanted(item) for item in line):
                kept = deque(item for item in line if not unwanted(item))
                if kept:
                    self._lines[tenant] = kept
                else:
                    del self._lines[tenant]
