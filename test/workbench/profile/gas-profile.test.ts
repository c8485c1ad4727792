import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import * as wire from "../../../src/cosmos/proto/gen/cosmwasm/wasm/v1/tx.ts";
import { QuerySmartContractStateRequest } from "../../../src/cosmos/proto/gen/cosmwasm/wasm/v1/query.ts";
import { classicContractAddress } from "../../../src/localnet/chain/modules/wasm/keeper.ts";
import type { TxResult } from "../../../src/localnet/chain/runtime/abci.ts";
import { formatAddress } from "../../../src/localnet/chain/runtime/address.ts";
import { GAS_MULTIPLIER } from "../../../src/localnet/vm/gas.ts";
import type { GasNode } from "../../../src/workbench/profile/gas-recorder.ts";
import {
  profileLastTx,
  profileSimulation,
  createProfiler,
  type Profiled,
} from "../../../src/workbench/profile/profile-tx.ts";
import { I32, OP } from "../../../src/localnet/vm/operators.ts";
import { toBase64, utf8 } from "../../../src/platform/base/bytes.ts";
import { profileProblem, profileSum } from "../../support/contract-chain.ts";
import { startTestChain, type TestChain, testGenesis } from "../../support/test-chain.ts";
import { createTestKey } from "../../support/test-keys.ts";
import { buildTx, type PackedMessage, sendMessage } from "../../support/test-tx.ts";
import { buildContract, buildEchoContract, call } from "../../support/vm/wasm-builder.ts";

const ALICE = createTestKey("alice");
const BOB = createTestKey("bob");
const LIMIT = 10_000_000n;

/** The n-th contract; the chain's genesis has none. */
function contract(number: bigint, codeId = 1n): string {
  return formatAddress("neutron", classicContractAddress(codeId, number));
}

/** A chain whose transactions are profiled after their block. */
class Profiling {
  readonly profiler = createProfiler();
  private readonly chain: TestChain;
  private sequence = 0n;

  constructor() {
    this.chain = startTestChain(
      testGenesis([
        { key: ALICE, untrn: 1_000_000_000_000n },
        { key: BOB, untrn: 1n },
      ]),
      { tracer: this.profiler.tracer },
    );
    this.run(this.store(buildEchoContract()));
    this.run(this.instantiate(1n));
  }

  private store(code: Uint8Array): PackedMessage {
    return pack("MsgStoreCode", wire.MsgStoreCode, {
      sender: ALICE.address,
      wasmByteCode: new Uint8Array(gzipSync(code)),
      instantiatePermission: undefined,
    });
  }

  private instantiate(codeId: bigint): PackedMessage {
    return pack("MsgInstantiateContract", wire.MsgInstantiateContract, {
      sender: ALICE.address,
      admin: ALICE.address,
      codeId,
      label: "one",
      msg: utf8('{"ok":{}}'),
      funds: [],
    });
  }

  tx(packed: readonly PackedMessage[], gas = LIMIT): Uint8Array {
    const fee = [{ denom: "untrn", amount: (gas * 2n).toString() }];
    return buildTx({ key: ALICE, messages: packed, sequence: this.sequence++, gas, fee });
  }

  /** Runs one transaction after another one of its block. */
  run(message: PackedMessage, gas = LIMIT): Profiled<TxResult> {
    const { app, nextRequest } = this.chain;
    const { profiler } = this;
    const request = nextRequest(
      this.tx([sendMessage(ALICE.address, BOB.address, 1n)]),
      this.tx([message], gas),
    );
    const { txResults } = app.finalizeBlock(request);
    app.commit();
    expect(txResults[0]?.code).toBe(0);
    expect(profileProblem({ app, profiler }, request, txResults)).toBeUndefined();
    const isOver = (): never => {
      throw new Error("its time is over");
    };
    expect(() => profileLastTx(request, { app, profiler }, isOver)).toThrow("its time is over");
    const profiled = profileLastTx(request, { app, profiler });
    const result = profiled?.result.at(-1);
    if (profiled === undefined || result === undefined) throw new Error("no profile");
    // Nothing changed: the same again.
    expect(profileProblem({ app, profiler }, request, txResults)).toBeUndefined();
    return { result, profile: profiled.profile };
  }

  /** Stores another code. */
  upload(code: Uint8Array): void {
    expect(this.run(this.store(code)).result.code).toBe(0);
  }

  execute(message: unknown, gas?: bigint, address = contract(1n)): Profiled<TxResult> {
    return this.run(executeMessage(message, address), gas);
  }

