"""The HTTP service and its page: one process that answers, others that do the work.

    browser ─▶ app (asyncio: limits, queue, metrics) ─▶ suggest processes   posts → answers
                                                     ─▶ news process        add, index, look up

Python runs one thread at a time, so the work is done in processes: the one that answers stays free
to refuse in milliseconds what is too much, and one that crashes or hangs is replaced.
"""
