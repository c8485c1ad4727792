import { existsSync, readFileSync } from "node:fs";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { gunzipSync } from "node:zlib";
import { z } from "zod";
import type { Application } from "../../src/localnet/chain/runtime/abci.ts";
import { toHex } from "../../src/platform/base/bytes.ts";

// Compares the raw stores after a recorded chain with ours.

const recordedState = z.object({
  stores: z.record(z.string(), z.array(z.tuple([z.string(), z.string()]))),
});

/** What differs between a store that was recorded and ours. */
export interface StoreOutcome {
  readonly store: string;
  /** Entries that are equal. */
  readonly equal: number;
  /** Recorded entries, and those that only we have. */
  readonly total: number;
  /** One line for each entry that differs: its key, our value and the recorded one in hex. */
  readonly differences: readonly string[];
}

/** Compares all stores of `state.json.gz` of a sequence. Returns none for a sequence without the file. */
export function compareState(app: Application, file: string): StoreOutcome[] {
  if (!existsSync(file)) return [];
  const { stores } = recordedState.parse(JSON.parse(gunzipSync(readFileSync(file)).toString("utf8")));
  return Object.entries(stores).map(([store, entries]) =>
    compareStore(store, readStore(app, store), new Map(entries)),
  );
}

function compareStore(
  store: string,
  ours: ReadonlyMap<string, string>,
  recorded: ReadonlyMap<string, string>,
): StoreOutcome {
  const keys = [...new Set([...recorded.keys(), ...ours.keys()])].toSorted();
  const differences = keys.flatMap((key) => {
    const [mine, wanted] = [ours, recorded].map((entries) => comparable(store, key, entries.get(key)));
    return mine === wanted ? [] : [`${store} ${key}: ${show(mine)}, recorded ${show(wanted)}`];
  });
  return { store, equal: keys.length - differences.length, total: keys.length, differences };
}

/** Tag and length of the app hash in a header, and the hash itself. */
const APP_HASH = /5a20[0-9a-f]{64}/;
/** Prefix of the headers of recent blocks. */
const HISTORICAL_INFO = "50";

/** The app hash in a recorded header is that of the recorded stores, some of which are not here. */
function comparable(store: string, key: string, value: string | undefined): string | undefined {
  const isHeader = store === "staking" && key.startsWith(HISTORICAL_INFO);
  return isHeader ? value?.replace(APP_HASH, "") : value;
}

function show(value: string | undefined): string {
  if (value === undefined) return "absent";
  return value.length > 400 ? `${value.slice(0, 400)}…` : value;
}

/** Reads all entries of a store: the subspaces of all first bytes. A store that is not here is empty. */
function readStore(app: Application, store: string): ReadonlyMap<string, string> {
  const entries = Array.from({ length: 256 }, (_, byte) =>
    app.query({ path: `/store/${store}/subspace`, data: Uint8Array.of(byte), height: 0n, prove: false }),
  ).flatMap(({ code, value }) => (code === 0 ? readPairs(value) : []));
  return new Map(entries);
}

/** Decodes `cosmos.store.internal.kv.v1beta1.Pairs`: keys and values in hex. */
function readPairs(bytes: Uint8Array): (readonly [key: string, value: string])[] {
  const reader = new BinaryReader(bytes);
  const pairs: (readonly [string, string])[] = [];
  while (reader.pos < reader.len) {
    reader.uint32();
    pairs.push(readPair(reader.bytes()));
  }
  return pairs;
}

function readPair(bytes: Uint8Array): readonly [key: string, value: string] {
  const reader = new BinaryReader(bytes);
  const fields = new Map<number, string>();
  while (reader.pos < reader.len) {
    const field = reader.uint32() >>> 3;
    fields.set(field, toHex(reader.bytes()));
  }
  return [fields.get(1) ?? "", fields.get(2) ?? ""];
}
