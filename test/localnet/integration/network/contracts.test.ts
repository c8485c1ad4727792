import { afterAll, beforeAll, expect, it } from "vitest";
import { CHAINS } from "../../../../src/localnet/accounts/chains.ts";
import { createLocalnet } from "../../../../src/localnet/network/create-localnet.ts";
import { systemClock } from "../../../../src/platform/base/clock.ts";
import { type Logger, silentLogger } from "../../../../src/platform/base/logger.ts";
import { type ChainEnd, openEnd } from "../../../support/localnet/chain-end.ts";
import { buildEchoContract } from "../../../support/vm/wasm-builder.ts";

const stop = new AbortController();
const logged: unknown[] = [];
let local: ChainEnd;
let done: Promise<unknown>;

beforeAll(async () => {
  const free = { host: "127.0.0.1", port: 0, portOption: "--port" };
  const chain = { rpc: free, validatorPowers: [10n] };
  const logger: Logger = {
    ...silentLogger,
    info: (text, fields) => {
      if (text === "contract in the genesis") logged.push(fields);
    },
  };
  const contract = { code: buildEchoContract(), admin: "alice" };
  const init = { ok: { attributes: [] } };
  const contracts = ["one", "two"].map((label) => ({ ...contract, label, init }));
  const localnet = createLocalnet(
    {
      chains: { local: { ...chain, contracts }, remote: chain },
      blockTimeMs: 100,
      remoteRpcUrl: "http://127.0.0.1:1",
    },
    { clock: systemClock, logger },
  );
  done = localnet.run(stop.signal);
  done.catch(() => {});
  const { chains } = await localnet.ready;
  local = await openEnd(CHAINS.local, chains.local, stop.signal);
  local.node.control.produce(1);
});
afterAll(async () => {
  stop.abort(new Error("the test is over"));
  await done;
});

it("a new local chain begins with the given contracts, and its log names their addresses", () => {
  expect(logged).toMatchObject([
    { label: "one", code_id: "5" },
    { label: "two", code_id: "6" },
  ]);
  for (const fields of logged) {
    const { address } = Object(fields);
    const info = local.query("/cosmwasm.wasm.v1.Query/ContractInfo", { address });
    expect(info).toMatchObject({ contract_info: { label: Object(fields).label } });
  }
});
