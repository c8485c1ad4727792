import { describe, expect, it } from "vitest";
import { fromBase64, toBase64 } from "../../../../src/platform/base/bytes.ts";
import type { JsonObject } from "../../../../src/platform/base/json.ts";
import { connections } from "../../../../src/localnet/chain/modules/ibc/connection/connection-store.ts";
import { State } from "../../../../src/cosmos/proto/gen/ibc/core/connection/v1/connection.ts";
import { messageFromJson } from "../../../../src/cosmos/proto/json.ts";
import type { LinkedChain, LinkedMessage } from "../../../support/ibc/linked-chain.ts";
import {
  carryHeader,
  connectionAck,
  connectionConfirm,
  connectionTry,
  createPair,
  type LinkedPair,
  of,
  openConnection,
  succeed,
} from "../../../support/ibc/linked-pair.ts";

const COUNTERPARTY = { client_id: "07-tendermint-0", connection_id: "", prefix: { key_prefix: "aWJj" } };

function pairOf(): LinkedPair {
  return createPair({ chainId: "local-1" }, { chainId: "remote-2", bech32Prefix: "cosmos" });
}

function init(chain: LinkedChain, changes: JsonObject = {}): LinkedMessage {
  const fields = { client_id: "07-tendermint-0", counterparty: COUNTERPARTY, ...changes };
  return of("connection", "MsgConnectionOpenInit", chain, fields);
}

/** A pair after the first step, of which the second chain knows. */
function startedPair(): LinkedPair {
  const pair = pairOf();
  succeed(pair.a, init(pair.a));
  carryHeader(pair.a, pair.b);
  return pair;
}

function failureOf({ code, codespace, log }: ReturnType<LinkedChain["deliver"]>): string {
  return code === 0
    ? "done"
    : `${codespace}/${code} ${log.replace("failed to execute message; message index: 0: ", "")}`;
}

