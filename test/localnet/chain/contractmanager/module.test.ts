import { beforeEach, describe, expect, it } from "vitest";
import { toHex, utf8 } from "../../../../src/platform/base/bytes.ts";
import type { JsonObject } from "../../../../src/platform/base/json.ts";
import {
  limitedSudo,
  packetCallback,
  addFailure,
  type Keepers,
  moduleParams,
} from "../../../../src/localnet/chain/modules/contractmanager/keeper.ts";
import {
  type ContractManagerModule,
  createContractManagerModule,
} from "../../../../src/localnet/chain/modules/contractmanager/module.ts";
import { type Context, event } from "../../../../src/localnet/chain/runtime/context.ts";
import { createGasMeter } from "../../../../src/localnet/chain/runtime/gas.ts";
import { ModuleError, QueryError } from "../../../../src/localnet/chain/runtime/errors.ts";
import { messageFromJson, messageToJson } from "../../../../src/cosmos/proto/json.ts";
import { createMemoryWorld, type MemoryWorld } from "../../../support/memory-context.ts";

const C1 = "neutron159kr6k0y4f43dsrdyqlm9x23jajunegal4nglw044u7zl72u0eeqharq3a";
const C2 = "neutron1u9dulasrfe6laxwwjx83njhm5as466uz43arfheq79k8eqahqhasf3tj94";
const ACCOUNT = "neutron10h9stc5v6ntgeygf5xf945njqq5h32r54rf7kf";
const AUTHORITY = "neutron1hxskfdxpp5hqgtjj6am6nkjefhfzj359x0ar3z";
const PACKAGE = "neutron.contractmanager";

let world: MemoryWorld;
let manager: ContractManagerModule;
let keepers: Keepers;
/** What the contract does with a call. */
let onSudo: (context: Context) => void;
let calls: (readonly [contract: string, message: string])[];

beforeEach(() => {
  world = createMemoryWorld();
  calls = [];
  onSudo = () => undefined;
  keepers = {
    chainName: "neutron",
    bech32Prefix: "neutron",
    authority: AUTHORITY,
    contracts: {
      isContract: (_context, address) => address === C1 || address === C2,
      sudo: (context, contract, message) => {
        calls.push([contract, message]);
        context.store("contract").set(utf8("written"), utf8(message));
        context.emit(event("wasm", [["_contract_address", contract]]));
        onSudo(context);
      },
    },
  };
  manager = createContractManagerModule(keepers, keepers);
  manager.initGenesis(world.context(), undefined);
});

function refuse(): void {
  throw new ModuleError("wasm", 5, "boom: execute wasm contract failed");
}

function run(name: string, fields: JsonObject): string {
  const typeUrl = `/${PACKAGE}.${name}`;
  const handler = manager.messages.find((one) => one.typeUrl === typeUrl);
  try {
    handler?.handle(world.context(), messageFromJson(typeUrl.slice(1), fields));
    return handler === undefined ? "no handler" : "done";
  } catch (error) {
    if (error instanceof ModuleError) return `${error.codespace}/${error.code} ${error.message}`;
    throw error;
  }
}

function query(rpc: string, fields: JsonObject = {}): unknown {
  const handler = manager.queries.find(({ path }) => path === `/${PACKAGE}.Query/${rpc}`);
  const name = rpc.replace("AddressF", "F");
  try {
    const request = messageFromJson(`${PACKAGE}.Query${name}Request`, fields);
    return messageToJson(
      `${PACKAGE}.Query${name}Response`,
      handler?.query(world.context(), request) ?? utf8("no handler"),
    );
  } catch (error) {
    if (error instanceof QueryError) return `${error.grpcCode} ${error.message}`;
    throw error;
  }
}

function fail(address: string, payload = "{}"): bigint {
  return addFailure(world.context(), { address, sudoPayload: utf8(payload), error: "e" }).id;
}

