//! Which algorithms there are in C, and how their parameters become the kernel's integers.

use crate::operations::{Operations, Values};
use cwnd_cc::{ParameterKind, ParameterValue, Parameters};
use cwnd_scenario::nearest;

/// A parameter that the C has too. Its meaning, default and range are those of the Rust algorithm's.
#[derive(Clone, Copy, Debug)]
pub struct KernelParameter {
    /// The name.
    pub name: &'static str,
    /// What 1 is in the kernel's integers; 1 for switches.
    pub scale: u32,
}

/// An algorithm for the kernel.
#[derive(Debug)]
pub struct KernelAlgorithm {
    /// Its name, which is that of the Rust algorithm that it equals.
    pub name: &'static str,
    /// The name of its C file, and of its operations there.
    pub file: &'static str,
    /// Parameters, in the order of the C file.
    pub parameters: &'static [KernelParameter],
    /// SHA-256 of all that makes it what it is here: the text of its C file, of the headers, and of what calls them in a
    /// kernel's place.
    pub source: &'static str,
    pub(crate) operations: fn() -> &'static Operations,
    /// The compiled object.
    #[cfg(feature = "load")]
    pub(crate) object: &'static [u8],
    /// The same, compiled so that its state can be sampled.
    #[cfg(feature = "load")]
    pub(crate) sampled: &'static [u8],
}

/// A compiled object. The kernel's loader reads words, so the bytes begin at one.
#[cfg(feature = "load")]
macro_rules! object {
    ($file:ident, $extension:literal) => {{
        #[repr(C, align(8))]
        struct Aligned<T: ?Sized>(T);
        static OBJECT: &Aligned<[u8]> =
            &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/", stringify!($file), $extension)));
        &OBJECT.0
    }};
}

/// `name = C file, C symbol of the native operations, [parameter * scale]`.
macro_rules! algorithms {
    ($($name:literal = $file:ident $symbol:ident, [$($parameter:literal * $scale:literal),*];)*) => {
        unsafe extern "C" {
            $(safe static $symbol: Operations;)*
        }
        static ALGORITHMS: &[KernelAlgorithm] = &[$(KernelAlgorithm {
            name: $name,
            file: stringify!($file),
            parameters: &[$(KernelParameter { name: $parameter, scale: $scale }),*],
            source: env!(concat!("CWND_SOURCE_", stringify!($file))),
            operations: || &$symbol,
            #[cfg(feature = "load")]
            object: object!($file, ".bpf.o"),
            #[cfg(feature = "load")]
            sampled: object!($file, ".sampled.bpf.o"),
        }),*];
    };
}

