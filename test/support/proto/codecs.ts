import { createRequire } from "node:module";
import type { DescMessage } from "@bufbuild/protobuf";
import { isRecord } from "../../../src/base/json.ts";

/** Encodes and decodes messages of one type, whatever generated it. */
export interface Codec {
  readonly roundTrip: (bytes: Uint8Array) => Uint8Array;
}

const load = createRequire(import.meta.url);

/** Our generated codec of a message. Throws when there is none. */
export async function ownCodec(desc: DescMessage): Promise<Codec> {
  const file = new URL(`../../../src/proto/gen/${desc.file.name}.ts`, import.meta.url).pathname;
  const module: unknown = await import(/* @vite-ignore */ file);
  const codec = codecIn(module, desc);
  if (codec === undefined) throw new Error(`no generated codec for ${desc.typeName}`);
  return codec;
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