describe("a sudo call with a limit", () => {
  const call = (context = world.context(), of = keepers): void => limitedSudo(context, C1, '{"a":1}', of);

  it("keeps the writes of a contract that accepts it", () => {
    call();
    expect(calls).toEqual([[C1, '{"a":1}']]);
    expect([world.dump("contract").length, world.events.length]).toEqual([1, 1]);
    expect(query("Failures")).toMatchObject({ failures: [] });
  });

  it("drops the writes and events of one that fails, and stores the call with code and codespace", () => {
    onSudo = refuse;
    call();
    expect(world.dump("contract")).toEqual([]);
    expect(
      world.events.map(({ type, attributes }) => [type, ...attributes.map(({ value }) => value)]),
    ).toEqual([["sudo", C1, "0", "boom: execute wasm contract failed"]]);
    expect(query("AddressFailure", { address: C1, failure_id: "0" })).toEqual({
      failure: { address: C1, id: "0", sudo_payload: "eyJhIjoxfQ==", error: "codespace: wasm, code: 5" },
    });
  });

  it.each([
    [10_000n, 9_000n, "accepted"],
    [10_000n, 10_001n, "codespace: contractmanager, code: 1103"],
    [0n, 1n, "codespace: contractmanager, code: 1103"],
  ])("of %d gas lets a contract use %d: %s", (limit, wanted, outcome) => {
    moduleParams.set(world.context(), { sudoCallGasLimit: limit });
    onSudo = (context) => context.gas.consume(wanted, "work");
    const gas = createGasMeter();
    const contracts = { ...keepers.contracts, sudo: (context: Context) => onSudo(context) };
    call(world.context({ gas }), { ...keepers, contracts });
    const stored = JSON.stringify(query("AddressFailures", { address: C1 }));
    if (outcome === "accepted") expect(stored).not.toContain("codespace");
    else expect(stored).toContain(`"error":"${outcome}"`);
    // The caller pays for the call, at most the limit, and for what the module reads and writes itself.
    expect(gas.used()).toBeGreaterThanOrEqual(wanted < limit ? wanted : limit);
  });

  it("costs the caller at most the limit", () => {
    const usedFor = (wanted: bigint): bigint => {
      moduleParams.set(world.context(), { sudoCallGasLimit: 10_000n });
      onSudo = (context) => context.gas.consume(wanted, "work");
      const gas = createGasMeter();
      call(world.context({ gas }));
      return gas.used();
    };
    // Both fail and are stored, which costs about the same.
    expect(usedFor(50_000_000n) - usedFor(10_001n)).toBeLessThan(2_000n);
  });

  it("that takes more gas than the transaction has ends the transaction", () => {
    onSudo = (context) => context.gas.consume(500_000n, "work");
    expect(() => call(world.context({ gas: createGasMeter(400_000n) }))).toThrow(
      /^out of gas in location: consume gas from cached context; gasWanted: 400000/,
    );
  });

  it("stores a message's own limit of gas as an error of that message", () => {
    onSudo = () => {
      throw new ModuleError("sdk", 11, "SubMsg hit gas limit: out of gas");
    };
    call();
    expect(JSON.stringify(query("Failures"))).toContain("codespace: sdk, code: 11");
  });

  it("does not hide a bug", () => {
    onSudo = () => {
      throw new Error("bug");
    };
    expect(() => call()).toThrow("bug");
  });
});