  migrate(codeId: bigint): Profiled<TxResult> {
    const msg = utf8('{"ok":{}}');
    const address = contract(1n);
    return this.run(
      pack("MsgMigrateContract", wire.MsgMigrateContract, {
        sender: ALICE.address,
        contract: address,
        codeId,
        msg,
      }),
    );
  }

  get app(): TestChain["app"] {
    return this.chain.app;
  }
}

function pack<T>(
  name: string,
  type: { encode(message: T): { finish(): Uint8Array } },
  message: T,
): PackedMessage {
  return { typeUrl: `/cosmwasm.wasm.v1.${name}`, value: type.encode(message).finish() };
}

function executeMessage(message: unknown, address = contract(1n)): PackedMessage {
  return pack("MsgExecuteContract", wire.MsgExecuteContract, {
    sender: ALICE.address,
    contract: address,
    msg: utf8(JSON.stringify(message)),
    funds: [],
  });
}

/** A message to the first contract. */
function inner(message: unknown): unknown {
  const msg = toBase64(utf8(JSON.stringify(message)));
  return { wasm: { execute: { contract_addr: contract(1n), msg, funds: [] } } };
}

function messages(...list: readonly unknown[]): unknown {
  return { ok: { messages: list } };
}

/** Paths of all places but those of the kinds that end a path. */
function places(root: GasNode): string[] {
  const visit = ({ place, name, children }: GasNode, above: string): string[] => {
    if (place === "function" || place === "storage" || place === "cost") return [];
    const path = `${above}/${name.replaceAll(/neutron1\w+/g, "C")}`;
    return [path, ...children.flatMap((child) => visit(child, path))];
  };
  return visit(root, "");
}

function find(root: GasNode, name: string): GasNode | undefined {
  if (root.name === name) return root;
  return root.children.flatMap((child) => find(child, name) ?? []).at(0);
}

