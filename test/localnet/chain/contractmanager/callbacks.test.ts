import { beforeEach, describe, expect, it } from "vitest";
import { toBase64, utf8 } from "../../../../src/platform/base/bytes.ts";
import { isRecord, type JsonObject } from "../../../../src/platform/base/json.ts";
import type { Packet } from "../../../../src/localnet/chain/modules/ibc/host/packet.ts";
import { contractStore } from "../../../../src/localnet/chain/modules/wasm/keeper.ts";
import { parseAddress } from "../../../../src/localnet/chain/runtime/address.ts";
import { messageFromJson, messageToJson } from "../../../../src/cosmos/proto/json.ts";
import type { LinkedMessage } from "../../../support/ibc/linked-chain.ts";
import {
  acknowledgeMessage,
  carryHeader,
  receiveMessage,
  succeed,
  timeoutMessage,
} from "../../../support/ibc/linked-pair.ts";
import { SEEN, sendingContract } from "../../../support/ibc/sending-contract.ts";
import {
  openTransferPair,
  sentPacket,
  type TransferChain,
  writtenAcknowledgement,
} from "../../../support/ibc/transfer-pair.ts";

let a: TransferChain;
let b: TransferChain;
let contract: string;

beforeEach(() => {
  ({ a, b } = openTransferPair(undefined, sendingContract));
  contract = a.limiter;
  const amount = [{ denom: a.denom, amount: "1000" }];
  succeed(a, {
    "@type": "/cosmos.bank.v1beta1.MsgSend",
    from_address: a.address(0),
    to_address: contract,
    amount,
  });
});

function execute(message: JsonObject): LinkedMessage {
  return {
    "@type": "/cosmwasm.wasm.v1.MsgExecuteContract",
    sender: a.address(0),
    contract,
    msg: message,
    funds: [],
  };
}

/** Sends a transfer of the contract. */
function send(receiver: string, timeoutNs?: bigint): Packet {
  const { "@type": _type, ...transfer } = a.transfer({
    from: 0,
    receiver,
    amount: 10n,
    ...(timeoutNs !== undefined && { timeoutNs }),
  });
  const result = a.deliver(execute({ send: transfer }));
  if (result.code !== 0) throw new Error(result.log);
  return sentPacket(result);
}

/** Relays a packet and its acknowledgement. Returns the result of the acknowledgement. */
function relay(packet: Packet): ReturnType<TransferChain["deliver"]> {
  carryHeader(a, b);
  const received = b.deliver(receiveMessage(a, b, packet));
  if (received.code !== 0) throw new Error(received.log);
  carryHeader(b, a);
  return a.deliver(acknowledgeMessage(b, a, packet, writtenAcknowledgement(received)));
}

function timeOut(packet: Packet): ReturnType<TransferChain["deliver"]> {
  b.block(60n);
  a.block(60n);
  carryHeader(b, a);
  return a.deliver(timeoutMessage(b, a, packet));
}

function seen(): string | undefined {
  const bytes = contractStore(a.context(), parseAddress("neutron", contract)).get(SEEN);
  return bytes === undefined ? undefined : Buffer.from(bytes).toString("utf8");
}

function failures(): unknown {
  const request = messageFromJson("neutron.contractmanager.QueryFailuresRequest", { address: contract });
  const bytes = a.query("/neutron.contractmanager.Query/AddressFailures", request);
  const json = messageToJson("neutron.contractmanager.QueryFailuresResponse", bytes);
  return isRecord(json) ? json["failures"] : undefined;
}

/** The packet in a callback. */
function requestOf({ sequence, data, timeout }: Packet): string {
  return `{"sequence":${sequence},"source_port":"transfer","source_channel":"channel-0","destination_port":"transfer","destination_channel":"channel-0","data":"${toBase64(data)}","timeout_height":{},"timeout_timestamp":${timeout.timestamp}}`;
}

