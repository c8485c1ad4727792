import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { fromBase64, fromHex, toBase64, toHex, utf8 } from "../../../src/platform/base/bytes.ts";
import { silentLogger } from "../../../src/platform/base/logger.ts";
import { PROFILE_NAMES, type ProfileName } from "../../../src/localnet/chain/deviations/deviations.ts";
import { runGrpcQuery } from "../../../src/localnet/chain/runtime/query-router.ts";
import { createWorkQueue } from "../../../src/localnet/node/base/work-queue.ts";
import { createSendBudget } from "../../../src/platform/http/http-connections.ts";
import { createGateway } from "../../../src/localnet/node/rest/rest-server.ts";
import { fixtureFile } from "../../support/fixture-file.ts";
import { comparedParts, differentTxs, expectedParts } from "../../support/ibc/recorded-differences.ts";
import {
  inOrderOfArrival,
  RECORDED_TXS,
  type RecordedChain,
  startRecordedChain,
} from "../../support/ibc/recorded-packets.ts";

// SOURCE: test/fixtures/ibc, recorded on two real chains of release 6.0.3.

/** The last transaction before the recorded store values and REST responses. */
const LAST_BEFORE_STATE = 229;

type Outcome = ReturnType<RecordedChain["run"]>;
interface Chains {
  readonly "test-1": RecordedChain;
  readonly "test-2": RecordedChain;
}

function startChains(profile?: ProfileName): Chains {
  return {
    "test-1": startRecordedChain("test-1", profile),
    "test-2": startRecordedChain("test-2", profile),
  };
}

describe.each(PROFILE_NAMES)("recorded IBC transactions of both chains with the profile %s", (profile) => {
  const outcomes = new Map<number, Outcome>();
  beforeAll(() => {
    const chains = startChains(profile);
    for (const tx of inOrderOfArrival()) outcomes.set(tx.seq, chains[tx.chain_id].run(tx));
  });

  it("are 181, of which 5 differ as intended, and 3 with the profile of the recording", () => {
    const different = profile === "deployed" ? 3 : 5;
    expect([RECORDED_TXS.length, differentTxs(profile).size]).toEqual([181, different]);
  });

  it.each(RECORDED_TXS.map((tx) => [tx.seq, `${tx.chain_id} ${tx.phase}: ${tx.name}`, tx] as const))(
    "%d %s",
    (seq, _name, tx) => {
      expect(comparedParts(tx, outcomes.get(seq))).toEqual(expectedParts(tx, profile));
    },
  );
});

/** The chains after the transactions that precede the recorded state. */
function chainsAtState(): Chains {
  const chains = startChains();
  for (const tx of inOrderOfArrival()) if (tx.seq <= LAST_BEFORE_STATE) chains[tx.chain_id].run(tx);
  return chains;
}

interface StoreEntry {
  readonly note: string;
  readonly chain_id: keyof Chains;
  readonly store?: string;
  readonly key_hex?: string;
  readonly value?: string | null;
}
const STORE: readonly StoreEntry[] = JSON.parse(readFileSync(fixtureFile("ibc/store.json"), "utf8"));
/** Values of the pair that is older than the recording. */
const OLDER = /^(?:clients\/07-tendermint-0\/|connections\/connection-0$)/;

describe("the recorded values of the store", () => {
  const entries = STORE.filter(
    ({ store, key_hex }) =>
      store === "ibc" && key_hex !== undefined && !OLDER.test(Buffer.from(key_hex, "hex").toString("latin1")),
  );
  let chains: Chains;
  beforeAll(() => {
    chains = chainsAtState();
  });

  it("are 76 entries, of which 57 are of the recorded pair", () => {
    expect([STORE.length, entries.length]).toEqual([76, 57]);
  });

  it.each(entries.map((entry) => [entry.chain_id, entry.note, entry] as const))(
    "%s %s",
    (chain, _note, entry) => {
      const stored = chains[chain]
        .context()
        .store("ibc")
        .get(fromHex(entry.key_hex ?? ""));
      const expected =
        entry.value === null || entry.value === undefined ? undefined : fromBase64(entry.value);
      expect(stored === undefined ? undefined : toHex(stored)).toBe(
        expected === undefined ? undefined : toHex(expected),
      );
    },
  );
});

