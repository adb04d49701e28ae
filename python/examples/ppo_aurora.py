"""Trains a policy on `cwnd/Aurora-v0` by proximal policy optimisation (Schulman and others, 2017), with NumPy alone.

    python python/examples/ppo_aurora.py --minutes 10 --out aurora.json

Prints the learning curve, and writes the policy for `cwnd compare policy:file=aurora.json`. The result depends on the seed and the number
of updates; `--minutes` cuts the updates, so a run with `--updates` alone is the one that can be repeated.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from cwnd.gym import Policy, VectorEnv

HIDDEN = (32, 16)
"""Widths of the hidden layers: those of PCC-RL."""


class Network:
    """A fully connected network of tanh layers with a linear last one, and its optimiser (Adam)."""

    def __init__(self, widths, gain, rng, extra=0):
        self.parameters = []
        for i, (inputs, outputs) in enumerate(zip(widths, widths[1:])):
            scale = gain if i == len(widths) - 2 else 1.0
            self.parameters.append(orthogonal(rng, inputs, outputs) * scale)
            self.parameters.append(np.zeros(outputs))
        if extra:
            self.parameters.append(np.zeros(extra))  # logarithm of the standard deviation of actions
        self.layers = len(widths) - 1
        self.moments = [(np.zeros_like(p), np.zeros_like(p)) for p in self.parameters]
        self.updates = 0

    def forward(self, inputs):
        """Returns the outputs of all layers, the inputs first."""
        values = [inputs]
        for i in range(self.layers):
            out = values[-1] @ self.parameters[2 * i] + self.parameters[2 * i + 1]
            values.append(np.tanh(out) if i < self.layers - 1 else out)
        return values

    def gradients(self, values, last):
        """Returns the gradients of weights and biases, where `last` is that of the last outputs."""
        result = [None] * (2 * self.layers)
        for i in reversed(range(self.layers)):
            result[2 * i] = values[i].T @ last
            result[2 * i + 1] = last.sum(0)
            if i:
                last = (last @ self.parameters[2 * i].T) * (1.0 - values[i] ** 2)
        return result

    def descend(self, gradients, rate):
        """Takes a step of Adam, after cutting the gradient's norm to 0.5."""
        norm = np.sqrt(sum(float((g * g).sum()) for g in gradients))
        scale = min(1.0, 0.5 / (norm + 1e-12))
        self.updates += 1
        for parameter, gradient, (mean, square) in zip(self.parameters, gradients, self.moments):
            gradient = gradient * scale
            mean += 0.1 * (gradient - mean)
            square += 0.001 * (gradient * gradient - square)
            corrected = mean / (1 - 0.9**self.updates)
            parameter -= rate * corrected / (np.sqrt(square / (1 - 0.999**self.updates)) + 1e-8)


def orthogonal(rng, inputs, outputs):
    """Returns a random matrix with orthogonal rows or columns."""
    q, r = np.linalg.qr(rng.standard_normal((max(inputs, outputs), min(inputs, outputs))))
    q = q * np.sign(np.diag(r))
    return q if inputs >= outputs else q.T


