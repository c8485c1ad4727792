import { expect, it } from "vitest";
import { createApp } from "../../../src/localnet/chain/app.ts";
import { chooseModules } from "../../../src/localnet/genesis/chain-files.ts";
import { WORKBENCH_MODULES } from "../../../src/workbench/modules/workbench-modules.ts";
import { createMemoryStorage } from "../../support/memory-storage.ts";
import { startBenchChain } from "../../support/bench-chain.ts";
import { startTestChain } from "../../support/test-chain.ts";

const { names } = WORKBENCH_MODULES;

it("each module of the workbench is one of the chain, and none of a chain without them", () => {
  expect(Object.keys(startBenchChain({}).app.exportState())).toEqual(expect.arrayContaining([...names]));
  const others = Object.keys(startTestChain({}).app.exportState());
  expect(others.filter((name) => names.some((one) => one === name))).toEqual([]);
  expect(others).toEqual(expect.arrayContaining(["interchainqueries", "dex", "harpoon", "adminmodule"]));
});

it.each([
  [
    "a genesis of a localnet",
    { appState: { bank: {}, wasm: { codes: [{ name: "echo" }], gen_msgs: [] } } },
    false,
  ],
  ["a module that the genesis names", { appState: { cron: {} } }, true],
  ["the profile of the deployed chain", { profile: "deployed", appState: {} }, true],
  ["a contract of one's own", { appState: { wasm: { codes: [{ code_bytes: "AA==" }] } } }, true],
  [
    "a contract that a genesis message uploads",
    { appState: { wasm: { gen_msgs: [{ store_code: {} }] } } },
    true,
  ],
  [
    "a genesis message of another kind",
    { appState: { wasm: { gen_msgs: [{ execute_contract: {} }] } } },
    false,
  ],
] as const)("%s decides whether a chain has the modules", (_name, genesis, expected) => {
  expect(chooseModules(WORKBENCH_MODULES, genesis) !== undefined).toBe(expected);
  expect(chooseModules(undefined, genesis)).toBeUndefined();
});

it("a home that was written with the modules keeps them, whatever its genesis says", () => {
  const saved = createMemoryStorage();
  startBenchChain({}, { onCommit: saved.save });
  const moreModules = chooseModules(WORKBENCH_MODULES, { appState: {} }, saved);
  expect(moreModules).toBe(WORKBENCH_MODULES.create);
  const app = createApp({ kind: "local", denom: "untrn", moreModules }, { storage: saved });
  expect(app.info().height).toBe(1n);

  const without = createMemoryStorage();
  startTestChain({}, { onCommit: without.save });
  expect(chooseModules(WORKBENCH_MODULES, { appState: {} }, without)).toBeUndefined();
});
