"""Lays sequences out flat with every shared prefix stored once.

The tokens of a set of sequences form a forest: a node is a stretch of tokens, and its children
continue it. Flat order is depth first, so a subtree is one contiguous range. A token's position is its
place in its own sequence: it goes on after the prefix, and restarts for every sequence.
"""

from dataclasses import dataclass, field

import numpy as np

from ..data.sequences import Sequence

#: Sharing fewer tokens than this costs more in extra attention calls than it saves.
MIN_SHARED = 16


@dataclass(eq=False)
class Node:
    """Tokens ``[start, start + length)`` of the flat row; its subtree ends at ``end``."""

    ids: np.ndarray
    depth: int  # position of the first token
    parent: "Node | None"
    children: list["Node"] = field(default_factory=list)
    start: int = 0
    end: int = 0

    @property
    def length(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Forest:
    """``ids`` and ``positions`` are int64 [N]; ``places[s][t]`` is the flat index of token t of sequence s.

    A node stands before its children in ``nodes``.
    """

    ids: np.ndarray
    positions: np.ndarray
    nodes: list[Node]
    places: list[np.ndarray]

    def cut(self, most: int) -> "Forest":
        """The same tokens in nodes of at most ``most``: a longer one becomes a chain."""
        nodes: list[Node] = []
        tails: dict[int, Node] = {}
        for node in self.nodes:
            above = tails.get(id(node.parent))
            for at in range(0, node.length, most):
                ids = node.ids[at : at + most]
                piece = Node(ids, node.depth + at, above, start=node.start + at, end=node.end)
                if above is not None:
                    above.children.append(piece)
                nodes.append(piece)
                above = piece
            tails[id(node)] = nodes[-1]
        return Forest(self.ids, self.positions, nodes, self.places)


def shared_length(a: Sequence, b: Sequence) -> int:
    """Length of the prefix that both share; 0 if too short to pay. It never ends inside a trained stretch of ``a``."""
    return _worth_sharing(a, _common_prefix(a.ids, b.ids))


def build_forest(sequences: list[Sequence]) -> Forest:
    """Lays out ``sequences`` in their order of first appearance."""
    root = Node(np.zeros(0, np.int64), 0, None)
    tails = [_insert(root, sequence) for sequence in sequences]
    nodes: list[Node] = []
    _number(root, nodes)
    ids = np.concatenate([node.ids for node in nodes])
    positions = np.concatenate([np.arange(node.depth, node.depth + node.length) for node in nodes])
    places = [_path(tail)[: len(sequence)] for tail, sequence in zip(tails, sequences, strict=True)]
    return Forest(ids, positions, nodes, places)


def _common_prefix(a: np.ndarray, b: np.ndarray) -> int:
    n = min(len(a), len(b))
    different = np.flatnonzero(a[:n] != b[:n])
    return int(different[0]) if len(different) else n


def _worth_sharing(sequence: Sequence, common: int) -> int:
    inside = 0 < common < len(sequence) and sequence.trained[common - 1] and sequence.trained[common]
    if inside:
        starts = sequence.trained_starts
        common = int(starts[np.searchsorted(starts, common) - 1])
    return common if common >= MIN_SHARED else 0


def _insert(root: Node, sequence: Sequence) -> Node:
    """Adds a sequence; returns the node whose path from the root begins with its tokens."""
    node, matched = _deepest_match(root, sequence.ids)
    cut = _worth_sharing(sequence, matched)
    while node.parent is not None and cut <= node.depth:
        node = node.parent
    if cut == len(sequence):
        return node
    if node.parent is not None and cut < node.depth + node.length:
        node = _split(node, cut - node.depth)
    leaf = Node(sequence.ids[cut:], cut, node)
    node.children.append(leaf)
    return leaf


def _deepest_match(root: Node, ids: np.ndarray) -> tuple[Node, int]:
    node, matched = root, 0
    while matched < len(ids):
        rest = ids[matched:]
        matches = ((_common_prefix(child.ids, rest), child) for child in node.children)
        common, best = max(matches, key=lambda match: match[0], default=(0, node))
        if not common:
            break
        node, matched = best, matched + common
        if common < best.length:
            break
    return node, matched


def _split(node: Node, length: int) -> Node:
    """Puts the first ``length`` tokens of ``node`` into a new parent, which is returned.

    ``node`` itself becomes the lower part, so that paths that end in it stay whole.
    """
    above = node.parent
    assert above is not None
    upper = Node(node.ids[:length], node.depth, above, [node])
    above.children[above.children.index(node)] = upper
    node.ids, node.depth, node.parent = node.ids[length:], node.depth + length, upper
    return upper


def _number(root: Node, nodes: list[Node]) -> None:
    """Gives every node its flat range, depth first; written without recursion because chains of turns are long."""
    stack, start = [root], 0
    while stack:
        node = stack.pop()
        node.start = start
        start += node.length
        if node.parent is not None:
            nodes.append(node)
        stack += reversed(node.children)
    for node in reversed(nodes):
        node.end = max([node.start + node.length, *(child.end for child in node.children)])


def _path(tail: Node) -> np.ndarray:
    stretches = []
    node: Node | None = tail
    while node is not None:
        stretches.append(np.arange(node.start, node.start + node.length))
        node = node.parent
    return np.concatenate(stretches[::-1])
