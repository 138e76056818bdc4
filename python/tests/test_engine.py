"""Engines: order, cancelling, limits, ends."""

import asyncio
import gc
import math
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import traceback
import warnings

import numpy as np
import pytest
import tenon

LONG = {"max_new_tokens": 200, "ignore_eos": True}


def test_many_requests(model):
    with tenon.Engine(model, threads=1, max_num_seqs=4) as engine:
        requests = [engine.submit([i + 1, 2, 3], max_new_tokens=5 + i,
                                  ignore_eos=True) for i in range(12)]
        answers = [r.result(60) for r in requests]
        assert [len(a.token_ids) for a in answers] == list(range(5, 17))
        assert {r.state for r in requests} == {"finished"}
        counts = engine.statistics()
        assert counts["finished"] == 12 and counts["running"] == 0
        assert counts["completion_tokens"] == sum(range(5, 17))


def test_prefixes_are_shared_by_salt(model):
    prompt = list(range(1, 60)) * 3
    with tenon.Engine(model, threads=1) as engine:
        first = engine.submit(prompt, max_new_tokens=4).result()
        again = engine.submit(prompt, max_new_tokens=4).result()
        other = engine.submit(prompt, max_new_tokens=4, salt="b").result()
    assert first.usage.cached_tokens == other.usage.cached_tokens == 0
    assert again.usage.cached_tokens > 0
    assert again.token_ids == first.token_ids == other.token_ids
    with tenon.Engine(model, threads=1) as engine:
        with pytest.raises(tenon.InvalidArgument, match=r"^salt: .*U\+0000"):
            engine.submit(prompt, salt="a\0b")
        with pytest.raises(tenon.InvalidArgument, match=r"^path: .*U\+0000"):
            engine.save_prefixes("kept\0b")
    with tenon.Engine(model, threads=1, prefix_cache=False) as engine:
        for _ in range(2):
            answer = engine.submit(prompt, max_new_tokens=4).result()
            assert answer.usage.cached_tokens == 0


def test_cancelling_touches_no_other(model):
    with tenon.Engine(model, threads=1) as engine:
        expected = engine.submit("In the", max_new_tokens=40).result()
        other = engine.submit("In the", max_new_tokens=40)
        doomed = engine.submit("And the", **LONG)
        next(iter(doomed))
        doomed.cancel()
        with pytest.raises(tenon.Cancelled):
            doomed.result(60)
        assert doomed.state == "cancelled"
        assert other.result(60).token_ids == expected.token_ids
        doomed.cancel()  # nothing left to do
        assert engine.statistics()["cancelled"] == 1


def test_leaving_a_loop_cancels(model):
    with tenon.Engine(model, threads=1) as engine:
        request = engine.submit("And the", **LONG)
        for _ in request:
            break
        gc.collect()
        with pytest.raises(tenon.Cancelled):
            request.result(60)


def test_cancelled_tasks_cancel_their_request(model):
    async def main(engine):
        request = engine.submit("And the", **LONG)
        task = asyncio.create_task(request.completion())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return request

    with tenon.Engine(model, threads=1) as engine:
        request = asyncio.run(main(engine))
        with pytest.raises(tenon.Cancelled):
            request.result(60)


def test_full_queues_and_timeouts(model):
    with tenon.Engine(model, threads=1, max_num_seqs=1, max_queued=2) as engine:
        with pytest.raises(tenon.QueueFull) as full:
            for _ in range(50):
                engine.submit("And the", **LONG)
        assert full.value.retry_after >= 1
        assert "expected fewer than 2" in str(full.value)
    with tenon.Engine(model, threads=1, max_num_seqs=1) as engine:
        engine.submit("And the", **LONG)
        late = engine.submit("And the", timeout=1e-6, **LONG)
        with pytest.raises(tenon.Cancelled, match="seconds"):
            late.result(60)
        waiting = engine.submit("And the", **LONG)
        with pytest.raises(TimeoutError):
            waiting.result(timeout=0)
    with pytest.raises(tenon.OutOfCachePages, match="texts at once"):
        tenon.Engine(model, max_num_seqs=2).submit("a", n=3, temperature=1)
    for name, value in (("max_step_ms", -1.0), ("max_step_ms", 0),
                        ("max_queued", 0), ("max_num_seqs", -1)):
        with pytest.raises(tenon.InvalidArgument,
                           match=f"{name} is {value}: expected more than 0"):
            tenon.Engine(model, **{name: value})
    for timeout in 0, -1, float("nan"):
        with pytest.raises(tenon.InvalidArgument, match="timeout is"):
            model.engine.submit("a", timeout=timeout)


