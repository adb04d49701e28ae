/** A text editor with errors at their lines and completion. It is large, and is loaded where it is needed. */

import { autocompletion, type CompletionSource } from "@codemirror/autocomplete";
import { javascript } from "@codemirror/lang-javascript";
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { linter, lintGutter, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { Prec } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { basicSetup } from "codemirror";

/** Something wrong with a line. */
export interface Mark {
  /** Counted from 1; 0 if it is not about one line. */
  line: number;
  message: string;
}

export interface Options {
  /** Its name for screen readers. */
  label: string;
  language: "javascript" | "toml";
  text: string;
  /** What is wrong, asked while the visitor writes. */
  check(text: string): Mark[] | Promise<Mark[]>;
  complete?: CompletionSource;
  /** Ctrl+Enter, or Command+Enter. */
  run(): void;
}

const HIGHLIGHTS = HighlightStyle.define([
  { tag: [tags.keyword, tags.heading, tags.bool, tags.atom], color: "var(--flow-1)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--flow-3)" },
  { tag: tags.comment, color: "var(--soft)" },
  { tag: [tags.number, tags.propertyName], color: "var(--flow-4)" },
  { tag: tags.function(tags.variableName), color: "var(--flow-6)" },
]);

const THEME = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--ground)", border: "1px solid var(--edge)", borderRadius: "6px", fontSize: "0.9rem" },
  "&.cm-focused": { outline: "2px solid var(--accent)" },
  ".cm-content": { caretColor: "var(--ink)", fontFamily: "ui-monospace, monospace" },
  ".cm-gutters": { backgroundColor: "var(--panel)", color: "var(--soft)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--accent) 8%, transparent)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "color-mix(in srgb, var(--accent) 30%, transparent)" },
  ".cm-tooltip": { backgroundColor: "var(--panel)", color: "var(--ink)", border: "1px solid var(--edge)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--accent-ink)" },
  ".cm-completionInfo": { maxWidth: "24rem" },
  ".cm-panels": { backgroundColor: "var(--panel)", color: "var(--ink)" },
});

export class Editor {
  private readonly view: EditorView;
  /** What a run found wrong with the text as it is. */
  private found: Mark[] = [];

  constructor(place: HTMLElement, options: Options) {
    const check = linter(async (view) => {
      const said = await options.check(view.state.doc.toString());
      // A run may have found something since the text changed; its marks stay.
      return diagnostics(view, [...said, ...this.found.filter((one) => !said.some((other) => same(one, other)))]);
    }, { delay: 300 });
    const run = { key: "Mod-Enter", run: () => (options.run(), true) };
    this.view = new EditorView({
      parent: place,
      doc: options.text,
      extensions: [
        Prec.highest(keymap.of([run])),
        basicSetup,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": options.label, tabindex: "0" }),
        options.language === "toml" ? StreamLanguage.define(toml) : javascript(),
        syntaxHighlighting(HIGHLIGHTS),
        THEME,
        lintGutter(),
        check,
        EditorView.updateListener.of((update) => {
          if (update.docChanged) this.found = [];
        }),
        options.complete ? autocompletion({ override: [options.complete] }) : [],
      ],
    });
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  set text(text: string) {
    if (text !== this.text) this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
  }

  /** Shows what a run found wrong, until the text changes. */
  mark(marks: Mark[]): void {
    this.found = marks;
    this.view.dispatch(setDiagnostics(this.view.state, diagnostics(this.view, marks)));
  }

  /** Goes to a line. */
  show(line: number): void {
    const { from } = this.view.state.doc.line(Math.min(Math.max(line, 1), this.view.state.doc.lines));
    this.view.dispatch({ selection: { anchor: from }, scrollIntoView: true });
    this.view.focus();
  }
}

function same(one: Mark, other: Mark): boolean {
  return one.line === other.line && one.message === other.message;
}

function diagnostics(view: EditorView, marks: Mark[]): Diagnostic[] {
  const doc = view.state.doc;
  return marks.filter((mark) => mark.line > 0).map((mark) => {
    const line = doc.line(Math.min(mark.line, doc.lines));
    return { from: line.from, to: line.to, severity: "error", message: mark.message };
  });
}
