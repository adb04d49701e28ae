//! The project's chores as a program: `cargo xtask` lists them.
#![forbid(unsafe_code)]

mod bench;
mod book;
mod command;
mod cross;
mod deps;
mod dist;
mod drill;
mod evaluate;
mod exchanges;
mod fidelity;
mod fuzz;
mod graph;
mod json;
mod machines;
mod mutants;
mod options;
mod papers;
mod python;
mod quic_wire;
mod renew;
mod sanitize;
mod soak;
mod statistics;
mod table;
mod test;
mod traces;
mod vm;
mod web;
mod words;

use std::process::ExitCode;

struct Chore {
    name: &'static str,
    /// What may be said beside the name.
    options: &'static str,
    summary: &'static str,
    /// Whether all went well, or why it could not be done.
    run: fn(&[String]) -> Result<bool, String>,
}

const CHORES: &[Chore] = &[
    Chore {
        name: "test",
        options: test::OPTIONS,
        summary: "everything that a change must pass: style, lints, tests, documentation; with --quick without long \
                  steps; CWND_REQUIRE=all makes a step that cannot run a failure",
        run: test::run,
    },
    Chore {
        name: "bench",
        options: bench::OPTIONS,
        summary: "CPU time, instructions and memory of the simulator, and what an ACK costs each algorithm; \
                  never fails on time",
        run: bench::run,
    },
    Chore {
        name: "fuzz",
        options: fuzz::OPTIONS,
        summary: "random events for every algorithm; with --minutes random command lines and coverage-guided targets; prints the seed or \
                  the input that fails",
        run: fuzz::run,
    },
    Chore {
        name: "exchanges",
        options: exchanges::OPTIONS,
        summary: "random exchanges between the endpoint and an independent one; prints the seed that fails",
        run: exchanges::run,
    },
    Chore {
        name: "sanitize",
        options: sanitize::OPTIONS,
        summary: "the tests of the crates with unsafe code under AddressSanitizer; with --miri under Miri, which needs a nightly toolchain",
        run: sanitize::run_chore,
    },
    Chore {
        name: "machines",
        options: machines::OPTIONS,
        summary: "whether a build for this processor, WebAssembly and ARM compute the committed digests of outcomes and metrics",
        run: machines::run,
    },
    Chore {
        name: "soak",
        options: soak::OPTIONS,
        summary: "whether a long study, a long flow, `cwnd serve` and an emulated link keep their memory and their open files; \
                  takes half an hour",
        run: soak::run,
    },
    Chore {
        name: "mutants",
        options: mutants::OPTIONS,
        summary: "a sample of small changes to the algorithms, or to the endpoint, the metrics or the claims (--package), and which of them no test notices; \
                  fails above 10 %",
        run: mutants::run,
    },
    Chore {
        name: "fidelity",
        options: fidelity::OPTIONS,
        summary: "compares `--stack linux` with recordings of Linux 6.1; with --ns2, `--stack ns2` with ns-2.35",
        run: fidelity::run,
    },
    Chore {
        name: "drill",
        options: drill::OPTIONS,
        summary: "plays the packetdrill scripts of a folder, or of Debian's package of Linux's source, against the simulated \
                  endpoint, and prints a table",
        run: drill::run,
    },
    Chore {
        name: "papers",
        options: papers::OPTIONS,
        summary: "a sample of every paper's studies, and whether each verdict is still the one that is recorded",
        run: papers::run,
    },
    Chore {
        name: "python",
        options: python::OPTIONS,
        summary: "builds the Python package into a virtual environment in target/tools, checks its types and runs its tests",
        run: python::run,
    },
    Chore {
        name: "deps",
        options: deps::OPTIONS,
        summary: "licences, sources and advisories of the dependencies, and whether their oldest versions and the oldest compiler \
                  suffice; with --check only what takes seconds; with --update takes the newest versions",
        run: deps::run_chore,
    },
    Chore {
        name: "book",
        options: book::OPTIONS,
        summary: "checks the links of all documents and builds the book in target/book; with --links only checks",
        run: book::run,
    },
    Chore {
        name: "renew",
        options: renew::OPTIONS,
        summary: "writes the documents that the program generates, such as docs/algorithms.md",
        run: renew::run,
    },
    Chore {
        name: "dist",
        options: dist::OPTIONS,
        summary: "a stripped binary for Linux with glibc 2.17 or later as an archive and as a Python wheel, with checksums \
                  and an SBOM, in target/dist",
        run: dist::run,
    },
    Chore {
        name: "graph",
        options: graph::OPTIONS,
        summary: "draws which crate imports which; with --check, fails if the committed graph is stale",
        run: graph::run,
    },
    Chore {
        name: "evaluate",
        options: evaluate::OPTIONS,
        summary: "evaluates every algorithm by RFC 9743, and writes docs/evaluation.md",
        run: evaluate::run,
    },
    Chore {
        name: "vm",
        options: vm::OPTIONS,
        summary: "every algorithm in C in other Linux kernels, in virtual machines; with --record writes the table of docs/kernel.md",
        run: vm::run,
    },
    Chore {
        name: "quic-wire",
        options: quic_wire::OPTIONS,
        summary: "transfers 100 MB with noq and quinn over an emulated link that loses 1 %, and measures their CPU time without loss; \
                  takes half an hour and root; with --record writes the tables of docs/how-to/quic-transfer.md",
        run: quic_wire::run,
    },
    Chore {
        name: "traces",
        options: traces::OPTIONS,
        summary: "the delivery traces of the folder `traces`, made anew; a scale of 1 gives their full rates",
        run: traces::run,
    },
    Chore {
        name: "web",
        options: web::OPTIONS,
        summary: "builds the laboratory as a web page in web/dist; with --test also compares its simulator with the native one and \
                  tests the page in a browser; with --matrix only runs studies/matrix.toml for the catalogue",
        run: web::run,
    },
    Chore {
        name: "words",
        options: words::OPTIONS,
        summary: "lists words that are not the field's, with the standard term; with --check, fails if one comes back",
        run: words::run,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let asks_for_help = |word: &String| ["--help", "-h"].contains(&word.as_str());
    let Some((name, rest)) = arguments.split_first().filter(|(name, _)| !asks_for_help(name)) else {
        print!("{}", list());
        return ExitCode::SUCCESS;
    };
    let Some(chore) = CHORES.iter().find(|chore| chore.name == name) else {
        eprint!("there is no chore \"{name}\"\n\n{}", list());
        return ExitCode::from(2);
    };
    if rest.iter().any(asks_for_help) {
        print!("{}", chore.text());
        return ExitCode::SUCCESS;
    }
    match (chore.run)(rest) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("cargo xtask {name}: {why}");
            ExitCode::from(2)
        }
    }
}

impl Chore {
    /// How it is called, and what it does.
    fn text(&self) -> String {
        let Chore { name, options, summary, .. } = self;
        let usage = format!("cargo xtask {name} {options}");
        format!("  {}\n      {summary}\n", usage.trim_end())
    }
}

fn list() -> String {
    let chores: Vec<String> = CHORES.iter().map(Chore::text).collect();
    format!("The project's chores:\n\n{}", chores.join("\n"))
}