def test_waiting_for_places(example):
    """Calls that wait for answers wait for places too, whoever has them."""
    with tenon.load(example, threads=1, max_num_seqs=1,
                    max_queued=1) as model:
        expected = model.generate("a", max_new_tokens=2).token_ids
        blocking = []
        with pytest.raises(tenon.QueueFull):
            while True:
                blocking.append(model.stream("And the", **LONG))
        answers = []

        def ask():
            answers.extend(model.generate(["a"] * 3, max_new_tokens=2))
            answers.append(model.chat("a", max_new_tokens=2))

        async def ask_together():
            return await asyncio.gather(*[
                model.agenerate("a", max_new_tokens=2) for _ in range(3)])

        thread = threading.Thread(target=ask)
        thread.start()
        timer = threading.Timer(0.1, lambda: [r.cancel() for r in blocking])
        timer.start()
        answers += asyncio.run(ask_together())
        thread.join(60)
        assert len(answers) == 7
        assert [a.token_ids for a in answers].count(expected) >= 6

        with pytest.raises(tenon.QueueFull):
            while True:
                blocking.append(model.stream("And the", **LONG))
        failures, submission = [], model.engine._submission("And the", **LONG)
        thread = threading.Thread(target=lambda: failures.append(
            pytest.raises(tenon.Cancelled,
                          lambda: submission.submit_when_free().result())))
        thread.start()
        model.close()
        thread.join(60)
        assert len(failures) == 1


class Watched:
    """An engine's native part, of which a test sees submit()."""

    def __init__(self, engine, submit):
        self._native, self._submit = engine._native, submit
        engine._native = self

    def __getattr__(self, name):
        return getattr(self._native, name)

    def submit(self, *arguments):
        return self._submit(self._native.submit, *arguments)


def test_event_loops_compile_nothing(model):
    threads = []

    def submit(own, *arguments):
        threads.append(threading.get_ident())
        return own(*arguments)

    async def main():
        wish = {"regex": "[ab]{2}", "max_new_tokens": 8}
        answer = await model.agenerate("a", **wish)
        assert (await model.achat("a", **wish)).text
        request = await model.engine.asubmit("a", **wish)
        assert (await request.completion()).text == answer.text
        request = await model.engine.asubmit_chat("a", timeout=60, **wish)
        assert (await request.completion()).text
        for ask in model.agenerate, model.achat, model.engine.asubmit:
            with pytest.raises(tenon.InvalidArgument, match="regex: "):
                await ask("a", regex="(")
            with pytest.raises(tenon.InvalidArgument, match="unknown setting"):
                await ask("a", regexp="a")

    Watched(model.engine, submit)
    asyncio.run(main())
    assert len(threads) == 7 and threading.get_ident() not in threads


