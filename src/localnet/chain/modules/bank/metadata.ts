import type { DenomUnit, Metadata } from "../../../../cosmos/proto/gen/cosmos/bank/v1beta1/bank.ts";
import { utf8 } from "../../../../platform/base/bytes.ts";
import { trimGoSpace } from "../../../../platform/base/text.ts";
import { isDenom } from "../../runtime/coins.ts";
import { unregisteredError } from "../../runtime/errors.ts";

/** Checks a denomination's metadata, like the SDK's `Metadata.Validate`. Throws `ModuleError`. */
export function validateMetadata(metadata: Metadata): void {
  const { name, symbol, base, display, denomUnits } = metadata;
  if (trimGoSpace(name) === "") throw unregisteredError("name field cannot be blank");
  if (trimGoSpace(symbol) === "") throw unregisteredError("symbol field cannot be blank");
  requireDenom(base, "invalid metadata base denom");
  requireDenom(display, "invalid metadata display denom");
  const seen = new Set<string>();
  denomUnits.forEach((unit, index) => {
    checkOrder(unit, denomUnits[index - 1], base);
    if (seen.has(unit.denom)) throw unregisteredError(`duplicate denomination unit ${unit.denom}`);
    checkUnit(unit);
    seen.add(unit.denom);
  });
  if (!seen.has(display))
    throw unregisteredError(`metadata must contain a denomination unit with display denom '${display}'`);
}

/** Checks that the first unit is the base and that each following unit has a greater exponent than the one before. */
function checkOrder({ denom, exponent }: DenomUnit, previous: DenomUnit | undefined, base: string): void {
  if (previous !== undefined) {
    if (previous.exponent >= exponent)
      throw unregisteredError("denom units should be sorted asc by exponent");
    return;
  }
  if (denom !== base)
    throw unregisteredError(`metadata's first denomination unit must be the one with base denom '${base}'`);
  if (exponent !== 0) throw unregisteredError(`the exponent for base denomination unit ${base} must be 0`);
}

function checkUnit({ denom, aliases }: DenomUnit): void {
  requireDenom(denom, "invalid denom unit");
  const seen = new Set<string>();
  for (const alias of aliases) {
    if (seen.has(alias)) throw unregisteredError(`duplicate denomination unit alias ${alias}`);
    if (trimGoSpace(alias) === "") throw unregisteredError(`alias for denom unit ${denom} cannot be blank`);
    seen.add(alias);
  }
}

function requireDenom(denom: string, words: string): void {
  if (!isDenom(denom)) throw unregisteredError(`${words}: invalid denom: ${denom}`);
}

/** Formats metadata like the Go message's `String()`: protobuf text on one line, without empty fields. */
export function metadataText(metadata: Metadata): string {
  const units = metadata.denomUnits.map(
    ({ denom, exponent, aliases }) =>
      `denom_units:<${field("denom", denom)}${exponent === 0 ? "" : `exponent:${exponent} `}${aliases
        .map((alias) => `aliases:${quoted(alias)} `)
        .join("")}> `,
  );
  return [
    field("description", metadata.description),
    ...units,
    field("base", metadata.base),
    field("display", metadata.display),
    field("name", metadata.name),
    field("symbol", metadata.symbol),
    field("uri", metadata.uri),
    field("uri_hash", metadata.uriHash),
  ].join("");
}

function field(name: string, value: string): string {
  return value === "" ? "" : `${name}:${quoted(value)} `;
}

const ESCAPES: Readonly<Record<number, string>> = {
  0x0a: "\\n",
  0x0d: "\\r",
  0x09: "\\t",
  0x22: '\\"',
  0x5c: "\\\\",
};

/** Quotes text as in protobuf text format, writing bytes that are not printable ASCII as three octal digits. */
function quoted(value: string): string {
  const bytes = Array.from(utf8(value), (byte) => {
    const isPrintable = byte >= 0x20 && byte < 0x7f;
    const plain = isPrintable ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, "0")}`;
    return ESCAPES[byte] ?? plain;
  });
  return `"${bytes.join("")}"`;
}
