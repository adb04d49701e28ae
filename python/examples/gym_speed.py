"""Measures how fast environments are stepped from Python, with random actions.

    python python/examples/gym_speed.py aurora 64 2000 1

The arguments are the preset, the number of environments, of steps, and of threads. Prints steps a second, a second and thread, and the
time that one call takes.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from cwnd.gym import VectorEnv


def main():
    preset, count, steps, threads = (sys.argv[1:] + ["aurora", "64", "2000", "1"][len(sys.argv) - 1 :])[:4]
    count, steps, threads = int(count), int(steps), int(threads)
    envs = VectorEnv(count, preset, threads=threads)
    envs.reset(seed=0)
    limit = min(2.0, float(envs.single_action_space.high[0]))
    actions = np.random.default_rng(0).uniform(-limit, limit, (64, count, 1)).astype(np.float32)
    wall, cpu = time.perf_counter(), time.process_time()
    for step in range(steps):
        envs.step(actions[step % 64])
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    rate = count * steps / wall
    print(
        f"{preset}: {count} environments, {threads} threads: {rate:,.0f} steps/s, {count * steps / cpu:,.0f} steps a second of CPU time, "
        f"{1e6 * wall / steps:,.0f} us a call"
    )


if __name__ == "__main__":
    main()
