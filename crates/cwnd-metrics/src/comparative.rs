//! Measures that compare two results.

/// (a - b) / b; none if that is not finite.
pub fn relative_gain(a: f64, b: f64) -> Option<f64> {
    Some((a - b) / b).filter(|gain| gain.is_finite())
}

/// (alone - mixed) / alone: what part of the throughput that flows have among their like is taken from them by flows of
/// another algorithm; none if that is not finite.
pub fn bandwidth_stolen_rate(alone: f64, mixed: f64) -> Option<f64> {
    Some((alone - mixed) / alone).filter(|rate| rate.is_finite())
}

/// (solo - beside) / solo: the harm that others do to a quantity of which more is better, such as throughput (Ware,
/// Mukerjee, Seshan, Sherry, HotNets 2019); none if that is not finite.
pub fn harm(solo: f64, beside: f64) -> Option<f64> {
    Some((solo - beside) / solo).filter(|harm| harm.is_finite())
}

/// (beside - solo) / beside: the harm that others do to a quantity of which less is better, such as delay; none if that
/// is not finite.
pub fn harm_of_less(solo: f64, beside: f64) -> Option<f64> {
    Some((beside - solo) / beside).filter(|harm| harm.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        assert_eq!(relative_gain(3.0, 2.0), Some(0.5));
        assert_eq!(relative_gain(1.0, 0.0), None);
        // 40 Mbit/s among their like, 30 beside others.
        assert_eq!(bandwidth_stolen_rate(40.0, 30.0), Some(0.25));
        assert_eq!(bandwidth_stolen_rate(0.0, 0.0), None);
        // 10 Mbit/s alone, 4 beside another; 20 ms alone, 50 ms beside another.
        assert_eq!(harm(10.0, 4.0), Some(0.6));
        assert_eq!(harm_of_less(20.0, 50.0), Some(0.6));
        assert_eq!(harm(0.0, 1.0), None);
    }
}
