import { beforeAll, describe, expect, it } from "vitest";
import { SimulateRequest } from "../../../../src/cosmos/proto/gen/cosmos/tx/v1beta1/service.ts";
import { QuerySmartContractStateRequest } from "../../../../src/cosmos/proto/gen/cosmwasm/wasm/v1/query.ts";
import { Params } from "../../../../src/cosmos/proto/gen/feemarket/feemarket/v1/params.ts";
import { paramsToWire } from "../../../../src/cosmos/fee-market/market.ts";
import { defaultParams } from "../../../../src/localnet/chain/modules/feemarket/module.ts";
import * as wire from "../../../../src/cosmos/proto/gen/cosmwasm/wasm/v1/tx.ts";
import { MsgSubmitQueryResult } from "../../../../src/cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import { messageFromJson, messageToJson } from "../../../../src/cosmos/proto/json.ts";
import { classicContractAddress } from "../../../../src/localnet/chain/modules/wasm/keeper.ts";
import { MAX_ITERATORS } from "../../../../src/localnet/chain/modules/wasm/binary-contract.ts";
import type { QueryResponse, TxResult } from "../../../../src/localnet/chain/runtime/abci.ts";
import { formatAddress, parseAddress } from "../../../../src/localnet/chain/runtime/address.ts";
import { InterruptedError } from "../../../../src/localnet/chain/runtime/gas.ts";
import { validatorKey } from "../../../../src/localnet/node/consensus/validators.ts";
import { sha256, toBase64, utf8 } from "../../../../src/platform/base/bytes.ts";
import type { JsonObject, JsonValue } from "../../../../src/platform/base/json.ts";
import { GOOD, icqGenesis, recordedSubmission } from "../../../support/icq-application.ts";
import { list, record } from "../../../support/recorded-client.ts";
import { startTestChain, type TestChain, type TestChainOptions } from "../../../support/test-chain.ts";
import { createTestKey } from "../../../support/test-keys.ts";
import { buildTx, type PackedMessage } from "../../../support/test-tx.ts";
import { type Attack, ATTACK_NAMES, buildHostileContract } from "../../../support/vm/hostile-contracts.ts";

const alice = createTestKey("alice");
const contract = formatAddress("neutron", classicContractAddress(1n, 1n));
const operator = formatAddress("neutronvaloper", parseAddress("neutron", alice.address));
/** Gas of a transaction: enough for a call, and a quarter of a second of an attack. */
const GAS = 600_000n;
/** Times that a request asks whether it may go on: each attack asks more often within its gas. */
const QUESTIONS = 200;
const POINTER = "The Wasm memory address 4294967295 provided by the contract could not be dereferenced";

/** Parameters of the market that let a block use this gas. */
function marketParams(blockGas: string): JsonObject {
  const params = paramsToWire({ ...defaultParams("untrn"), maxBlockUtilization: BigInt(blockGas) });
  const bytes = Params.encode(params).finish();
  return record(messageToJson("feemarket.feemarket.v1.Params", bytes));
}

let chain: TestChain;
let sequence: bigint;

/** Starts a chain with a hostile contract, which has a hook of harpoon and owns the recorded interchain queries. */
function start(attack: Attack, options: TestChainOptions & { readonly blockGas?: string } = {}): void {
  const { blockGas, ...chosen } = options;
  const genesis = icqGenesis();
  const icq = record(genesis["interchainqueries"]);
  const owned = list(icq["registered_queries"]).map((query) => ({ ...record(query), owner: contract }));
  const bytes = buildHostileContract(attack);
  const sender = alice.address;
  const instantiation = { sender, admin: "", code_id: "1", label: "hostile", msg: {}, funds: [] };
  const info = {
    code_hash: toBase64(sha256(bytes)),
    creator: sender,
    instantiate_config: { permission: "Everybody", addresses: [] },
  };
  const subscription = { hook_type: "HOOK_TYPE_AFTER_VALIDATOR_CREATED", contract_addresses: [contract] };
  chain = startTestChain(
    {
      ...genesis,
      wasm: {
        codes: [{ code_id: "1", code_info: info, code_bytes: toBase64(bytes), pinned: false }],
        gen_msgs: [{ instantiate_contract: instantiation }],
      },
      interchainqueries: { ...icq, registered_queries: owned as JsonValue },
      harpoon: { hook_subscriptions: [subscription] },
      ...(blockGas !== undefined && { feemarket: { params: marketParams(blockGas) } }),
    },
    chosen,
  );
  sequence = 0n;
}

function signed(message: PackedMessage, gas: bigint): Uint8Array {
  const fee = [{ denom: "untrn", amount: "500000" }];
  return buildTx({ key: alice, sequence, gas, fee, messages: [message] });
}

/** Delivers a transaction in the next block. */
function deliver(message: PackedMessage, gas = GAS): TxResult {
  const tx = signed(message, gas);
  sequence += 1n;
  return chain.block(tx).txResults[0] ?? expect.unreachable("a block without its transaction");
}

function execution(): PackedMessage {
  const message = { sender: alice.address, contract, msg: utf8("{}"), funds: [] };
  return {
    typeUrl: "/cosmwasm.wasm.v1.MsgExecuteContract",
    value: wire.MsgExecuteContract.encode(message).finish(),
  };
}

