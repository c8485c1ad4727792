import { beforeEach, describe, expect, it } from "vitest";
import {
  ibcHooksMiddleware,
  intermediateSender,
} from "../../../../src/workbench/modules/ibc-hooks/middleware.ts";
import type {
  Acknowledgement,
  IBCModule,
  RelayedPacket,
} from "../../../../src/localnet/chain/modules/ibc/channel/ibc-module.ts";
import { localDenom, parseTrace } from "../../../../src/localnet/chain/modules/transfer/denom.ts";
import { SUCCESS } from "../../../../src/localnet/chain/modules/transfer/packet.ts";
import {
  type ContractCode,
  ContractError,
  NO_RESPONSE,
} from "../../../../src/localnet/chain/modules/wasm/contract.ts";
import { contractStore } from "../../../../src/localnet/chain/modules/wasm/keeper.ts";
import { printMessageJson } from "../../../../src/localnet/chain/modules/wasm/message-json.ts";
import { formatAddress, parseAddress } from "../../../../src/localnet/chain/runtime/address.ts";
import type { Coin } from "../../../../src/localnet/chain/runtime/coins.ts";
import { ErrUnauthorized, ModuleError } from "../../../../src/localnet/chain/runtime/errors.ts";
import { outOfGas } from "../../../../src/localnet/chain/runtime/gas.ts";
import { fromBase64, fromUtf8, toBase64, utf8 } from "../../../../src/platform/base/bytes.ts";
import { isRecord } from "../../../../src/platform/base/json.ts";
import {
  acknowledgeMessage,
  carryHeader,
  receiveMessage,
  succeed,
} from "../../../support/ibc/linked-pair.ts";
import {
  CHANNEL,
  FUNDS,
  openTransferPair,
  sentPacket,
  type TransferChain,
  writtenAcknowledgement,
} from "../../../support/ibc/transfer-pair.ts";
import { createMemoryWorld, type MemoryWorld } from "../../../support/memory-context.ts";
import { createEchoApplication } from "../../../support/ibc/echo-application.ts";

const CONTRACT = formatAddress("neutron", new Uint8Array(32).fill(3));
const SENDER = "cosmos1sender";
/** Recorded on a real chain: the packet of another sender over channel-0. */
const RECORDED = {
  channel: "channel-0",
  sender: "neutron10h9stc5v6ntgeygf5xf945njqq5h32r54rf7kf",
  address: "neutron1f9c3gmk962phqx2s4q6h6tsh7c852lg8susmcas7dac3mxv2pmnsatqege",
};

/** One call of the contract. */
interface Call {
  readonly address: string;
  readonly sender: string;
  readonly funds: readonly Coin[];
  readonly message: string;
}

let world: MemoryWorld;
let calls: Call[];
let received: string[];

beforeEach(() => {
  world = createMemoryWorld();
  calls = [];
  received = [];
});

function hooked(
  execute: () => Uint8Array = () => new Uint8Array(0),
  reply: Acknowledgement | undefined = SUCCESS,
): IBCModule {
  const inner: IBCModule = {
    ...createEchoApplication(),
    onReceive: (_context, { data }) => {
      received.push(fromUtf8(data));
      return reply;
    },
  };
  const contracts = {
    execute: (
      _context: unknown,
      address: string,
      caller: Omit<Call, "address" | "message">,
      message: Uint8Array,
    ) => {
      calls.push({ address, ...caller, message: fromUtf8(message) });
      return execute();
    },
  };
  return ibcHooksMiddleware(inner, { bech32Prefix: "neutron", contracts });
}

function packet(memo: string, more: Readonly<Record<string, unknown>> = {}): RelayedPacket {
  const data = { denom: "uatom", amount: "12", sender: SENDER, receiver: CONTRACT, memo, ...more };
  return {
    sequence: 1n,
    source: { portId: "transfer", channelId: "channel-7" },
    destination: { portId: "transfer", channelId: "channel-0" },
    data: utf8(JSON.stringify(data)),
    timeout: { height: { revisionNumber: 0n, revisionHeight: 0n }, timestamp: 1n },
    relayer: new Uint8Array(20),
  };
}

const memoOf = (msg: unknown, contract: unknown = CONTRACT): string =>
  JSON.stringify({ wasm: { contract, msg } });

