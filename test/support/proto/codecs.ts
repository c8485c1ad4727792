import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { type DescMessage, fromBinary, toBinary } from "@bufbuild/protobuf";
import { isRecord } from "../../../src/platform/base/json.ts";

/** Decodes bytes as a message of one type and encodes the message again. */
export interface Codec {
  readonly roundTrip: (bytes: Uint8Array) => Uint8Array;
}

const GENERATED = fileURLToPath(new URL("../../../src/cosmos/proto/gen/", import.meta.url));
const load = createRequire(import.meta.url);

/** The definition files that have generated codecs, without the ending: `cosmos/bank/v1beta1/tx`. */
export function generatedFiles(): ReadonlySet<string> {
  const paths = readdirSync(GENERATED, { recursive: true, encoding: "utf8" });
  const names = paths.filter((path) => path.endsWith(".ts")).map((path) => path.slice(0, -".ts".length));
  return new Set(names.filter((name) => name !== "descriptor-set" && name !== "message-fns"));
}

/** Our generated codec of a message in one of the {@link generatedFiles}, or undefined when the program does not use the codec. */
export async function ownCodec(desc: DescMessage): Promise<Codec | undefined> {
  const module: unknown = await import(/* @vite-ignore */ `${GENERATED}${desc.file.name}.ts`);
  return codecIn(module, desc);
}

/** The codec that reads the descriptor. Every message has one. */
export function descriptorCodec(desc: DescMessage): Codec {
  return { roundTrip: (bytes) => toBinary(desc, fromBinary(desc, bytes)) };
}

/** The codec of the same message in cosmjs-types, or undefined where that package has none. */
export function cosmjsCodec(desc: DescMessage): Codec | undefined {
  try {
    return codecIn(load(`cosmjs-types/${desc.file.name}`), desc);
  } catch (thrown) {
    if (isRecord(thrown) && thrown["code"] === "MODULE_NOT_FOUND") return undefined;
    throw thrown;
  }
}

interface Generated {
  decode(bytes: Uint8Array): unknown;
  encode(message: unknown): { finish(): Uint8Array };
}

function codecIn(module: unknown, desc: DescMessage): Codec | undefined {
  const name = desc.typeName.slice(desc.file.proto.package.length + 1).replaceAll(".", "_");
  const codec: unknown = isRecord(module) ? module[name] : undefined;
  if (!isGenerated(codec)) return undefined;
  return { roundTrip: (bytes) => codec.encode(codec.decode(bytes)).finish() };
}

function isGenerated(value: unknown): value is Generated {
  return isRecord(value) && typeof value["decode"] === "function" && typeof value["encode"] === "function";
}
