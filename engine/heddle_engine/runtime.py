"""Settings of a process that computes."""

from .allocator import keep_few_kernels, keep_freed_pages
from .threads import fix_order_of_sums, set_spinning


def tune_runtime() -> None:
    """To be called before torch is imported."""
    set_spinning()
    fix_order_of_sums()
    keep_few_kernels()
    keep_freed_pages()
