import { describe, expect, it } from "vitest";
import { messageFromJson } from "../../../src/cosmos/proto/json.ts";
import { QueryAllTickLiquidityResponse } from "../../../src/cosmos/proto/gen/neutron/dex/query.ts";
import { findService } from "../../../src/cosmos/proto/registry.ts";
import { WORKBENCH_MODULES } from "../../../src/workbench/modules/workbench-modules.ts";
import { createApp } from "../../../src/localnet/chain/app.ts";
import { CONTRACT_QUERIES, MORE_CONTRACT_QUERIES } from "../../../src/localnet/chain/contract-bindings.ts";
import { answerQuery, createQuerier } from "../../../src/localnet/chain/modules/wasm/querier.ts";
import type { LoadedCode } from "../../../src/localnet/chain/modules/wasm/keeper.ts";
import { profileNamed } from "../../../src/localnet/chain/deviations/profile-named.ts";
import { PROFILE_NAMES, type ProfileName } from "../../../src/localnet/chain/deviations/deviations.ts";
import type { QueryHandler } from "../../../src/localnet/chain/runtime/context.ts";
import { createVm } from "../../../src/localnet/vm/vm.ts";
import { fromBase64, fromUtf8, toBase64, utf8 } from "../../../src/platform/base/bytes.ts";
import { createMemoryWorld } from "../../support/memory-context.ts";
import { UNUSED_KEEPERS } from "../../support/unused-keepers.ts";

const TICKS = "/neutron.dex.Query/TickLiquidityAll";
const RESPONSE = "neutron.dex.QueryAllTickLiquidityResponse";

/** A handler that answers with one pool, as the module encodes it for the chain's profile. */
const ticks: QueryHandler = {
  path: TICKS,
  query: ({ profile }) => {
    const pool = { key: { trade_pair_id: { maker_denom: "a", taker_denom: "b" } } };
    const bytes = messageFromJson(RESPONSE, { tick_liquidity: [{ liquidity: pool }] });
    return profile.proto?.encode(RESPONSE, bytes) ?? bytes;
  },
};

interface Answer {
  readonly ok?: { readonly ok?: string; readonly error?: string };
  readonly error?: { readonly unsupported_request?: { readonly kind: string } };
}

function ask(profile: ProfileName, request: object, isTypeScript?: true): Answer {
  const { smart, ...unused } = UNUSED_KEEPERS;
  const options = {
    chainName: "neutron",
    bech32Prefix: "neutron",
    authority: "",
    codes: [],
    allowedQueries: CONTRACT_QUERIES,
    moreQueries: MORE_CONTRACT_QUERIES,
  };
  const querier = createQuerier(
    options,
    {
      ...unused,
      vm: createVm(),
      findQuery: (path) => (path === TICKS ? ticks : undefined),
    },
    smart,
  );
  const contract: LoadedCode = {
    address: "",
    bytes: new Uint8Array(32),
    hash: new Uint8Array(32),
    ...(isTypeScript === undefined ? {} : { isTypeScript }),
  };
  const context = createMemoryWorld().context({ profile: profileNamed(profile) });
  const caller = { context, contract, gas: 1_000_000_000_000n };
  return JSON.parse(fromUtf8(answerQuery(querier, caller, utf8(JSON.stringify(request)), smart)));
}

function refusal(profile: ProfileName, path: string, isTypeScript?: true): string | undefined {
  return ask(profile, { grpc: { path, data: "" } }, isTypeScript).error?.unsupported_request?.kind;
}

const notAllowed = (path: string): string => `'${path}' path is not allowed from the contract`;

