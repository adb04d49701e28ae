/**
 * The equations of the algorithms, in TeX. The build turns them into MathML (equations.plugin.ts). Each follows the file of the algorithm in
 * crates/cwnd-cc/src/algorithms with its default parameters; the number of an equation or section is that of the algorithm's source.
 */

/** An equation in TeX and what it is. */
type Equation = [tex: string, caption: string];

const tex = String.raw;

const ACKED = "for each acknowledged segment";
const RENO: Equation = [tex`w \leftarrow w + \frac{1}{w}`, `Congestion avoidance, ${ACKED}`];
const HALF: Equation = [tex`w \leftarrow \frac{w}{2}`, "Loss"];
const MARKED: Equation = [tex`\alpha \leftarrow (1 - g)\,\alpha + g F`,
  "Share of marks, once a window of data. F is the share in this window, g = 1/16 (RFC 8257 section 3.3)"];
const COMPOUND_RENO: Equation = [tex`c \leftarrow c + \frac{1}{w}, \quad w = c + d`,
  `Loss window c and delay window d; congestion avoidance, ${ACKED}`];
const COMPOUND_DELAY: Equation = [
  tex`d \leftarrow \begin{cases} d + \max\left(\frac{w^{3/4}}{8} - 1,\ 0\right) & \text{if } q < \gamma \\ \max(d - q,\ 0) & \text{otherwise} \end{cases}`
  + tex`\qquad q = w \left(1 - \frac{\baseRTT}{\RTT}\right)`,
  "Delay window, once a round trip from w = 38 on. q is the estimate of the queued segments, RTT the least of the round trip"];
const COMPOUND_LOSS: Equation = [tex`d \leftarrow \max\left(\frac{w}{2} - \frac{c}{2},\ 0\right), \quad c \leftarrow \frac{c}{2}`, "Loss: both parts halve"];
const CUBIC_CURVE: Equation = [tex`W(t) = C (t - K)^3 + \Wmax, \quad K = \sqrt[3]{\frac{\Wmax - w_0}{C}}`,
  "Window t seconds after the stage began at w₀, below Wmax. C = 410/1024"];
const CUBIC_WMAX = tex`\Wmax \leftarrow \begin{cases} \frac{1 + \beta}{2}\, w & \text{if } w < \Wmax \\ w & \text{otherwise} \end{cases} \qquad w \leftarrow \beta w`;

