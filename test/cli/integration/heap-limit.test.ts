import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import v8 from "node:v8";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { accountNamed, CHAINS } from "../../../src/localnet/accounts/chains.ts";
import { runCommand } from "../../support/cli-chain.ts";

let folder = "";
/** Flags of V8 that were set. None is really set, since they would stay in this process. */
let flags: string[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "relaywatch-heap-"));
  flags = [];
  vi.spyOn(v8, "setFlagsFromString").mockImplementation((flag) => void flags.push(flag));
  syncBuiltinESMExports();
});
afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a daemon that is asked to stop before it runs. */
async function start(daemon: string, config: string): Promise<unknown> {
  const file = join(folder, "config.yaml");
  writeFileSync(file, config);
  return runCommand([daemon, "start", "--config", file], AbortSignal.abort(new Error("stop")));
}

it("relayer start limits the growth of its heap", async () => {
  writeFileSync(join(folder, "words"), accountNamed(CHAINS.local, "bob").mnemonic);
  const config = `
chain: { id: local-1, rpc: ["http://127.0.0.1:1"] }
signer: { mnemonic: { file: ${join(folder, "words")} } }
connections: [{ id: connection-0, chain_id: remote-1, rpc: ["http://127.0.0.1:1"] }]
http: { listen: "127.0.0.1:0" }
`;
  expect(await start("relayer", config)).toMatchObject({ exitCode: 0 });
  expect(flags).toEqual(["--heap-growing-percent=50"]);
});

it("watchdog start limits the growth of its heap", async () => {
  const config = `
http: { listen: "127.0.0.1:0" }
sources: { node: "http://127.0.0.1:1/metrics" }
`;
  expect(await start("watchdog", config)).toMatchObject({ exitCode: 0 });
  expect(flags).toEqual(["--heap-growing-percent=50"]);
});

it("a configuration that cannot be used starts nothing", async () => {
  expect(await start("relayer", "{}")).toMatchObject({ exitCode: 78 });
  expect(flags).toEqual([]);
});
