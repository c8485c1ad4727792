import { describe, expect, it } from "vitest";
import { toBase64, utf8 } from "../../../../src/platform/base/bytes.ts";
import type { JsonObject } from "../../../../src/platform/base/json.ts";
import { openClientStore } from "../../../../src/localnet/chain/modules/ibc/client/client-store.ts";
import { verifyMembership } from "../../../../src/localnet/chain/modules/ibc/client/handlers.ts";
import {
  OWN_PREFIX,
  verifyRemoteAbsence,
  verifyRemoteValue,
} from "../../../../src/localnet/chain/modules/ibc/client/verify-proof.ts";
import { createGasMeter } from "../../../../src/localnet/chain/runtime/gas.ts";
import { QueryError } from "../../../../src/localnet/chain/runtime/errors.ts";
import { QueryVerifyMembershipRequest } from "../../../../src/cosmos/proto/gen/ibc/core/client/v1/query.ts";
import { State } from "../../../../src/cosmos/proto/gen/ibc/core/connection/v1/connection.ts";
import { messageFromJson, messageToJson } from "../../../../src/cosmos/proto/json.ts";
import {
  carryHeader,
  createPair,
  type LinkedPair,
  openConnection,
} from "../../../support/ibc/linked-pair.ts";

const SERVICE = "ibc.core.client.v1";
const PATH = "connections/connection-0";

function open(): LinkedPair {
  const pair = createPair({ chainId: "local-1" }, { chainId: "remote-1", bech32Prefix: "cosmos" });
  openConnection(pair);
  carryHeader(pair.b, pair.a);
  return pair;
}

const pair = open();
const { proof, height } = pair.b.prove(PATH);
const value = toBase64(pair.b.context().store("ibc").get(utf8(PATH)) ?? new Uint8Array(0));
const REQUEST = {
  client_id: "07-tendermint-0",
  proof,
  proof_height: height,
  merkle_path: { key_path: ["ibc", PATH] },
  value,
};

/** Returns whether the proof holds, or the code and text of the error. */
function verify(changes: JsonObject, { a }: LinkedPair = pair): unknown {
  const request = messageFromJson(`${SERVICE}.QueryVerifyMembershipRequest`, { ...REQUEST, ...changes });
  try {
    const response = a.query(`/${SERVICE}.Query/VerifyMembership`, request);
    return messageToJson(`${SERVICE}.QueryVerifyMembershipResponse`, response);
  } catch (error) {
    if (error instanceof QueryError) return `${error.grpcCode} ${error.message}`;
    throw error;
  }
}

function flipped(base64: string, bit: number): string {
  const bytes = Buffer.from(base64, "base64");
  bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return bytes.toString("base64");
}

const WRONG: readonly (readonly [name: string, changes: JsonObject, expected: string])[] = [
  ["no client", { client_id: "" }, "3 identifier cannot be blank: invalid identifier"],
  [
    "a client id of another form",
    { client_id: "tendermint" },
    "3 invalid client identifier tendermint is not in format: `{client-type}-{N}`: invalid identifier",
  ],
  [
    "the localhost client",
    { client_id: "09-localhost" },
    "3 verify membership is disabled for client types [09-localhost 06-solomachine]: invalid client type",
  ],
  [
    "a solo machine",
    { client_id: "06-solomachine-0" },
    "3 verify membership is disabled for client types [09-localhost 06-solomachine]: invalid client type",
  ],
  ["no proof", { proof: "" }, "3 empty proof"],
  [
    "no height",
    { proof_height: { revision_number: "0", revision_height: "0" } },
    "3 proof height must be non-zero",
  ],
  ["no path", { merkle_path: { key_path: [] } }, "3 empty merkle path"],
  ["no value", { value: "" }, "3 empty value"],
  ["an unknown client", { client_id: "07-tendermint-9" }, "5 07-tendermint-9: light client not found"],
];

const FALSE: readonly (readonly [name: string, changes: JsonObject])[] = [
  ["another value", { value: flipped(value, 0) }],
  ["another path", { merkle_path: { key_path: ["ibc", "connections/connection-1"] } }],
  ["another store", { merkle_path: { key_path: ["bank", PATH] } }],
  ["a path of one part", { merkle_path: { key_path: [PATH] } }],
  ["a path of three parts", { merkle_path: { key_path: ["ibc", "connections", "connection-0"] } }],
  ["a height of the future", { proof_height: { ...height, revision_height: "99999" } }],
  ["a height without a state", { proof_height: { ...height, revision_height: "1" } }],
  ["bytes that are no proof", { proof: "AA==" }],
  ["a delay that has not passed", { time_delay: "1000000000000" }],
  ["a delay of blocks that has not passed", { block_delay: "1000" }],
];