describe("the profile of a transaction", () => {
  it("divides its gas among the steps, the contract, its functions and the store", () => {
    const { result, profile } = new Profiling().execute({ ok: { attributes: [{ key: "a", value: "b" }] } });
    expect(result.code).toBe(0);
    expect(profileSum(profile.root)).toBe(result.gasUsed * GAS_MULTIPLIER);
    expect(places(profile.root)).toEqual([
      "/transaction",
      "/transaction/ante handler",
      "/transaction/cosmwasm.wasm.v1.MsgExecuteContract",
      "/transaction/cosmwasm.wasm.v1.MsgExecuteContract/execute C",
      "/transaction/cosmwasm.wasm.v1.MsgExecuteContract/execute C/execute",
      "/transaction/post handler: fee settlement",
    ]);
    expect(find(profile.root, "db_write")).toMatchObject({ place: "host", calls: 3 });
    expect(find(profile.root, "Loading CosmWasm module: execute")?.self).toBe(60_000n * GAS_MULTIPLIER);
    expect(find(profile.root, "Custom contract event attributes")?.self).toBe(10n * GAS_MULTIPLIER);
    expect(find(profile.root, "txSize")?.self).toBeGreaterThan(0n);
    const rounding = find(profile.root, "rounding of VM gas")?.self ?? 1n;
    expect(rounding <= 0n && -rounding < GAS_MULTIPLIER).toBe(true);
    // Everything has a place.
    expect(find(profile.root, "other")).toBeUndefined();
  });

  it("has a subtree for each message of a contract, its reply, and the calls below", () => {
    const deep = messages({ id: 2, msg: inner({ ok: {} }), reply_on: "always" });
    const { result, profile } = new Profiling().execute(
      messages(
        { id: 1, msg: inner(deep), reply_on: "success" },
        { id: 3, msg: { bank: { burn: { amount: [] } } }, reply_on: "never" },
      ),
    );
    expect(result.code).toBe(0);
    const execute = "/transaction/cosmwasm.wasm.v1.MsgExecuteContract/execute C";
    const message = "/message of C/cosmwasm.wasm.v1.MsgExecuteContract/execute C";
    const found = places(profile.root).filter((path) => !path.endsWith("db_write"));
    expect(found).toContain(`${execute}${message}${message}/execute`);
    expect(found).toContain(`${execute}${message}/reply 2 to C/reply`);
    expect(found).toContain(`${execute}/reply 1 to C/reply`);
    expect(find(profile.root, "other")).toBeUndefined();
  });

  it("is exact for a message with a gas limit, also when it reaches the limit", () => {
    const chain = new Profiling();
    const limited = (gas_limit: number, reply_on: string): unknown =>
      messages({ id: 3, msg: inner({ ok: {} }), reply_on, gas_limit });
    const within = chain.execute(limited(500_000, "always"));
    expect(within.result.code).toBe(0);
    // The gas of the message's own meter counts once.
    for (const name of ["other", "From limited Sub-Message"])
      expect(find(within.profile.root, name)).toBeUndefined();
    const { result, profile } = chain.execute(limited(70_000, "error"));
    expect(result.code).toBe(0);
    // What the message used over its limit is not consumed.
    expect(find(profile.root, "other")?.self).toBeLessThan(0n);
    expect(chain.execute(limited(70_000, "never")).result.log).toContain("SubMsg hit gas limit");
  });

  it.each([100_000n, 110_000n, 160_000n, 175_000n, 180_000n])("is exact out of gas at %d", (gas) => {
    const { result } = new Profiling().execute({ ok: {} }, gas);
    expect(result).toMatchObject({ codespace: "sdk", code: 11 });
  });

  it("is exact for a contract's error, a result that is a panic, and one that is not JSON", () => {
    const chain = new Profiling();
    const { result, profile } = chain.execute({ error: "no" });
    expect(result.log).toContain("no: execute wasm contract failed");
    expect(profile.failures).toEqual([]);
    expect(find(profile.root, "execute")?.error).toBe("no");
    expect(profile.root.children.at(-2)?.error).toContain("no: execute wasm contract failed");
    expect(chain.execute({ ok: null }).result.code).toBe(111_222);
    expect(chain.execute([]).result.code).not.toBe(0);
  });

  it("has the stack of a trap, which the log of the transaction does not have", () => {
    const chain = new Profiling();
    const results = { params: [I32, I32], results: [I32] };
    const migrate = { ...results, body: [...call(6), OP.unreachable], exportAs: "migrate" };
    chain.upload(buildContract([], { functions: [migrate, { body: [OP.unreachable] }] }));
    const { result, profile } = chain.migrate(2n);
    expect(result.log).toBe(
      "failed to execute message; message index: 0: Error calling the VM: Error executing Wasm: Wasmer runtime error: RuntimeError: unreachable: wasmvm error",
    );
    const error = "Error executing Wasm: Wasmer runtime error: RuntimeError: unreachable";
    expect(profile.failures).toEqual([{ error, stack: ["func[6]", "migrate"] }]);
  });

  it("of an instantiation and a migration has their entry points", () => {
    const chain = new Profiling();
    chain.upload(buildEchoContract("2"));
    expect(places(chain.migrate(2n).profile.root)).toContain(
      "/transaction/cosmwasm.wasm.v1.MsgMigrateContract/migrate C to code 2/migrate",
    );
  });

  it("of a simulation is that of the newest state, and changes nothing", () => {
    const chain = new Profiling();
    const { app } = chain;
    const tx = chain.tx([executeMessage({ ok: {} })]);
    const { result, profile } = profileSimulation(tx, chain);
    expect(result).toEqual(app.simulate(tx));
    expect(result.code).toBe(0);
    expect(profileSum(profile.root)).toBe(result.gasUsed * GAS_MULTIPLIER);
    expect(app.checkTx(tx, false).code).toBe(0);
  });

  it("of a smart query has the query of a contract within it", () => {
    const { app, profiler } = new Profiling();
    const data = QuerySmartContractStateRequest.encode({
      address: contract(1n),
      queryData: utf8('{"ok":"e30="}'),
    }).finish();
    const request = { path: "/cosmwasm.wasm.v1.Query/SmartContractState", data, height: 0n, prove: false };
    const { result, profile } = profiler.record(
      "query",
      () => app.query(request),
      () => undefined,
    );
    expect(result).toEqual(app.query(request));
    expect(result.code).toBe(0);
    expect(profileSum(profile.root)).toBe(profile.gasUsed * GAS_MULTIPLIER);
    expect(profile.gasUsed).toBeGreaterThan(60_000n);
    expect(places(profile.root)).toContain("/query/cosmwasm.wasm.v1.Query/SmartContractState/query C/query");
  });

  it("does not exist before the first block, nor of a pruned state", () => {
    const profiler = createProfiler();
    const { tracer } = profiler;
    const chain = startTestChain(testGenesis([{ key: ALICE, untrn: 1n }]), { keepRecent: 2, tracer });
    const { app } = chain;
    const tx = buildTx({ key: ALICE, messages: [], sequence: 0n });
    const request = chain.nextRequest(tx);
    expect(profileLastTx({ ...request, height: 1n }, { app, profiler })).toBeUndefined();
    for (let count = 0; count < 4; count++) {
      chain.app.finalizeBlock({ ...request, height: request.height + BigInt(count), txs: [] });
      chain.app.commit();
    }
    expect(profileLastTx(request, { app, profiler })).toBeUndefined();
  });
});
