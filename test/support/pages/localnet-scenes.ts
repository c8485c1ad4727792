import { TxBody, TxRaw } from "../../../src/cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { localnetAccounts } from "../../../src/localnet/accounts/chains.ts";
import { LOCALNET_PARTS, localnetEndpoints } from "../../../src/localnet/network/localnet-options.ts";
import { unstartedStatus } from "../../../src/localnet/ibc-relayer/ibc-relayer.ts";
import type { OverviewDeps } from "../../../src/localnet/network/overview-page.ts";
import { SIDECAR_FAULTS } from "../../../src/localnet/sidecar/faults.ts";
import { portsAt } from "../../../src/platform/base/localnet-defaults.ts";
import { Secret } from "../../../src/platform/base/secret.ts";
import { NS_PER_MS } from "../../../src/platform/base/time.ts";
import { overviewRoute } from "../../../src/platform/web/overview.ts";

type Chain = ReturnType<OverviewDeps["chains"]>[number];

/** Time of the scenes. */
const NOW_MS = Date.UTC(2026, 10, 21, 12);

/** A transaction with messages of these types. */
function txOf(types: readonly string[]): Uint8Array {
  const messages = types.map((type) => ({ typeUrl: `/test.v1.${type}`, value: new Uint8Array() }));
  const body = {
    messages,
    memo: "",
    timeoutHeight: 0n,
    extensionOptions: [],
    nonCriticalExtensionOptions: [],
  };
  const none = { authInfoBytes: new Uint8Array(), signatures: [] };
  return TxRaw.encode({ bodyBytes: TxBody.encode(body).finish(), ...none }).finish();
}

const TXS = [
  txOf(["MsgUpdateClient", "MsgSubmitQueryResult", "MsgSubmitQueryResult"]),
  txOf(["MsgExecuteContract"]),
  txOf(["MsgSend"]),
];

/** The price votes with which a block begins, as an empty commit of votes. */
export const VOTES = Uint8Array.of(0x08, 0x01, 0x12, 0x02, 0x0a, 0x00);

/** What the overview reads of a chain. */
function chainOf(chainId: string, height: bigint, isHalted: boolean): Chain {
  const view: Pick<Chain["view"], "status" | "block" | "results"> = {
    status: () => ({
      chainId,
      moniker: chainId,
      appVersion: "6",
      latestHeight: height,
      latestHash: new Uint8Array(),
      latestAppHash: new Uint8Array(),
      latestTimeNs: BigInt(NOW_MS - 700) * NS_PER_MS,
      earliestHeight: 1n,
    }),
    block: (at) => Object.assign(Object.create(null), { txs: [VOTES, ...TXS.slice(0, Number(at % 4n))] }),
    results: (at) =>
      Object.assign(Object.create(null), {
        txResults: [VOTES, ...TXS].map((_, index) => ({
          gasUsed: index === 0 ? 0n : 184_000n,
          code: index === 0 ? 2 : at % 5n === 0n && index === 1 ? 11 : 0,
        })),
      }),
  };
  return Object.assign(Object.create(null), { view, control: { isHalted: () => isHalted } });
}

/** A localnet. `on`: faults that are on; `halted`: the remote chain makes no block; `neighbours`: default none. */
export function localnetScene({
  on = [],
  halted = false,
  neighbours = [],
}: {
  readonly on?: readonly string[];
  readonly halted?: boolean;
} & Partial<Pick<OverviewDeps, "neighbours">> = {}): OverviewDeps {
  const names = Object.keys(SIDECAR_FAULTS);
  const effects: Readonly<Record<string, string>> = SIDECAR_FAULTS;
  return {
    clock: { nowMs: () => NOW_MS },
    chains: () => [chainOf("local-1", 12_345n, false), chainOf("remote-1", 12_001n, halted)],
    faults: {
      names,
      list: async () =>
        names.map((name) => ({
          name,
          on: on.includes(name),
          untilMs: undefined,
          effect: effects[name] ?? "",
        })),
      set: async () => {},
    },
    ibcRelayer: () => unstartedStatus(["local-1", "remote-1"]),
    endpoints: localnetEndpoints({
      parts: LOCALNET_PARTS,
      ports: portsAt(0),
      controlToken: new Secret("token"),
    }),
    accounts: localnetAccounts(),
    neighbours,
  };
}

/** The rows of a relayer and a watchdog beside the localnet, served as they serve them. */
export const NEIGHBOUR_ROUTE = overviewRoute(() => [
  {
    name: "relayer",
    tone: "good",
    verdict: "In order: every result is current",
    number: "10 queries, 4\u202f710 results in the last hour",
    asOfMs: NOW_MS,
    href: "/",
    trend: { text: "results per minute in the last hour", bars: [["good", 1], null, ["bad", 0.5]] },
  },
  {
    name: "validator default",
    tone: "good",
    verdict: "paid in full",
    number: "99.9812 %",
    asOfMs: NOW_MS,
    href: "/",
    trend: undefined,
  },
]);