algorithms! {
    "elastic" = elastic cwnd_native_elastic,
        ["beta" * 1024, "rttmax_reset_on_rto" * 1, "sample_in_slow_start" * 1];
    "agile-sd" = agile_sd cwnd_native_agile_sd,
        ["lambda_max" * 1000, "lambda_min" * 1000, "beta1" * 1000, "beta2" * 1000, "ssthresh_margin" * 1,
         "restart_cwnd" * 1];
    "cltcp" = cltcp cwnd_native_cltcp,
        ["g" * 65536, "n_period" * 1000, "n_max" * 1, "n_in_recovery" * 1, "ecn_cut" * 1];
    "invs" = invs cwnd_native_invs,
        ["c" * 1024, "beta" * 1000, "delta" * 1, "a2" * 65536, "rtt_ref" * 1000, "bdp_ref" * 10,
         "wsp_on_congestion_only" * 1, "rtt_min_reset" * 1];
    "compound" = compound cwnd_native_compound,
        ["alpha" * 1024, "beta" * 1000, "zeta" * 1024, "gamma" * 1024, "w_low" * 1, "tuning_gain" * 1024];
    "africa" = africa cwnd_native_africa, ["alpha" * 1000];
    "tcp-fit" = tcp_fit cwnd_native_tcp_fit, ["a" * 1000, "period" * 1000];
    "fusion" = fusion cwnd_native_fusion, ["d_min" * 1000, "growth_time" * 1000];
    "scalable" = scalable cwnd_native_scalable, ["ai_cnt" * 1, "b" * 1024];
    "highspeed" = highspeed cwnd_native_highspeed, [];
    "htcp" = htcp cwnd_native_htcp,
        ["delta_l" * 1000, "adaptive_backoff" * 1, "rtt_scaling" * 1];
    "bic" = bic cwnd_native_bic,
        ["beta" * 1024, "s_max" * 1000, "s_min" * 1000, "divisor" * 1, "low_window" * 1, "fast_convergence" * 1];
    "illinois" = illinois cwnd_native_illinois,
        ["alpha_max" * 128, "alpha_min" * 128, "beta_min" * 64, "beta_max" * 64, "eta1" * 1000, "eta2" * 1000,
         "eta3" * 1000, "theta" * 1];
    "veno" = veno cwnd_native_veno, ["beta" * 1000, "kept" * 1000];
    "westwood" = westwood cwnd_native_westwood, [];
    "yeah" = yeah cwnd_native_yeah,
        ["alpha" * 1024, "phi" * 1024, "gamma" * 1024, "epsilon" * 1000, "delta" * 1000, "rho" * 1, "zeta" * 1];
    "hybla" = hybla cwnd_native_hybla, ["rtt0" * 1000, "max_exponent" * 1, "scale_start" * 1];
    "vegas" = vegas cwnd_native_vegas,
        ["alpha" * 1000, "beta" * 1000, "gamma" * 1000, "kept" * 1000];
    "dctcp" = dctcp cwnd_native_dctcp, ["g" * 65536, "initial_alpha" * 1024];
    "cubic-linux" = cubic cwnd_native_cubic,
        ["c" * 1024, "beta" * 1024, "fast_convergence" * 1, "tcp_friendliness" * 1, "hystart" * 1];
    "newreno" = newreno cwnd_native_newreno, [];
    "bbr3" = bbr3 cwnd_native_bbr3,
        ["startup_pacing_gain" * 1000, "cwnd_gain" * 1000, "loss_thresh" * 100000, "beta" * 1000, "headroom" * 1000,
         "min_rtt_filter_len" * 1000, "probe_rtt_cwnd_gain" * 1000, "probe_rtt_duration" * 1000,
         "pacing_margin" * 1000];
    "copa" = copa cwnd_native_copa, ["delta" * 1000, "mode_switching" * 1, "min_rtt_window" * 1000];
    "ledbat-pp" = ledbat_pp cwnd_native_ledbat_pp,
        ["target" * 1000, "constant" * 1024, "slowdowns" * 1, "greatest_divisor" * 1000];
    "fast" = fast cwnd_native_fast,
        ["alpha" * 1000, "gain" * 1024, "mi_threshold" * 1000, "update_every" * 1000];
    "d2tcp" = d2tcp cwnd_native_d2tcp,
        ["g" * 65536, "initial_alpha" * 1024, "least_urgency" * 1000, "greatest_urgency" * 1000];
    "multcp" = multcp cwnd_native_multcp, ["n" * 1000];
    "areno" = areno cwnd_native_areno, ["m" * 1000, "gain" * 1000];
    "prague" = prague cwnd_native_prague,
        ["g" * 65536, "rtt_ref" * 1000000, "transition" * 1, "pacing_gain" * 1000];
    "cubic" = cubic9438 cwnd_native_cubic9438, ["c" * 65536, "beta" * 1000, "fast_convergence" * 1];
}

/// Every algorithm, in the order of the list.
pub fn all() -> &'static [KernelAlgorithm] {
    ALGORITHMS
}

/// The algorithm of that name (`elastic`, or as the kernel has it, `cwnd_elastic`).
pub fn find(name: &str) -> Option<&'static KernelAlgorithm> {
    ALGORITHMS.iter().find(|algorithm| algorithm.name == name || algorithm.kernel_name() == name)
}

/// The algorithm of that name.
///
/// # Errors
/// A message that names the nearest one, or says which there are.
pub fn find_or_explain(name: &str) -> Result<&'static KernelAlgorithm, String> {
    find(name).ok_or_else(|| {
        let known: Vec<&str> = all().iter().map(|algorithm| algorithm.name).collect();
        let hint = match nearest(name, known.iter().copied()) {
            Some(meant) => format!("; did you mean `{meant}`?"),
            None => ":".to_owned(),
        };
        format!("there is no algorithm `{name}` for the kernel{hint} there are {}", known.join(", "))
    })
}

/// Reads parameters as `--param` gives them: `beta=0.8`, each once.
///
/// # Errors
/// A text that is not of the form, or a name that is given twice.
pub fn read_parameters(texts: &[String]) -> Result<Vec<(String, String)>, String> {
    let mut parameters: Vec<(String, String)> = Vec::new();
    for text in texts {
        let Some((name, value)) = text.split_once('=') else {
            return Err(format!("\"{text}\" is not NAME=VALUE, as beta=0.8"));
        };
        let (name, value) = (name.trim().to_owned(), value.trim().to_owned());
        if let Some((_, before)) = parameters.iter().find(|(other, _)| *other == name) {
            return Err(format!("`{name}` is given twice, as {before} and as {value}"));
        }
        parameters.push((name, value));
    }
    Ok(parameters)
}