const receive = (module: IBCModule, one: RelayedPacket): string => {
  const acknowledgement = module.onReceive(world.context(), one);
  return acknowledgement === undefined ? "" : fromUtf8(acknowledgement.bytes);
};

const errorOf = (code: number): string =>
  `{"error":"ABCI code: ${code}: error handling packet: see events for details"}`;

describe("a packet for a contract", () => {
  it("calls it with the coins, as an address of the sender that was recorded on a real chain", () => {
    expect(intermediateSender(RECORDED.channel, RECORDED.sender, "neutron")).toBe(RECORDED.address);
    const sender = intermediateSender("channel-0", SENDER, "neutron");
    receive(hooked(), packet(memoOf({ go: {} })));
    const denom = localDenom(parseTrace("transfer/channel-0/uatom"));
    const funds = [{ denom, amount: 12n }];
    expect(calls).toEqual([{ address: CONTRACT, sender, funds, message: '{"go":{}}' }]);
    expect(JSON.parse(received[0] ?? "")).toMatchObject({ receiver: sender, sender: SENDER, amount: "12" });
  });

  it("gives back a coin of this chain under its own name", () => {
    receive(hooked(), packet(memoOf({}), { denom: "transfer/channel-7/untrn" }));
    expect(calls[0]?.funds).toEqual([{ denom: "untrn", amount: 12n }]);
  });

  it("passes the data on as Go prints the structure", () => {
    receive(hooked(), packet(`${memoOf({})} `, { sender: "<me>", extra: 1 }));
    expect(received[0]).toMatch(
      /^\{"denom":"uatom","amount":"12","sender":"\\u003cme\\u003e","receiver":"neutron1[^"]*","memo":"\{.* "\}$/,
    );
  });

  it("passes the message on as Go prints a decoded value: names sorted, numbers as floats", () => {
    const msg =
      '{ "b": [1, 1.50, 9007199254740993, 1e21, 1e-7, -0, true, null, "<\\u0041>"], "a": {"d":1,"c":2,"d":3} }';
    receive(hooked(), packet(`{"wasm":{"contract":"${CONTRACT}","msg":${msg}}}`));
    expect(calls[0]?.message).toBe(
      '{"a":{"c":2,"d":3},"b":[1,1.5,9007199254740992,1e+21,1e-7,-0,true,null,"\\u003cA\\u003e"]}',
    );
  });

  it("is acknowledged with the contract's data and the transfer's acknowledgement", () => {
    const result = (text: string): unknown => {
      const { result: inner } = JSON.parse(text);
      return JSON.parse(fromUtf8(fromBase64(inner)));
    };
    const ibc_ack = toBase64(SUCCESS.bytes);
    expect(result(receive(hooked(), packet(memoOf({}))))).toEqual({ contract_result: null, ibc_ack });
    const answering = hooked(() => utf8("data"));
    expect(result(receive(answering, packet(memoOf({}))))).toEqual({ contract_result: "ZGF0YQ==", ibc_ack });
  });

  it("is refused with code 6 when the contract fails; its reason is in an event only", () => {
    const failing = hooked(() => {
      throw ErrUnauthorized("not you");
    });
    expect(receive(failing, packet(memoOf({})))).toBe(errorOf(6));
    expect(world.events.at(-1)).toMatchObject({
      type: "ibc-acknowledgement-error",
      attributes: [
        { key: "error", value: "wasm error" },
        { key: "error-context", value: "not you: unauthorized" },
      ],
    });
  });

  it("fails the relayer's transaction when the call runs out of gas", () => {
    const exhausted = hooked(() => {
      throw outOfGas("wasm contract", 1n, 2n);
    });
    expect(() => receive(exhausted, packet(memoOf({})))).toThrow(ModuleError);
  });

  it("is not a call when the transfer is refused", () => {
    const refused = { success: false, bytes: utf8("no") };
    expect(receive(hooked(undefined, refused), packet(memoOf({})))).toBe("no");
    expect(calls).toEqual([]);
  });

  it.each([
    ["a text", '{"wasm":"x"}', "wasm metadata is not a valid JSON map object"],
    ["null", '{"wasm":null}', "wasm metadata is not a valid JSON map object"],
    ["no contract", '{"wasm":{"msg":{}}}', 'Could not find key wasm["contract"]'],
    ["a number", memoOf({}, 7), 'Could not find key wasm["contract"]'],
    ["no address", memoOf({}, "nobody"), 'wasm["contract"] is not a valid bech32 address'],
    [
      "another receiver",
      memoOf({}, RECORDED.address),
      'wasm["contract"] should be the same as the receiver of the packet',
    ],
    ["no message", `{"wasm":{"contract":"${CONTRACT}"}}`, 'Could not find key wasm["msg"]'],
    ["null as message", memoOf(null), 'Could not find key wasm["msg"]'],
    ["a list as message", memoOf([]), 'wasm["msg"] is not a map object'],
  ])("is refused with code 2: %s", (_title, memo, reason) => {
    expect(receive(hooked(), packet(memo))).toBe(errorOf(2));
    expect([calls, received]).toEqual([[], []]);
    expect(world.events.at(-1)?.attributes).toMatchObject([
      { key: "error", value: "error in wasmhook message validation" },
      { key: "error-context", value: `wasm metadata not properly formatted for: '${memo}'. ${reason}` },
    ]);
  });
});

describe("a packet for nobody", () => {
  it.each(["", "hello", "null", "[]", '{"forward":{}}', '{"Wasm":{}}', '{"wasm":{},"x":1e999}'])(
    "passes unchanged with the memo %s",
    (memo) => {
      const one = packet(memo);
      receive(hooked(), one);
      expect([calls, received]).toEqual([[], [fromUtf8(one.data)]]);
    },
  );

  it("passes unchanged when it is not a transfer", () => {
    const other = { ...packet(""), data: utf8('{"amount":7}') };
    receive(hooked(), other);
    expect(received).toEqual(['{"amount":7}']);
  });
});

/** A contract that stores its callers. `{"fail": true}`: it refuses the call. */
const receiver: ContractCode = {
  name: "receiver",
  instantiate: () => NO_RESPONSE,
  execute: (scope, { sender, funds }, message) => {
    if (!isRecord(message)) throw new ContractError("not an object");
    scope.storage.set(utf8("seen"), utf8(printMessageJson({ sender, funds })));
    if (message["fail"] === true) throw new ContractError("I do not want it");
    return { ...NO_RESPONSE, data: utf8("thanks") };
  },
};

describe("a transfer from another chain", () => {
  const pair = openTransferPair(undefined, receiver);
  const a: TransferChain = pair.a;
  const b: TransferChain = pair.b;
  const contract = a.limiter;
  const denom = localDenom(parseTrace("transfer/channel-0/uatom"));
  const coins = (): bigint => a.bank.balance(a.context(), parseAddress("neutron", contract), denom).amount;
  const deliver = (message: unknown): Acknowledgement["bytes"] => {
    const memo = memoOf(message, contract);
    const sent = sentPacket(b.deliver(b.transfer({ from: 1, receiver: contract, amount: 500n, memo })));
    carryHeader(b, a);
    const result = a.deliver(receiveMessage(b, a, sent));
    expect(result).toMatchObject({ code: 0, log: "" });
    const acknowledgement = writtenAcknowledgement(result);
    carryHeader(a, b);
    succeed(b, acknowledgeMessage(a, b, sent, acknowledgement));
    return acknowledgement;
  };
  const seen = (): unknown => {
    const bytes = contractStore(a.context(), parseAddress("neutron", contract)).get(utf8("seen"));
    return bytes === undefined ? undefined : JSON.parse(fromUtf8(bytes));
  };
  const balanceOfSender = (): bigint =>
    b.bank.balance(b.context(), b.accounts[1] ?? new Uint8Array(20), "uatom").amount;

  it("to a contract that fails is undone on both chains", () => {
    expect(fromUtf8(deliver({ fail: true }))).toBe(errorOf(6));
    expect([seen(), coins(), balanceOfSender()]).toEqual([undefined, 0n, FUNDS]);
  });

  it("pays the contract and calls it", () => {
    expect(fromUtf8(deliver({}))).toMatch(/^\{"result":"/);
    const sender = intermediateSender(CHANNEL.channelId, b.address(1), "neutron");
    expect(seen()).toEqual({ sender, funds: [{ denom, amount: 500 }] });
    expect([coins(), balanceOfSender()]).toEqual([500n, FUNDS - 500n]);
    expect(a.bank.balance(a.context(), parseAddress("neutron", sender), denom).amount).toBe(0n);
  });
});
