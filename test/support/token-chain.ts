import { messageFromJson, messageToJson } from "../../src/cosmos/proto/json.ts";
import { classicContractAddress } from "../../src/localnet/chain/modules/wasm/keeper.ts";
import {
  type ContractCode,
  ContractError,
  type ContractScope,
  NO_RESPONSE,
} from "../../src/localnet/chain/modules/wasm/contract.ts";
import { parseMessageJson } from "../../src/localnet/chain/modules/wasm/message-json.ts";
import type { TxResult } from "../../src/localnet/chain/runtime/abci.ts";
import { formatAddress, moduleAddress } from "../../src/localnet/chain/runtime/address.ts";
import { utf8 } from "../../src/platform/base/bytes.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../src/platform/base/json.ts";
import { startBenchChain } from "./bench-chain.ts";
import { type TestChain, testGenesis } from "./test-chain.ts";
import { createTestKey, type TestKey } from "./test-keys.ts";
import { buildTx } from "./test-tx.ts";

/** Accounts of the chain, with their account numbers. */
const KEYS = { alice: createTestKey("alice"), bob: createTestKey("bob"), carol: createTestKey("carol") };
type Name = keyof typeof KEYS;
const NAMES: readonly Name[] = ["alice", "bob", "carol"];

export const ALICE = KEYS.alice.address;
export const BOB = KEYS.bob.address;
export const CAROL = KEYS.carol.address;
export const AUTHORITY = formatAddress("neutron", moduleAddress("adminmodule"));

/** What the hook contract does in a call: nothing, fail, or use the given gas. */
type HookPlan = { readonly fail?: string; readonly gas?: number };

/** A hook: it writes `block` or `track` before it follows its plan (`{"plan":{"block_before_send":{"gas":1}}}`). */
const hookCode: ContractCode = {
  name: "test-hook",
  instantiate: () => NO_RESPONSE,
  execute: (scope, _caller, message) => {
    scope.storage.set(utf8("plan"), utf8(JSON.stringify(message)));
    return NO_RESPONSE;
  },
  sudo: (scope, message) => {
    const [name = ""] = Object.keys(isRecord(message) ? message : {});
    scope.storage.set(utf8(name), utf8(JSON.stringify(message)));
    follow(scope, planOf(scope, name));
    return NO_RESPONSE;
  },
  query: (scope, message) => {
    const value = scope.storage.get(
      utf8(isRecord(message) && typeof message["last"] === "string" ? message["last"] : ""),
    );
    return value === undefined ? null : parseMessageJson(value);
  },
};

function planOf(scope: ContractScope, name: string): HookPlan {
  const stored = scope.storage.get(utf8("plan"));
  const plans: unknown = stored === undefined ? {} : JSON.parse(Buffer.from(stored).toString());
  const plan = isRecord(plans) && isRecord(plans[name]) ? plans[name] : {};
  return {
    ...(typeof plan["fail"] === "string" ? { fail: plan["fail"] } : {}),
    ...(typeof plan["gas"] === "number" ? { gas: plan["gas"] } : {}),
  };
}

function follow(scope: ContractScope, { fail, gas }: HookPlan): void {
  if (gas !== undefined) scope.useGas(BigInt(gas));
  if (fail !== undefined) throw new ContractError(fail);
}

/** The hook: code 1. The contract `echo`: code 2. */
export const HOOK = formatAddress("neutron", classicContractAddress(1n, 1n));
export const ECHO = formatAddress("neutron", classicContractAddress(2n, 2n));

const WASM = {
  codes: [
    { code_id: "1", name: "test-hook", creator: ALICE },
    { code_id: "2", name: "echo", creator: ALICE },
  ],
  gen_msgs: ["1", "2"].map((codeId) => ({
    instantiate_contract: { sender: ALICE, code_id: codeId, label: "c", msg: {}, funds: [] },
  })),
};

/** A chain with the hook contract, and messages in proto JSON. */
export interface TokenChain {
  readonly chain: TestChain;
  /** Runs one message in a block of its own. */
  readonly run: (name: Name, type: string, fields: JsonObject, gas?: bigint) => TxResult;
  readonly query: (path: string, request: JsonObject) => JsonValue;
  readonly balance: (address: string, denom: string) => string;
  /** Returns the exported app state; members of `changed` replace those of its modules. */
  readonly exported: (changed?: Readonly<Record<string, JsonObject>>) => JsonObject;
}

/** Starts the chain. Members of `more` replace those of the app state. A remote chain has no contracts. */
export function startTokenChain(more: JsonObject = {}, kind: "local" | "remote" = "local"): TokenChain {
  const accounts = NAMES.map((name) => ({ key: KEYS[name], untrn: 1_000_000_000n, known: true }));
  const genesis = testGenesis(accounts, { ...(kind === "local" ? { wasm: WASM } : {}), ...more });
  const chain = startBenchChain(genesis, { kind, contracts: [hookCode] });
  const sequences = new Map<TestKey, bigint>();
  const query = (path: string, request: JsonObject): JsonValue => {
    const [service = "", rpc = ""] = path.split("/");
    const type = (end: string): string => `${service.replace(/\.Query$/, "")}.Query${rpc}${end}`;
    const response = chain.app.query({
      path: `/${path}`,
      data: messageFromJson(type("Request"), request),
      height: 0n,
      prove: false,
    });
    if (response.code !== 0) throw new Error(response.log);
    return messageToJson(type("Response"), response.value);
  };
  return {
    chain,
    query,
    run: (name, type, fields, gas = 3_000_000n) => {
      const key = KEYS[name];
      const sequence = sequences.get(key) ?? sequenceOf(query, key.address);
      sequences.set(key, sequence + 1n);
      const messages = [{ typeUrl: `/${type}`, value: messageFromJson(type, fields) }];
      const accountNumber = BigInt(NAMES.indexOf(name));
      const fee = [{ denom: "untrn", amount: (gas / 100n).toString() }];
      const tx = buildTx({ key, accountNumber, sequence, chainId: "test-1", messages, gas, fee });
      const [result] = chain.block(tx).txResults;
      if (result === undefined) throw new Error("no result");
      return result;
    },
    exported: (changed = {}) => ({
      ...chain.app.exportState(),
      ...Object.fromEntries(
        Object.entries(changed).map(([name, members]) => [
          name,
          { ...objectOf(chain.app.exportState()[name]), ...members },
        ]),
      ),
    }),
    balance: (address, denom) => {
      const response = query("cosmos.bank.v1beta1.Query/Balance", { address, denom });
      return textOf(objectOf(objectOf(response)["balance"])["amount"]);
    },
  };
}

/** A chain that continues an exported state has accounts with sequences. */
function sequenceOf(query: TokenChain["query"], address: string): bigint {
  const { info } = objectOf(query("cosmos.auth.v1beta1.Query/AccountInfo", { address }));
  return BigInt(textOf(objectOf(info)["sequence"]));
}

function objectOf(value: JsonValue | undefined): JsonObject {
  if (value === undefined || value === null || typeof value !== "object" || isList(value)) return {};
  return value;
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}
