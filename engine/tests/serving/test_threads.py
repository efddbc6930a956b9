"""The number of cores that torch's operators use in each thread."""

import threading

import torch

from heddle_engine.threads import single_core_pool, use_cores, use_cores_for


def in_new_thread(work) -> list:
    seen = []
    thread = threading.Thread(target=lambda: seen.extend(work()))
    thread.start()
    thread.join()
    return seen


def test_small_operators_use_one_core():
    def work():
        use_cores(2)
        for multiplications in (9_000_000, 11_000_000, 9_000_000):
            use_cores_for(multiplications)
            yield torch.get_num_threads()

    assert in_new_thread(work) == [1, 2, 1]


def test_a_thread_of_somebody_else_keeps_its_cores():
    def work():
        before = torch.get_num_threads()
        use_cores_for(1)
        yield torch.get_num_threads() == before

    assert in_new_thread(work) == [True]


def test_a_pool_on_one_core_leaves_other_threads_theirs():
    def work():
        use_cores(2)
        with single_core_pool(1, "test") as pool:
            yield pool.submit(torch.get_num_threads).result()
        yield torch.get_num_threads()

    assert in_new_thread(work) == [1, 2]
