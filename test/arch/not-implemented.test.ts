import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT, sourceFiles } from "./source-files.ts";

// What the local chain refuses as not implemented is a difference from a real chain.

/** Texts of errors, up to their first variable part. */
const TEXTS = sourceFiles()
  .filter(({ path }) => path.startsWith("src/localnet/chain/"))
  .flatMap(({ path, code }) =>
    [...code.matchAll(/not implemented[^"`$]*(?=["`$])/g)].map(([text]) => ({ path, text: text.trim() })),
  );

describe("what the chain does not implement", () => {
  const page = readFileSync(join(ROOT, "docs/conformance.md"), "utf8");

  it("is found", () => expect(TEXTS.length).toBeGreaterThan(1));

  it.each(TEXTS)("docs/conformance.md has the text of $path: $text", ({ text }) => {
    expect(page).toContain(text);
  });
});
