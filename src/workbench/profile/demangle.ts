/** Maximum length of a demangled name in characters. Back references let even a short mangled name expand to an arbitrarily long name. */
const MAX_LENGTH = 2_000;
/** Maximum nesting depth in a mangled name. */
const MAX_DEPTH = 100;

/**
 * Returns a Rust function's name as in the source code, without compiler hashes. Supports both of Rust's mangling schemes,
 * `_ZN…17h…E` and `_R…`, and names already demangled by a linker (`a::b::h0123456789abcdef`). From any other
 * name, removes LLVM's suffix `.llvm.…`.
 */
export function demangle(name: string): string {
  const symbol = name.replace(/\.llvm\.[0-9A-F@]+$/, "");
  const legacy = /^_{1,2}ZN((?:\d+[\w$.]*)+)E$/.exec(symbol)?.[1];
  if (legacy !== undefined) return demangleLegacy(legacy) ?? name;
  if (/^_{1,2}R[A-Z0-9]/.test(symbol)) return demangleV0(symbol.replace(/^_{1,2}R/, "")) ?? name;
  return symbol.replace(/::h[0-9a-f]{16}$/, "");
}

const ESCAPES: Readonly<Record<string, string>> = {
  SP: "@",
  BP: "*",
  RF: "&",
  LT: "<",
  GT: ">",
  LP: "(",
  RP: ")",
  C: ",",
};

/** Parses a legacy name without its prefix, such as `4core3fmt5Write17h0123456789abcdef`. */
function demangleLegacy(text: string): string | undefined {
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    const digits = /^\d+/.exec(text.slice(at))?.[0];
    const length = Number(digits);
    if (digits === undefined || length === 0 || at + digits.length + length > text.length) return undefined;
    at += digits.length;
    parts.push(text.slice(at, at + length));
    at += length;
  }
  const last = parts.at(-1);
  if (last !== undefined && /^h[0-9a-f]{16}$/.test(last)) parts.pop();
  return parts.length === 0 ? undefined : parts.map(unescapeLegacy).join("::");
}

function unescapeLegacy(part: string): string {
  return part
    .replace(/^_(?=\$)/, "")
    .replaceAll("..", "::")
    .replaceAll(/\$(\w+)\$/g, (whole, code: string) => {
      const known = ESCAPES[code];
      if (known !== undefined) return known;
      const point = /^u([0-9a-f]{1,6})$/.exec(code)?.[1];
      return point === undefined || Number.parseInt(point, 16) > 0x10ffff
        ? whole
        : String.fromCodePoint(Number.parseInt(point, 16));
    });
}

/** Thrown for a name that does not use the v0 scheme or that exceeds a limit. */
class NotMangledError extends Error {}

function demangleV0(text: string): string | undefined {
  try {
    return new V0Reader(text).symbol();
  } catch (thrown) {
    if (thrown instanceof NotMangledError) return undefined;
    throw thrown;
  }
}

const BASIC_TYPES: Readonly<Record<string, string>> = {
  a: "i8",
  b: "bool",
  c: "char",
  d: "f64",
  e: "str",
  f: "f32",
  h: "u8",
  i: "isize",
  j: "usize",
  l: "i32",
  m: "u32",
  n: "i128",
  o: "u128",
  p: "_",
  s: "i16",
  t: "u16",
  u: "()",
  v: "...",
  x: "i64",
  y: "u64",
  z: "!",
};

/** Demangles a name in Rust's "v0" mangling scheme (RFC 2603). The name must be given without its prefix. */
class V0Reader {
  private readonly text: string;
  private at = 0;
  private depth = 0;
  /** Number of characters read, including characters that back references read again. A limit on this number bounds the work. */
  private read = 0;

  constructor(text: string) {
    this.text = text;
  }

  symbol(): string {
    const path = this.path(true);
    // Ignore the crate that instantiated a generic function, which follows the function's own path.
    if (this.at < this.text.length) this.path(true);
    if (this.at < this.text.length) throw new NotMangledError();
    return path;
  }

  private next(): string {
    const character = this.text[this.at++];
    this.read += 1;
    if (character === undefined || this.read > 20 * MAX_LENGTH) throw new NotMangledError();
    return character;
  }

  private take(character: string): boolean {
    if (this.text[this.at] !== character) return false;
    this.next();
    return true;
  }

  private nested(read: () => string): string {
    if (++this.depth > MAX_DEPTH) throw new NotMangledError();
    const result = read();
    this.depth -= 1;
    if (result.length > MAX_LENGTH) throw new NotMangledError();
    return result;
  }

  /** Follows a back reference: runs `read` at an earlier position in the name, then continues after the reference. */
  private back(read: () => string): string {
    const from = this.at - 1;
    const to = this.base62();
    if (to >= from) throw new NotMangledError();
    const { at } = this;
    this.at = to;
    const result = this.nested(read);
    this.at = at;
    return result;
  }

  private path(isValue: boolean): string {
    return this.nested(() => this.pathOf(this.next(), isValue));
  }

  private pathOf(tag: string, isValue: boolean): string {
    switch (tag) {
      case "C":
        return this.identifier().name;
      case "M":
        this.implPath();
        return `<${this.type()}>`;
      case "X":
        this.implPath();
        return this.traitImpl();
      case "Y":
        return this.traitImpl();
      case "N":
        return this.nestedPath(isValue);
      case "I": {
        const path = this.path(isValue);
        const list = this.list(() => this.genericArgument());
        return `${path}${isValue ? "::" : ""}<${list.join(", ")}>`;
      }
      case "B":
        return this.back(() => this.path(isValue));
      default:
        throw new NotMangledError();
    }
  }

