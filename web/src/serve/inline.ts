/** Messages of the server: what is between backticks is code. */

import { make } from "../dom";

export function inline(text: string): DocumentFragment {
  const fragment = document.createDocumentFragment();
  const parts = text.split("`");
  // A backtick without its partner is only a backtick.
  if (parts.length % 2 === 0) fragment.append(text);
  else fragment.append(...parts.map((part, i) => (i % 2 === 1 ? make("code", {}, part) : part)));
  return fragment;
}
