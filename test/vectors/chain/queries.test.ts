import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { fromBase64, fromHex, utf8 } from "../../../src/platform/base/bytes.ts";
import { isRecord, type JsonValue } from "../../../src/platform/base/json.ts";
import { createApp } from "../../../src/localnet/chain/app.ts";
import { messageFromJson, messageToJson } from "../../../src/cosmos/proto/json.ts";
import { fixtureFile } from "../../support/fixture-file.ts";
import { continueTestChain, startTestChain, testGenesis } from "../../support/test-chain.ts";
import { createTestKey } from "../../support/test-keys.ts";
import { buildTx, sendMessage } from "../../support/test-tx.ts";

// SOURCE: recorded on a real chain of release 6.0.3: test/fixtures/rest.json (bodies), test/fixtures/rpc.json (abci_query), and
// test/fixtures/ibc/store.json (refusals).

interface RestCall {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly body: JsonValue;
}

interface RpcCall {
  readonly note: string;
  readonly http: string;
  readonly request?: { readonly method: string; readonly params: Readonly<Record<string, string | boolean>> };
  readonly response: { readonly result?: { readonly response: RecordedResponse } };
}

interface RecordedResponse {
  readonly code: number;
  readonly log: string;
  readonly key: string | null;
  readonly value: string | null;
  readonly codespace: string;
  readonly height: string;
  readonly proofOps: { readonly ops: readonly { readonly type: string }[] } | null;
}

const REST: readonly RestCall[] = JSON.parse(readFileSync(fixtureFile("rest.json"), "utf8"));
const RPC: readonly RpcCall[] = JSON.parse(readFileSync(fixtureFile("rpc.json"), "utf8"));

const alice = createTestKey("alice");
const carol = createTestKey("carol");
const RECORDED = "neutron1m9l358xunhhwds0568za49mzhvuxx9ux8xafx2";

/** Starts a chain with the recorded account and balances, under an address and a key of this test. */
function recordedState() {
  const recorded = bodyOf(`/cosmos/bank/v1beta1/balances/${RECORDED}`);
  const coins = isRecord(recorded) ? (recorded["balances"] ?? null) : null;
  const genesis = testGenesis([
    { key: alice, untrn: 0n, number: 2n, sequence: 53n, known: true },
    { key: carol, untrn: 0n, number: 0n },
  ]);
  return startTestChain({
    ...genesis,
    bank: { balances: [{ address: alice.address, coins }] },
    consensus: { params: { abci: { vote_extensions_enable_height: "1" } } },
  });
}

function bodyOf(path: string): JsonValue {
  const call = REST.find((each) => each.path === path);
  if (call === undefined) throw new Error(`there is no recording of ${path}`);
  return call.body;
}

const AUTH = "cosmos.auth.v1beta1";
const BANK = "cosmos.bank.v1beta1";
const MARKET = "feemarket.feemarket.v1";

