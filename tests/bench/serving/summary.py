"""Percentiles and sums over outcomes of requests."""
import math


def percentile(values, share):
    """The smallest value that so large a share of all does not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def mean(values):
    return sum(values) / len(values)


def interval_lengths(outcomes):
    return [end - begin for outcome in outcomes for begin, end in outcome.intervals()]


def summary(outcomes):
    """Figures of a load, named as other load generators name them."""
    answered = [outcome for outcome in outcomes if outcome.complete and outcome.token_times]
    if not answered:
        raise SystemExit(f"no request was answered: {outcomes[0].status} {outcomes[0].error}")
    wall_s = max(outcome.end for outcome in answered) - min(outcome.start for outcome in answered)
    tokens = sum(outcome.num_tokens() for outcome in answered)
    intervals = interval_lengths(answered)
    return {"completed": len(answered), "failed": len(outcomes) - len(answered), "output_tokens": tokens,
            "mean_prompt_tokens": mean([outcome.usage.get("prompt_tokens", 0) for outcome in answered]), "wall_s": wall_s,
            "output_throughput": tokens / wall_s, "mean_ttft_ms": 1e3 * mean([outcome.time_to_first_token() for outcome in answered]),
            "mean_itl_ms": 1e3 * mean(intervals), "p99_itl_ms": 1e3 * percentile(intervals, 0.99)}
