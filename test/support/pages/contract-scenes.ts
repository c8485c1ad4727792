import type { LivePage } from "../../../src/platform/web/live-page.ts";
import { CONTRACT_PAGE, type ContractCall, contractPage } from "../../../src/workbench/contract-page.ts";
import type { GasNode } from "../../../src/workbench/profile/gas-recorder.ts";
import type { ProfileReport } from "../../../src/workbench/profile/profile-json.ts";

/** Hashes of a successful and of a failed transaction. */
export const GOOD = "A1".repeat(32);
export const BAD = "B2".repeat(32);
const CONTRACT = `neutron1${"q".repeat(58)}`;

function call(hash: string, more: Partial<ContractCall>): ContractCall {
  return {
    hash,
    height: 12_345n,
    index: 0,
    contracts: [CONTRACT],
    messages: ['execute {"transfer":{"recipient":"neutron1","amount":"10"}}'],
    isDirect: true,
    gasUsed: 202_768n,
    code: 0,
    log: "",
    ...more,
  };
}

const CALLS = [
  call(BAD, { code: 29, log: "Error calling the VM: <b>Aborted</b>: panicked at src/contract.rs:170:5" }),
  call(GOOD, {}),
];

function node(place: GasNode["place"], name: string, self: bigint, ...children: GasNode[]): GasNode {
  return { place, name, calls: 1, self: self * 140_000n, children };
}

/** A tree with all kinds of places. */
function report(isFailed: boolean): ProfileReport {
  const inner = node(
    "function",
    "cw20_base::contract::<impl>::execute_transfer",
    40n,
    node("host", "db_write", 5n, node("storage", "store write", 90n)),
  );
  const wasm = node(
    "wasm",
    "execute",
    0n,
    node("function", "execute", 10n, inner),
    node("cost", "rounding", -1n),
  );
  const contract = node(
    "contract",
    `execute ${CONTRACT}`,
    0n,
    node("cost", "Loading CosmWasm module: execute", 60n),
    wasm,
  );
  return {
    height: 12_345n,
    code: isFailed ? 29 : 0,
    codespace: isFailed ? "wasm" : "",
    log: "",
    gasUsed: 304n,
    failures: isFailed
      ? [{ error: "panicked at <src>", stack: ["abort", "core::panicking::panic", "execute"] }]
      : [],
    root: node(
      "step",
      "transaction",
      0n,
      node("step", "ante handler", 100n),
      node("message", "MsgExecuteContract", 0n, contract),
    ),
  };
}

/** The page of two calls, one of which failed. A third hash has no profile. */
export const CONTRACT_SCENE: LivePage = {
  ...CONTRACT_PAGE,
  path: "/",
  content: ({ query }) =>
    contractPage(
      {
        nowMs: Date.now(),
        calls: CALLS,
        profile: (hash) => (hash === "C3".repeat(32) ? "the state is not stored" : report(hash === BAD)),
      },
      query,
    ),
};
