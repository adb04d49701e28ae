//! A multilayer perceptron.

use serde::{Deserialize, Serialize};

/// A fully connected layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Layer {
    /// A row for each output, with a weight for each input.
    pub weights: Vec<Vec<f64>>,
    /// What is added to each output.
    pub bias: Vec<f64>,
}

/// The function that follows each layer but the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// The hyperbolic tangent.
    #[default]
    Tanh,
    /// The greater of the value and zero.
    Relu,
}

/// Checks that layers fit each other and have `inputs` inputs and `outputs` outputs.
pub fn check(layers: &[Layer], inputs: usize, outputs: usize) -> Result<(), String> {
    if layers.is_empty() {
        return Err("layers: there are none; a policy has at least 1".to_owned());
    }
    let mut width = inputs;
    for (i, layer) in layers.iter().enumerate() {
        let rows = layer.weights.len();
        if let Some(row) = layer.weights.iter().position(|row| row.len() != width) {
            let found = layer.weights[row].len();
            let source = if i == 0 { "the observation has" } else { "the layer before has" };
            return Err(format!("layers[{i}].weights[{row}]: has {found} numbers; {source} {width}"));
        }
        if layer.bias.len() != rows || rows == 0 {
            let found = layer.bias.len();
            return Err(format!("layers[{i}].bias: has {found} numbers for {rows} rows of weights"));
        }
        if !layer.weights.iter().flatten().chain(&layer.bias).all(|number| number.is_finite()) {
            return Err(format!("layers[{i}]: has a number that is not finite"));
        }
        width = rows;
    }
    if width == outputs {
        return Ok(());
    }
    let last = layers.len() - 1;
    Err(format!("layers[{last}]: has {width} outputs; the action needs {outputs}"))
}

/// Returns the outputs for inputs of the right number. Sums are from the first input to the last, in `f64`.
pub fn evaluate(layers: &[Layer], activation: Activation, inputs: &[f32]) -> Vec<f64> {
    let mut values: Vec<f64> = inputs.iter().map(|input| f64::from(*input)).collect();
    for (i, layer) in layers.iter().enumerate() {
        let output = |(row, bias): (&Vec<f64>, &f64)| {
            let sum = bias + row.iter().zip(&values).map(|(weight, value)| weight * value).sum::<f64>();
            match activation {
                _ if i + 1 == layers.len() => sum,
                Activation::Tanh => libm::tanh(sum),
                Activation::Relu => sum.max(0.0),
            }
        };
        values = layer.weights.iter().zip(&layer.bias).map(output).collect();
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layers() -> Vec<Layer> {
        let hidden = Layer {
            weights: vec![vec![1.0, -2.0], vec![0.5, 0.5], vec![0.0, 1.0]],
            bias: vec![0.5, 0.0, -1.0],
        };
        vec![hidden, Layer { weights: vec![vec![1.0, 2.0, -1.0]], bias: vec![0.25] }]
    }

    #[test]
    fn by_hand() {
        // (1, 3): 1 - 6 + 0.5 = -4.5; 2; 2. With ReLU 0 + 2 x 2 - 2 + 0.25.
        assert_eq!(evaluate(&layers(), Activation::Relu, &[1.0, 3.0]), [2.25]);
        let tanh = evaluate(&layers(), Activation::Tanh, &[1.0, 3.0])[0];
        let expected = (-4.5f64).tanh() + 2f64.tanh() + 0.25;
        assert!((tanh - expected).abs() < 1e-12);
    }

    #[test]
    fn shapes_are_checked() {
        let refused = |layers: &[Layer], inputs, outputs| check(layers, inputs, outputs).unwrap_err();
        assert_eq!(check(&layers(), 2, 1), Ok(()));
        assert_eq!(refused(&layers(), 3, 1), "layers[0].weights[0]: has 2 numbers; the observation has 3");
        assert_eq!(refused(&layers(), 2, 5), "layers[1]: has 1 outputs; the action needs 5");
        assert_eq!(refused(&[], 2, 1), "layers: there are none; a policy has at least 1");
        let mut wrong = layers();
        wrong[1].bias.clear();
        assert_eq!(refused(&wrong, 2, 1), "layers[1].bias: has 0 numbers for 1 rows of weights");
        wrong[1] = Layer { weights: vec![vec![1.0]], bias: vec![0.0] };
        assert_eq!(refused(&wrong, 2, 1), "layers[1].weights[0]: has 1 numbers; the layer before has 3");
        wrong[0].bias[0] = f64::NAN;
        assert_eq!(refused(&wrong, 2, 1), "layers[0]: has a number that is not finite");
    }
}
