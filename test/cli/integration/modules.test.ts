import { afterAll, beforeAll, expect, it } from "vitest";
import { type CliChain, type CliResult, startCliChain } from "../../support/cli-chain.ts";

let chain: CliChain;

beforeAll(async () => {
  chain = await startCliChain({ hasBench: true });
});
afterAll(async () => {
  await chain.stop();
});

const query = (...words: readonly string[]): Promise<CliResult> =>
  chain.run("query", ...words, "--node", chain.url);
const json = async (...words: readonly string[]): Promise<unknown> =>
  JSON.parse((await query(...words, "--json")).out);
/** Sends a message of the authority in a proposal. */
const tx = (...words: readonly string[]): Promise<CliResult> =>
  chain.run("tx", ...words, "--from", "operator", "--node", chain.url);
const DONE = { exitCode: 0, message: undefined };

it("feerefunder: the least fee changes", async () => {
  const fees = ["--ack-fee", "7untrn", "--timeout-fee", "8untrn"];
  expect(await tx("feerefunder", "update-params", ...fees)).toMatchObject(DONE);
  expect(await json("feerefunder", "params")).toEqual({
    params: {
      min_fee: {
        recv_fee: [],
        ack_fee: [{ denom: "untrn", amount: "7" }],
        timeout_fee: [{ denom: "untrn", amount: "8" }],
      },
    },
  });
  expect((await query("feerefunder", "fee-info", "transfer", "channel-0", "1")).message).toContain(
    "no fee info found",
  );
  expect((await tx("feerefunder", "update-params", "--ack-fee", "7untrn")).usage).toContain("--timeout-fee");
});

it("upgrade: a plan is made and dropped", async () => {
  expect(await tx("upgrade", "software-upgrade", "v9", "100000", "--info", "text")).toMatchObject(DONE);
  expect((await query("upgrade", "plan")).out).toMatch(/NAME +HEIGHT +INFO\nv9 +100000 +text/);
  expect((await query("upgrade", "applied", "v9")).out).toBe("HEIGHT\n0");
  expect((await query("upgrade", "authority")).out).toContain("neutron1");
  expect(await tx("upgrade", "cancel-software-upgrade")).toMatchObject(DONE);
  expect(await json("upgrade", "plan")).toEqual({ plan: null });
  expect((await tx("upgrade", "software-upgrade", "v9", "0")).usage).toContain(
    "expected a height above zero",
  );
});

it.each([
  [["feeburner", "params"], "neutron_denom"],
  [["feeburner", "total-burned-neutrons-amount"], "untrn"],
  [["globalfee", "params"], "max_total_bypass_min_fee_msg_gas_usage"],
  [["dynamicfees", "params"], "ntrn_prices"],
  [["interchaintxs", "params"], "msg_submit_tx_max_messages"],
  [["interchain-accounts", "params"], "host_enabled"],
  [["consensus", "params"], "max_gas"],
  [["adminmodule", "admins"], "neutron1"],
  [["adminmodule", "archivedproposals"], "MsgUpdateParams"],
])("query %j prints the module's table", async (words, expected) => {
  const { out, exitCode } = await query(...words);
  expect(exitCode).toBe(0);
  expect(out).toContain(expected);
});

it("interchaintxs: an account that does not exist", async () => {
  const { out } = await query("adminmodule", "admins");
  const owner = out.split("\n")[1]?.trim() ?? "";
  const { message } = await query("interchaintxs", "interchain-account", owner, "connection-0", "x");
  expect(message).toContain(`no interchain account found for portID icacontroller-${owner}.x`);
});
