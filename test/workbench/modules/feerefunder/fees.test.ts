import { beforeEach, describe, expect, it } from "vitest";
import { messageFromJson, messageToJson } from "../../../../src/cosmos/proto/json.ts";
import type { Packet } from "../../../../src/localnet/chain/modules/ibc/host/packet.ts";
import {
  formatAddress,
  moduleAddress,
  parseAddress,
} from "../../../../src/localnet/chain/runtime/address.ts";
import type { JsonObject, JsonValue } from "../../../../src/platform/base/json.ts";
import type { LinkedMessage } from "../../../support/ibc/linked-chain.ts";
import {
  acknowledgeMessage,
  carryHeader,
  receiveMessage,
  timeoutMessage,
} from "../../../support/ibc/linked-pair.ts";
import { sendingContract } from "../../../support/ibc/sending-contract.ts";
import {
  openTransferPair,
  sentPacket,
  type TransferChain,
  writtenAcknowledgement,
} from "../../../support/ibc/transfer-pair.ts";
import { BOB, startTokenChain } from "../../../support/token-chain.ts";

const FEES = formatAddress("neutron", moduleAddress("feerefunder"));

let a: TransferChain;
let b: TransferChain;
let contract: string;

beforeEach(() => {
  ({ a, b } = openTransferPair(undefined, sendingContract, true));
  contract = a.limiter;
  const result = a.deliver({
    "@type": "/cosmos.bank.v1beta1.MsgSend",
    from_address: a.address(0),
    to_address: contract,
    amount: [{ denom: a.denom, amount: "10000" }],
  });
  expect(result.code).toBe(0);
});

const balance = (address: string): bigint =>
  a.bank.balance(a.context(), parseAddress("neutron", address), a.denom).amount;
const coins = (amount: string, denom = "untrn") => [{ denom, amount }];
const feeOf = (ack: string, timeout: string, more: JsonObject = {}) => ({
  recv_fee: [],
  ack_fee: coins(ack),
  timeout_fee: coins(timeout),
  ...more,
});

function execute(message: JsonObject): ReturnType<TransferChain["deliver"]> {
  const call: LinkedMessage = {
    "@type": "/cosmwasm.wasm.v1.MsgExecuteContract",
    sender: a.address(0),
    contract,
    msg: message,
    funds: [],
  };
  return a.deliver(call);
}

/** Sends a transfer of the contract. */
function send(
  fee?: JsonObject,
  receiver = b.address(0),
  timeoutNs?: bigint,
): ReturnType<TransferChain["deliver"]> {
  const { "@type": _type, ...transfer } = a.transfer({
    from: 0,
    receiver,
    amount: 10n,
    ...(timeoutNs !== undefined && { timeoutNs }),
  });
  return execute({ send: { ...transfer, ...(fee && { fee }) } });
}

function relay(packet: Packet): ReturnType<TransferChain["deliver"]> {
  carryHeader(a, b);
  const received = b.deliver(receiveMessage(a, b, packet));
  expect(received.code).toBe(0);
  carryHeader(b, a);
  return a.deliver(acknowledgeMessage(b, a, packet, writtenAcknowledgement(received)));
}

/** The account that signs the messages of relayers. */
function relayerOf(message: LinkedMessage): string {
  const { signer } = message;
  return typeof signer === "string" ? signer : "";
}

function feeInfo(sequence: bigint): JsonValue {
  const request = messageFromJson("neutron.feerefunder.FeeInfoRequest", {
    port_id: "transfer",
    channel_id: "channel-0",
    sequence: sequence.toString(),
  });
  const bytes = a.query("/neutron.feerefunder.Query/FeeInfo", request);
  return messageToJson("neutron.feerefunder.FeeInfoResponse", bytes);
}

const log = (result: { readonly log: string }): string => result.log;

describe("the fee of a contract's transfer", () => {
  it("is locked until the reply, with the event of the deployed module", () => {
    const sent = send(feeOf("2333", "2666"));
    expect(log(sent)).toBe("");
    expect(balance(FEES)).toBe(4999n);
    expect(balance(contract)).toBe(10_000n - 10n - 4999n);
    expect(feeInfo(1n)).toEqual({
      fee_info: {
        payer: contract,
        packet_id: { channel_id: "channel-0", port_id: "transfer", sequence: "1" },
        fee: feeOf("2333", "2666"),
      },
    });
    const lock = sent.events.find(({ type }) => type === "distribute_lock_fees");
    expect(lock?.attributes.map(({ key, value }) => [key, value])).toEqual([
      ["payer", contract],
      ["port_id", "transfer"],
      ["channel_id", "channel-0"],
      ["sequence", "1"],
      ["msg_index", "0"],
    ]);
  });

  it.each([
    ["a success", undefined],
    ["a refusal", "nobody"],
  ])("goes to the relayer of the acknowledgement, also of %s", (_name, receiver) => {
    const packet = sentPacket(send(feeOf("2333", "2666"), receiver));
    const relayer = relayerOf(acknowledgeMessage(b, a, packet, new Uint8Array(0)));
    const before = balance(relayer);
    const { code, events } = relay(packet);
    expect(code).toBe(0);
    expect(balance(relayer) - before).toBe(2333n);
    expect(balance(contract)).toBe(10_000n - (receiver === undefined ? 10n : 0n) - 2333n);
    expect(balance(FEES)).toBe(0n);
    const types = events.map(({ type }) => type);
    expect(types.indexOf("distribute_ack_fee")).toBeLessThan(types.indexOf("sudo"));
    expect(() => feeInfo(1n)).toThrow(
      "no fee info found for port_id = transfer, channel_id=channel-0, sequence=1",
    );
  });

  it("goes to the relayer of the timeout", () => {
    const packet = sentPacket(send(feeOf("2333", "2666"), b.address(0), 30_000_000_000n));
    b.block(60n);
    a.block(60n);
    carryHeader(b, a);
    const message = timeoutMessage(b, a, packet);
    const before = balance(relayerOf(message));
    expect(a.deliver(message).code).toBe(0);
    expect(balance(relayerOf(message)) - before).toBe(2666n);
    expect(balance(contract)).toBe(10_000n - 2666n);
    expect(balance(FEES)).toBe(0n);
  });

  it("is paid when the contract fails in its callback", () => {
    const packet = sentPacket(send(feeOf("2333", "2666")));
    expect(execute({ mode: "fail" }).code).toBe(0);
    const { code, events } = relay(packet);
    expect(code).toBe(0);
    expect(events.some(({ type }) => type === "distribute_ack_fee")).toBe(true);
    expect(balance(FEES)).toBe(0n);
  });
});