describe("failures", () => {
  it("are numbered from 0 for each contract; the last number is free again once its failure is gone", () => {
    expect([fail(C1), fail(C1), fail(C2), fail(C1)]).toEqual([0n, 1n, 0n, 2n]);
    expect(run("MsgResubmitFailure", { sender: C1, failure_id: "2" })).toBe("done");
    expect(fail(C1)).toBe(2n);
    const key = `01${toHex(utf8(`${C1}/`))}0000000000000002`;
    expect(world.dump("contractmanager").map(([found]) => found)).toContain(key);
  });

  it("are listed by contract and altogether, in pages", () => {
    for (const contract of [C2, C1, C1]) fail(contract);
    const ids = (rpc: string, fields: JsonObject): unknown => query(rpc, fields);
    expect(ids("AddressFailures", { address: C1 })).toMatchObject({
      failures: [
        { address: C1, id: "0" },
        { address: C1, id: "1" },
      ],
      pagination: { total: "2" },
    });
    expect(ids("Failures", {})).toMatchObject({
      failures: [{ address: C1 }, { address: C1 }, { address: C2 }],
    });
    expect(ids("Failures", { pagination: { limit: "1", offset: "2", count_total: true } })).toMatchObject({
      failures: [{ address: C2, id: "0" }],
      pagination: { total: "3" },
    });
    expect(ids("AddressFailures", { address: ACCOUNT })).toMatchObject({ failures: [] });
    expect(ids("Failures", { pagination: { limit: "100" } })).toMatchObject({
      pagination: { next_key: null },
    });
  });

  it.each([
    ["Failures", { pagination: { limit: "101" } }, "3 limit is more than maximum allowed (101 > 100)"],
    ["AddressFailures", { address: "wrong_address" }, "3 failed to parse address: wrong_address"],
    ["AddressFailure", { address: "wrong_address" }, "3 invalid address: wrong_address"],
    [
      "AddressFailure",
      { address: C1, failure_id: "7" },
      `3 no failure found for contractAddress = ${C1} and failureId = 7: key not found`,
    ],
  ])("%s refuses %j", (rpc, fields, expected) => expect(query(rpc, fields)).toBe(expected));
});

describe("MsgResubmitFailure", () => {
  it.each(['{"response":1}', '{"error":1}', '{"timeout":1}'])(
    "calls the contract again with %s",
    (payload) => {
      fail(C1, payload);
      expect(run("MsgResubmitFailure", { sender: C1 })).toBe("done");
      expect(calls).toEqual([[C1, payload]]);
      expect(query("Failures")).toMatchObject({ failures: [] });
    },
  );

  it("as a message of a contract returns the number of the failure", () => {
    fail(C1);
    const message = { resubmit_failure: { failure_id: 0 } };
    const result = manager.handleCustomMessage(world.context(), C1, message);
    expect(result?.data).toEqual(utf8('{"failure_id":0}'));
    // The deployed binding responds with the failure that it removed.
    const { typeUrl, response = new Uint8Array(0) } = result?.response ?? {};
    expect(typeUrl).toBe("/neutron.contractmanager.QueryFailureResponse");
    expect(messageToJson("neutron.contractmanager.QueryFailureResponse", response)).toMatchObject({
      failure: { address: C1, id: "0" },
    });
    expect(query("Failures")).toMatchObject({ failures: [] });
    expect(manager.handleCustomMessage(world.context(), C1, { other: {} })).toBeUndefined();
  });

  it("keeps the failure of a contract that fails again", () => {
    fail(C1);
    onSudo = refuse;
    expect(run("MsgResubmitFailure", { sender: C1 })).toBe(
      "contractmanager/1102 cannot resubmit failure; failureId = 0; err = boom: execute wasm contract failed: failed to resubmit failure",
    );
    expect(query("Failures")).toMatchObject({ failures: [{ id: "0" }] });
  });

  it.each([
    [
      "",
      "undefined/1 failed to validate MsgResubmitFailure: sender is invalid: empty address string is not allowed",
    ],
    [
      "x",
      "undefined/1 failed to validate MsgResubmitFailure: sender is invalid: decoding bech32 failed: invalid bech32 string length 1",
    ],
    [
      ACCOUNT,
      "contractmanager/1104 sender in resubmit request is not a smart contract: failures resubmission is only allowed to be called by a smart contract",
    ],
    [C2, "sdk/38 no failure with given FailureId found to resubmit: not found"],
  ])("refuses the sender %j", (sender, expected) => {
    fail(C1);
    expect(run("MsgResubmitFailure", { sender })).toBe(expected);
    expect(calls).toEqual([]);
  });

  it("refuses a failure without a call", () => {
    fail(C1, "");
    expect(run("MsgResubmitFailure", { sender: C1 })).toBe(
      "contractmanager/1101 cannot resubmit failure without sudo payload; failureId = 0: incorrect failure to resubmit",
    );
  });
});