impl KernelAlgorithm {
    /// Its name in the kernel, at most 15 characters.
    pub fn kernel_name(&self) -> String {
        format!("cwnd_{}", self.file)
    }

    /// The Rust algorithm's entry.
    pub fn info(&self) -> &'static cwnd_cc::AlgorithmInfo {
        cwnd_cc::find(self.name).expect("a test finds every one")
    }

    /// SHA-256 of its text, as bytes.
    #[cfg(feature = "load")]
    pub(crate) fn source_bytes(&self) -> [u8; 32] {
        let digit = |at| {
            u8::from_str_radix(&self.source[at..at + 2], 16).expect("build.rs writes hexadecimal digits")
        };
        std::array::from_fn(|byte| digit(2 * byte))
    }

    /// Writes values as they are given to [`KernelAlgorithm::values`], without those that are the defaults.
    pub fn describe(&self, values: &Values) -> String {
        let defaults = self.values(&[]).expect("a test asks for the defaults of each");
        let others = self
            .parameters
            .iter()
            .zip(values)
            .zip(defaults)
            .filter(|((_, value), default)| **value != *default);
        let texts: Vec<String> = others
            .map(|((parameter, value), _)| match self.kind(parameter.name) {
                Some(ParameterKind::Switch { .. }) => format!("{}={}", parameter.name, *value != 0),
                _ => format!("{}={}", parameter.name, shortest(*value, parameter.scale)),
            })
            .collect();
        texts.join(",")
    }

    /// The Rust algorithm's settings for these: its defaults, and what is given.
    ///
    /// # Errors
    /// A parameter that the C has not, or a value that is not of its kind.
    pub fn rust_parameters(&self, given: &[(String, String)]) -> Result<Parameters, String> {
        let mut parameters = Parameters::new();
        for (name, value) in given {
            if !self.parameters.iter().any(|parameter| parameter.name == name) {
                let known: Vec<&str> = self.parameters.iter().map(|parameter| parameter.name).collect();
                let meant = nearest(name, known.iter().copied());
                let hint = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                return Err(format!(
                    "{}: no parameter `{name}` in the kernel{hint} (there are {known})",
                    self.name
                ));
            }
            if parameters.insert(name.clone(), self.value(name, value)?).is_some() {
                return Err(format!("{}: `{name}` is given twice", self.name));
            }
        }
        // The Rust algorithm knows the ranges.
        (self.info().build)(&parameters).map_err(|error| format!("{}: {error}", self.name))?;
        Ok(parameters)
    }

    /// The kernel's integers for these parameters.
    ///
    /// # Errors
    /// Whatever [`KernelAlgorithm::rust_parameters`] refuses.
    pub fn values(&self, given: &[(String, String)]) -> Result<Values, String> {
        let parameters = self.rust_parameters(given)?;
        let mut values = Values::default();
        for (slot, parameter) in values.iter_mut().zip(self.parameters) {
            let value = parameters.get(parameter.name).cloned();
            let value = value.unwrap_or_else(|| default(self.kind(parameter.name).expect("tested")));
            *slot = match value {
                ParameterValue::Number(number) => (number * f64::from(parameter.scale)).round() as u64,
                ParameterValue::Switch(on) => u64::from(on),
                ParameterValue::Word(word) => unreachable!("{word} has no integer"),
            };
        }
        Ok(values)
    }

    fn kind(&self, name: &str) -> Option<ParameterKind> {
        self.info().parameters.iter().find(|parameter| parameter.name == name).map(|parameter| parameter.kind)
    }

    fn value(&self, name: &str, text: &str) -> Result<ParameterValue, String> {
        let wrong = |what: &str| Err(format!("{}: {name}: \"{text}\" is not {what}", self.name));
        match self.kind(name) {
            Some(ParameterKind::Number { .. }) => {
                text.parse().map(ParameterValue::Number).or_else(|_| wrong("a number"))
            }
            Some(ParameterKind::Switch { .. }) => match text {
                "on" | "true" => Ok(ParameterValue::Switch(true)),
                "off" | "false" => Ok(ParameterValue::Switch(false)),
                _ => wrong("`on` or `off`"),
            },
            _ => Ok(ParameterValue::Word(text.into())),
        }
    }
}

