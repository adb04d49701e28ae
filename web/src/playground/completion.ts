/** Completion of study files from their JSON Schema: keys of the section, and values of a key. */

import type { Completion, CompletionContext, CompletionResult, CompletionSource } from "@codemirror/autocomplete";

interface Schema {
  $ref?: string;
  description?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  enum?: unknown[];
  examples?: unknown[];
  $defs?: Record<string, Schema> & { setting?: Record<string, Schema> };
}

export function completion(text: string): CompletionSource {
  const root = JSON.parse(text) as Schema;
  return (context) => complete(root, context);
}

function complete(root: Schema, context: CompletionContext): CompletionResult | null {
  const line = context.state.doc.lineAt(context.pos);
  const before = line.text.slice(0, context.pos - line.from);
  const header = /^\s*\[{1,2}([\w.-]*)$/.exec(before);
  if (header) {
    const sections = Object.entries(root.properties ?? {}).filter(([, schema]) => follow(root, schema).properties || schema.items);
    return { from: context.pos - header[1]!.length, options: sections.map(([label, schema]) => keyOption(root, label, schema, "")) };
  }
  const section = sectionAt(root, context.state.doc.sliceString(0, line.from));
  // `key = "val`, at the beginning of a line or in an inline table.
  const value = /(?:^|[{,])\s*([\w-]+)\s*=\s*(?:\[[^\]]*)?("?)([\w.:/-]*)$/.exec(before);
  if (value) {
    const [, key, quote, word] = value as unknown as [string, string, string, string];
    if (quote === "" && word === "" && !context.explicit) return null;
    const schema = find(root, section, key);
    const options = schema ? values(root, schema) : [];
    if (options.length === 0) return null;
    const apply = (text: string, isText: boolean) => (isText && quote === "" ? `"${text}"` : text);
    return {
      from: context.pos - word.length,
      options: options.map((one) => ({ label: String(one), type: "enum", apply: apply(String(one), typeof one === "string") })),
      validFor: /^[\w.:/-]*$/,
    };
  }
  const key = /(?:^|[{,])\s*([\w-]*)$/.exec(before);
  if (!key || (key[1] === "" && !context.explicit)) return null;
  const properties = section.properties ?? {};
  const inner = /[{,]/.test(before) ? (root.$defs?.setting ?? {}) : {};
  return {
    from: context.pos - key[1]!.length,
    options: Object.entries({ ...properties, ...inner }).map(([label, schema]) => keyOption(root, label, schema, " = ")),
    validFor: /^[\w-]*$/,
  };
}

/** The section in which a text ends. */
function sectionAt(root: Schema, text: string): Schema {
  const headers = Array.from(text.matchAll(/^\s*\[{1,2}([\w.-]+)\]/gm), (match) => match[1]!);
  const path = headers.at(-1)?.split(".") ?? [];
  let schema = root;
  for (const name of path) {
    const next = schema.properties?.[name];
    if (!next) return {};
    schema = follow(root, next);
    if (schema.items) schema = follow(root, schema.items);
  }
  return schema;
}

function find(root: Schema, section: Schema, key: string): Schema | undefined {
  return section.properties?.[key] ?? root.$defs?.setting?.[key];
}

function follow(root: Schema, schema: Schema): Schema {
  if (!schema.$ref) return schema;
  const path = schema.$ref.replace(/^#\//, "").split("/");
  const target = path.reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], root);
  return (target as Schema | undefined) ?? {};
}

/** The words that a schema names, at any depth. */
function values(root: Schema, schema: Schema): unknown[] {
  const target = follow(root, schema);
  const inner = [...(target.anyOf ?? []), ...(target.items ? [target.items] : [])];
  return [...new Set([...(target.enum ?? []), ...(target.examples ?? []), ...inner.flatMap((one) => values(root, one))])];
}

function keyOption(root: Schema, label: string, schema: Schema, after: string): Completion {
  const target = follow(root, schema);
  return { label, type: "property", apply: label + after, info: schema.description ?? target.description ?? "" };
}