describe("a transfer of a contract is refused", () => {
  const LOCK =
    /failed to lock fees to pay for transfer msg: source_port:"transfer" source_channel:"channel-0" token:<denom:"untrn" amount:"10" > sender:"neutron1[a-z0-9]+" receiver:"cosmos1[a-z0-9]+" timeout_height:<> timeout_timestamp:\d+ fee:<.*> : /;

  it("without a fee, also in the message of ibc-go", () => {
    for (const fee of [undefined, feeOf("0", "1000"), { recv_fee: [], ack_fee: [], timeout_fee: [] }])
      expect(log(send(fee))).toMatch(/failed to validate MsgTransfer: .*: invalid coins$/);
    expect(log(send())).toContain(
      "failed to validate MsgTransfer: ack fee or timeout fee is zero: invalid coins",
    );
    expect(log(send(feeOf("1000", "1000", { recv_fee: coins("1") })))).toContain("recv fee must be zero");
    const twice = [...coins("1"), ...coins("1")];
    expect(log(send(feeOf("1", "1", { ack_fee: twice })))).toContain(
      "contains invalid fees: ack fee is invalid: invalid coins",
    );
  });

  it("below the least fee, and in another denomination", () => {
    const small = log(send(feeOf("1000", "999")));
    expect(small).toMatch(LOCK);
    expect(small).toContain(
      "failed to lock fees: provided timeout fee is less than min governance set timeout fee: 999untrn < 1000untrn: insufficient fee",
    );
    const other = coins("5000", "ibc/27");
    expect(log(send(feeOf("1000", "1000", { ack_fee: other })))).toContain(
      "provided ack fee is less than min governance set ack fee: 5000ibc/27 < 1000untrn: insufficient fee",
    );
    expect(log(send(feeOf("1000", "1000", { ack_fee: [...other, ...coins("1000")] })))).toContain(
      "ack fee cannot have coins other than in params: invalid coins",
    );
    expect(balance(FEES)).toBe(0n);
  });

  it("that cannot pay", () => {
    expect(log(send(feeOf("9000", "1001")))).toContain(
      "failed to send coins during fees locking: spendable balance 10000untrn is smaller than 10001untrn: insufficient funds",
    );
  });
});

it("an account pays nothing, with either message", () => {
  const plain = a.transfer({ from: 1, receiver: b.address(0), amount: 10n });
  for (const type of ["ibc.applications.transfer.v1", "neutron.transfer"]) {
    const result = a.deliver({ ...plain, "@type": `/${type}.MsgTransfer` });
    expect(log(result)).toBe("");
    expect(result.events.some(({ type: name }) => name === "distribute_lock_fees")).toBe(false);
  }
  expect(balance(FEES)).toBe(0n);
});

describe("params and genesis", () => {
  const AUTHORITY = formatAddress("neutron", moduleAddress("adminmodule"));

  it("change by a proposal", () => {
    const chain = startTokenChain({ adminmodule: { admins: [BOB] } });
    const update = (min_fee: JsonObject) =>
      chain.run("bob", "cosmos.adminmodule.adminmodule.MsgSubmitProposal", {
        proposer: BOB,
        messages: [
          { "@type": "/neutron.feerefunder.MsgUpdateParams", authority: AUTHORITY, params: { min_fee } },
        ],
      });
    expect(chain.query("neutron.feerefunder.Query/Params", {})).toEqual({
      params: { min_fee: feeOf("1000", "1000") },
    });
    expect(update(feeOf("1", "2")).code).toBe(0);
    expect(chain.query("neutron.feerefunder.Query/Params", {})).toEqual({
      params: { min_fee: feeOf("1", "2") },
    });
    expect(log(update(feeOf("0", "2")))).toContain(
      "failed to validate MsgUpdateParams: contains invalid fees",
    );
    expect(
      chain.run("bob", "neutron.feerefunder.MsgUpdateParams", {
        authority: BOB,
        params: { min_fee: feeOf("1", "1") },
      }).log,
    ).toContain(`invalid authority; expected ${AUTHORITY}, got ${BOB}: invalid request`);
  });

  it("are exported and imported; a payer must be a contract", () => {
    const info = {
      payer: contract,
      packet_id: { channel_id: "channel-0", port_id: "transfer", sequence: "7" },
      fee: feeOf("5", "6"),
    };
    const feerefunder = { params: { min_fee: feeOf("1", "2") }, fee_infos: [info] };
    expect(startTokenChain({ feerefunder }).exported()["feerefunder"]).toEqual(feerefunder);
    expect(() => startTokenChain({ feerefunder: { fee_infos: [{ ...info, payer: BOB }] } })).toThrow(
      `app_state.feerefunder.fee_infos[0]: fee payer address ${BOB} is not a contract`,
    );
    expect(() => startTokenChain({ feerefunder: { fee_infos: [info, info] } })).toThrow(
      "the packet is given twice",
    );
  });
});