/** REST path, gRPC method, request as JSON, types. */
const CASES: readonly (readonly [
  path: string,
  method: string,
  request: JsonValue,
  types: readonly [string, string],
])[] = [
  [
    `/cosmos/auth/v1beta1/accounts/${RECORDED}`,
    `${AUTH}.Query/Account`,
    { address: alice.address },
    [`${AUTH}.QueryAccountRequest`, `${AUTH}.QueryAccountResponse`],
  ],
  [
    "/cosmos/auth/v1beta1/accounts/neutron1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqvx3x2w",
    `${AUTH}.Query/Account`,
    { address: "neutron1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqvx3x2w" },
    [`${AUTH}.QueryAccountRequest`, `${AUTH}.QueryAccountResponse`],
  ],
  [
    "/cosmos/auth/v1beta1/accounts/garbage",
    `${AUTH}.Query/Account`,
    { address: "garbage" },
    [`${AUTH}.QueryAccountRequest`, `${AUTH}.QueryAccountResponse`],
  ],
  [
    `/cosmos/auth/v1beta1/account_info/${RECORDED}`,
    `${AUTH}.Query/AccountInfo`,
    { address: alice.address },
    [`${AUTH}.QueryAccountInfoRequest`, `${AUTH}.QueryAccountInfoResponse`],
  ],
  [
    "/cosmos/auth/v1beta1/params",
    `${AUTH}.Query/Params`,
    {},
    [`${AUTH}.QueryParamsRequest`, `${AUTH}.QueryParamsResponse`],
  ],
  [
    "/cosmos/auth/v1beta1/bech32",
    `${AUTH}.Query/Bech32Prefix`,
    {},
    [`${AUTH}.Bech32PrefixRequest`, `${AUTH}.Bech32PrefixResponse`],
  ],
  [
    "/cosmos/auth/v1beta1/module_accounts/interchainqueries",
    `${AUTH}.Query/ModuleAccountByName`,
    { name: "interchainqueries" },
    [`${AUTH}.QueryModuleAccountByNameRequest`, `${AUTH}.QueryModuleAccountByNameResponse`],
  ],
  [
    `/cosmos/bank/v1beta1/balances/${RECORDED}`,
    `${BANK}.Query/AllBalances`,
    { address: alice.address },
    [`${BANK}.QueryAllBalancesRequest`, `${BANK}.QueryAllBalancesResponse`],
  ],
  [
    `/cosmos/bank/v1beta1/balances/${RECORDED}/by_denom?denom=untrn`,
    `${BANK}.Query/Balance`,
    { address: alice.address, denom: "untrn" },
    [`${BANK}.QueryBalanceRequest`, `${BANK}.QueryBalanceResponse`],
  ],
  [
    `/cosmos/bank/v1beta1/balances/${RECORDED}/by_denom?denom=nosuch`,
    `${BANK}.Query/Balance`,
    { address: alice.address, denom: "nosuch" },
    [`${BANK}.QueryBalanceRequest`, `${BANK}.QueryBalanceResponse`],
  ],
  [
    `/cosmos/bank/v1beta1/spendable_balances/${RECORDED}`,
    `${BANK}.Query/SpendableBalances`,
    { address: alice.address },
    [`${BANK}.QuerySpendableBalancesRequest`, `${BANK}.QuerySpendableBalancesResponse`],
  ],
  [
    "/cosmos/bank/v1beta1/params",
    `${BANK}.Query/Params`,
    {},
    [`${BANK}.QueryParamsRequest`, `${BANK}.QueryParamsResponse`],
  ],
  [
    "/feemarket/v1/params",
    `${MARKET}.Query/Params`,
    {},
    [`${MARKET}.ParamsRequest`, `${MARKET}.ParamsResponse`],
  ],
  ["/feemarket/v1/state", `${MARKET}.Query/State`, {}, [`${MARKET}.StateRequest`, `${MARKET}.StateResponse`]],
  [
    "/feemarket/v1/gas_price/untrn",
    `${MARKET}.Query/GasPrice`,
    { denom: "untrn" },
    [`${MARKET}.GasPriceRequest`, `${MARKET}.GasPriceResponse`],
  ],
  [
    "/feemarket/v1/gas_price/nosuch",
    `${MARKET}.Query/GasPrice`,
    { denom: "nosuch" },
    [`${MARKET}.GasPriceRequest`, `${MARKET}.GasPriceResponse`],
  ],
  [
    "/feemarket/v1/gas_prices",
    `${MARKET}.Query/GasPrices`,
    {},
    [`${MARKET}.GasPricesRequest`, `${MARKET}.GasPricesResponse`],
  ],
  [
    "/cosmos/consensus/v1/params",
    "cosmos.consensus.v1.Query/Params",
    {},
    ["cosmos.consensus.v1.QueryParamsRequest", "cosmos.consensus.v1.QueryParamsResponse"],
  ],
];

/** Translates a recorded body: address and key of this test. Module accounts have other numbers here. */
function translate(body: JsonValue): JsonValue {
  const text = JSON.stringify(body)
    .replaceAll(RECORDED, alice.address)
    .replaceAll(
      "A/MdHVpitzHNSdD1Zw3kY+L5PEIPyd9l6sD5i4aIfXp9",
      Buffer.from(alice.publicKey).toString("base64"),
    )
    .replaceAll(/"account_number":"15"/g, '"account_number":"…"');
  const translated: JsonValue = JSON.parse(text);
  return translated;
}

describe("recorded REST queries", () => {
  const chain = recordedState();

  it.each(CASES)("%s", (path, method, request, [requestType, responseType]) => {
    const data = messageFromJson(requestType, request);
    const result = chain.app.query({ path: `/${method}`, data, height: 0n, prove: false });
    const body =
      result.grpcCode === 0
        ? messageToJson(responseType, result.value)
        : { code: result.grpcCode, message: result.grpcMessage, details: [] };
    const shown = method.endsWith("ModuleAccountByName")
      ? JSON.parse(JSON.stringify(body).replace(/"account_number":"\d+"/, '"account_number":"…"'))
      : body;
    expect(shown).toEqual(translate(bodyOf(path)));
  });

  it("return the recorded first page of the supply", () => {
    const [type, response] = [`${BANK}.QueryTotalSupplyRequest`, `${BANK}.QueryTotalSupplyResponse`];
    const data = messageFromJson(type, { pagination: { limit: "2" } });
    const result = chain.app.query({ path: `/${BANK}.Query/TotalSupply`, data, height: 0n, prove: false });
    const page = messageToJson(response, result.value);
    expect(page).toEqual({
      supply: [
        expect.objectContaining({
          denom: "ibc/4E41ED8F3DCAEA15F4D6ADC6EDD7C04A676160735C9710B904B7BF53525B56D6",
        }),
        expect.objectContaining({ denom: "neutron/pool/0" }),
      ],
      pagination: { next_key: Buffer.from("uibcatom").toString("base64"), total: "0" },
    });
  });
});

