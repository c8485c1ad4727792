import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { z } from "zod";
import { createApp } from "../../src/localnet/chain/app.ts";
import type {
  Application,
  FinalizeBlockResult,
  QueryResponse,
  TxResult,
} from "../../src/localnet/chain/runtime/abci.ts";
import { formatAddress, moduleAddress, parseAddress } from "../../src/localnet/chain/runtime/address.ts";
import { concat, fromHex, fromUtf8, toBase64, toHex, utf8 } from "../../src/platform/base/bytes.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../src/platform/base/json.ts";
import {
  QueryAllContractStateRequest,
  QueryAllContractStateResponse,
  QueryRawContractStateRequest,
  QueryRawContractStateResponse,
  QuerySmartContractStateRequest,
  QuerySmartContractStateResponse,
} from "../../src/cosmos/proto/gen/cosmwasm/wasm/v1/query.ts";
import { readBinary } from "./contract-calls.ts";

// Replays whole recorded chains: genesis, blocks with their transactions, queries.

const recordedEvent = z.object({
  type: z.string(),
  attributes: z.array(z.tuple([z.string(), z.string(), z.number()])),
});

const recordedTx = z.object({
  id: z.string(),
  tx: z.union([z.string(), z.array(z.union([z.string(), z.object({ wasm: z.string() })]))]),
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
  z.object({ kind: z.literal("init_chain"), chain_id: z.string(), time: z.number(), proposer: z.string() }),
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
export interface CaseOutcome {
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

/** Replays the recorded chain of a sequence, a folder of `folder`. Returns the outcome of each transaction and query, in order. */
export function replayChain(folder: string, sequence: string): CaseOutcome[] {
  const steps = readSteps(join(folder, sequence));
  const [first] = steps;
  if (first?.kind !== "init_chain") throw new Error(`${sequence}: the first step is not init_chain`);
  const genesis = z
    .object({ app_state: z.record(z.string(), z.custom<JsonValue>()) })
    .parse(JSON.parse(gunzipSync(readFileSync(join(folder, sequence, "genesis.json.gz"))).toString("utf8")));
  const app = createApp({ kind: "local", denom: "untrn", burnsFees: true });
  app.initChain({
    chainId: first.chain_id,
    timeNs: BigInt(first.time) * 1_000_000_000n,
    initialHeight: 1n,
    validators: [],
    appState: toAppState(genesis.app_state),
  });
  return steps.flatMap((each) => runStep(app, each, { folder, proposer: fromHex(first.proposer) }));
}

interface Place {
  readonly folder: string;
  readonly proposer: Uint8Array;
}

function runStep(app: Application, each: Step, place: Place): CaseOutcome[] {
  switch (each.kind) {
    case "init_chain":
      return [];
    case "block":
      return runBlock(app, each, place);
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

function runBlock(app: Application, block: Block, { folder, proposer }: Place): CaseOutcome[] {
  const ns = (seconds: number): bigint => BigInt(seconds) * 1_000_000_000n;
  const result: FinalizeBlockResult = app.finalizeBlock({
    height: BigInt(block.height),
    timeNs: ns(block.time),
    proposerAddress: proposer,
    txs: block.txs.map(({ tx }) => bytesOf(folder, tx)),
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
  });
  app.commit();
  return block.txs.map((tx, at) => compareTx(tx, result.txResults[at]));
}

function bytesOf(folder: string, tx: RecordedTx["tx"]): Uint8Array {
  if (typeof tx === "string") return fromHex(tx);
  return concat(
    ...tx.map((part) => (typeof part === "string" ? fromHex(part) : readBinary(folder, part.wasm))),
  );
}

function compareTx({ id, result: recorded }: RecordedTx, result: TxResult | undefined): CaseOutcome {
  if (result === undefined) return { id, differences: ["no result"] };
  const eventText = (type: string, attributes: readonly string[]): string => `${type}(${attributes.join()})`;
  const ours = {
    code: result.code,
    codespace: result.codespace,
    log: result.log,
    data: toBase64(result.data),
    gas: Number(result.gasUsed),
    events: result.events.map(({ type, attributes }) =>
      eventText(
        type,
        attributes.map(({ key, value }) => `${key}=${value}`),
      ),
    ),
  };
  const theirs = {
    ...recorded,
    gas: recorded.gas_used,
    events: recorded.events.map(({ type, attributes }) =>
      eventText(
        type,
        attributes.map(([key, value]) => `${key}=${value}`),
      ),
    ),
  };
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
  "cron",
  "feemarket",
  "harpoon",
  "interchainqueries",
  "slashing",
  "staking",
  "tokenfactory",
  "wasm",
];

const genesisTx = z.object({
  body: z.object({
    messages: z.tuple([
      z.object({
        description: z.custom<JsonObject>(),
        commission: z.custom<JsonObject>(),
        validator_address: z.string(),
        pubkey: z.custom<JsonObject>(),
        value: z.object({ denom: z.string(), amount: z.string() }),
      }),
    ]),
  }),
  auth_info: z.object({ signer_infos: z.tuple([z.object({ public_key: z.custom<JsonObject>() })]) }),
});

const genesisState = z.looseObject({
  auth: z.looseObject({ accounts: z.array(z.looseObject({ address: z.string() })) }),
  bank: z.looseObject({
    balances: z.array(
      z.looseObject({
        address: z.string(),
        coins: z.array(z.object({ denom: z.string(), amount: z.string() })),
      }),
    ),
  }),
  genutil: z.object({ gen_txs: z.tuple([genesisTx]) }),
  staking: z.custom<JsonObject>(),
});

/** Translates a recorded genesis: the transaction that creates the validator becomes the state that it leaves. */
function toAppState(recorded: JsonObject): JsonObject {
  const { auth, bank, genutil, staking } = genesisState.parse(recorded);
  const [{ body, auth_info: authInfo }] = genutil.gen_txs;
  const [{ description, commission, validator_address: validator, pubkey, value }] = body.messages;
  const operator = formatAddress("neutron", parseAddress("neutronvaloper", validator));
  const pool = formatAddress("neutron", moduleAddress("not_bonded_tokens_pool"));
  const shares = `${value.amount}.000000000000000000`;
  const changed: Record<string, unknown> = {
    auth: {
      ...auth,
      accounts: auth.accounts.map((account) =>
        account.address === operator
          ? { ...account, sequence: "1", pub_key: authInfo.signer_infos[0].public_key }
          : account,
      ),
    },
    bank: {
      ...bank,
      balances: [
        ...bank.balances.map((balance) =>
          balance.address === operator ? { ...balance, coins: balance.coins.map(without(value)) } : balance,
        ),
        { address: pool, coins: [value] },
      ],
    },
    staking: {
      params: staking["params"],
      validators: [
        {
          operator_address: validator,
          consensus_pubkey: pubkey,
          status: "BOND_STATUS_UNBONDED",
          tokens: value.amount,
          delegator_shares: shares,
          description,
          unbonding_time: "1970-01-01T00:00:00Z",
          commission: { commission_rates: commission, update_time: "1970-01-01T00:00:00Z" },
          min_self_delegation: "1",
        },
      ],
      delegations: [{ delegator_address: operator, validator_address: validator, shares }],
    },
  };
  const known = MODULES.map((name) => [name, changed[name] ?? recorded[name]] as const);
  return z.custom<JsonObject>(isRecord).parse(Object.fromEntries(known));
}

interface CoinJson {
  readonly denom: string;
  readonly amount: string;
}

function without(taken: CoinJson): (coin: CoinJson) => CoinJson {
  return (coin) =>
    coin.denom === taken.denom
      ? { ...coin, amount: (BigInt(coin.amount) - BigInt(taken.amount)).toString() }
      : coin;
}