describe("VerifyMembership", () => {
  it("holds for a proof of a stored value", () => expect(verify({})).toEqual({ success: true }));

  it.each(FALSE)("does not hold for %s", (_name, changes) =>
    expect(verify(changes)).toEqual({ success: false }),
  );

  it("does not hold for a proof with any bit flipped", () => {
    const bits = Buffer.from(proof, "base64").length * 8;
    for (let bit = 0; bit < bits; bit += 7)
      expect(verify({ proof: flipped(proof, bit) }), `bit ${bit}`).toEqual({ success: false });
    expect(bits).toBeGreaterThan(1000);
  });

  it.each(WRONG)("refuses %s", (_name, changes, expected) => expect(verify(changes)).toBe(expected));

  it("holds from the end of a delay on", () => {
    const { a } = pair;
    const at = { revisionNumber: 1n, revisionHeight: BigInt(height.revision_height) };
    const processed = openClientStore(a.context(), "07-tendermint-0").processed(at);
    const passedNs = a.timeNs() - (processed?.timeNs ?? 0n);
    const passed = a.height() - (processed?.height.revisionHeight ?? 0n);
    expect(verify({ time_delay: `${passedNs}`, block_delay: `${passed}` })).toEqual({ success: true });
    expect(verify({ time_delay: `${passedNs + 1n}` })).toEqual({ success: false });
    expect(verify({ block_delay: `${passed + 1n}` })).toEqual({ success: false });
  });

  it("costs gas for each byte of the proof, and does not call the end of the gas a bad proof", () => {
    const request = QueryVerifyMembershipRequest.decode(
      messageFromJson(`${SERVICE}.QueryVerifyMembershipRequest`, REQUEST),
    );
    const charges: (readonly [label: string, amount: bigint])[] = [];
    const run = (limit?: bigint): bigint => {
      const gas = createGasMeter(limit);
      const consume: typeof gas.consume = (amount, label) => {
        charges.push([label, amount]);
        gas.consume(amount, label);
      };
      verifyMembership(pair.a.context().withGas({ ...gas, consume }), request);
      return gas.used();
    };
    const all = run();
    expect(charges).toContainEqual(["verify membership query", 9n * BigInt(request.proof.length)]);
    expect(() => run(all - 1n)).toThrow(/^out of gas in location: /);
  });

  it("refuses a client that is not active", () => {
    const late = open();
    late.a.block(10_000_000n);
    expect(verify({}, late)).toBe(
      "9 cannot verify membership using client (07-tendermint-0) with status Expired: client state is not active",
    );
  });
});

describe("the localhost client", () => {
  const { a } = pair;
  const stored = a.context().store("ibc").get(utf8(PATH)) ?? new Uint8Array(0);
  const own = { clientId: "09-localhost", versions: [], state: State.STATE_OPEN, delayPeriod: 0n };
  const connection = { ...own, counterparty: { clientId: "", connectionId: "", prefix: OWN_PREFIX } };
  const proven = (path: string, sentinel = Uint8Array.of(1)) => ({
    path,
    name: "value",
    isPacket: false,
    proof: sentinel,
    height: { revisionNumber: 0n, revisionHeight: 1n },
  });
  const valueAt = (path: string, bytes: Uint8Array) => () =>
    verifyRemoteValue(a.context(), connection, proven(path), bytes);
  const text = `{[ibc ${PATH}]}`;

  it("verifies what the chain itself stores, and nothing else", () => {
    expect(valueAt(PATH, stored)).not.toThrow();
    for (const other of [stored.with(0, (stored[0] ?? 0) ^ 1), stored.subarray(1), new Uint8Array(0)])
      expect(valueAt(PATH, other)).toThrow(`value provided does not equal value stored at path: ${text}`);
    expect(valueAt("connections/connection-9", stored)).toThrow("value not found for path");
  });

  it("verifies that the chain stores nothing", () => {
    const absentAt = (path: string) => () => verifyRemoteAbsence(a.context(), connection, proven(path));
    expect(absentAt("connections/connection-9")).not.toThrow();
    expect(absentAt(PATH)).toThrow(`value found for path ${text}`);
  });

  it("takes no proof but the sentinel", () => {
    for (const wrong of [new Uint8Array(0), Uint8Array.of(2), Uint8Array.of(1, 1)])
      expect(() => verifyRemoteValue(a.context(), connection, proven(PATH, wrong), stored)).toThrow(
        "expected \u0001",
      );
  });
});
