/** The times at which the page stops a run: a change is noted as text with six decimals, and must be repeated to the bit. */

/** Rounds seconds to whole microseconds. */
export function microseconds(seconds: number): number {
  return Number(seconds.toFixed(6));
}
