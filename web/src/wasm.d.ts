declare module "*.wasm?url" {
  const address: string;
  export default address;
}

/** The module with studies: gzip, in base64. */
declare module "virtual:cwnd-study-module" {
  const packed: string;
  export default packed;
}

declare module "*.trace?url" {
  const address: string;
  export default address;
}
