import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { encodeBech32 } from "../../../src/platform/base/bytes.ts";
import { escrowAddress } from "../../../src/localnet/chain/modules/transfer/keeper.ts";
import { type CliChain, type CliResult, startCliChain } from "../../support/cli-chain.ts";

let chain: CliChain;

beforeAll(async () => {
  chain = await startCliChain();
});
afterAll(() => chain.stop());

const query = (...words: readonly string[]): Promise<CliResult> =>
  chain.run("query", ...words, "--node", chain.url);

/** The words of a table row by row. */
async function rows(...words: readonly string[]): Promise<readonly (readonly string[])[]> {
  const { out, message } = await query(...words);
  expect(message).toBeUndefined();
  return out.split("\n").map((line) => line.split(/ {2,}/));
}

describe("relaywatch query ibc", () => {
  it("prints the connection of a new localnet and its client", async () => {
    const connection = ["open", "07-tendermint-0", "07-tendermint-0", "connection-0"];
    expect(await rows("ibc", "connection", "connections")).toEqual([
      ["CONNECTION", "STATE", "CLIENT", "THEIR CLIENT", "THEIR CONNECTION"],
      ["connection-0", ...connection],
      ["connection-localhost", "open", "09-localhost", "09-localhost", "connection-localhost"],
    ]);
    expect((await rows("ibc", "connection", "end", "connection-0"))[1]).toEqual(connection);
    const [, client = []] = await rows("ibc", "client", "states");
    expect(client.slice(0, 2)).toEqual(["07-tendermint-0", "remote-1"]);
    expect(await rows("ibc", "client", "status", "07-tendermint-0")).toEqual([["STATUS"], ["Active"]]);
    const heights = await rows("ibc", "client", "consensus-state-heights", "07-tendermint-0");
    expect(heights).toEqual([["HEIGHT"], [client[2]]]);
    expect(client[2]).toMatch(/^1-[1-9]\d*$/);
    expect(await rows("ibc", "client", "params")).toContainEqual(["allowed_clients", expect.any(String)]);
    expect(await rows("ibc", "connection", "params")).toContainEqual([
      "max_expected_time_per_block",
      "30000000000",
    ]);
  });

  it("asks for the channel that it was given", async () => {
    expect(await rows("ibc", "channel", "channels")).toHaveLength(1);
    expect(await rows("ibc", "channel", "connections", "connection-0")).toHaveLength(1);
    for (const name of ["end", "next-sequence-send", "next-sequence-receive"]) {
      expect(await query("ibc", "channel", name, "transfer", "channel-7")).toMatchObject({
        exitCode: 1,
        message: expect.stringContaining("port-id: transfer, channel-id channel-7"),
      });
    }
    for (const name of ["packet-commitments", "packet-acknowledgements"]) {
      const { exitCode, message } = await query("ibc", "channel", name, "transfer", "channel-7");
      expect([name, exitCode, message]).toEqual([name, 0, undefined]);
    }
    expect(await query("ibc", "channel", "end", "transfer")).toMatchObject({ exitCode: 2 });
  });
});

describe("relaywatch query contractmanager", () => {
  it("prints the gas of a call and failures", async () => {
    expect(await rows("contractmanager", "params")).toEqual([
      ["PARAMETER", "VALUE"],
      ["sudo_call_gas_limit", "1000000"],
    ]);
    const titles = ["CONTRACT", "FAILURE", "ERROR", "CALL"];
    expect(await rows("contractmanager", "failures")).toEqual([titles]);
    const address = encodeBech32("neutron", new Uint8Array(20));
    expect(await rows("contractmanager", "contract-failures", address)).toEqual([titles]);
    expect(await query("contractmanager", "failure-details", address, "3")).toMatchObject({
      exitCode: 1,
      message: expect.stringContaining(`contractAddress = ${address} and failureId = 3: key not found`),
    });
    expect(await query("contractmanager", "contract-failures")).toMatchObject({ exitCode: 2 });
  });
});

describe("relaywatch query ibc-transfer and ibc-rate-limit", () => {
  it("prints parameters, traces and escrow", async () => {
    expect(await rows("ibc-transfer", "params")).toEqual([
      ["PARAMETER", "VALUE"],
      ["send_enabled", "true"],
      ["receive_enabled", "true"],
    ]);
    expect(await rows("ibc-rate-limit", "params")).toEqual([
      ["PARAMETER", "VALUE"],
      ["contract_address", "-"],
    ]);
    expect(await rows("ibc-transfer", "denom-traces")).toEqual([["PATH", "DENOM"]]);
    expect(await rows("ibc-transfer", "total-escrow", "untrn")).toEqual([
      ["AMOUNT", "DENOM"],
      ["0", "untrn"],
    ]);
    expect(await rows("ibc-transfer", "escrow-address", "transfer", "channel-3")).toEqual([
      ["ADDRESS"],
      [encodeBech32("neutron", escrowAddress({ portId: "transfer", channelId: "channel-3" }))],
    ]);
  });

  it("says that a voucher is unknown", async () => {
    const hash = "AB".repeat(32);
    expect(await query("ibc-transfer", "denom-trace", `ibc/${hash}`)).toMatchObject({
      exitCode: 1,
      message: expect.stringContaining(hash),
    });
    expect(await query("ibc-transfer", "denom-hash", "transfer/channel-0/uatom")).toMatchObject({
      exitCode: 1,
      message: expect.stringContaining("transfer/channel-0/uatom"),
    });
  });
});
