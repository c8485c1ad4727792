import { fromBase64, fromLossyUtf8, fromUtf8, utf8 } from "../../../../platform/base/bytes.ts";
import { type GoJson, GoJsonError, parseGoJson } from "../../../../platform/base/go-json.ts";
import type { MessageJson } from "./contract.ts";
import { withExactIntegers } from "./message-json.ts";

const MAX_UINT64 = (1n << 64n) - 1n;
const NULL: GoJson = { kind: "null" };

/**
 * A value in a contract's JSON, which is read like Go's `encoding/json` reads a struct. Unknown members are ignored, names match in
 * any case, null is the zero value, and the last occurrence of a repeated member wins. All methods throw `GoJsonError`.
 */
export class GoField {
  readonly json: GoJson;
  private readonly path: string;

  constructor(json: GoJson, path = "") {
    this.json = json;
    this.path = path;
  }

  static parse(bytes: Uint8Array): GoField {
    return new GoField(parseGoJson(fromLossyUtf8(bytes)));
  }

  isPresent(): boolean {
    return this.json.kind !== "null";
  }

  member(name: string): GoField {
    const path = this.path === "" ? name : `${this.path}.${name}`;
    if (this.json.kind === "null") return new GoField(NULL, path);
    if (this.json.kind !== "object") throw this.mismatch("struct");
    const exact = this.json.members.findLast(([own]) => own === name);
    const found = exact ?? this.json.members.findLast(([own]) => own.toLowerCase() === name);
    return new GoField(found?.[1] ?? NULL, path);
  }

  /** Calls the first handler, in the given order, for which the JSON has a member. Returns undefined if the JSON has no such member. */
  variant<A extends readonly unknown[], T>(
    handlers: Readonly<Record<string, (body: GoField, ...more: A) => T>>,
    ...more: A
  ): T | undefined {
    for (const [name, handle] of Object.entries(handlers)) {
      const body = this.member(name);
      if (body.isPresent()) return handle(body, ...more);
    }
    return undefined;
  }

  items(): readonly GoField[] {
    if (this.json.kind === "null") return [];
    if (this.json.kind !== "array") throw this.mismatch("slice");
    return this.json.items.map((item) => new GoField(item, this.path));
  }

  text(): string {
    if (this.json.kind === "null") return "";
    if (this.json.kind !== "string") throw this.mismatch("string");
    return this.json.value;
  }

  /** Decodes base64 text. The padding is required. */
  bytes(): Uint8Array {
    const text = this.text();
    try {
      return fromBase64(text);
    } catch {
      throw new GoJsonError(
        `illegal base64 data at input byte ${Math.max(0, text.search(/[^A-Za-z0-9+/]/))}`,
      );
    }
  }

  uint64(): bigint {
    if (this.json.kind === "null") return 0n;
    if (this.json.kind !== "number") throw this.mismatch("uint64");
    if (!/^\d+$/.test(this.json.text) || BigInt(this.json.text) > MAX_UINT64)
      throw new GoJsonError(
        `json: cannot unmarshal number ${this.json.text} into Go struct field ${this.path} of type uint64`,
      );
    return BigInt(this.json.text);
  }

  boolean(): boolean {
    if (this.json.kind === "null") return false;
    if (this.json.kind !== "bool") throw this.mismatch("bool");
    return this.json.value;
  }

  coins(): readonly { readonly denom: string; readonly amount: string }[] {
    return this.items().map((item) => item.coin());
  }

  coin(): { readonly denom: string; readonly amount: string } {
    return { denom: this.member("denom").text(), amount: this.member("amount").text() };
  }

  /** Returns the value, with integers beyond 2^53 as bigints. */
  message(): MessageJson {
    return withExactIntegers(this.json);
  }

  private mismatch(type: string): GoJsonError {
    return new GoJsonError(
      `json: cannot unmarshal ${this.json.kind} into Go ${this.path === "" ? "value" : `struct field ${this.path}`} of type ${type}`,
    );
  }
}

/** Like Go's `json.Compact`, removes white space between the tokens of valid JSON text. */
export function compactJson(bytes: Uint8Array): Uint8Array {
  return utf8(
    fromUtf8(bytes).replace(
      /("(?:[^"\\]|\\.)*")|[ \t\r\n]+/g,
      (_match, text: string | undefined) => text ?? "",
    ),
  );
}