describe("the connection handshake", () => {
  it("opens both ends, with proofs of each other", () => {
    const pair = pairOf();
    openConnection(pair);
    for (const [chain, other] of [
      [pair.a, pair.b],
      [pair.b, pair.a],
    ] as const) {
      expect(connections.get(chain.context(), "connection-0")).toMatchObject({
        clientId: "07-tendermint-0",
        state: State.STATE_OPEN,
        counterparty: { clientId: "07-tendermint-0", connectionId: "connection-0" },
      });
      expect(other.ibc.keeper.connectionClientId(other.context(), "connection-0")).toBe("07-tendermint-0");
    }
  });

  it("creates another connection for each accepted proof", () => {
    const pair = startedPair();
    succeed(pair.b, connectionTry(pair, "connection-0"));
    succeed(pair.b, connectionTry(pair, "connection-0"));
    expect(connections.get(pair.b.context(), "connection-1")?.state).toBe(State.STATE_TRYOPEN);
  });

  it("refuses every proof with one bit flipped", () => {
    const pair = startedPair();
    const message = connectionTry(pair, "connection-0");
    const proof = fromBase64(pair.a.prove("connections/connection-0").proof);
    let accepted = 0;
    for (let bit = 0; bit < proof.length * 8; bit += 7) {
      const flipped = proof.slice();
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const { code } = pair.b.deliver({ ...message, proof_init: toBase64(flipped) });
      if (code === 0) accepted += 1;
    }
    expect(accepted).toBe(0);
  });

  it.each<[string, (chain: LinkedChain) => LinkedMessage, string]>([
    [
      "an unknown client",
      (chain) => init(chain, { client_id: "07-tendermint-9" }),
      "client/4 connection handshake open init failed: clientID (07-tendermint-9): light client not found",
    ],
    [
      "the localhost client",
      (chain) => init(chain, { client_id: "09-localhost" }),
      "client/10 localhost connection handshakes are disallowed: invalid client type",
    ],
    [
      "a version of no support",
      (chain) => init(chain, { version: { identifier: "1", features: ["ORDER_DAG"] } }),
      "connection/9 connection handshake open init failed: version is not supported: invalid connection version",
    ],
    [
      "a blank version",
      (chain) => init(chain, { version: { identifier: " ", features: [] } }),
      "connection/9 basic validation of the provided version failed: version identifier cannot be blank: invalid connection version",
    ],
    [
      "a known counterparty",
      (chain) => init(chain, { counterparty: { ...COUNTERPARTY, connection_id: "connection-0" } }),
      "connection/7 counterparty connection identifier must be empty: invalid counterparty connection",
    ],
    [
      "an empty prefix",
      (chain) => init(chain, { counterparty: { ...COUNTERPARTY, prefix: { key_prefix: "" } } }),
      "connection/7 counterparty prefix cannot be empty: invalid counterparty connection",
    ],
    [
      "a signer that is no address",
      (chain) => ({ ...init(chain), signer: "me" }),
      "ibc/5 string could not be parsed as address: decoding bech32 failed: invalid bech32 string length 2: invalid address",
    ],
  ])("does not start with %s", (_name, message, expected) => {
    const { a } = pairOf();
    expect(failureOf(a.deliver(message(a)))).toBe(expected);
  });

  it.each<[string, JsonObject, string]>([
    ["an empty proof", { proof_init: "" }, "commitment/2 cannot submit an empty proof init: invalid proof"],
    [
      "a proof that is none",
      { proof_init: toBase64(new Uint8Array(5).fill(255)) },
      "commitment/2 connection handshake open try failed: failed connection state verification for client (07-tendermint-0): failed to unmarshal proof into ICS 23 commitment merkle proof: invalid proof",
    ],
    [
      "a height that the client does not have",
      { proof_height: { revision_number: "1", revision_height: "1" } },
      "client/7 connection handshake open try failed: failed connection state verification for client (07-tendermint-0): please ensure the proof was constructed against a height that exists on the client: consensus state not found",
    ],
    [
      "a height above the client",
      { proof_height: { revision_number: "1", revision_height: "1000" } },
      "ibc/9 connection handshake open try failed: failed connection state verification for client (07-tendermint-0): client state height < proof height ({1 4} < {1 1000}), please ensure the client has been updated: invalid height",
    ],
    [
      "no common version",
      { counterparty_versions: [{ identifier: "2", features: ["ORDER_ORDERED"] }] },
      'connection/10 connection handshake open try failed: failed to find a matching counterparty version ([identifier:"2" features:"ORDER_ORDERED" ]) from the supported version list ([identifier:"1" features:"ORDER_ORDERED" features:"ORDER_UNORDERED" ]): connection version negotiation failed',
    ],
    ["no version", { counterparty_versions: [] }, "ibc/10 empty counterparty versions: invalid version"],
    [
      "an earlier connection",
      { previous_connection_id: "connection-1" },
      "connection/11 previous connection identifier must be empty, this field has been deprecated as crossing hellos are no longer supported: invalid connection identifier",
    ],
  ])("does not accept %s", (_name, changes, expected) => {
    const pair = startedPair();
    expect(failureOf(pair.b.deliver(connectionTry(pair, "connection-0", changes)))).toBe(expected);
  });

  it.each(["MsgConnectionOpenTry", "MsgConnectionOpenAck"])("%s names a client state", (name) => {
    const { a } = pairOf();
    const handler = a.ibc.messages.find(({ typeUrl }) => typeUrl === `/ibc.core.connection.v1.${name}`);
    const signersOf = (type: string) =>
      handler?.signers(
        messageFromJson(`ibc.core.connection.v1.${name}`, {
          client_state: { "@type": type },
          signer: a.signer,
        }),
      );
    expect(signersOf("/ibc.lightclients.tendermint.v1.ClientState")).toEqual([a.signer]);
    expect(() => signersOf("/ibc.lightclients.tendermint.v1.Header")).toThrow(
      "no concrete type registered for type URL /ibc.lightclients.tendermint.v1.Header against interface *exported.ClientState: tx parse error",
    );
  });

  it("does not accept another delay than the one that was started", () => {
    const pair = startedPair();
    const result = pair.b.deliver(connectionTry(pair, "connection-0", { delay_period: "7" }));
    expect(failureOf(result)).toMatch(
      /^commitment\/2 .*chained membership proof failed to verify membership of value: /,
    );
  });

  it("goes only from one state to the next", () => {
    const pair = pairOf();
    openConnection(pair);
    carryHeader(pair.a, pair.b);
    expect(failureOf(pair.a.deliver(connectionAck(pair, "connection-0")))).toBe(
      "connection/6 connection handshake open ack failed: connection state is not INIT (got STATE_OPEN): invalid connection state",
    );
    expect(failureOf(pair.b.deliver(connectionConfirm(pair, "connection-0")))).toBe(
      "connection/6 connection handshake open confirm failed: connection state is not TRYOPEN (got STATE_OPEN): invalid connection state",
    );
    const unknown = { connection_id: "connection-7" };
    expect(failureOf(pair.a.deliver(connectionAck(pair, "connection-0", unknown)))).toBe(
      "connection/3 connection handshake open ack failed: connection-7: connection not found",
    );
  });
});
