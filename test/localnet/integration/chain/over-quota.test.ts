import { describe, expect, it } from "vitest";
import { fromUtf8 } from "../../../../src/platform/base/bytes.ts";
import type { JsonObject } from "../../../../src/platform/base/json.ts";
import {
  acknowledgeMessage,
  carryHeader,
  receiveMessage,
  succeed,
  timeoutMessage,
} from "../../../support/ibc/linked-pair.ts";
import type { LinkedChain } from "../../../support/ibc/linked-chain.ts";
import {
  FUNDS,
  openTransferPair,
  sentPacket,
  type TransferChain,
  writtenAcknowledgement,
} from "../../../support/ibc/transfer-pair.ts";

// The module ibc-rate-limit around transfers, with the reference limiter as the contract and packets with real proofs.

/** 10 % of the supply in a week, in both directions. */
function quota(denom: string): JsonObject {
  return {
    channel_id: "channel-0",
    denom,
    quotas: [{ name: "weekly", duration: 604_800, send_recv: [10, 10] }],
  };
}
const LIMIT = (FUNDS * 3n) / 10n;

function send(chain: TransferChain, amount: bigint, receiver: string, timeoutNs?: bigint) {
  const more = timeoutNs === undefined ? {} : { timeoutNs };
  return chain.deliver(chain.transfer({ from: 0, receiver, amount, ...more }));
}

function typesOf({ events }: ReturnType<LinkedChain["deliver"]>): readonly string[] {
  return events.map(({ type }) => type);
}

describe("a transfer over quota", () => {
  it("is refused with code 2, and takes no coins", () => {
    const { a, b } = openTransferPair([quota("untrn")]);
    expect(send(a, LIMIT, b.address(0)).log).toBe("");
    const before = a.bank.balance(a.context(), a.accounts[0] ?? new Uint8Array(0), "untrn");
    const refused = send(a, 1n, b.address(0));
    expect([refused.codespace, refused.code]).toEqual(["rate-limited-ibc", 2]);
    expect(refused.log).toMatch(
      /^failed to execute message; message index: 0: rate limit SendPacket failed to authorize transfer: IBC Rate Limit exceeded for channel-0\/untrn\. Tried to transfer 1 which exceeds capacity on the 'weekly' quota \(300000\/300000\)\. Try again after Timestamp\(Uint64\(\d+\)\): execute wasm contract failed: rate limit exceeded$/,
    );
    expect(a.bank.balance(a.context(), a.accounts[0] ?? new Uint8Array(0), "untrn")).toEqual(before);
  });

  it("passes again after one that timed out", () => {
    const { a, b } = openTransferPair([quota("untrn")]);
    const packet = sentPacket(send(a, LIMIT, b.address(0), 30_000_000_000n));
    expect(send(a, 1n, b.address(0)).code).toBe(2);
    for (const chain of [a, b]) chain.block(60n);
    carryHeader(b, a);
    expect(typesOf(a.deliver(timeoutMessage(b, a, packet))).slice(0, 5)).toEqual([
      "message",
      "timeout_packet",
      "message",
      "sudo",
      "wasm",
    ]);
    expect(send(a, LIMIT, b.address(0)).log).toBe("");
  });

  it("passes again after one that the receiver refused", () => {
    const { a, b } = openTransferPair([quota("untrn")]);
    const packet = sentPacket(send(a, LIMIT, "nobody"));
    expect(send(a, 1n, b.address(0)).code).toBe(2);
    carryHeader(a, b);
    const received = b.deliver(receiveMessage(a, b, packet));
    carryHeader(b, a);
    succeed(a, acknowledgeMessage(b, a, packet, writtenAcknowledgement(received)));
    expect(send(a, LIMIT, b.address(0)).log).toBe("");
  });

  it("stays refused after one that arrived", () => {
    const { a, b } = openTransferPair([quota("untrn")]);
    const packet = sentPacket(send(a, LIMIT, b.address(0)));
    carryHeader(a, b);
    const received = b.deliver(receiveMessage(a, b, packet));
    carryHeader(b, a);
    succeed(a, acknowledgeMessage(b, a, packet, writtenAcknowledgement(received)));
    expect(send(a, 1n, b.address(0)).code).toBe(2);
  });

  it("from another chain is acknowledged with code 2, and the sender gets its coins back", () => {
    const voucher = "ibc/27394FB092D2ECCD56123C74F36E4C1F926001CEADA9CA97EA622B25F41E5EB2";
    const { a, b } = openTransferPair([quota(voucher)]);
    const sent = sentPacket(send(b, 1_000n, a.address(0)));
    carryHeader(b, a);
    // There is no supply of the voucher yet, so its quota is zero.
    const received = a.deliver(receiveMessage(b, a, sent));
    expect(fromUtf8(writtenAcknowledgement(received))).toBe(
      '{"error":"ABCI code: 2: error handling packet: see events for details"}',
    );
    expect(typesOf(received)).toContain("ibccallbackerror-ibc-acknowledgement-error");
    expect(a.bank.supply(a.context(), voucher)).toBe(0n);
    carryHeader(a, b);
    succeed(b, acknowledgeMessage(a, b, sent, writtenAcknowledgement(received)));
    expect(b.bank.balance(b.context(), b.accounts[0] ?? new Uint8Array(0), "uatom").amount).toBe(FUNDS);
  });
});

