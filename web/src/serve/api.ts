/** Requests to `cwnd serve`. */

import type { Problem } from "../module";

/** Why the server refused a request, or that it does not answer. */
export class ServerError extends Error {
  constructor(
    /** The status of the response; 0 if there was none. */
    readonly status: number,
    message: string,
    /** What is wrong with a setting, by line. */
    readonly problems: Problem[] = [],
  ) {
    super(message);
  }
}

export interface Machine {
  version: string;
  kernel: string;
  available: string[];
  default: string;
  threads: number;
  lab_problem: string | null;
  sockets_problem: string | null;
}

export interface StoreSummary {
  id: number;
  directory: string;
  name: string | null;
  title: string;
  question: string;
  scale: string;
  engines: string[];
  cells: number;
  repeats: number;
  claims: number;
  runs: number;
  done: number;
  failed: number;
  changed: string | null;
  problem: string | null;
}

export interface StoreDetail {
  command: string;
  version: string;
  failures: string[];
  claims: { text: string; stated: string | null; verdict: string; measured: string | null; ground: string }[];
  verdicts: { verdict: string; claims: number }[];
}

export interface StudyProgress {
  store: number;
  phase: "running" | "stopping" | "done" | "stopped" | "failed";
  total: number;
  stored: number;
  failed: number;
  elapsed_s: number;
  left_s: number | null;
  running: string | null;
  message: string;
}

export interface LoadedObject {
  name: string;
  kernel_name: string;
  sockets: number;
  source: string | null;
  parameters: string | null;
  keeper: string;
  registered: boolean;
  replaced: boolean;
  default_of: string[];
  age_s: number | null;
  calls: number;
  time_ns: number;
  hooks: { name: string; calls: number; time_ns: number }[];
}

export interface GroupCounts {
  connections: number;
  segments: number;
  retransmissions: number;
  mean_rtt_s: number;
}

export interface KernelStatus {
  status: {
    missing: string[];
    loaded: LoadedObject[];
    sockets: Record<string, number>;
    selections: { cgroup: string | null; congestion_control: string; registered: boolean }[];
    canaries: {
      cgroup: string | null;
      congestion_control: string;
      rest: string | null;
      share: number;
      returning: boolean;
      keeper: string;
      canary_counts: GroupCounts;
      rest_counts: GroupCounts;
    }[];
    counting: boolean;
  };
  loadable: { name: string; kernel_name: string; title: string; parameters: string[] }[];
}

export interface SocketLine {
  local: string;
  remote: string;
  state: string;
  algorithm: string;
  recovery: string;
  cwnd: number;
  ssthresh: number | null;
  rtt_s: number | null;
  in_flight: number;
  acknowledged_bytes: number;
  retransmissions: number;
}

export interface SocketList {
  count: number;
  sockets: SocketLine[];
  problem: string | null;
}

/** Sends a request and returns the response, if it is a good one. */
export async function request(path: string, options: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { ...options, credentials: "same-origin", cache: "no-store" });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new ServerError(0, "the server does not answer");
  }
  if (response.ok) return response;
  const text = await response.text();
  let refusal: { message?: string; problems?: Problem[] } = {};
  try {
    refusal = JSON.parse(text) as typeof refusal;
  } catch {
    // A host of files has pages for errors.
  }
  throw new ServerError(response.status, refusal.message ?? `${response.status} ${response.statusText}`, refusal.problems);
}

export async function get<T>(path: string): Promise<T> {
  const response = await request(path);
  if (!(response.headers.get("content-type") ?? "").includes("json")) throw new ServerError(404, "there is no cwnd serve at this address");
  return (await response.json()) as T;
}

/** Listens to server-sent events, and again when the connection ends, until it is closed. */
export class Listener<T> {
  private source: EventSource | null = null;
  private closed = false;
  private timer = 0;

  constructor(private readonly path: string, private readonly heard: (content: T) => void, private readonly state: (connected: boolean) => void) {
    this.open();
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    this.source?.close();
  }

  private open(): void {
    const source = new EventSource(this.path);
    this.source = source;
    source.onopen = () => this.state(true);
    source.onmessage = (event: MessageEvent<string>) => this.heard(JSON.parse(event.data) as T);
    source.onerror = () => {
      if (this.closed) return;
      this.state(false);
      source.close();
      this.timer = window.setTimeout(() => this.open(), 1000);
    };
  }
}
