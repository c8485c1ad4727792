import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PROFILE_NAMES } from "../../../../../src/localnet/chain/deviations/deviations.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../../../../src/platform/base/json.ts";
import {
  type DexAccount,
  type DexNode,
  type DexTxResponse,
  startDexNode,
} from "../../../../support/dex-node.ts";
import { fixtureFile } from "../../../../support/fixture-file.ts";

interface RecordedTx {
  readonly name: string;
  readonly from: DexAccount;
  readonly messages: readonly JsonObject[];
  readonly result: DexTxResponse;
}

interface RecordedCall {
  readonly path: string;
  readonly status: number;
  readonly body: JsonValue;
}

const txs: readonly RecordedTx[] = JSON.parse(readFileSync(fixtureFile("dex/txs.json"), "utf8"));
const calls: readonly RecordedCall[] = JSON.parse(readFileSync(fixtureFile("dex/rest.json"), "utf8"));

const RECORDED_ADDRESSES: Readonly<Record<DexAccount, string>> = {
  demo1: "neutron1m9l358xunhhwds0568za49mzhvuxx9ux8xafx2",
  demo2: "neutron10h9stc5v6ntgeygf5xf945njqq5h32r54rf7kf",
};

/** Short forms of the specification (docs/conformance.md, "The dex module"). */
const ORDER_TYPES: Readonly<Record<string, string>> = {
  GOOD_TIL_CANCELLED: "GTC",
  FILL_OR_KILL: "FOK",
  IMMEDIATE_OR_CANCEL: "IOC",
  JUST_IN_TIME: "JIT",
  GOOD_TIL_TIME: "GTT",
};

describe.each(PROFILE_NAMES)("on a chain with the profile %s", (profile) => {
  let node: DexNode;
  const isDeployed = profile === "deployed";
  beforeAll(async () => {
    node = await startDexNode(undefined, profile);
  });
  afterAll(() => node.stop());

  describe("recorded dex transactions", () => {
    it("are 14", () => expect(txs).toHaveLength(14));

    it.each(txs)("$name", async ({ from, messages, result }) => {
      const own = messages.map((message) => ownAddresses(node, message));
      const response = await node.send(from, own);
      expect(response).toMatchObject({
        code: result.code,
        codespace: result.codespace,
        raw_log: result.raw_log,
      });
      const data = Buffer.from(result.data, "hex").toString("latin1");
      expect(Buffer.from(response.data, "hex").toString("latin1")).toBe(isDeployed ? data : ownKeys(data));
      const recorded = eventsOfMessage(result).map((event) => ownAddresses(node, event));
      expect(eventsOfMessage(response)).toEqual(
        isDeployed ? recorded : recorded.map((event) => expectedEvent(event, messages)),
      );
    });
  });

  describe("recorded dex REST responses", () => {
    it("are 32", () => expect(calls).toHaveLength(32));

    it("come after a withdrawal and two swaps that the recording of transactions leaves out", async () => {
      for (const message of leftOut(node.addressOf("demo1")))
        expect(await node.send("demo1", [message])).toMatchObject({ raw_log: "" });
    });

    it.each(calls)("$path", async ({ path, status, body }) => {
      const own = isDeployed ? path : path.replace(/tk-(\d)/, "t%7C%7C$1");
      const response = await node.get(ownAddresses(node, { path: own }).path);
      expect(response.status).toBe(status);
      const expected = ownAddresses(node, { body: isDeployed ? body : expectedBody(body) }).body;
      expect(response.body).toEqual(expected);
    });
  });
});

/** The reserves in the recorded responses follow from these messages. */
function leftOut(creator: string): readonly JsonObject[] {
  const swap: JsonObject = {
    "@type": "/neutron.dex.MsgMultiHopSwap",
    creator,
    receiver: creator,
    routes: [{ hops: ["uibcusdc", "untrn", "uibcatom"] }],
    amount_in: "5",
    exit_limit_price: "0.1",
    pick_best_route: false,
  };
  const withdrawal: JsonObject = {
    "@type": "/neutron.dex.MsgWithdrawal",
    creator,
    receiver: creator,
    token_a: "uibcatom",
    token_b: "untrn",
    shares_to_remove: ["100000"],
    tick_indexes_a_to_b: ["0"],
    fees: ["1"],
  };
  return [withdrawal, swap, swap];
}

/** Replaces the recorded addresses by those of this node. */
function ownAddresses<T>(node: DexNode, value: T): T {
  let text = JSON.stringify(value);
  for (const account of ["demo1", "demo2"] as const)
    text = text.replaceAll(RECORDED_ADDRESSES[account], node.addressOf(account));
  const result: T = JSON.parse(text);
  return result;
}

function ownKeys(text: string): string {
  return text.replaceAll(/tk-(\d+)/g, "t||$1");
}

interface PlainEvent {
  readonly type: string;
  readonly attributes: readonly (readonly [key: string, value: string])[];
}

/** Events of the message, without those of fees and signatures. */
function eventsOfMessage({ events }: DexTxResponse): readonly PlainEvent[] {
  return events
    .map(({ type, attributes }) => ({
      type,
      attributes: attributes.map(({ key, value }) => [key, value] as const),
    }))
    .filter(({ attributes }) => attributes.some(([key]) => key === "msg_index"));
}

/** The event here for an event there: own keys, and the attributes of the specification. */
function expectedEvent(event: PlainEvent, [message]: readonly JsonObject[]): PlainEvent {
  const { type, attributes } = event;
  const isOrder = attributes.some(([key, value]) => key === "action" && value === "PlaceLimitOrder");
  const own = attributes.map(([key, value]) => [key, expectedValue(key, ownKeys(value), message)] as const);
  if (!isOrder) return { type, attributes: own };
  const time = message?.["expiration_time"];
  const expiration = ["ExpirationTime", typeof time === "string" ? time : ""] as const;
  return { type, attributes: [...own.slice(0, -1), expiration, ...own.slice(-1)] };
}

function expectedValue(key: string, value: string, message: JsonObject | undefined): string {
  if (key === "OrderType") return ORDER_TYPES[value] ?? value;
  const price = message?.["limit_sell_price"];
  if (key === "MinAvgSellPrice" && typeof price === "string") return `${price}${"0".repeat(25)}`;
  return value;
}

function expectedBody(body: JsonValue): JsonValue {
  const own: JsonValue = JSON.parse(ownKeys(JSON.stringify(body)));
  if (!isRecord(own) || !Array.isArray(own["tick_liquidity"])) return own;
  const ticks = own["tick_liquidity"].map((tick) =>
    isRecord(tick) && tick["pool_reserves"] !== undefined ? { liquidity: tick["pool_reserves"] } : tick,
  );
  return { ...own, tick_liquidity: ticks };
}