/** Creates a validator, which calls the hook. */
function validatorCreation(): PackedMessage {
  const typeUrl = "/cosmos.staking.v1beta1.MsgCreateValidator";
  const value = messageFromJson(typeUrl.slice(1), {
    description: { moniker: "alice" },
    commission: { rate: "0.1", max_rate: "0.2", max_change_rate: "0.01" },
    min_self_delegation: "1",
    validator_address: operator,
    pubkey: {
      "@type": "/cosmos.crypto.ed25519.PubKey",
      key: toBase64(validatorKey(new Uint8Array(32).fill(1)).publicKey),
    },
    value: { denom: "untrn", amount: "1000000" },
  });
  return { typeUrl, value };
}

/** A result that the relayer brings, with a callback. */
function submission(): PackedMessage {
  const message = recordedSubmission(GOOD);
  const result = message.result && { ...message.result, allowKvCallbacks: true };
  return {
    typeUrl: "/neutron.interchainqueries.MsgSubmitQueryResult",
    value: MsgSubmitQueryResult.encode({ ...message, result }).finish(),
  };
}

function ask(path: string, data: Uint8Array, interrupt?: () => void): QueryResponse {
  return chain.app.query({ path, data, height: 0n, prove: false }, interrupt);
}

function smartQuery(interrupt?: () => void): QueryResponse {
  const request = { address: contract, queryData: utf8("{}") };
  const path = "/cosmwasm.wasm.v1.Query/SmartContractState";
  return ask(path, QuerySmartContractStateRequest.encode(request).finish(), interrupt);
}

/** Simulates as `--gas auto` does. */
function simulation(interrupt?: () => void): QueryResponse {
  const txBytes = signed(execution(), 0n);
  const data = SimulateRequest.encode({ tx: undefined, txBytes }).finish();
  return ask("/cosmos.tx.v1beta1.Service/Simulate", data, interrupt);
}

/** Requests without a fee, each as a client sends it. */
const REQUESTS: Readonly<Record<string, (interrupt?: () => void) => QueryResponse>> = {
  "smart query": smartQuery,
  simulation,
  "simulation by its ABCI path": (interrupt) => ask("/app/simulate", signed(execution(), 0n), interrupt),
};

const INTERRUPTED = "interrupted by the test";

/** Returns what ends a request as the node's deadline does, but after so many questions and whatever the time is. */
function interruptAfter(questions: number): () => void {
  let left = questions;
  return () => {
    if (left-- <= 0) throw new InterruptedError(INTERRUPTED);
  };
}

function expectLiving(): void {
  const { height } = chain.app.info();
  chain.block();
  expect(chain.app.info().height).toBe(height + 1n);
  expect(ask("/app/version", new Uint8Array()).code).toBe(0);
}

describe.each(ATTACK_NAMES)("a contract with the attack %s", (attack) => {
  beforeAll(() => start(attack));

  it.each(Object.entries(REQUESTS))("by a %s ends when it is interrupted", (name, request) => {
    const { code, grpcMessage, log } = request(interruptAfter(QUESTIONS));
    expect(code).not.toBe(0);
    const text = `${grpcMessage} ${log}`;
    if (attack === "pointer") expect(text).toContain(POINTER);
    else if (name === "smart query" && ["small keys", "iterators between writes"].includes(attack))
      expect(text).toContain("Must not call a writing");
    else expect(text).toContain(INTERRUPTED);
    expectLiving();
  });

  it("by a transaction that runs again for a profile ends when it is interrupted", () => {
    const request = chain.nextRequest(signed(execution(), GAS));
    sequence += 1n;
    chain.app.finalizeBlock(request);
    chain.app.commit();
    const again = (questions: number) => () =>
      chain.app.rerun(request, (run) => run(), interruptAfter(questions));
    if (attack === "pointer") expect(again(10 * QUESTIONS)()?.[0]?.log).toContain(POINTER);
    else expect(again(QUESTIONS)).toThrow(INTERRUPTED);
    expectLiving();
  });

  it.each([
    ["transaction", execution],
    ["callback of the relayer", submission],
    ["hook", validatorCreation],
  ])("by a %s ends with its gas", (_, message) => {
    const { code, codespace, log } = deliver(message());
    if (attack === "pointer") expect(log).toContain(POINTER);
    else expect([codespace, code]).toEqual(["sdk", 11]);
    expectLiving();
  });
});

describe("the iterators of a call", () => {
  beforeAll(() => start("iterators"));

  it("are as many as in the deployed VM", () =>
    expect(simulation().log).toContain(
      `Error calling into the VM's backend: User error during call into backend: Reached iterator limit (${MAX_ITERATORS})`,
    ));
});

describe("the gas of a simulation", () => {
  it("is that of a block in the fee market, and what the payout of the fee uses", () => {
    start("loop", { blockGas: "2000000" });
    expect(simulation().log).toContain(
      "out of gas in location: Wasm engine function execution; gasWanted: 2200000, gasUsed: 2200000: out of gas",
    );
  });

  it("is what the node's option says, but not more than the gas of a block", () => {
    start("loop", { simulationGas: 1_000_000n });
    expect(simulation().log).toContain("gasWanted: 1000000, gasUsed: 1000000");
    start("loop", { simulationGas: 1_000_000n, blockGas: "2000000" });
    expect(simulation().log).toContain("gasWanted: 1000000, gasUsed: 1000000");
  });
});