describe("MsgUpdateParams", () => {
  it("is for the authority only", () => {
    const params = { sudo_call_gas_limit: "7" };
    expect(run("MsgUpdateParams", { authority: "", params })).toBe(
      "undefined/1 failed to validate MsgUpdateParams: authority is invalid: empty address string is not allowed",
    );
    expect(run("MsgUpdateParams", { authority: ACCOUNT, params })).toBe(
      `sdk/18 invalid authority; expected ${AUTHORITY}, got ${ACCOUNT}: invalid request`,
    );
    expect(query("Params")).toEqual({ params: { sudo_call_gas_limit: "1000000" } });
    expect(run("MsgUpdateParams", { authority: AUTHORITY, params })).toBe("done");
    expect(query("Params")).toEqual({ params });
    expect(run("MsgUpdateParams", { authority: AUTHORITY })).toBe("done");
    expect(query("Params")).toEqual({ params: { sudo_call_gas_limit: "0" } });
  });
});

describe("the callback of a packet", () => {
  const END = { portId: "", channelId: "" };
  const EMPTY = {
    sequence: 0n,
    source: END,
    destination: END,
    data: new Uint8Array(0),
    timeout: { height: { revisionNumber: 0n, revisionHeight: 0n }, timestamp: 0n },
  };

  it.each([
    [
      { kind: "result", result: utf8("Result") } as const,
      '{"response":{"request":{"timeout_height":{}},"data":"UmVzdWx0"}}',
    ],
    [
      { kind: "error", error: "not able to do IBC tx" } as const,
      '{"error":{"request":{"timeout_height":{}},"details":"not able to do IBC tx"}}',
    ],
    [{ kind: "timeout" } as const, '{"timeout":{"request":{"timeout_height":{}}}}'],
  ])("without any member is as deployed: %j", (outcome, expected) => {
    expect(packetCallback(EMPTY, outcome)).toBe(expected);
  });

  it("prints all 64 bits, and texts as Go", () => {
    const timeout = {
      height: { revisionNumber: 2n, revisionHeight: 2n ** 64n - 1n },
      timestamp: 1668024476848430980n,
    };
    const packet = { ...EMPTY, sequence: 2n ** 64n - 1n, timeout };
    expect(packetCallback({ ...packet, data: utf8("<") }, { kind: "error", error: "a<b" })).toBe(
      '{"error":{"request":{"sequence":18446744073709551615,"data":"PA==","timeout_height":{"revision_number":2,"revision_height":18446744073709551615},"timeout_timestamp":1668024476848430980},"details":"a\\u003cb"}}',
    );
  });
});

describe("genesis", () => {
  it("restores the same store, with the numbers of the failures", () => {
    for (const contract of [C1, C2, C1]) fail(contract);
    run("MsgResubmitFailure", { sender: C1, failure_id: "0" });
    run("MsgUpdateParams", { authority: AUTHORITY, params: { sudo_call_gas_limit: "5" } });
    const exported = manager.exportGenesis(world.context());
    const copy = createMemoryWorld();
    manager.initGenesis(copy.context(), exported);
    expect(copy.dump("contractmanager")).toEqual(world.dump("contractmanager"));
    expect(manager.exportGenesis(copy.context())).toEqual(exported);
  });

  it.each([
    [
      { failures_list: [{ address: C1 }, { address: C1 }] },
      "failures_list[1]: duplicated address for failure",
    ],
    [
      { failures_list: [{ address: "x" }] },
      "failures_list[0]: decoding bech32 failed: invalid bech32 string length 1",
    ],
  ])("that contradicts itself is refused with its path: %j", (genesis, text) => {
    expect(() => manager.initGenesis(createMemoryWorld().context(), genesis)).toThrow(
      `app_state.contractmanager.${text}`,
    );
  });
});
