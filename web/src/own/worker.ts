/**
 * The worker that runs the visitor's algorithm. Its source is the program followed by the usual worker, in a `data:` address. This
 * worker has an origin of its own, so that a program of a link can read neither the site's storage nor its answers. No text is
 * evaluated; the page's policy only has to allow "worker-src data:".
 */

import { parse, type Node } from "acorn";
import { PROGRAM, type Problem } from "../module";
import { SOURCE } from "./runtime";
import address from "../worker.ts?worker&url";

const HANDLERS = ["init", "on_ack", "on_loss", "on_ecn", "on_timeout"];

/** What is wrong with the syntax of a program. */
export function check(code: string): Problem[] {
  try {
    parse(strict(code), { ecmaVersion: 2023, sourceType: "script" });
    return [];
  } catch (error) {
    const { loc, message } = error as { loc?: { line: number }; message: string };
    return [{ line: loc?.line ?? 0, key: PROGRAM, message: message.replace(/ \(\d+:\d+\)$/, "") }];
  }
}

/** Creates the worker of a program without syntax errors. */
export async function worker(code: string): Promise<Worker> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`the worker cannot be loaded: ${response.status}`);
  const defined = HANDLERS.map((name) => `${name}:typeof ${name}==="function"?${name}:undefined`).join();
  const lines = code.split("\n").length;
  const program = `self.program={lines:${lines},create:function(parameters){${strict(code)}\nreturn{${defined},needs:typeof needs==="object"&&needs||{}}}};`;
  const source = `${program}\n${await response.text()}\n//# sourceURL=${SOURCE}`;
  return new Worker(`data:text/javascript;charset=utf-8,${encodeURIComponent(source)}`, { type: "module" });
}

/** The problems of a program that did not come back: its loops, one of which does not end. */
export function endless(code: string, seconds: number): Problem[] {
  const lines: number[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(visit);
    if (typeof value !== "object" || value === null || !("type" in value)) return;
    const node = value as Node;
    if (/^(While|DoWhile|For)/.test(node.type)) lines.push(node.loc!.start.line);
    Object.values(node).forEach(visit);
  };
  visit(parse(strict(code), { ecmaVersion: 2023, sourceType: "script", locations: true }));
  const wrong = `it did not return within ${seconds} s`;
  if (lines.length === 0) return [{ line: 0, key: PROGRAM, message: wrong }];
  return lines.map((line) => ({ line, key: PROGRAM, message: `${wrong}: does this loop end?` }));
}

/** The program in strict mode, on the same lines. */
function strict(code: string): string {
  return `"use strict";${code}`;
}
