declare module "*.wasm?url" {
  const address: string;
  export default address;
}

/** The module with studies: gzip, in base64. */
declare module "virtual:cwnd-study-module" {
  const packed: string;
  export default packed;
}

declare module "virtual:equations" {
  /** For each algorithm, the MathML and the caption of each equation. */
  const equations: Record<string, [math: string, caption: string][]>;
  export default equations;
}

declare module "*.trace?url" {
  const address: string;
  export default address;
}