  private traitImpl(): string {
    const type = this.type();
    return `<${type} as ${this.path(false)}>`;
  }

  private implPath(): void {
    this.disambiguator();
    this.path(false);
  }

  private nestedPath(isValue: boolean): string {
    const namespace = this.next();
    const path = this.path(isValue);
    const { name, disambiguator } = this.identifier();
    if (/[a-z]/.test(namespace)) return name === "" ? path : `${path}::${name}`;
    const kind = { C: "closure", S: "shim" }[namespace] ?? namespace;
    return `${path}::{${kind}${name === "" ? "" : `:${name}`}#${disambiguator}}`;
  }

  private disambiguator(): number {
    return this.take("s") ? this.base62() + 1 : 0;
  }

  private identifier(): { readonly name: string; readonly disambiguator: number } {
    const disambiguator = this.disambiguator();
    return { disambiguator, name: this.plainIdentifier() };
  }

  private plainIdentifier(): string {
    const isPunycode = this.take("u");
    const length = this.decimal();
    this.take("_");
    const end = this.at + length;
    if (end > this.text.length) throw new NotMangledError();
    const name = this.text.slice(this.at, end);
    this.at = end;
    this.read += length;
    return isPunycode ? `punycode{${name}}` : name;
  }

  private decimal(): number {
    if (this.take("0")) return 0;
    const digits = /^[1-9]\d{0,5}/.exec(this.text.slice(this.at, this.at + 6))?.[0];
    if (digits === undefined) throw new NotMangledError();
    this.at += digits.length;
    return Number(digits);
  }

  /** Reads a base-62 number, where `_` means 0 and `0_` means 1. */
  private base62(): number {
    let value = 0;
    for (let count = 0; ; count++) {
      const character = this.next();
      if (character === "_") return count === 0 ? 0 : value + 1;
      const digit = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".indexOf(character);
      if (digit < 0 || count > 12) throw new NotMangledError();
      value = value * 62 + digit;
    }
  }

  private list(read: () => string): string[] {
    const items: string[] = [];
    while (!this.take("E")) items.push(read());
    return items;
  }

  private genericArgument(): string {
    if (this.take("L")) return this.lifetime();
    return this.take("K") ? this.constant() : this.type();
  }

  private lifetime(): string {
    return this.base62() === 0 ? "'_" : "'a";
  }

  private type(): string {
    return this.nested(() => this.typeOf(this.next()));
  }

  private typeOf(tag: string): string {
    const basic = BASIC_TYPES[tag];
    if (basic !== undefined) return basic;
    switch (tag) {
      case "A": {
        const type = this.type();
        return `[${type}; ${this.constant()}]`;
      }
      case "S":
        return `[${this.type()}]`;
      case "T": {
        const types = this.list(() => this.type());
        return types.length === 1 ? `(${types.join("")},)` : `(${types.join(", ")})`;
      }
      case "R":
      case "Q":
        if (this.take("L")) this.lifetime();
        return `&${tag === "Q" ? "mut " : ""}${this.type()}`;
      case "P":
        return `*const ${this.type()}`;
      case "O":
        return `*mut ${this.type()}`;
      case "F":
        return this.functionType();
      case "D":
        return this.dynType();
      case "B":
        return this.back(() => this.type());
      default:
        return this.pathOf(tag, false);
    }
  }

  private functionType(): string {
    this.binder();
    const isUnsafe = this.take("U");
    const abi = this.take("K") ? `extern "${this.take("C") ? "C" : this.plainIdentifier()}" ` : "";
    const params = this.list(() => this.type());
    const result = this.type();
    return `${isUnsafe ? "unsafe " : ""}${abi}fn(${params.join(", ")})${result === "()" ? "" : ` -> ${result}`}`;
  }

  private dynType(): string {
    this.binder();
    const traits = this.list(() => this.dynTrait());
    if (!this.take("L")) throw new NotMangledError();
    this.lifetime();
    return `dyn ${traits.join(" + ")}`;
  }

  private dynTrait(): string {
    const path = this.path(false);
    const bindings: string[] = [];
    while (this.take("p")) {
      const name = this.plainIdentifier();
      bindings.push(`${name} = ${this.type()}`);
    }
    if (bindings.length === 0) return path;
    return path.endsWith(">")
      ? `${path.slice(0, -1)}, ${bindings.join(", ")}>`
      : `${path}<${bindings.join(", ")}>`;
  }

  private binder(): void {
    if (this.take("G")) this.base62();
  }

  private constant(): string {
    return this.nested(() => {
      const tag = this.next();
      if (tag === "p") return "_";
      if (tag === "B") return this.back(() => this.constant());
      if (BASIC_TYPES[tag] === undefined) throw new NotMangledError();
      const sign = this.take("n") ? "-" : "";
      const digits = /^[0-9a-f]*/.exec(this.text.slice(this.at))?.[0] ?? "";
      this.at += digits.length;
      if (!this.take("_")) throw new NotMangledError();
      const value = BigInt(digits === "" ? 0 : `0x${digits}`);
      if (tag === "b") return value === 0n ? "false" : "true";
      if (tag === "c") return value <= 0x10ffffn ? `'${String.fromCodePoint(Number(value))}'` : "_";
      return `${sign}${value}`;
    });
  }
}