describe("gRPC queries of contracts", () => {
  // Facts of the deployed chain that do not come from its list: tests of its makers, and recordings.
  it.each([
    ["cosmos.staking.v1beta1", ["Validator", "Delegation"]],
    [
      "neutron.interchainqueries",
      ["Params", "RegisteredQueries", "RegisteredQuery", "QueryResult", "LastRemoteHeight"],
    ],
    ["neutron.harpoon", ["SubscribedContracts"]],
    ["neutron.cron", ["Params"]],
    ["ibc.applications.transfer.v1", ["DenomTrace", "EscrowAddress"]],
    ["cosmos.bank.v1beta1", ["Balance", "DenomMetadata", "Params", "SupplyOf"]],
    ["osmosis.tokenfactory.v1beta1", ["Params", "DenomAuthorityMetadata", "DenomsFromCreator"]],
    ["slinky.oracle.v1", ["GetAllCurrencyPairs", "GetPrice", "GetPrices"]],
    ["slinky.marketmap.v1", ["Markets", "LastUpdated", "Params", "Market"]],
  ])("of %s are those that contracts of the deployed chain use", (service, rpcs) => {
    const allowed = CONTRACT_QUERIES.filter((path) => path.startsWith(`/${service}.`));
    expect(allowed).toEqual(expect.arrayContaining(rpcs.map((rpc) => `/${service}.Query/${rpc}`)));
  });

  it("are all queries of the exchange", () => {
    const all = findService("neutron.dex.Query")?.methods.map(({ path }) => path) ?? [];
    expect(all).toHaveLength(24);
    expect(CONTRACT_QUERIES.filter((path) => path.startsWith("/neutron.dex."))).toEqual(
      expect.arrayContaining(all),
    );
  });

  it("are each in the list once, and served by the modules that are here", () => {
    expect(new Set(CONTRACT_QUERIES).size).toBe(CONTRACT_QUERIES.length);
    const served = new Set(
      createApp({ kind: "local", denom: "untrn", moreModules: WORKBENCH_MODULES.create }).queryPaths(),
    );
    const modules = new Set([...served].map((path) => path.slice(0, path.lastIndexOf("/"))));
    const ofModules = [...CONTRACT_QUERIES, ...MORE_CONTRACT_QUERIES].filter((path) =>
      modules.has(path.slice(0, path.lastIndexOf("/"))),
    );
    expect(ofModules.length).toBeGreaterThan(55);
    // The chain has no interchain accounts, only their parameters.
    expect(ofModules.filter((path) => !served.has(path))).toEqual([
      "/ibc.applications.interchain_accounts.controller.v1.Query/InterchainAccount",
    ]);
  });

  it.each([
    "/cosmos.auth.v1beta1.Query/Accounts",
    "/slinky.marketmap.v1.Query/MarketMap",
    "/neutron.harpoon.Query/Params",
    "/cosmos.bank.v1beta1.Query/AllBalances",
  ])("do not include %s", (path) => {
    for (const profile of PROFILE_NAMES) expect(refusal(profile, path)).toBe(notAllowed(path));
  });

  it.each(MORE_CONTRACT_QUERIES)("include %s for binary contracts with one profile only", (path) => {
    expect(refusal("deployed", path)).toBe(notAllowed(path));
    expect(refusal("specification", path)).toBe(`No route to query '${path}'`);
    expect(refusal("deployed", path, true)).toBe(`No route to query '${path}'`);
  });

  it("have no route without their module", () => {
    const path = "/slinky.oracle.v1.Query/GetPrice";
    expect(refusal("deployed", path)).toBe(`No route to query '${path}'`);
  });

  it.each([
    ["specification", "liquidity", 0x0a],
    ["deployed", "pool_reserves", 0x12],
  ] as const)("of the exchange have the format of the profile %s on both paths", (profile, name, tag) => {
    const json = ask(profile, { stargate: { path: TICKS, data: "" } }).ok?.ok ?? "";
    const printed: { readonly tick_liquidity: readonly object[] } = JSON.parse(fromUtf8(fromBase64(json)));
    expect(Object.keys(printed.tick_liquidity[0] ?? {})).toEqual([name]);
    expect(JSON.stringify(printed)).toContain('"trade_pair_id":{"maker_denom":"a","taker_denom":"b"}');
    const bytes = fromBase64(ask(profile, { grpc: { path: TICKS, data: "" } }).ok?.ok ?? "");
    // The tag of the first field of the pair.
    expect(bytes[bytes.indexOf("a".charCodeAt(0)) - 2]).toBe(tag);
    const canonical = profileNamed(profile).proto?.decode(RESPONSE, bytes) ?? bytes;
    expect(QueryAllTickLiquidityResponse.decode(canonical).tickLiquidity).toHaveLength(1);
    expect(toBase64(bytes)).toBe(
      toBase64(ticks.query(createMemoryWorld().context({ profile: profileNamed(profile) }), bytes)),
    );
  });
});