def test_cancelled_while_compiling(model):
    has_begun, may_end = threading.Event(), threading.Event()

    def submit(own, *arguments):
        has_begun.set()
        assert may_end.wait(60)
        return own(*arguments)

    async def main():
        task = asyncio.create_task(model.agenerate("And the", **LONG))
        await asyncio.to_thread(has_begun.wait, 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        may_end.set()

    Watched(model.engine, submit)
    asyncio.run(main())
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not model.engine.statistics()[
            "cancelled"]:
        time.sleep(0.01)
    assert model.engine.statistics()["cancelled"] == 1


def test_draining_and_closing(model):
    engine = tenon.Engine(model, threads=1)
    short = engine.submit("a", max_new_tokens=2)
    assert engine.drain(math.inf)
    assert len(short.result(60).token_ids) == 2
    with pytest.raises(tenon.Cancelled):
        engine.submit("a")
    engine.close()
    engine.close()
    with pytest.raises(tenon.Cancelled, match="closed"):
        engine.submit("a")

    engine = tenon.Engine(model, threads=1)
    running = engine.submit("And the", **LONG)
    waiter = []
    thread = threading.Thread(
        target=lambda: waiter.append(pytest.raises(tenon.Cancelled,
                                                   running.result)))
    thread.start()
    engine.close()
    thread.join(60)
    assert len(waiter) == 1 and running.state == "cancelled"


def test_a_failing_delivery_fails_its_request(model, monkeypatch):
    with tenon.Engine(model, threads=1) as engine:
        failing = engine.submit("And the", **LONG)

        def fail(news):
            raise RuntimeError("no room")

        monkeypatch.setattr(failing, "_read", fail)
        other = engine.submit("In the", max_new_tokens=4)
        assert len(other.result(60).token_ids) == 4
        with pytest.raises(RuntimeError, match="no room"):
            failing.result(60)
        assert failing.state == "failed"
        with pytest.raises(RuntimeError, match="no room"):
            list(failing)


def test_lost_news_fail_all_requests(model):
    class Losing:
        """An engine some of whose news get lost."""

        def __init__(self, native):
            self._native = native
            self.are_lost = threading.Event()

        def __getattr__(self, name):
            return getattr(self._native, name)

        def wait(self, seconds):
            if self.are_lost.is_set():
                raise MemoryError("no room")
            return self._native.wait(0.01)

    with tenon.Engine(model, threads=1) as engine:
        losing = engine._mail._native = Losing(engine._native)
        engine.submit("a", max_new_tokens=1).result(60)  # ends a longer wait
        waiting = [engine.submit("And the", **LONG) for _ in range(3)]
        losing.are_lost.set()
        for request in waiting:
            with pytest.raises(MemoryError):
                request.result(60)
        with pytest.raises(tenon.Cancelled, match="closed"):
            engine.submit("a")


def test_news_before_their_request(model):
    """A request may have ended before its number is known here."""
    with tenon.Engine(model, threads=1) as engine:
        expected = engine.submit("In the", max_new_tokens=4).result(60)
        submit = engine._native.submit

        class Slow:
            def __getattr__(self, name):
                return getattr(native, name)

            def submit(self, *arguments):
                answer = submit(*arguments)
                while engine.statistics()["finished"] < 2:
                    time.sleep(0.001)
                return answer

        native, engine._native = engine._native, Slow()
        request = engine.submit("In the", max_new_tokens=4)
        chunks = list(request)
        assert "".join(c.text for c in chunks) == expected.text
        assert request.result(60).token_ids == expected.token_ids


def test_forked_processes_are_told(model):
    session = tenon.Session(model, threads=1, cache_tokens=64)
    sequence = session.sequence()
    shared = tenon.Resources(threads=1)
    request = model.stream("a", max_new_tokens=2)
    request.result(60)
    asks = {"Engine": lambda: model.generate("a"),
            "a request": request.result,
            "chunks": lambda: list(request),
            "Session": lambda: sequence.append([1]),
            "Resources": lambda: tenon.Session(model, resources=shared)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there are threads
        child = os.fork()
    if child == 0:
        wrong = 0
        try:
            for name, ask in asks.items():
                with pytest.raises(tenon.InvalidArgument,
                                   match="which was forked"):
                    ask()
            del request, sequence, session, shared
            asks.clear()
            # What has no threads can be used.
            with tenon.Engine(model, threads=1) as own:
                assert own.submit("a", max_new_tokens=2).result(60)
            model.close()
        except BaseException:
            traceback.print_exc()
            wrong = 1
        os._exit(wrong)
    deadline = time.monotonic() + 60
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.01)
    assert ended == (child, 0)
    assert len(model.generate("a", max_new_tokens=2).token_ids) == 2


def test_chat_through_an_engine(model):
    with tenon.Engine(model, threads=1) as engine:
        answer = engine.submit_chat("Hello", max_new_tokens=6).result()
    assert answer.text == model.chat("Hello", max_new_tokens=6).text
    assert answer.prompt_token_ids == model.chat_prompt("Hello")


def test_nobody_holds_an_engine(model):
    before = threading.active_count()
    engine = tenon.Engine(model, threads=1)
    engine.submit("a", max_new_tokens=2).result()
    assert threading.active_count() == before + 1
    del engine
    gc.collect()
    deadline = time.monotonic() + 60
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() == before


def test_the_interpreter_ends_with_requests_running(example):
    program = textwrap.dedent(f"""
        import tenon
        model = tenon.load({example!r})
        requests = [model.stream("And the", max_new_tokens=400,
                                 ignore_eos=True) for _ in range(4)]
        next(iter(requests[0]))
        print("end")
    """)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True,
                          text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


def test_the_lock_is_let_go_while_computing(model):
    """Python goes on while a model computes."""
    ticks = 0
    request = model.stream("And the", **LONG)
    while request.state not in ("finished", "failed", "cancelled"):
        ticks += 1
        time.sleep(0)
    assert ticks > 100


def test_models_share_resources(example, sentences):
    """Threads and a limit of memory, by a decoder and an encoder at once."""
    shared = tenon.Resources(threads=2, memory=1 << 30)
    alone = [tenon.load(example, threads=2).generate(
        "In the", temperature=0, max_new_tokens=12).text,
        tenon.load(sentences, threads=2).embed(["tok5 tok6"])]
    with tenon.load(example, resources=shared, cache_tokens=512) as model, \
            tenon.load(sentences, resources=shared) as encoder:
        running = [model.stream("In the", temperature=0, max_new_tokens=12)
                   for _ in range(4)]
        for _ in range(5):
            np.testing.assert_array_equal(encoder.embed(["tok5 tok6"]),
                                          alone[1])
        assert [r.result().text for r in running] == [alone[0]] * 4
    little = tenon.Resources(memory=1 << 16)
    with pytest.raises(tenon.OutOfMemory, match="budget of 65536"):
        tenon.load(example, resources=little).generate("a")
    with pytest.raises(tenon.InvalidArgument, match="threads is 2"):
        tenon.load(example, resources=shared, threads=2).generate("a")
    with pytest.raises(tenon.InvalidArgument, match="threads is 2"):
        tenon.Session(tenon.load(example), threads=2, resources=shared)


def test_kept_prompts_in_a_file(example, tmp_path):
    prompt = list(range(100, 200))
    with tenon.Engine(tenon.load(example)) as engine:
        expected = engine.submit(prompt, temperature=0,
                                 max_new_tokens=6).result()
        engine.save_prefixes(tmp_path / "kept")
    with tenon.Engine(tenon.load(example)) as engine:
        assert engine.load_prefixes(tmp_path / "kept") == 1
        found = engine.submit(prompt, temperature=0, max_new_tokens=6).result()
        assert found.token_ids == expected.token_ids
        assert found.usage.cached_tokens > 0 == expected.usage.cached_tokens
        with pytest.raises(tenon.NotFound):
            engine.load_prefixes(tmp_path / "none")
        with pytest.raises(tenon.DamagedFile):
            engine.load_prefixes(example)
