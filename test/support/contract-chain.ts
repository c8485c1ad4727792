import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { z } from "zod";
import { createApp } from "../../src/localnet/chain/app.ts";
import type {
  Application,
  FinalizeBlockRequest,
  FinalizeBlockResult,
  QueryResponse,
  TxResult,
} from "../../src/localnet/chain/runtime/abci.ts";
import { concat, fromHex, fromUtf8, toBase64, toHex, utf8 } from "../../src/platform/base/bytes.ts";
import { type JsonObject, type JsonValue, stringifyJson } from "../../src/platform/base/json.ts";
import { GAS_MULTIPLIER } from "../../src/localnet/vm/gas.ts";
import { WORKBENCH_MODULES } from "../../src/workbench/modules/workbench-modules.ts";
import { profileLastTx, createProfiler, type Profiler } from "../../src/workbench/profile/profile-tx.ts";
import type { GasNode } from "../../src/workbench/profile/gas-recorder.ts";
import {
  QueryAllContractStateRequest,
  QueryAllContractStateResponse,
  QueryRawContractStateRequest,
  QueryRawContractStateResponse,
  QuerySmartContractStateRequest,
  QuerySmartContractStateResponse,
} from "../../src/cosmos/proto/gen/cosmwasm/wasm/v1/query.ts";
import { readBinary } from "./contract-calls.ts";
import { compareState, type StoreOutcome } from "./contract-chain-state.ts";

// Replays whole recorded chains: genesis, blocks with their transactions, queries.

const recordedEvent = z.object({
  type: z.string(),
  attributes: z.array(z.tuple([z.string(), z.string(), z.number()])),
});

const recordedTx = z.object({
  id: z.string(),
  tx: z.union([z.string(), z.array(z.union([z.string(), z.object({ wasm: z.string() })]))]),
  /** Answer of `/app/simulate` before the block: the gas, or a failure. */
  simulate: z
    .union([
      z.object({ gas_used: z.number() }),
      z.object({ code: z.number(), codespace: z.string(), log: z.string() }),
    ])
    .optional(),
  result: z.object({
    code: z.number(),
    codespace: z.string(),
    log: z.string(),
    data: z.string(),
    gas_used: z.number(),
    events: z.array(recordedEvent),
  }),
});
type RecordedTx = z.infer<typeof recordedTx>;

const outcome = { id: z.string(), code: z.number(), codespace: z.string(), log: z.string() };

const step = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("init_chain"),
    chain_id: z.string(),
    time: z.number(),
    proposer: z.string(),
    next_validators_hash: z.string(),
  }),
  z.object({
    kind: z.literal("block"),
    height: z.number(),
    time: z.number(),
    votes: z.array(z.tuple([z.string(), z.number(), z.number()])),
    misbehavior: z.array(z.tuple([z.string(), z.number(), z.number(), z.number()])).optional(),
    block_events: z.array(recordedEvent),
    txs: z.array(recordedTx),
  }),
  z.object({
    kind: z.literal("smart"),
    ...outcome,
    address: z.string(),
    msg: z.string(),
    data: z.string().nullable(),
  }),
  z.object({
    kind: z.literal("raw"),
    ...outcome,
    address: z.string(),
    key: z.string(),
    data: z.string().nullable(),
  }),
  z.object({
    kind: z.literal("query"),
    ...outcome,
    path: z.string(),
    request_hex: z.string(),
    value: z.string().nullable(),
  }),
  z.object({
    kind: z.literal("dump"),
    id: z.string(),
    contracts: z.record(z.string(), z.array(z.tuple([z.string(), z.string()]))),
  }),
]);
type Step = z.infer<typeof step>;
type Block = Extract<Step, { kind: "block" }>;

/** What differs between a recorded case and ours. */
interface CaseOutcome {
  readonly id: string;
  /** Differing fields, with what we have and what was recorded; empty if all are equal. */
  readonly differences: readonly string[];
}

