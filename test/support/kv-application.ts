import {
  concat,
  equalBytes,
  fromUtf8,
  uint64BigEndian,
  utf8,
  sha256,
} from "../../src/platform/base/bytes.ts";
import { unreachable } from "../../src/platform/base/errors.ts";
import type {
  Application,
  QueryRequest,
  QueryResponse,
  TxResult,
  ValidatorPower,
} from "../../src/localnet/chain/runtime/abci.ts";
import { event } from "../../src/localnet/chain/runtime/context.ts";
import type { StateStorage } from "../../src/localnet/chain/store/multi-store.ts";

const STORE = "kv";
const HEAD = utf8("head");

const EMPTY_RESULT: TxResult = {
  code: 0,
  codespace: "",
  log: "",
  data: new Uint8Array(),
  gasWanted: 10n,
  gasUsed: 5n,
  events: [],
};

/**
 * Creates a small application for tests of the node. Transactions: "key=value" sets a key, "fail=" fails in the block,
 * "ev:type.key=value" emits an event, and "val:<64 hex digits>=power" updates a validator. CheckTx rejects text without "=".
 * The app hash chains the previous one with height, time, signers and transactions of the block.
 */
export function createKvApplication(storage: StateStorage): Application {
  let height = storage.latestHeight() ?? 0n;
  let appHash = storage.node(STORE, HEAD) ?? sha256(new Uint8Array());
  let writes: { store: string; id: Uint8Array; bytes: Uint8Array }[] = [];
  const values = new Map<string, string>();
  let pending = { height, appHash };
  const deliver = (tx: Uint8Array): TxResult => {
    const text = fromUtf8(tx);
    if (text === "fail=") return { ...EMPTY_RESULT, code: 5, codespace: "kv", log: "it failed" };
    const [key = "", value = ""] = text.split("=");
    const customEvent = /^ev:(\w+)\.(\w+)$/.exec(key);
    if (customEvent?.[1] !== undefined && customEvent[2] !== undefined) {
      const emitted = event(customEvent[1], [[customEvent[2], value]]);
      return { ...EMPTY_RESULT, data: utf8(key), events: [emitted] };
    }
    writes.push({ store: STORE, id: utf8(`key/${key}`), bytes: utf8(value) });
    values.set(key, value);
    const pair = event("kv", [
      ["key", key],
      ["value", value],
    ]);
    return { ...EMPTY_RESULT, data: utf8(key), events: [pair, event("message", [["action", "set"]])] };
  };
  return {
    info: () => ({ height, appHash, version: "1.2.3", appVersion: 0n }),
    initChain: (request) => ({ appHash, validators: request.validators }),
    checkTx: (tx) =>
      new TextDecoder().decode(tx).includes("=")
        ? EMPTY_RESULT
        : { ...EMPTY_RESULT, code: 1, codespace: "kv", log: "not key=value" },
    finalizeBlock: (request) => {
      const txResults = request.txs.map(deliver);
      const signed = request.lastCommit.map((vote) => (vote.signed ? 1 : 0));
      const parts = [appHash, uint64BigEndian(request.height), uint64BigEndian(request.timeNs)];
      pending = {
        height: request.height,
        appHash: sha256(concat(...parts, new Uint8Array(signed), ...request.txs.map(sha256))),
      };
      return {
        txResults,
        events: [
          event("begin", [
            ["mode", "BeginBlock"],
            ["height", request.height.toString()],
          ]),
        ],
        validatorUpdates: request.txs.flatMap(validatorUpdate),
        appHash: pending.appHash,
      };
    },
    commit: () => {
      ({ height, appHash } = pending);
      const changes = {
        height,
        appHash,
        writes: [...writes, { store: STORE, id: HEAD, bytes: appHash }],
        deletes: [],
        roots: [{ store: STORE, rootId: HEAD }],
      };
      writes = [];
      return changes;
    },
    query: (request) =>
      request.path.startsWith("store/")
        ? storeResponse(request, height)
        : queryResponse(request.path, values.get(new TextDecoder().decode(request.data)), height),
    simulate: () => EMPTY_RESULT,
    exportState: () => Object.fromEntries(values),
    queryPaths: () => ["/kv.Query/Get"],
    messageTypes: () => [],
    rerun: () => undefined,
    reload: () => unreachable("this application has no earlier states"),
  };
}

function validatorUpdate(tx: Uint8Array): readonly ValidatorPower[] {
  const match = /^val:([0-9a-f]{64})=(\d+)$/.exec(fromUtf8(tx));
  if (match?.[1] === undefined || match[2] === undefined) return [];
  return [{ publicKey: new Uint8Array(Buffer.from(match[1], "hex")), power: BigInt(match[2]) }];
}

function storeResponse(request: QueryRequest, height: bigint): QueryResponse {
  const operators = [
    { type: "ics23:iavl", key: request.data, data: utf8("iavl") },
    { type: "ics23:simple", key: utf8("bank"), data: utf8("simple") },
  ];
  return {
    code: 0,
    codespace: "",
    log: "",
    key: request.data,
    value: utf8(request.data.length > 1 ? "value" : ""),
    height,
    proof: request.prove ? operators : undefined,
    grpcCode: 0,
    grpcMessage: "",
  };
}

function queryResponse(path: string, value: string | undefined, height: bigint): QueryResponse {
  const known = equalBytes(utf8(path), utf8("/kv.Query/Get"));
  return {
    code: known ? 0 : 6,
    codespace: known ? "" : "sdk",
    log: known ? "" : "unknown query path: unknown request",
    key: new Uint8Array(),
    value: utf8(known ? (value ?? "") : ""),
    height: known ? height : 0n,
    proof: undefined,
    grpcCode: 0,
    grpcMessage: "",
  };
}
