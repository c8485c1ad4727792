import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { fromBase64, toBase64 } from "../../../src/platform/base/bytes.ts";
import { silentLogger } from "../../../src/platform/base/logger.ts";
import { toQueryFailure } from "../../../src/localnet/chain/runtime/query-router.ts";
import type { CallRouter } from "../../../src/localnet/node/grpc/call-router.ts";
import { createWorkQueue } from "../../../src/localnet/node/base/work-queue.ts";
import { createSendBudget } from "../../../src/platform/http/http-connections.ts";
import { createGateway } from "../../../src/localnet/node/rest/rest-server.ts";
import { fixtureFile } from "../../support/fixture-file.ts";
import { record, text } from "../../support/recorded-client.ts";
import { LAST_HEIGHT, replayStake } from "../../support/recorded-stake.ts";
import type { StakeWorld } from "../../support/stake-world.ts";

// SOURCE: test/fixtures/modules/rest.json, recorded on a real chain of release 6.0.3 after the transactions of
// staking-txs.json; the responses about subscriptions were recorded between them.

interface Call {
  readonly note: string;
  readonly chain_id: string;
  readonly method: string;
  readonly path: string;
  readonly status?: number;
  readonly body?: string;
  readonly request_base64?: string;
  readonly code?: number;
  readonly codespace?: string;
  readonly log?: string;
  readonly value?: string | null;
}

const CALLS: readonly Call[] = JSON.parse(readFileSync(fixtureFile("modules/rest.json"), "utf8"));

/** Responses of modules and of a chain that this replay does not have. */
const OTHERS: readonly (readonly [count: number, matches: (call: Call) => boolean])[] = [
  [4, ({ chain_id, path }) => chain_id === "test-2" && path.includes("staking/v1beta1/validators")],
  [2, ({ chain_id, path }) => chain_id === "test-2" && /staking\/v1beta1\/pool|signing_infos/.test(path)],
  [3, ({ path }) => path.includes("rate")],
];
const others = OTHERS.map(([, matches]) => CALLS.filter(matches).length);
const calls = CALLS.filter((call) => OTHERS.every(([, matches]) => !matches(call)));

/** Heights after which responses were recorded, by a part of their note. The others were recorded at the end. */
const HEIGHTS: readonly (readonly [note: string, height: number])[] = [
  ["echo subscribed to all eleven", 2645],
  ["echo subscribed to 1, 6 and 9 only", 2980],
  ["echo on 1, 6, 9 and mirror on 6, 10", 2982],
  ["after the echo contract kept only 6", 2984],
  ["nothing subscribed", 2988],
];

function heightOf({ note }: Call): number {
  return HEIGHTS.find(([part]) => note.includes(part))?.[1] ?? LAST_HEIGHT;
}

function routerOf(world: StakeWorld): Pick<CallRouter, "paths" | "call"> {
  return {
    paths: world.modules.flatMap(({ queries }) => queries.map(({ path }) => path)),
    call: ({ path, data }) => {
      try {
        return { code: 0, message: "", value: world.query(path, data), height: undefined };
      } catch (error) {
        const { grpcCode, grpcMessage } = toQueryFailure(error);
        return { code: grpcCode, message: grpcMessage, value: new Uint8Array(0), height: undefined };
      }
    },
  };
}

interface Got {
  readonly status: number;
  readonly body: unknown;
}

async function get(world: StakeWorld, { method, path }: Call): Promise<Got> {
  const router = {
    ...routerOf(world),
    query: () => expect.unreachable("no abci_query"),
    queue: createWorkQueue(),
  };
  const gateway = createGateway({
    router,
    chainName: "neutron",
    logger: silentLogger,
    budget: createSendBudget(1),
  });
  const url = new URL(path, "http://127.0.0.1");
  const { status, body } = await gateway(
    {
      method,
      url,
      headers: {},
      signal: new AbortController().signal,
      readBody: async () => new Uint8Array(0),
    },
    new Uint8Array(0),
  );
  return { status, body: JSON.parse(String(body)) };
}

/** An `abci_query` in the recorded form. */
function abciQuery(world: StakeWorld, { path, request_base64 = "" }: Call): Partial<Call> {
  try {
    const value = world.query(path, fromBase64(request_base64));
    return { code: 0, codespace: "", log: "", value: toBase64(value) };
  } catch (error) {
    const { abci } = toQueryFailure(error);
    return { code: abci.code, codespace: abci.codespace, log: abci.message, value: null };
  }
}

/** The recorded entry of the headers of past blocks. Its time is not that of a recorded block, so the replay does not have it. */
const PAST = calls.find(({ note }) => note === "historical info");
const PAST_HEADER = record(record(record(JSON.parse(PAST?.body ?? "null"))["hist"])["header"]);

function headerBytes(name: string): Uint8Array {
  return fromBase64(text(PAST_HEADER[name]));
}

const answers = new Map<Call, Promise<Got> | Partial<Call>>();
replayStake((world, height) => {
  if (height + 1 === Number(PAST_HEADER["height"]))
    world.header = {
      appHash: headerBytes("app_hash"),
      nextValidatorsHash: headerBytes("next_validators_hash"),
      proposerAddress: headerBytes("proposer_address"),
    };
  for (const call of calls.filter((one) => heightOf(one) === height))
    answers.set(call, call.method === "ABCI" ? abciQuery(world, call) : get(world, call));
});

function withoutTime(call: Call, answer: unknown): unknown {
  if (call !== PAST) return answer;
  return JSON.parse(JSON.stringify(answer).replace(/("height":"\d+","time":)"[^"]*"/, '$1"<time>"'));
}

describe("recorded REST responses of staking, slashing, harpoon and contractmanager", () => {
  it("are 116, of which 107 belong to these modules", () => {
    expect([CALLS.length, calls.length]).toEqual([116, 107]);
    expect(others).toEqual(OTHERS.map(([count]) => count));
  });

  it.each(calls.map((call) => [call.note, call] as const))("%s", async (_note, call) => {
    const answer = await answers.get(call);
    if (call.method === "ABCI") {
      const { code, codespace, log, value } = call;
      expect(answer).toEqual({ code, codespace, log, value });
    } else {
      const body: unknown = JSON.parse(call.body ?? "null");
      if (call === PAST)
        expect(answer).toMatchObject({ body: { hist: { header: { time: expect.any(String) } } } });
      expect(withoutTime(call, answer)).toEqual(withoutTime(call, { status: call.status, body }));
    }
  });
});