/** Reads the steps of a sequence. */
function readSteps(folder: string): Step[] {
  return gunzipSync(readFileSync(join(folder, "steps.jsonl.gz")))
    .toString("utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => step.parse(JSON.parse(line)));
}

/** A replayed chain: each transaction, query, dump and simulation in order, and the stores after the last block. */
export interface ChainOutcome {
  readonly cases: readonly CaseOutcome[];
  readonly stores: readonly StoreOutcome[];
}

/** Replays the recorded chain of a sequence, a folder of `folder`. */
export function replayChain(folder: string, sequence: string): ChainOutcome {
  const steps = readSteps(join(folder, sequence));
  const [first] = steps;
  if (first?.kind !== "init_chain") throw new Error(`${sequence}: the first step is not init_chain`);
  const genesis = z
    .object({ app_state: z.record(z.string(), z.custom<JsonValue>()) })
    .parse(JSON.parse(gunzipSync(readFileSync(join(folder, sequence, "genesis.json.gz"))).toString("utf8")));
  const profiler = createProfiler();
  const app = createApp({
    kind: "local",
    denom: "untrn",
    burnsFees: true,
    profile: "deployed",
    moreModules: WORKBENCH_MODULES.create,
    tracer: profiler.tracer,
  });
  app.initChain({
    chainId: first.chain_id,
    timeNs: BigInt(first.time) * 1_000_000_000n,
    initialHeight: 1n,
    validators: [],
    appState: toAppState(genesis.app_state),
  });
  const place = {
    folder,
    proposer: fromHex(first.proposer),
    nextValidatorsHash: fromHex(first.next_validators_hash),
  };
  const cases = steps.flatMap((each) => runStep({ app, profiler }, each, place));
  return { cases, stores: compareState(app, join(folder, sequence, "state.json.gz")) };
}

interface Place {
  readonly folder: string;
  readonly proposer: Uint8Array;
  readonly nextValidatorsHash: Uint8Array;
}

function runStep(chain: ProfiledApp, each: Step, place: Place): CaseOutcome[] {
  const { app } = chain;
  switch (each.kind) {
    case "init_chain":
      return [];
    case "block":
      return runBlock(chain, each, place);
    case "smart": {
      const request = QuerySmartContractStateRequest.encode({
        address: each.address,
        queryData: utf8(each.msg),
      });
      const response = ask(app, "SmartContractState", request.finish());
      const data =
        response.code === 0 ? fromUtf8(QuerySmartContractStateResponse.decode(response.value).data) : null;
      return [compareQuery(each, response, data, each.data)];
    }
    case "raw": {
      const request = QueryRawContractStateRequest.encode({
        address: each.address,
        queryData: fromHex(each.key),
      });
      const response = ask(app, "RawContractState", request.finish());
      const data =
        response.code === 0 ? toHex(QueryRawContractStateResponse.decode(response.value).data) : null;
      return [compareQuery(each, response, data, each.data)];
    }
    case "query": {
      const response = app.query({
        path: each.path,
        data: fromHex(each.request_hex),
        height: 0n,
        prove: false,
      });
      return [
        compareQuery(each, response, response.code === 0 ? toBase64(response.value) : null, each.value),
      ];
    }
    case "dump":
      return Object.entries(each.contracts).map(([address, entries]) =>
        compareDump(app, each.id, address, entries),
      );
  }
}

function ask(app: Application, name: string, data: Uint8Array): QueryResponse {
  return app.query({ path: `/cosmwasm.wasm.v1.Query/${name}`, data, height: 0n, prove: false });
}

function compareQuery(
  recorded: { readonly id: string; readonly code: number; readonly codespace: string; readonly log: string },
  { code, codespace, log }: QueryResponse,
  data: string | null,
  wanted: string | null,
): CaseOutcome {
  const differences = compare({ code, codespace, log, data }, { ...recorded, data: wanted });
  return { id: recorded.id, differences };
}

function compareDump(
  app: Application,
  id: string,
  address: string,
  entries: readonly (readonly [string, string])[],
): CaseOutcome {
  const request = {
    address,
    pagination: { key: new Uint8Array(), offset: 0n, limit: 100_000n, countTotal: false, reverse: false },
  };
  const response = ask(app, "AllContractState", QueryAllContractStateRequest.encode(request).finish());
  const models = response.code === 0 ? QueryAllContractStateResponse.decode(response.value).models : [];
  const state = models.map(({ key, value }) => `${toHex(key)}=${toHex(value)}`);
  const differences = compare({ state }, { state: entries.map(([key, value]) => `${key}=${value}`) });
  return { id: `${id} ${address}`, differences };
}

function runBlock(chain: ProfiledApp, block: Block, place: Place): CaseOutcome[] {
  const { app } = chain;
  const { folder, proposer, nextValidatorsHash } = place;
  const txs = block.txs.map(({ tx }) => bytesOf(folder, tx));
  const simulated = block.txs.flatMap((tx, at) => simulate(app, tx, txs[at]));
  const ns = (seconds: number): bigint => BigInt(seconds) * 1_000_000_000n;
  const request: FinalizeBlockRequest = {
    height: BigInt(block.height),
    timeNs: ns(block.time),
    proposerAddress: proposer,
    nextValidatorsHash,
    txs,
    lastCommit: block.votes.map(([address, power, flag]) => ({
      address: fromHex(address),
      power: BigInt(power),
      signed: flag === 2,
    })),
    misbehavior: (block.misbehavior ?? []).map(([address, power, height, time]) => ({
      address: fromHex(address),
      power: BigInt(power),
      height: BigInt(height),
      timeNs: ns(time),
    })),
  };
  const result: FinalizeBlockResult = app.finalizeBlock(request);
  app.commit();
  const events = compare(
    { events: result.events.map(eventText) },
    { events: block.block_events.map(recordedText) },
  );
  return [
    ...simulated,
    ...block.txs.map((tx, at) => {
      const { id, differences } = compareTx(tx, result.txResults[at]);
      const problem = profileProblem(chain, request, result.txResults.slice(0, at + 1));
      return { id, differences: problem === undefined ? differences : [...differences, problem] };
    }),
    { id: `block ${block.height}`, differences: events },
  ];
}

/** An application and the profiler that it reports to. */
interface ProfiledApp {
  readonly app: Application;
  readonly profiler: Profiler;
}

/** Runs the last of the transactions again with a profile. Returns what differs, or how the profile's sum does. */
export function profileProblem(
  chain: ProfiledApp,
  block: FinalizeBlockRequest,
  results: readonly TxResult[],
): string | undefined {
  const profiled = profileLastTx({ ...block, txs: block.txs.slice(0, results.length) }, chain);
  // The state before the first block of a chain is not stored.
  if (profiled === undefined) return block.height === 1n ? undefined : "no profile";
  const { result, profile } = profiled;
  if (stringifyJson(result) !== stringifyJson(results)) return "profile: the results differ";
  const sum = profileSum(profile.root);
  const used = (results.at(-1)?.gasUsed ?? 0n) * GAS_MULTIPLIER;
  return sum === used ? undefined : `profile: the gas adds up to ${sum}, not ${used}`;
}

/** VM gas of a place and of all places below it. */
export function profileSum({ self, children }: GasNode): bigint {
  return children.reduce((sum, child) => sum + profileSum(child), self);
}

/** The text of a simulation that used the gas of a whole block: an endless loop, which takes minutes. It is not repeated. */
const ENDLESS = "gasWanted: 1000000000,";

function simulate(app: Application, tx: RecordedTx, bytes: Uint8Array | undefined): CaseOutcome[] {
  if (tx.simulate === undefined || bytes === undefined) return [];
  const id = `${tx.id} simulate`;
  if ("gas_used" in tx.simulate) {
    const { code, gasUsed } = app.simulate(bytes);
    return [
      { id, differences: compare({ code, gas: Number(gasUsed) }, { code: 0, gas: tx.simulate.gas_used }) },
    ];
  }
  if (tx.simulate.log.includes(ENDLESS)) return [];
  const { code, codespace, log } = app.query({
    path: "/app/simulate",
    data: bytes,
    height: 0n,
    prove: false,
  });
  return [{ id, differences: compare({ code, codespace, log }, tx.simulate) }];
}

function eventText({ type, attributes }: TxResult["events"][number]): string {
  return `${type}(${attributes.map(({ key, value }) => `${key}=${value}`).join()})`;
}

function recordedText({ type, attributes }: z.infer<typeof recordedEvent>): string {
  return `${type}(${attributes.map(([key, value]) => `${key}=${value}`).join()})`;
}

function bytesOf(folder: string, tx: RecordedTx["tx"]): Uint8Array {
  if (typeof tx === "string") return fromHex(tx);
  return concat(
    ...tx.map((part) => (typeof part === "string" ? fromHex(part) : readBinary(folder, part.wasm))),
  );
}

function compareTx({ id, result: recorded }: RecordedTx, result: TxResult | undefined): CaseOutcome {
  if (result === undefined) return { id, differences: ["no result"] };
  const ours = {
    code: result.code,
    codespace: result.codespace,
    log: result.log,
    data: toBase64(result.data),
    gas: Number(result.gasUsed),
    events: result.events.map(eventText),
  };
  const theirs = { ...recorded, gas: recorded.gas_used, events: recorded.events.map(recordedText) };
  return { id, differences: compare(ours, theirs) };
}

/** Returns a line for each field of `ours` that differs. Of lists, it shows the first difference. */
function compare<T extends Readonly<Record<string, unknown>>>(
  ours: T,
  theirs: Readonly<Record<keyof T, unknown>>,
): string[] {
  return Object.entries(ours).flatMap(([field, mine]) => {
    const wanted = theirs[field];
    if (JSON.stringify(mine) === JSON.stringify(wanted)) return [];
    if (!Array.isArray(mine) || !Array.isArray(wanted)) {
      const by = typeof mine === "number" && typeof wanted === "number" ? ` (${mine - wanted})` : "";
      return [`${field} ${show(mine)}, recorded ${show(wanted)}${by}`];
    }
    const at = Array.from({ length: Math.max(mine.length, wanted.length) }, (_, index) => index).find(
      (index) => mine[index] !== wanted[index],
    );
    return [`${field}[${at}] ${show(mine[at ?? 0])}, recorded ${show(wanted[at ?? 0])}`];
  });
}

function show(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value ?? null);
  return text.length > 400 ? `${text.slice(0, 400)}…` : text;
}

/** Modules of the recorded chain whose genesis is taken over. The others are not here, or have no state yet. */
const MODULES = [
  "adminmodule",
  "auth",
  "bank",
  "contractmanager",
  "dex",
  "cron",
  "feemarket",
  "genutil",
  "harpoon",
  "ibc",
  "interchainqueries",
  "rate-limited-ibc",
  "slashing",
  "staking",
  "tokenfactory",
  "transfer",
  "wasm",
];

function toAppState(recorded: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(recorded).filter(([name]) => MODULES.includes(name)));
}