describe("recorded ABCI queries", () => {
  const calls = RPC.filter(
    ({ http, request, response }) =>
      http === "POST" && request?.method === "abci_query" && response.result !== undefined,
  );
  const chain = recordedState();
  chain.block(
    buildTx({
      key: alice,
      accountNumber: 2n,
      sequence: 53n,
      messages: [sendMessage(alice.address, carol.address, 1n)],
    }),
  );

  it("are complete", () => {
    expect(calls).toHaveLength(9);
  });

  it.each(
    calls.map(
      (call, index) => [`${index}: ${String(call.request?.params["path"])} ${call.note}`, call] as const,
    ),
  )("%s", (_name, { request, response }) => {
    const params = request?.params ?? {};
    const expected = response.result?.response;
    const result = chain.app.query({
      path: String(params["path"]),
      data: fromHex(String(params["data"]).replaceAll(ownHex(RECORDED_QUERIED), ownHex(alice.address))),
      height: BigInt(String(params["height"] ?? "0")),
      prove: params["prove"] === true,
    });
    expect({
      code: result.code,
      codespace: result.codespace,
      log: result.log,
      key: result.key,
      proof: result.proof?.map(({ type }) => type),
      hasHeight: result.height !== 0n,
      hasValue: result.value.length > 0,
    }).toEqual({
      code: expected?.code,
      codespace: expected?.codespace,
      log: expected?.log,
      key: fromBase64(expected?.key ?? ""),
      proof: expected?.proofOps?.ops.map(({ type }) => type),
      hasHeight: expected?.height !== "0",
      hasValue: expected?.value !== null,
    });
  });

  it("are refused as recorded for a store of IBC", () => {
    const REFUSED: Readonly<Record<string, readonly [store: string, key: string, height: bigint]>> = {
      "query a height in the future": ["ibc", "connections/connection-0", 1_000_000n],
      "query height 1 with proof": ["ibc", "connections/connection-0", 1n],
      "unknown store": ["nope", "connections/connection-0", 0n],
      "empty key": ["ibc", "", 0n],
    };
    const recorded: readonly { readonly note: string; readonly response?: { readonly code: number } }[] =
      JSON.parse(readFileSync(fixtureFile("ibc/store.json"), "utf8"));
    const refusals = recorded.filter(({ response }) => response !== undefined && response.code !== 0);
    expect(refusals).toHaveLength(8);
    for (const { note, response } of refusals) {
      const [store, key, height] = REFUSED[note] ?? ["", "", 0n];
      const { code, codespace, log } = chain.app.query({
        path: `/store/${store}/key`,
        data: utf8(key),
        height,
        prove: true,
      });
      expect(response, note).toMatchObject({ code, codespace, log });
    }
  });

  it("return a subspace as a list of pairs", () => {
    const result = chain.app.query({
      path: "/store/bank/subspace",
      data: Uint8Array.of(0),
      height: 0n,
      prove: false,
    });
    const first = utf8("\0ibc/4E41ED8F3DCAEA15F4D6ADC6EDD7C04A676160735C9710B904B7BF53525B56D6");
    expect(result.value.subarray(0, 4 + first.length)).toEqual(
      Uint8Array.of(10, 86, 10, first.length, ...first),
    );
  });

  it.each([
    ["store/nosuch/key", 4, "store", "no such store: nosuch: unknown request"],
    ["store/bank/other", 4, "store", "unexpected query path: /other: unknown request"],
    ["app/nosuch", 6, "sdk", "unknown query: nosuch: unknown request"],
    ["custom/bank", 6, "sdk", "unknown query path: unknown request"],
  ])("%s is rejected", (path, code, codespace, log) => {
    const result = chain.app.query({ path, data: Uint8Array.of(1), height: 0n, prove: false });
    expect(result).toMatchObject({ code, codespace, log, height: 0n });
  });

  it("reject an empty key, and any query before the first block", () => {
    const empty = new Uint8Array(0);
    expect(chain.app.query({ path: "store/bank/key", data: empty, height: 0n, prove: false })).toMatchObject({
      code: 3,
      codespace: "store",
      log: "query cannot be zero length: tx parse error",
    });
    const app = createApp({ kind: "remote", denom: "untrn" });
    const early = continueTestChain(app, 0n).app.query({
      path: `/${BANK}.Query/Params`,
      data: empty,
      height: 0n,
      prove: false,
    });
    expect(early).toMatchObject({ code: 26, codespace: "sdk", grpcCode: 2 });
  });
});

const RECORDED_QUERIED = "neutron10h9stc5v6ntgeygf5xf945njqq5h32r54rf7kf";

function ownHex(text: string): string {
  return Buffer.from(text).toString("hex");
}