interface QueryCall {
  readonly chain_id: keyof Chains;
  readonly path: string;
  readonly request_base64: string;
  readonly code: number;
  readonly codespace: string;
  readonly log: string;
  readonly value: string | null;
  readonly height: string;
  readonly note: string;
}
interface RestCall {
  readonly note: string;
  readonly chain_id: keyof Chains;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly body: string;
  readonly request_body?: string;
}
const REST: readonly RestCall[] = JSON.parse(readFileSync(fixtureFile("ibc/rest.json"), "utf8"));

const ABCI: readonly QueryCall[] = JSON.parse(readFileSync(fixtureFile("ibc/rest.json"), "utf8")).filter(
  ({ method }: RestCall) => method === "ABCI",
);

/** Heights at which the recorded REST calls were made. */
const HEIGHT_OF_REST = { "test-1": 3060n, "test-2": 3092n };

describe("recorded REST calls of clients, connections, channels and transfers", () => {
  const calls = REST.filter(
    ({ chain_id, method, path, body }) =>
      method !== "ABCI" &&
      /^\/ibc\/(?:core|apps\/transfer)\//.test(path) &&
      !body.includes('"2720"') &&
      !body.includes('"2751"') &&
      // Only test-1 has the pair that is older than the recording.
      !(chain_id === "test-2" && path.endsWith("/connections")) &&
      // The client that is older than the recording has another trusting period in the fixture of its states.
      !(chain_id === "test-1" && /\/client_states(?:\?pagination\.limit.*)?$/.test(path)),
  );
  let chains: Chains;
  beforeAll(() => {
    chains = chainsAtState();
    // Each block begins with the height of the localhost client.
    for (const { chain_id } of REST) {
      const { modules, context } = chains[chain_id];
      const ibc = modules.find(({ name }) => name === "ibc");
      ibc?.beginBlock?.(context(HEIGHT_OF_REST[chain_id]), { lastCommit: [] });
    }
  });

  it("are 91 of 122", () => expect([REST.length, calls.length]).toEqual([122, 91]));

  it.each(calls.map((call) => [call.chain_id, call.path, call] as const))(
    "%s %s",
    async (chain, path, call) => {
      const { modules, context } = chains[chain];
      const handlers = new Map(modules.flatMap(({ queries }) => queries.map((query) => [query.path, query])));
      const gateway = createGateway({
        chainName: "neutron",
        logger: silentLogger,
        budget: createSendBudget(1),
        router: {
          paths: [...handlers.keys()],
          queue: createWorkQueue(),
          query: () => {
            throw new Error("REST calls methods only");
          },
          call: ({ path: method, data }) => {
            const handler = handlers.get(method);
            if (handler === undefined) throw new Error(`no handler of ${method}`);
            const { value, grpcCode, grpcMessage } = runGrpcQuery(
              handler,
              context(HEIGHT_OF_REST[chain]),
              data,
            );
            return { code: grpcCode, message: grpcMessage, value, height: undefined };
          },
        },
      });
      const url = new URL(path, "http://node");
      const { signal } = new AbortController();
      const body = utf8(call.request_body ?? "");
      const readBody = (): Promise<Uint8Array> => Promise.resolve(body);
      const reply = await gateway({ method: call.method, url, headers: {}, readBody, signal }, body);
      expect([reply.status, JSON.parse(String(reply.body))]).toEqual([call.status, JSON.parse(call.body)]);
    },
  );
});

describe("recorded queries by abci_query", () => {
  let chains: Chains;
  beforeAll(() => {
    chains = chainsAtState();
  });

  it("are 20 of 122", () => expect([REST.length, ABCI.length]).toEqual([122, 20]));

  it.each(ABCI.map((call, index) => [index, call.path, call] as const))("%d %s", (_index, path, call) => {
    const { modules, context } = chains[call.chain_id];
    const handlers = new Map(modules.flatMap(({ queries }) => queries.map((query) => [query.path, query])));
    const handler = handlers.get(path);
    if (handler === undefined) {
      expect([call.code, call.log]).toEqual([6, `unknown query path: unknown request`]);
      return;
    }
    const request = fromBase64(call.request_base64);
    const { code, codespace, log, value } = runGrpcQuery(handler, context(BigInt(call.height)), request);
    expect([codespace, code, log]).toEqual([call.codespace, call.code, call.log]);
    // The client that is older than the recording has other states in the fixture of its states.
    if (!/latest|client state$/.test(call.note)) expect(toBase64(value)).toBe(call.value ?? "");
  });
});