/// The shortest decimal number that becomes this value.
fn shortest(value: u64, scale: u32) -> String {
    let number = value as f64 / f64::from(scale);
    let texts = (0..17).map(|digits| format!("{number:.digits$}"));
    let becomes = |text: &String| {
        text.parse().is_ok_and(|number: f64| (number * f64::from(scale)).round() as u64 == value)
    };
    texts.into_iter().find(becomes).unwrap_or_else(|| number.to_string())
}

fn default(kind: ParameterKind) -> ParameterValue {
    match kind {
        ParameterKind::Number { default, .. } => ParameterValue::Number(default),
        ParameterKind::Switch { default } => ParameterValue::Switch(default),
        ParameterKind::Word { default, .. } => ParameterValue::Word(default.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_algorithm_is_in_rust_too_and_has_a_name_that_the_kernel_takes() {
        for algorithm in all() {
            assert!(cwnd_cc::find(algorithm.name).is_some(), "{}", algorithm.name);
            assert!(algorithm.kernel_name().len() <= 15, "{}", algorithm.kernel_name());
            assert!(std::ptr::eq(find(&algorithm.kernel_name()).unwrap(), algorithm));
            assert!(algorithm.rust_parameters(&[]).is_ok());
        }
    }

    #[test]
    fn the_c_has_the_defaults_of_the_rust() {
        for algorithm in all() {
            assert_eq!(algorithm.values(&[]), Ok((algorithm.operations)().defaults()), "{}", algorithm.name);
        }
    }

    #[test]
    fn each_text_has_its_own_digest() {
        let digests: std::collections::BTreeSet<&str> =
            all().iter().map(|algorithm| algorithm.source).collect();
        assert_eq!(digests.len(), all().len());
        assert!(digests.iter().all(|digest| digest.len() == 64), "{digests:?}");
    }

    #[test]
    fn the_nearest_name_is_proposed() {
        let why = |name| find_or_explain(name).unwrap_err();
        assert!(why("elastc").contains("did you mean `elastic`?"), "{}", why("elastc"));
        assert!(why("cubic-linx").contains("did you mean `cubic-linux`?"), "{}", why("cubic-linx"));
        assert!(
            why("zzz").starts_with("there is no algorithm `zzz` for the kernel: there are elastic,"),
            "{}",
            why("zzz")
        );
        let elastic = find("elastic").unwrap();
        let why = elastic.values(&[("betta".into(), "0.7".into())]).unwrap_err();
        assert!(why.contains("did you mean `beta`?"), "{why}");
    }

    #[test]
    fn a_parameter_is_given_once() {
        let read = |texts: &[&str]| {
            read_parameters(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
        };
        let beta = ("beta".to_owned(), "0.7".to_owned());
        assert_eq!(read(&["beta=0.7"]), Ok(vec![beta.clone()]));
        assert_eq!(
            read(&["beta=0.7", "beta = 0.8"]),
            Err("`beta` is given twice, as 0.7 and as 0.8".to_owned())
        );
        assert!(read(&["beta"]).unwrap_err().contains("NAME=VALUE"));
        let why = find("elastic").unwrap().values(&[beta.clone(), beta]).unwrap_err();
        assert_eq!(why, "elastic: `beta` is given twice");
    }

    #[test]
    fn values_are_described_as_they_were_given() {
        let given =
            [("beta".to_owned(), "0.75".to_owned()), ("sample_in_slow_start".to_owned(), "false".to_owned())];
        let elastic = find("elastic").unwrap();
        assert_eq!(
            elastic.describe(&elastic.values(&given).unwrap()),
            "beta=0.75,sample_in_slow_start=false"
        );
        assert_eq!(elastic.describe(&elastic.values(&[]).unwrap()), "");
        // Of 1024ths.
        let given = [("beta".to_owned(), "0.6".to_owned())];
        assert_eq!(elastic.describe(&elastic.values(&given).unwrap()), "beta=0.6");
    }

    #[test]
    fn parameters_are_refused_by_name_and_range() {
        let elastic = find("elastic").unwrap();
        let given = |name: &str, value: &str| elastic.values(&[(name.into(), value.into())]);
        assert_eq!(given("beta", "0.75").unwrap()[0], 768);
        assert!(given("beta", "0.99").unwrap_err().contains("0.95"));
        assert!(given("beta", "half").unwrap_err().contains("not a number"));
        assert!(given("wwf", "literal").unwrap_err().contains("beta, rttmax_reset_on_rto"));
        assert_eq!(given("rttmax_reset_on_rto", "on").unwrap()[1], 1);
    }
}