class Scale:
    """Brings the features near zero to a size near one. The saved policy has it in its first layer."""

    def __init__(self, width):
        # Latency inflation, latency ratio, send ratio. What matters are small differences from a path without a queue.
        self.mean = np.tile([0.0, 1.0, 1.0], width // 3)
        self.deviation = np.tile([0.1, 0.5, 0.2], width // 3)

    def __call__(self, observations):
        return np.clip((observations - self.mean) / self.deviation, -10.0, 10.0)


def known(scaled, info):
    """Returns what the critic sees: the observation, and rates and delay in units, which the policy does not see. It is used in
    training alone."""
    rates = [info["send_rate_bps"] / 3e6, info["throughput_bps"] / 3e6, info["rtt_s"], np.log(info["rtt_s"] + 0.05)]
    return np.column_stack([scaled, *rates, info["loss_ratio"] * 10])


def layers_of(network, scale):
    """Returns the layers of a policy file: the scale of observations becomes part of the first."""
    layers = []
    for i in range(network.layers):
        weights, bias = network.parameters[2 * i], network.parameters[2 * i + 1]
        if i == 0:
            weights, bias = weights / scale.deviation[:, None], bias - (scale.mean / scale.deviation) @ weights
        layers.append({"weights": weights.T.tolist(), "bias": bias.tolist()})
    return layers


def advantages(rewards, values, following, ended, gamma, lam):
    """Returns generalised advantage estimates. `following` is the value of what follows each step, at an episode's end too."""
    result = np.zeros_like(rewards)
    running = np.zeros(rewards.shape[1])
    for t in reversed(range(len(rewards))):
        error = rewards[t] + gamma * following[t] - values[t]
        running = error + gamma * lam * running * ~ended[t]
        result[t] = running
    return result


def evaluate(act, episodes=1000, seed=1_000_000):
    """Returns the mean reward of an episode of 400 steps over paths that training does not see, and its standard error."""
    envs = VectorEnv(episodes, "aurora", autoreset_mode="disabled")
    seen, _ = envs.reset(seed=seed)
    total = np.zeros(episodes)
    for _ in range(400):
        seen, rewards, *_ = envs.step(act(seen).reshape(-1, 1))
        total += rewards
    return total.mean(), total.std(ddof=1) / np.sqrt(episodes)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60.0, help="stop after this time")
    parser.add_argument("--updates", type=int, default=150, help="how many times 64 episodes are learnt from")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=0, help="0 for one a core")
    parser.add_argument("--out", default="aurora.json")
    options = parser.parse_args()

    count, steps, epochs, parts, gamma, lam, clip = 64, 400, 4, 16, 0.99, 0.95, 0.2
    rng = np.random.default_rng(options.seed)
    envs = VectorEnv(count, "aurora", threads=options.threads, autoreset_mode="same-step")
    width = envs.single_observation_space.shape[0]
    policy = Network((width, *HIDDEN, 1), 0.01, rng, extra=1)
    critic = Network((width + 5, 64, 32, 1), 1.0, rng)

    seen, info = envs.reset(seed=options.seed)
    scale = Scale(width)
    reward_scale = 0.1
    begun = time.monotonic()
    for update in range(options.updates):
        observations, facts = np.empty((steps, count, width)), np.empty((steps, count, width + 5))
        actions, rewards, values, following = (np.empty((steps, count)) for _ in range(4))
        ended = np.empty((steps, count), bool)
        log_deviation = policy.parameters[-1][0]
        current = scale(seen)
        fact = known(current, info)
        value = critic.forward(fact)[-1][:, 0]
        for t in range(steps):
            mean = policy.forward(current)[-1][:, 0]
            action = mean + np.exp(log_deviation) * rng.standard_normal(count)
            observations[t], facts[t], actions[t], values[t] = current, fact, action, value
            seen, reward, terminated, truncated, info = envs.step(action.astype(np.float32).reshape(-1, 1))
            current = scale(seen)
            fact = known(current, info)
            value = critic.forward(fact)[-1][:, 0]
            rewards[t], ended[t], following[t] = reward, terminated | truncated, value
            if ended[t].any():
                # An episode is cut, not over: what follows it has the value of its last observation.
                last = critic.forward(known(scale(info["final_obs"]), info["final_info"]))[-1][:, 0]
                following[t][ended[t]] = last[ended[t]]
        gains = advantages(reward_scale * rewards, values, following, ended, gamma, lam)
        targets = (gains + values).ravel()
        gains = (gains.ravel() - gains.mean()) / gains.std()
        inputs, taken, facts = observations.reshape(-1, width), actions.ravel(), facts.reshape(len(targets), -1)
        old = -0.5 * ((taken - policy_mean(policy, inputs)) / np.exp(log_deviation)) ** 2 - log_deviation
        rate = 3e-4 * max(0.05, 1.0 - update / options.updates)
        for _ in range(epochs):
            for part in np.array_split(rng.permutation(len(taken)), parts):
                improve(policy, inputs[part], taken[part], gains[part], old[part], clip, rate)
                values = critic.forward(facts[part])
                error = (values[-1][:, 0] - targets[part]) / len(part)
                critic.descend(critic.gradients(values, error[:, None]), 1e-3)
        elapsed = time.monotonic() - begun
        if update % 10 == 0 or update == options.updates - 1:
            episode = rewards.sum(0).mean()
            deviation = np.exp(policy.parameters[-1][0])
            print(
                f"update {update:4}  steps {(update + 1) * steps * count:9,}  {elapsed:6.0f} s  "
                f"reward of an episode {episode:8.1f}  deviation {deviation:.3f}",
                flush=True,
            )
            save(options.out, envs, policy, scale)
        if elapsed > 60 * options.minutes:
            print(f"stopped after {update + 1} updates")
            break
    learnt = save(options.out, envs, policy, scale)
    mean, error = evaluate(lambda seen: learnt.act(seen))
    print(f"{options.out}: reward of an episode {mean:.1f} +- {error:.1f} (mean and standard error, 1,000 unseen paths)")


def policy_mean(policy, inputs):
    """Returns the mean actions."""
    return policy.forward(inputs)[-1][:, 0]


def improve(policy, inputs, taken, gains, old, clip, rate):
    """Takes a step of the clipped objective on a part of the batch."""
    layers = policy.forward(inputs)
    log_deviation = policy.parameters[-1][0]
    deviation = np.exp(log_deviation)
    off = (taken - layers[-1][:, 0]) / deviation
    ratio = np.exp(-0.5 * off**2 - log_deviation - old)
    # The objective is flat where the ratio has left the range in the direction of the advantage.
    flat = ((gains > 0) & (ratio > 1 + clip)) | ((gains < 0) & (ratio < 1 - clip))
    weight = np.where(flat, 0.0, -gains * ratio) / len(gains)
    gradients = policy.gradients(layers, (weight * off / deviation)[:, None])
    gradients.append(np.array([(weight * (off**2 - 1.0)).sum()]))
    policy.descend(gradients, rate)


def save(file, envs, policy, scale):
    """Writes the policy file."""
    learnt = Policy.of(envs, layers_of(policy, scale))
    with open(file, "w") as out:
        out.write(learnt.to_json() + "\n")
    return learnt


if __name__ == "__main__":
    main()