export const EQUATIONS: Record<string, Equation[]> = {
  newreno: [
    [RENO[0], `Congestion avoidance, ${ACKED} (RFC 5681 equation 3)`],
    [tex`\ssthresh = \max\left(\frac{w}{2},\ 2\right)`, "Loss, mark or timeout (RFC 5681 equation 4, with the window for FlightSize)"],
  ],
  multcp: [
    [tex`w \leftarrow w + \frac{N}{w}`, `Congestion avoidance, ${ACKED}. N = 4 flows`],
    [tex`w \leftarrow \frac{N - 1/2}{N}\, w`, "Loss in congestion avoidance: one of N flows halves its share"],
    [tex`w \leftarrow w + 2 \quad \text{while } w < 3^{\log N / (\log 3 - \log 2)}`, `Slow start, ${ACKED}: the window triples in a round trip, then doubles`],
  ],
  scalable: [
    [tex`w \leftarrow w + \frac{1}{\min(w,\ 100)}`, `Congestion avoidance, ${ACKED}`],
    [tex`w \leftarrow (1 - b)\, w, \quad b = 0.125`, "Loss, mark or timeout"],
  ],
  highspeed: [
    [tex`w \leftarrow w + \frac{a(w)}{w}`, `Congestion avoidance, ${ACKED}`],
    [tex`a(w) = \max\left(w^2\, p(w)\, \frac{2\, b(w)}{2 - b(w)},\ 1\right), \quad p(w) = \frac{0.078}{w^{1.2}}`,
      "Growth in a round trip above 38 segments (RFC 3649 section 5); 1 up to 38"],
    [tex`b(w) = 0.5 - 0.4\, \frac{\log w - \log 38}{\log 83000 - \log 38}`, "Fraction given up, from 38 to 83,000 segments (RFC 3649 section 5); 0.5 below, 0.1 above"],
    [tex`w \leftarrow \left(1 - b(w)\right) w`, "Loss, mark or timeout"],
  ],
  htcp: [
    [tex`w \leftarrow w + \frac{2 (1 - \beta)\, f(\Delta)}{w}`, `Congestion avoidance, ${ACKED}`],
    [tex`f(\Delta) = \begin{cases} 1 & \text{if } \Delta \le 1 \\ 1 + 10 (\Delta - 1) + \left(\frac{\Delta - 1}{2}\right)^2 & \text{otherwise} \end{cases}`,
      "Growth factor. Δ is the time since the last congestion event, seconds"],
    [tex`\beta = \begin{cases} 0.5 & \text{if } \left|B_k - B_{k-1}\right| > 0.2\, B_{k-1} \\ \min\left(\max\left(\frac{\RTTmin}{\text{RTT}_{\text{max}}},\ 0.5\right),\ 0.8\right) & \text{otherwise} \end{cases}`,
      "Fraction kept. Bₖ is the greatest throughput between the congestion events k - 1 and k"],
    [tex`w \leftarrow \beta w`, "Loss, mark or timeout"],
  ],
  hybla: [
    [tex`\rho = \max\left(\frac{\RTTmin}{\text{RTT}_0},\ 1\right)`, "Ratio to the reference round-trip time of 25 ms"],
    [tex`w \leftarrow w + 2^{\min(\rho,\ 6)} - 1`, `Slow start, ${ACKED}. The paper has no limit of the exponent`],
    [tex`w \leftarrow w + \frac{\rho^2}{w}`, `Congestion avoidance, ${ACKED}`],
    [HALF[0], "Loss, mark or timeout"],
  ],
  bic: [
    [tex`w \leftarrow w + \frac{s}{w}`, `Congestion avoidance above 14 segments, ${ACKED}; Reno up to 14`],
    [tex`s = \begin{cases} \Smax & \text{if } d > \Smax \\ \Smin & \text{if } d \le 1 \\ d & \text{otherwise} \end{cases} \qquad d = \frac{\Wmax - w}{4}`,
      "Binary search, below Wmax. Smax = 16, Smin = 0.2"],
    [tex`s = \begin{cases} \Smin & \text{if } w - \Wmax < 4 \\ \frac{w - \Wmax}{3} & \text{if } 4 \le w - \Wmax < 3\, \Smax \\ \Smax & \text{otherwise} \end{cases}`,
      "Max probing, from Wmax on, after the first loss"],
    [CUBIC_WMAX, "Loss above 14 segments, with fast convergence. β = 819/1024"],
  ],
  "cubic-2008": [
    CUBIC_CURVE,
    [tex`w \leftarrow w + \frac{\min\left(W(t + \RTTmin) - w,\ w\right)}{w}`,
      `Congestion avoidance below the curve, after a loss, ${ACKED}. Where the curve is above Wmax, growth is at most 16 segments in 0.1 s. Reno's window, where greater, is the least target`],
    [CUBIC_WMAX, "Loss, with fast convergence. β = 819/1024"],
  ],
  "cubic-linux": [
    CUBIC_CURVE,
    [tex`w \leftarrow w + \frac{\min\left(W(t + \RTTmin) - w,\ w/2\right)}{w}`,
      `Congestion avoidance below the curve, after a loss, ${ACKED}. Reno's window, where greater, is the least target`],
    [CUBIC_WMAX, "Loss, with fast convergence. β = 717/1024"],
  ],
  cubic: [
    [tex`\Wcubic(t) = C (t - K)^3 + \Wmax, \quad K = \sqrt[3]{\frac{\Wmax - w_0}{C}}`,
      "Window t seconds after the stage began at w₀, below Wmax (RFC 9438 figures 1 and 2). C = 0.4"],
    [tex`w \leftarrow w + \frac{\min\left(\max\left(\Wcubic(t + \RTT),\ w\right),\ 1.5\, w\right) - w}{w}`,
      `Congestion avoidance where Wcubic(t) is at least West, ${ACKED} (RFC 9438 sections 4.2, 4.4 and 4.5)`],
    [tex`\West \leftarrow \West + \frac{\alpha}{w}, \quad \alpha = \frac{3 (1 - \beta)}{1 + \beta}`,
      `Reno-friendly window, ${ACKED} (RFC 9438 figure 4). α is 1 once West reaches the window before the loss`],
    [tex`\Wmax \leftarrow \begin{cases} \frac{1 + \beta}{2}\, w & \text{if } w < \Wmax \\ w & \text{otherwise} \end{cases} \qquad \ssthresh = \max(\beta\, \text{FlightSize},\ 2)`,
      "Loss, with fast convergence (RFC 9438 sections 4.6 and 4.7). β = 0.7"],
  ],
  "compound-2006": [COMPOUND_RENO, [COMPOUND_DELAY[0], `${COMPOUND_DELAY[1]}; γ = 30`], COMPOUND_LOSS],
  "compound-ns2": [
    COMPOUND_RENO,
    [tex`d \leftarrow \begin{cases} d + \max\left(\frac{n^{3/4}}{8} - 1,\ 0\right) & \text{if } q < \gamma \\ \max(d - q,\ 0) & \text{otherwise} \end{cases}`
      + tex`\qquad q = n \left(1 - \frac{\baseRTT}{\RTT}\right)`,
      "Delay window, once a round trip, rounded to whole segments (q to halves). n segments were sent in the round trip before; γ = 30"],
    [tex`\ssthresh = \frac{w}{2}`, "Loss. The recovery holds half of that, and the loss window takes all that is left"],
  ],
  compound: [
    COMPOUND_RENO,
    COMPOUND_DELAY,
    [tex`\gamma \leftarrow \min\left(\max\left(\frac{3}{4}\, \gamma + \frac{1}{4} \cdot \frac{3}{4}\, c \left(1 - \frac{\baseRTT}{\RTT}\right),\ 5\right),\ 30\right)`,
      "Tuning of γ at a loss. It begins at 30"],
    COMPOUND_LOSS,
  ],
  africa: [
    [tex`D = w\, \frac{\text{aRTT} - \RTTmin}{\text{aRTT}}`, "Queued segments. aRTT is the smoothed round-trip time"],
    [tex`w \leftarrow \begin{cases} w + \frac{a(w)}{w} & \text{if } D < 1.641 \\ w + \frac{1}{w} & \text{otherwise} \end{cases}`,
      `Congestion avoidance, ${ACKED}: fast and slow mode. a(w) is HighSpeed TCP's`],
    [tex`w \leftarrow \begin{cases} \left(1 - b(w)\right) w & \text{in fast mode} \\ \frac{w}{2} & \text{in slow mode} \end{cases}`, "Loss in congestion avoidance. b(w) is HighSpeed TCP's"],
  ],
  illinois: [
    [tex`w \leftarrow w + \frac{\alpha}{w}`, `Congestion avoidance, ${ACKED}`],
    [tex`\alpha = \frac{(d_m - d_1)\, \alpha_{\text{max}}}{(d_m - d_1) + (d_a - d_1)\, (\alpha_{\text{max}} - \alpha_{\text{min}}) / \alpha_{\text{min}}}`,
      "Growth for a queueing delay dₐ, the mean of a round trip, above d₁ = 0.01 dₘ; αmax below. dₘ is the greatest queueing delay, αmax = 10, αmin = 0.3"],
    [tex`\beta = \begin{cases} \beta_{\text{min}} & \text{if } d_a \le d_2 \\ \beta_{\text{min}} + (\beta_{\text{max}} - \beta_{\text{min}})\, \frac{d_a - d_2}{d_3 - d_2} & \text{if } d_2 < d_a < d_3 \\ \beta_{\text{max}} & \text{otherwise} \end{cases}`,
      "Fraction given up. d₂ = 0.1 dₘ, d₃ = 0.8 dₘ, βmin = 1/8, βmax = 1/2. Under 15 segments α = 1 and β = 1/2"],
    [tex`w \leftarrow (1 - \beta)\, w`, "Loss, mark or timeout"],
  ],
  invs: [
    [tex`w \leftarrow \begin{cases} w + \frac{\Wsp - w}{k\, \Wsp} & \text{if } w < \Wsp \\ w + \frac{w - \Wsp}{k\, w} & \text{if } w > \Wsp \\ w + \frac{1}{w} & \text{if } w = \Wsp \end{cases}`,
      `Congestion avoidance, ${ACKED} (equation 1). Wsp is the saturation point; within one segment counts as equal`],
    [tex`k = \max\left(\log_2 \frac{\text{RTT}_{\text{ref}}}{\RTTmin} \cdot \log_2 \frac{\text{BDP}_{\text{ref}}}{\text{BDP}_{\text{est}}},\ 1\right)`,
      "Where both logarithms are positive, otherwise 1 (equation 2). RTTref = 1 s, BDPref = 500 Mbit, BDPest is the estimated bandwidth times RTTmin"],
    [tex`w \leftarrow \begin{cases} \beta w & \text{if } q \ge \min(30,\ 0.9\, q_{\text{max}}) \\ \min(\text{BDP}_{\text{est}},\ w) & \text{otherwise} \end{cases}`,
      "Loss (equations 3 and 4; the factor 0.9 is an interpretation). q is the queue, the estimated bandwidth times RTT - RTTmin (equation 6); β = 0.8"],
    [tex`\Wsp \leftarrow \begin{cases} \frac{1 + \beta}{2}\, w & \text{if } w < \Wsp \\ w & \text{otherwise} \end{cases}`, "Saturation point, from the window before the loss (equation 5)"],
  ],
  "agile-sd": [
    [tex`w \leftarrow w + \frac{\lambda}{w}`, `Congestion avoidance, ${ACKED} (algorithm 1)`],
    [tex`\lambda = \min\left(\max\left(\lambda_{\text{max}}\, \frac{w_{\text{loss}} - w}{\max(w_{\text{loss}} - w_{\text{degraded}},\ 1)},\ \lambda_{\text{min}}\right),\ \lambda_{\text{max}}\right)`,
      "Agility factor (equations 1 to 3). λmax = 3, λmin = 1; w_loss and w_degraded are the windows before and after the last loss"],
    [tex`w \leftarrow \begin{cases} 0.90\, w & \text{in slow start} \\ 0.95\, w & \text{otherwise} \end{cases}`, "Loss (algorithm 1). The reduction is at least one segment"],
  ],
  elastic: [
    [tex`w \leftarrow w + \frac{\text{WWF}}{w}`, `Congestion avoidance, ${ACKED} (algorithm 1)`],
    [tex`\text{WWF} = \sqrt{\frac{\text{RTT}_{\text{max}}}{\text{RTT}_{\text{cur}}}\, w}`,
      "Window-correlated weighting function: growth in a round trip. The printed root covers the fraction only; the paper's figures need that of the product"],
    [tex`\text{UR} = \frac{\text{RTT}_{\text{cur}}}{\text{RTT}_{\text{max}}}`, "Utilisation ratio (equation 2). RTTcur is the latest round-trip time, RTTmax the greatest"],
    [tex`w \leftarrow \beta w, \quad \beta = 0.5`, "Loss. The paper names no other decrease"],
  ],
  vegas: [
    [tex`\text{Diff} = w \left(1 - \frac{\baseRTT}{\RTT}\right)`, "Queued segments. RTT is the least of the round trip"],
    [tex`w \leftarrow \begin{cases} w + 1 & \text{if } \text{Diff} < \alpha \\ w - 1 & \text{if } \text{Diff} > \beta \\ w & \text{otherwise} \end{cases}`,
      "Congestion avoidance, once a round trip. α = 2, β = 4"],
    [HALF[0], "Loss (the paper has 3/4)"],
  ],
  fast: [
    [tex`w \leftarrow \min\left(2 w,\ (1 - g)\, w + g \left(\frac{\baseRTT}{\RTT}\, w_{\text{old}} + \alpha\right)\right)`,
      "Every second round trip. g = 1/2, α = 100, w_old is the window of a round trip ago, RTT an average"],
    [tex`w \left(1 - \frac{\baseRTT}{\RTT}\right) = \alpha`, "Equilibrium: each flow has α segments in the queue"],
    HALF,
  ],
  veno: [
    [tex`N = w \left(1 - \frac{\baseRTT}{\RTT}\right)`, "Queued segments. RTT is the latest sample"],
    [tex`w \leftarrow \begin{cases} w + \frac{1}{w} & \text{if } N < \beta \\ w + \frac{1}{2 w} & \text{otherwise} \end{cases}`, `Congestion avoidance, ${ACKED}. β = 3`],
    [tex`w \leftarrow \begin{cases} \frac{4}{5}\, w & \text{if } N < \beta \\ \frac{1}{2}\, w & \text{otherwise} \end{cases}`, "Loss: of the link, or of congestion"],
  ],
  westwood: [
    RENO,
    [tex`\ssthresh = \max(\text{BWE} \cdot \RTTmin,\ 2)`, "Loss or timeout. BWE is the estimated bandwidth, segments per second. At a loss the window falls to ssthresh and never rises to it"],
  ],
  areno: [
    [tex`\Wbase \leftarrow \Wbase + \frac{1}{w}, \quad \Wprobe \leftarrow \max\left(\Wprobe + \frac{\Winc(c)}{w},\ 0\right)`,
      `The two parts of w; congestion avoidance, ${ACKED}`],
    [tex`c = \min\left(\frac{\RTT - \RTTmin}{\text{RTT}_{\text{cong}} - \RTTmin},\ 1\right)`, "Congestion level. RTTcong is the average of the round-trip times at losses"],
    [tex`\Winc(c) = \Wmax\, e^{-10 c} + \beta c + \gamma, \quad \Wmax = \frac{B}{10\ \text{Mbit/s}}`,
      "Growth of the probing window in a round trip. B is the estimated bandwidth; β and γ make Winc(1) and its mean over c equal to 1. Before the first loss it is 0"],
    [tex`\Wbase \leftarrow \frac{w}{1 + c}, \quad \Wprobe \leftarrow 0`, "Loss"],
  ],
  yeah: [
    [tex`Q = w \left(1 - \frac{\baseRTT}{\RTT}\right)`, "Queued segments, once a round trip. RTT is the least of the round trip"],
    [tex`w \leftarrow \begin{cases} w + \frac{1}{\min(w,\ 100)} & \text{if } Q \le 80 \text{ and } \RTT - \baseRTT \le \frac{\baseRTT}{8} \\ w + \frac{1}{w} & \text{otherwise} \end{cases}`,
      `Congestion avoidance, ${ACKED}: fast and slow mode`],
    [tex`w \leftarrow \max\left(w - \min\left(Q,\ \frac{w}{2}\right),\ w_{\text{reno}}\right)`, "Decongestion, once a round trip in slow mode if Q > 80 and w is above w_reno, the window of an imagined Reno flow"],
    [tex`w \leftarrow \begin{cases} \frac{w}{2} & \text{after 16 slow round trips in a row} \\ w - \min\left(\max\left(Q,\ \frac{w}{8}\right),\ \frac{w}{2}\right) & \text{otherwise} \end{cases}`, "Loss"],
  ],
  fusion: [
    [tex`w \leftarrow \begin{cases} w + B\, T & \text{if } q < \Dmin \\ w - w\, \frac{q - \Dmin}{\RTT} & \text{if } q > 3\, \Dmin \\ w & \text{otherwise} \end{cases} \qquad q = \RTT - \RTTmin`,
      "Congestion avoidance, once a round trip. B is the estimated bandwidth in segments per second, T = 1 ms, Dmin = 4 ms"],
    [tex`w \leftarrow \max(w,\ w_{\text{reno}})`, "Always. w_reno grows by one segment a round trip from the window after the last loss"],
    [tex`w \leftarrow \max\left(\frac{\RTTmin}{\RTT},\ \frac{1}{2}\right) w`, "Loss"],
  ],
  "tcp-fit": [
    [tex`w \leftarrow w + \frac{N}{w}`, `Congestion avoidance, ${ACKED}`],
    [tex`N \leftarrow \max\left(1,\ N + 1 - \frac{N}{a} \cdot \frac{\RTT - \RTTmin}{\RTT}\right)`, "Number of imitated Reno flows, every 0.5 s or round trip, the longer of both. RTT is the mean of that time; a = 1"],
    [tex`w \leftarrow \left(1 - \frac{2}{3 N + 1}\right) w`, "Loss"],
  ],
  "new-vegas-reconstruction": [
    [tex`w \leftarrow w + S, \quad S \leftarrow \frac{S}{2}`, "Convergence after slow start, once a round trip, from S = w/4 until S < 1 or Diff ≥ α (of this reconstruction; then as Vegas)"],
    [tex`\text{Diff} = w \left(1 - \frac{\baseRTT}{\RTT}\right)`, "Queued segments, as in Vegas. α = 2, β = 4"],
    [tex`w \leftarrow \begin{cases} w + 1 & \text{if } \text{Diff} < \alpha \\ w - 1 & \text{if } \text{Diff} > \beta \\ w & \text{otherwise} \end{cases}`, "After the convergence, once a round trip"],
    HALF,
  ],
  "er-tcp-reconstruction": [
    [tex`w \leftarrow w + \frac{1}{w} \max\left(\frac{w_{\text{last}} - w}{\tau},\ 1\right)`, `Congestion avoidance, ${ACKED} (of this reconstruction). w_last is the window of the last loss, τ = 4 round trips`],
    [tex`w \leftarrow \min\left(\max\left(\text{BWE} \cdot \RTTmin,\ \frac{w}{2}\right),\ w\right)`, "Loss or timeout (of this reconstruction). BWE is the estimated bandwidth"],
  ],
  dctcp: [
    RENO,
    MARKED,
    [tex`w \leftarrow \left(1 - \frac{\alpha}{2}\right) w`, "Mark, at most once a window of data (RFC 8257 section 3.3)"],
    [HALF[0], "Loss (RFC 8257 section 3.5)"],
  ],
  d2tcp: [
    MARKED,
    [tex`p = \alpha^d, \quad d = \min\left(\max\left(\frac{B}{\frac{3}{4} w\, D},\ 0.5\right),\ 2\right)`, "Penalty p and urgency d. B segments and D round trips are left; d = 1 without a deadline"],
    [tex`w \leftarrow \left(1 - \frac{p}{2}\right) w`, "Mark, at most once a window of data. A loss halves, and growth is Reno's"],
  ],
  prague: [
    [tex`w \leftarrow w + \frac{1}{M^2\, w}, \quad M = \frac{\max(\RTT,\ 25\ \text{ms})}{\RTT}`,
      `Congestion avoidance, for each acknowledged segment without a mark (sections 2.4.3 and 2.4.4). M = 1 in the first 500 round trips after slow start`],
    [tex`\alpha \leftarrow \alpha + g\, (F - \alpha)`, "Share of marks, once a reference round trip (section 2.3.2). F is the share in this round trip, g = 1/16"],
    [tex`w \leftarrow \left(1 - \frac{\alpha}{2}\right) w`, "Mark, at most once a reference round trip (section 2.4.2)"],
    [HALF[0], "Loss (section 2.4.1)"],
  ],
  scream: [
    [tex`R \leftarrow R + \frac{\text{MSS}^2}{R}\, \min\left(\frac{s}{V},\ 1\right) \max\left(n,\ \frac{1}{4}\right) \left(1 + 0.02\, r\, n\, \frac{R}{\text{MSS}}\right)`,
      "Reference window R of at least one MSS, bytes, for each acknowledged segment without an L4S mark, up to MSS + 1.5 times the bytes in flight. s is the smoothed round-trip time, V = 25 ms; r rises from 0 to 1 after a loss or mark"],
    [tex`n = \min\left(\max\left(\left(8\, \frac{R - R_i}{R_i}\right)^2,\ 0.1\right),\ 1\right)`, "Caution near Rᵢ, the reference window before the last reduction"],
    [tex`R \leftarrow \left(1 - \frac{1}{2 \max(1,\ s/V)} \min\left(\max\left(\frac{q - q_{\text{t}}/2}{q_{\text{t}}/2},\ 0\right),\ 1\right)\right) R`,
      "Averaged queueing delay q above half of the target qₜ = 60 ms (more beside flows that fill the queue), at most once in min(V, s)"],
    [tex`R \leftarrow 0.7\, R, \quad w = \frac{3 R}{\text{MSS}}`, "Loss; and the window, always"],
  ],
  cltcp: [
    [tex`w \leftarrow w + \frac{N}{w}`, `Congestion avoidance, ${ACKED} (equation 4)`],
    [tex`\alpha \leftarrow (1 - g)\,\alpha + g F`, "Share of marks, once a window of data (equation 1). F is the share in this window, g = 1/16"],
    [tex`N \leftarrow N + 1 - \alpha^d N`, "Number of imitated Reno flows, in congestion avoidance (equation 5). d = 0.5"],
    [tex`w \leftarrow \left(1 - \frac{2}{3 N + 1}\right) w`, "Loss (equation 4)"],
  ],
  bbr: [
    [tex`\text{pacing rate} = \text{pacing gain} \cdot \text{BtlBw}`, "BtlBw is the greatest delivery rate of 10 round trips. Until the pipe is full the rate only rises"],
    [tex`w \leftarrow \min\left(w + n,\ \text{cwnd gain} \cdot \text{BtlBw} \cdot \text{RTprop} + 3 Q\right)`,
      "Window once the pipe is full, at least 4. n segments are delivered, RTprop is the least round-trip time of 10 s, Q the send quantum"],
    [tex`\text{pacing gain} = \begin{cases} 2 / \ln 2 & \text{Startup} \\ \ln 2 / 2 & \text{Drain} \\ \frac{5}{4}, \frac{3}{4}, 1, 1, 1, 1, 1, 1 & \text{ProbeBW} \end{cases}`,
      "Gains; in ProbeBW each for RTprop, with a cwnd gain of 2"],
  ],
  bbr3: [
    [tex`\text{bw} = \min(\text{max\_bw},\ \text{bw\_shortterm}), \quad \text{pacing rate} = 0.99 \cdot \text{pacing\_gain} \cdot \text{bw}`,
      "max_bw is the greatest delivery rate of this and the last ProbeBW cycle"],
    [tex`w \leftarrow \min\left(w + n,\ \text{cwnd\_gain} \cdot \text{bw} \cdot \text{min\_rtt} + \text{extra\_acked}\right)`,
      "Window once full bandwidth is reached, at least 4, within the offload budget and the volume caps. n segments are delivered, min_rtt is the least round-trip time of 10 s"],
    [tex`\text{inflight\_longterm} \leftarrow \max\left(\text{inflight},\ 0.7 \cdot \min(\text{bw} \cdot \text{min\_rtt},\ w)\right)`, "Loss of more than 2 % of what was in flight, while probing"],
    [tex`x_{\text{shortterm}} \leftarrow \max\left(x_{\text{latest}},\ 0.7\, x_{\text{shortterm}}\right)`, "Other losses, at the end of the round; x is bandwidth or inflight, and its latest value that of the round"],
  ],
  copa: [
    [tex`\lambda_t = \frac{1}{\delta\, d_q}, \quad d_q = \text{RTT}_{\text{standing}} - \RTTmin`, "Target rate, segments per second (section 2.1). δ = 0.5; RTTmin is the least round-trip time of 10 s, RTTstanding that of half a smoothed round-trip time"],
    [tex`w \leftarrow \begin{cases} w + \frac{v}{\delta w} & \text{if } \lambda \le \lambda_t \\ w - \frac{v}{\delta w} & \text{otherwise} \end{cases} \qquad \lambda = \frac{w}{\text{RTT}_{\text{standing}}}`,
      `After slow start, ${ACKED}, by at most one segment (section 2.1). The velocity v doubles each round trip once the window moved the same way for three, else it is 1`],
    [tex`\frac{1}{\delta} \leftarrow \frac{1}{\delta} + 1 \quad \text{or, at a loss,} \quad \frac{1}{\delta} \leftarrow \max\left(\frac{1}{2 \delta},\ 2\right)`, "Competitive mode, once a round trip (section 2.2)"],
  ],
  "ledbat-pp": [
    [tex`G = \frac{1}{\min\left(16,\ \left\lceil 2\, T / \text{base} \right\rceil\right)}`, "Gain. T = 60 ms is the target, base the least round-trip time of ten minutes"],
    [tex`w \leftarrow \begin{cases} w + G & \text{if } q \le T \\ w + \max\left(G - C w \left(\frac{q}{T} - 1\right),\ -\frac{w}{2}\right) & \text{otherwise} \end{cases}`,
      "Congestion avoidance, spread over a round trip. q is the queueing delay, C = 1"],
    HALF,
  ],
  cdg: [
    [tex`P = 1 - e^{-42\, g} \quad \text{if } g > 0`, "Probability of a backoff, once a round trip. g is the change of the least or greatest round-trip time, summed over 8 round trips, seconds"],
    [tex`w \leftarrow \beta w, \quad \beta = \frac{724}{1024}`, "Backoff, at most 5 in a row without an effect"],
    [tex`w_s \leftarrow \min\left(\frac{w_s}{2},\ w\right), \quad w \leftarrow \max\left(w_s,\ \frac{w}{2}\right)`, "Loss. The shadow window wₛ grows as w and is not reduced by backoffs"],
    RENO,
  ],
};