describe("a contract that sent a transfer", () => {
  it("is called with the result after the events of the application", () => {
    const packet = send(b.address(0));
    const { code, events } = relay(packet);
    expect(code).toBe(0);
    expect(seen()).toBe(`{"response":{"request":${requestOf(packet)},"data":"AQ=="}}`);
    const types = events.map(({ type }) => type);
    expect(types.slice(types.lastIndexOf("fungible_token_packet"))).toEqual([
      "fungible_token_packet",
      "sudo",
      "wasm",
    ]);
    expect(failures()).toEqual([]);
  });

  it("is called with the error after its refund", () => {
    const packet = send("nobody");
    expect(relay(packet).code).toBe(0);
    expect(seen()).toBe(
      `{"error":{"request":${requestOf(packet)},"details":"ABCI code: 1: error handling packet: see events for details"}}`,
    );
    const held = a.bank.balance(a.context(), parseAddress("neutron", contract), a.denom);
    expect(held.amount).toBe(1000n);
  });

  it("is called with the timeout after its refund", () => {
    const packet = send(b.address(0), 30_000_000_000n);
    const { code, events } = timeOut(packet);
    expect(code).toBe(0);
    const types = events.map(({ type }) => type);
    expect(types.indexOf("sudo")).toBeGreaterThan(types.lastIndexOf("timeout"));
    expect(types.lastIndexOf("timeout")).toBeGreaterThan(0);
    expect(seen()).toBe(`{"timeout":{"request":${requestOf(packet)}}}`);
  });

  it("is not called for the transfer of an account", () => {
    const sent = a.deliver(a.transfer({ from: 0, receiver: b.address(0), amount: 10n }));
    expect(relay(sentPacket(sent)).events.some(({ type }) => type === "sudo")).toBe(false);
    expect(seen()).toBeUndefined();
  });

  it.each([
    ["fail", "I do not want it: execute wasm contract failed", "codespace: wasm, code: 5"],
    [
      "loop",
      "sudo handling went beyond the gas limit allowed by the module",
      "codespace: contractmanager, code: 1103",
    ],
    [
      "exit",
      "dispatch: submessages: Cannot unpack proto message with type URL: /no.such.Msg: invalid CosmosMsg from the contract",
      "codespace: wasm, code: 10",
    ],
  ])(
    "and that fails (%s) does not stop the acknowledgement, and gets the call stored",
    (mode, text, error) => {
      succeed(a, execute({ mode }));
      const packet = send(b.address(0));
      const { code, events } = relay(packet);
      expect(code).toBe(0);
      expect(seen()).toBeUndefined();
      const calls = events.filter(({ type }) => type === "sudo" || type === "wasm");
      expect(
        calls.map(({ type, attributes }) => [type, ...attributes.map(({ key, value }) => [key, value])]),
      ).toEqual([
        [
          "sudo",
          ["_contract_address", contract],
          ["failure_id", "0"],
          ["error", expect.stringContaining(text)],
          ["msg_index", "0"],
        ],
      ]);
      const payload = `{"response":{"request":${requestOf(packet)},"data":"AQ=="}}`;
      expect(failures()).toEqual([
        { address: contract, id: "0", sudo_payload: toBase64(utf8(payload)), error },
      ]);
      a.block();
      expect(relay(send(b.address(0))).code).toBe(0);
      expect(failures()).toMatchObject([{ id: "0" }, { id: "1" }]);
    },
  );

  it("asks for a failed call again, which is removed when it succeeds", () => {
    succeed(a, execute({ mode: "fail" }));
    relay(send(b.address(0)));
    relay(send("nobody"));
    expect(failures()).toMatchObject([{ id: "0" }, { id: "1" }]);
    const again = a.deliver(execute({ resubmit: 1 }));
    expect([again.codespace, again.code]).toEqual(["contractmanager", 1102]);
    expect(again.log).toContain(
      "failed to resubmitFailure: cannot resubmit failure; failureId = 1; err = I do not want it: execute wasm contract failed: failed to resubmit failure",
    );
    expect(failures()).toMatchObject([{ id: "0" }, { id: "1" }]);
    succeed(a, execute({ mode: "" }));
    succeed(a, execute({ resubmit: 1 }));
    expect(seen()).toContain('"error"');
    expect(failures()).toMatchObject([{ id: "0" }]);
    const gone = a.deliver(execute({ resubmit: 1 }));
    // As recorded on the deployed chain: the binding asks for the failure first, and a gRPC status is no registered error.
    expect([gone.codespace, gone.code]).toEqual(["undefined", 1]);
    expect(gone.log).toContain(
      "no failure with given FailureId found to resubmit: rpc error: code = InvalidArgument desc = no failure found for contractAddress = ",
    );
  });
});
