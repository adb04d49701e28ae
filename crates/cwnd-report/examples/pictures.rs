//! scratch
use cwnd_report::*;
use cwnd_scenario::*;
struct R(u64);
impl R {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}
fn make(
    flows: usize,
    wmax: f64,
    growth: u32,
    seed: u64,
    access: bool,
    every_ms: u64,
    stagger: f64,
    qmax: f64,
) -> Trace {
    let mut r = R(seed * 7919 + growth as u64 * 104729 + 1);
    for _ in 0..10 {
        r.next();
    }
    let mut queues = vec!["bottleneck".to_string(), "bottleneck-reverse".to_string()];
    for i in 0..flows {
        queues.push(format!("access-{}", i + 1));
    }
    let mut t = Trace { queues, ..Default::default() };
    let fair = wmax / flows as f64;
    let mut w = vec![2.0f64; flows];
    let mut top = vec![fair; flows];
    let mut t0 = vec![0.0f64; flows];
    let mut ss = vec![true; flows];
    let n = 100_000 / every_ms;
    for k in 0..=n {
        let now = k as f64 * every_ms as f64 / 1000.0;
        t.times.push(Time::from_millis(k * every_ms));
        let mut sum = 0.0;
        for i in 0..flows {
            let start = stagger * i as f64;
            if now < start {
                continue;
            }
            if flows == 4 && i == 3 && now > 85.0 {
                continue;
            }
            let dt = now - t0[i];
            if ss[i] {
                w[i] = (2.0 * (10f64).powf((now - start) * 2.0)).min(fair * 1.6);
                if w[i] >= fair * 1.6 {
                    ss[i] = false;
                    top[i] = fair;
                    w[i] = fair * 0.7;
                    t0[i] = now;
                }
            } else {
                let kk = 6.0 + 3.0 * growth as f64;
                w[i] = match growth {
                    0 => top[i] * 0.5 + top[i] * 0.5 * dt / 14.0,
                    1 => top[i] * (0.7 + 0.3 * (1.0 + ((dt - kk) / kk).powi(3))),
                    _ => top[i] * (0.75 + 0.25 * (dt / 5.0).sqrt()),
                };
                if w[i] >= fair * (0.95 + 0.25 * r.next()) {
                    top[i] = w[i].min(fair * 1.2);
                    t0[i] = now;
                    w[i] *= if growth == 0 { 0.5 } else { 0.7 };
                }
            }
            sum += w[i];
            t.samples.push(Sample {
                time_index: k as usize,
                flow: i,
                cwnd: w[i],
                ssthresh: f64::INFINITY,
                rtt: None,
                delivered_bytes: 0,
                in_flight: w[i] as u64,
                state: SampleState::Open,
            });
        }
        let q = ((sum - wmax * 0.8) / (wmax * 0.3) * qmax * (0.9 + 0.1 * r.next())).clamp(0.0, qmax);
        let mut row = vec![if access { 0 } else { q as u32 }, (3.0 * r.next()) as u32];
        for i in 0..flows {
            row.push(if access {
                (((w[i] * flows as f64 - wmax * 0.8) / (wmax * 0.3) * qmax).clamp(0.0, qmax)) as u32
            } else {
                (2.0 * r.next()) as u32
            });
        }
        t.queue_lengths.push(row);
    }
    t
}
fn main() {
    let dir = std::path::PathBuf::from(std::env::args().nth(1).unwrap());
    let names =
        ["agile-sd:lambda_max=4,beta2=0.9", "cubic-2008", "compound-ns2", "elastic", "newreno", "compound"];
    let save = |name: &str, sets: Vec<(&str, u64, Trace)>, mix: &[&str], title: &str| {
        let runs: Vec<_> = sets
            .iter()
            .map(|(a, s, t)| TracedRun {
                algorithm: a,
                flow_algorithms: mix,
                seed: *s,
                trace: t,
                bottleneck: "bottleneck",
            })
            .collect();
        let svg = plot::cwnd_and_queue(&runs, title);
        println!("{name}: {} KB", svg.len() / 1024);
        plot::write(&dir.join(format!("{name}.svg")), &svg).unwrap();
        if name == "d4x3" {
            trace_file::write(&dir.join("t.csv"), &runs).unwrap();
            trace_file::write(&dir.join("t.parquet"), &runs).unwrap();
        }
    };
    save(
        "a1x1",
        vec![("cubic-2008", 1, make(1, 31000.0, 1, 1, true, 100, 0.0, 1000.0))],
        &[],
        "cubic-2008: 1 flow, 1 Gbit/s, RTT 204 ms, buffer 1,000 packets",
    );
    save(
        "b1x5",
        (0..5)
            .map(|i| {
                (
                    names[i],
                    1,
                    make(
                        1,
                        [1600.0, 1500.0, 300.0, 1500.0, 800.0][i],
                        i as u32 % 3,
                        i as u64 + 1,
                        true,
                        100,
                        0.0,
                        5.0,
                    ),
                )
            })
            .collect(),
        &[],
        "1 flow, 1 Gbit/s, RTT 12 ms, buffer 5 packets",
    );
    save(
        "c4x1",
        vec![("agile-sd:lambda_max=4,beta2=0.9", 1, make(4, 31000.0, 1, 1, false, 100, 5.0, 1000.0))],
        &[],
        "4 flows, 1 Gbit/s, RTT 204 ms, buffer 1,000 packets",
    );
    save(
        "d4x3",
        (0..3)
            .map(|i| (names[i], 1, make(4, 31000.0, i as u32, i as u64 + 1, false, 100, 5.0, 1000.0)))
            .collect(),
        &[],
        "4 flows, 1 Gbit/s, RTT 204 ms, buffer 1,000 packets",
    );
    save(
        "e50x3",
        (0..3)
            .map(|i| (names[i], 1, make(50, 31000.0, i as u32, i as u64 + 1, false, 100, 0.0, 1000.0)))
            .collect(),
        &[],
        "50 flows, 1 Gbit/s, RTT 204 ms, buffer 1,000 packets",
    );
    save(
        "f1x2s5",
        (0..10)
            .map(|i| {
                (
                    names[i / 5],
                    1 + i as u64 % 5,
                    make(1, 31000.0, i as u32 / 5, i as u64 + 1, true, 100, 0.0, 1000.0),
                )
            })
            .collect(),
        &[],
        "1 flow, 5 seeds, 1 Gbit/s, RTT 204 ms",
    );
    save(
        "g_mix",
        vec![(
            "agile-sd:lambda_max=4,beta2=0.9,newreno*3",
            1,
            make(4, 31000.0, 0, 9, false, 100, 0.0, 1000.0),
        )],
        &["agile-sd:lambda_max=4,beta2=0.9", "newreno", "newreno", "newreno"],
        "One Agile-SD flow against three of NewReno",
    );
    save(
        "h_access4",
        (0..2)
            .map(|i| (names[i], 1, make(4, 31000.0, i as u32, i as u64 + 1, true, 10, 0.0, 1000.0)))
            .collect(),
        &[],
        "4 flows, queues at the senders",
    );
    save(
        "i_many",
        (0..6)
            .map(|i| (names[i], 1, make(8, 31000.0, i as u32 % 3, i as u64 + 1, false, 100, 0.0, 1000.0)))
            .collect(),
        &[],
        "8 flows, six algorithms",
    );
    save("j_none", vec![], &[], "No runs");
    // general line figure
    use plot::style::*;
    use plot::*;
    let mut f = Figure::new("Throughput of one flow against buffer size");
    let mut p = Panel::new(
        Axis::log("buffer", "packets").ticks_at(&[5., 10., 25., 50., 100., 250., 500.]).tight(),
        Axis::linear("throughput", "bit/s").from(0.0).to(1e9).si(),
        260.0,
    );
    for (i, n) in names.iter().enumerate() {
        let pts: Vec<(f64, f64)> = [5., 10., 25., 50., 100., 250., 500.]
            .iter()
            .map(|b: &f64| (*b, 1e9 * (0.4 + 0.1 * i as f64 / 2.0) * (b / (b + 5.0 + 3.0 * i as f64))))
            .collect();
        let st = Stroke::solid(Colour::of_series(i), 1.5).dashed(Dash::of_series(i));
        p.add(Band {
            points: pts.iter().map(|&(x, y)| (x, y * 0.97, y * 1.03)).collect(),
            colour: Colour::of_series(i),
            opacity: 0.15,
        });
        let l = Line::new(pts, st).markers(Some(Markers {
            marker: Marker::of_series(i),
            spacing: 0.0,
            phase: 0.0,
        }));
        f.keys.push(Key::new(*n, l.swatch()));
        p.add(l);
    }
    f.panels.push(p);
    f.caption = "Mean of 10 repeats; bands are 95 % confidence intervals.".into();
    std::fs::write(dir.join("k_line.svg"), f.to_svg()).unwrap();
}
