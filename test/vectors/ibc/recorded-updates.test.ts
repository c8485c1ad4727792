import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { fromBase64, toHex } from "../../../src/platform/base/bytes.ts";
import { isRecord } from "../../../src/platform/base/json.ts";
import { openClientStore } from "../../../src/localnet/chain/modules/ibc/client/client-store.ts";
import { updateClient } from "../../../src/localnet/chain/modules/ibc/client/keeper.ts";
import { ibcKeeper } from "../../../src/localnet/chain/modules/ibc/keeper.ts";
import {
  unpackClientMessage,
  heightOfHeader,
  consensusStateOfHeader,
  validateUpdateHeader,
} from "../../../src/localnet/chain/modules/ibc/client/client-message.ts";
import { TxBody, TxRaw } from "../../../src/cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { MsgUpdateClient } from "../../../src/cosmos/proto/gen/ibc/core/client/v1/tx.ts";
import { TYPE_URL } from "../../../src/cosmos/proto/registry.ts";
import { createMemoryChain } from "../../support/ibc/memory-chain.ts";
import { readRecordedClient } from "../../support/ibc/recorded-client.ts";

interface RecordedUpdate {
  readonly message: MsgUpdateClient;
  /** Attributes of `update_client` without `msg_index`, which the message router adds. */
  readonly attributes: readonly (readonly [string, string])[];
}

const client = readRecordedClient();

function readUpdates(): readonly RecordedUpdate[] {
  const url = new URL("../../fixtures/txs.json", import.meta.url);
  const txs: unknown = JSON.parse(readFileSync(url, "utf8"));
  if (!Array.isArray(txs)) throw new Error("not a list of transactions");
  return txs.filter(isRecord).flatMap((tx) => {
    const body = TxBody.decode(TxRaw.decode(fromBase64(String(tx["tx_base64"]))).bodyBytes);
    const found = body.messages.find(({ typeUrl }) => typeUrl === TYPE_URL.updateClient);
    if (found === undefined || !isRecord(tx["tx_result"])) return [];
    return [
      { message: MsgUpdateClient.decode(found.value), attributes: attributesOf(tx["tx_result"]["events"]) },
    ];
  });
}

function attributesOf(events: unknown): readonly (readonly [string, string])[] {
  if (!Array.isArray(events)) throw new Error("no events");
  const event: unknown = events.filter(isRecord).find(({ type }) => type === "update_client");
  if (!isRecord(event) || !Array.isArray(event["attributes"])) throw new Error("no update_client");
  return event["attributes"]
    .filter(isRecord)
    .map(({ key, value }) => [String(key), String(value)] as const)
    .filter(([key]) => key !== "msg_index");
}

describe("recorded client updates", () => {
  const updates = readUpdates();

  it("are complete", () => {
    expect(updates).toHaveLength(16);
    expect(client.states.size).toBe(490);
  });

  it.each(updates.map((update) => [update.attributes[2]?.[1] ?? "", update] as const))(
    "to %s store the recorded state and emit the recorded events",
    (_height, { message, attributes }) => {
      const unpacked = unpackClientMessage(message.clientMessage);
      if (unpacked.kind !== "header") throw new Error("not a header");
      validateUpdateHeader(unpacked.header);
      const height = heightOfHeader(unpacked.header);
      const chain = createMemoryChain("test-1");
      const context = chain.at(2000n, consensusStateOfHeader(unpacked.header).timeNs + 5_000_000_000n);
      const previous = [...client.states.keys()].filter((stored) => stored < height.revisionHeight).at(-1);
      client.install(context, previous);
      updateClient(context, message.clientId, message.clientMessage);
      expect(chain.events[0]?.type).toBe("update_client");
      expect(chain.events[0]?.attributes.map(({ key, value }) => [key, value])).toEqual(attributes);
      const stored = openClientStore(context, message.clientId).consensusState(height);
      const recorded = client.states.get(height.revisionHeight);
      expect(stored?.timeNs).toBe(recorded?.timeNs);
      expect(toHex(stored?.root ?? new Uint8Array(0))).toBe(toHex(recorded?.root ?? new Uint8Array(1)));
      expect(ibcKeeper.clientLatestHeight(context, message.clientId)).toEqual(height);
    },
  );
});