describe("the limiter", () => {
  it("that is set to no contract refuses every transfer, and none when it is empty", () => {
    const { a, b } = openTransferPair([quota("untrn")]);
    const update = (contract_address: string) => ({
      "@type": "/neutron.ibcratelimit.v1beta1.MsgUpdateParams",
      authority: a.authority,
      params: { contract_address },
    });
    succeed(a, update(a.address(1)));
    const refused = send(a, 1n, b.address(0));
    expect([refused.code, refused.log]).toEqual([
      2,
      `failed to execute message; message index: 0: rate limit SendPacket failed to authorize transfer: address ${a.address(1)}: no such contract: rate limit exceeded`,
    ]);
    succeed(a, update(""));
    expect(send(a, LIMIT + 1n, b.address(0)).log).toBe("");
  });

  it("that fails at an undo leaves a bad_revert, and the refund", () => {
    const { a, b } = openTransferPair([quota("untrn")]);
    const packet = sentPacket(send(a, LIMIT, b.address(0), 30_000_000_000n));
    succeed(a, {
      "@type": "/neutron.ibcratelimit.v1beta1.MsgUpdateParams",
      authority: a.authority,
      params: { contract_address: a.address(1) },
    });
    for (const chain of [a, b]) chain.block(60n);
    carryHeader(b, a);
    const { events } = a.deliver(timeoutMessage(b, a, packet));
    const attributes = events.find(({ type }) => type === "bad_revert")?.attributes ?? [];
    expect(attributes.map(({ key, value }) => [key, value])).toEqual([
      ["module", "rate-limited-ibc"],
      ["failure_type", "timeout"],
      ["packet", fromUtf8(packet.data)],
      ["msg_index", "0"],
    ]);
    expect(a.bank.balance(a.context(), a.accounts[0] ?? new Uint8Array(0), "untrn").amount).toBe(FUNDS);
  });

  it("takes its address from the authority only", () => {
    const { a } = openTransferPair([quota("untrn")]);
    const update = (authority: string, contract_address: string): string => {
      const { codespace, code, log } = a.deliver({
        "@type": "/neutron.ibcratelimit.v1beta1.MsgUpdateParams",
        authority,
        params: { contract_address },
      });
      return `${codespace}/${code} ${log.replace("failed to execute message; message index: 0: ", "")}`;
    };
    expect(update(a.address(0), "")).toBe(
      `sdk/18 invalid authority; expected ${a.authority}, got ${a.address(0)}: invalid request`,
    );
    expect(update("me", "")).toMatch(
      /^undefined\/1 failed to validate MsgUpdateParams: authority is invalid: /,
    );
    expect(update(a.authority, "you")).toMatch(
      /^undefined\/1 failed to validate MsgUpdateParams: contract_address is invalid: /,
    );
  });
});
