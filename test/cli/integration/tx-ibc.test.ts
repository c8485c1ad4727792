import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accountNamed, CHAINS } from "../../../src/localnet/accounts/chains.ts";
import { type CliChain, type CliResult, startCliChain } from "../../support/cli-chain.ts";

const RECEIVER = accountNamed(CHAINS.remote, "alice").address;
const CONTRACT = accountNamed(CHAINS.local, "bob").address;

let chain: CliChain;

beforeAll(async () => {
  chain = await startCliChain();
});
afterAll(() => chain.stop());

const query = (...words: readonly string[]): Promise<CliResult> =>
  chain.run("query", ...words, "--node", chain.url);
const tx = (...words: readonly string[]): Promise<CliResult> =>
  chain.run("tx", ...words, "--from", "alice", "--node", chain.url);

describe("relaywatch tx ibc", () => {
  it("begins to open a channel, prints its id, and closes none that is not open", async () => {
    const opened = await tx("ibc", "channel", "open-init", "transfer", "connection-0");
    expect(opened.message).toBeUndefined();
    expect(opened.out).toMatch(/\nchannel: channel-0\nversion: ics20-1$/);
    const { out } = await query("ibc", "channel", "end", "transfer", "channel-0");
    expect(out.split("\n")[1]?.split(/ {2,}/).slice(0, 3)).toEqual(["init", "unordered", "ics20-1"]);
    expect(await tx("ibc", "channel", "close-init", "transfer", "channel-0")).toMatchObject({
      exitCode: 1,
      message: expect.stringContaining("user cannot close channel"),
    });
  });

  it("gives the client the newest header of its chain", async () => {
    const latest = async (): Promise<string> =>
      (await query("ibc", "client", "state", "07-tendermint-0")).out.split("\n")[1]?.split(/ {2,}/)[1] ?? "";
    const before = await latest();
    const updated = await tx(
      "ibc",
      "client",
      "update",
      "07-tendermint-0",
      "--counterparty-node",
      chain.remoteUrl,
    );
    expect(updated.message).toBeUndefined();
    expect(BigInt((await latest()).slice(2))).toBeGreaterThan(BigInt(before.slice(2)));
  });

  it("refuses the header of another chain", async () => {
    const words = ["ibc", "client", "update", "07-tendermint-0", "--counterparty-node", chain.url];
    expect((await tx(...words)).message).toMatch(/local-1.*remote-1|remote-1.*local-1/);
  });
});

describe("relaywatch tx transfer", () => {
  it.each([
    ["transfer", "channel-7", RECEIVER, "1untrn"],
    ["ibc-transfer", "transfer", "transfer", "channel-7", RECEIVER, "1untrn"],
  ])("%s is refused on a channel that does not exist", async (...words) => {
    expect(await tx(...words)).toMatchObject({
      exitCode: 1,
      message: expect.stringContaining("source channel: channel-7: sequence send not found"),
    });
  });

  it.each([
    [["transfer"], "missing required argument 'channel'"],
    [["transfer", "transfer", RECEIVER, "1untrn"], "expected an id, e.g. channel-0"],
    [["transfer", "channel-0", RECEIVER, "1"], "e.g. 1000000untrn"],
    [["transfer", "channel-0", RECEIVER], "missing required argument 'amount'"],
    [["transfer", "channel-0", RECEIVER, "1untrn", "more"], "too many arguments"],
    [["transfer", "channel-0", RECEIVER, "1untrn", "--timeout", "ten"], 'a duration, e.g. "30s"'],
    [["transfer", "channel-0", RECEIVER, "1untrn", "--timeout", "0s"], 'a duration, e.g. "30s"'],
    [["transfer", "channel-0", RECEIVER, "1untrn", "--timeout-height", "5"], "e.g. 1-5000"],
    [["transfer", "channel-0", RECEIVER, "1untrn", "--timeout-height", "1-0"], "a height above 0"],
    [["ibc-transfer", "transfer", "channel-0", RECEIVER, "1untrn"], "missing required argument 'amount'"],
    [["ibc", "channel", "open-init", "transfer"], "missing required argument 'connection'"],
    [["ibc", "channel", "open-init", "transfer", "channel-0"], "expected an id, e.g. connection-0"],
    [["ibc", "channel", "close-init", "transfer"], "missing required argument 'channel'"],
    [["ibc", "client", "update"], "missing required argument 'client'"],
    [["ibc", "client", "update", "remote-one"], "expected an id, e.g. 07-tendermint-0"],
    [["ibc", "client", "update", "07-tendermint-0", "--counterparty-node", "x"], "expected a URL, e.g."],
    [["ibc-rate-limit", "update-params"], "specify a contract address or --none"],
    [["ibc-rate-limit", "update-params", CONTRACT, "--none"], "specify a contract address or --none"],
  ])("%j is a wrong command line", async (words, text) => {
    const { exitCode, message, usage } = await tx(...words);
    expect([exitCode, message ?? usage]).toEqual([2, expect.stringContaining(text)]);
  });

  it("needs an account", async () => {
    const words = ["tx", "transfer", "channel-0", RECEIVER, "1untrn", "--node", chain.url];
    expect(await chain.run(...words)).toMatchObject({
      exitCode: 2,
      message: expect.stringContaining("no signing account"),
    });
  });
});

describe("relaywatch tx ibc-rate-limit", () => {
  const update = (from: string, ...words: readonly string[]): Promise<CliResult> =>
    chain.run("tx", "ibc-rate-limit", "update-params", ...words, "--from", from, "--node", chain.url);
  const limiter = async (): Promise<string> =>
    (await query("ibc-rate-limit", "params")).out.split(/\s+/).at(-1) ?? "";

  it("sets the contract and takes it away in proposals of an admin", async () => {
    expect((await update("operator", CONTRACT)).out).toContain("\nproposal: 1");
    expect(await limiter()).toBe(CONTRACT);
    expect(await update("operator", "--none")).toMatchObject({ exitCode: 0 });
    expect(await limiter()).toBe("-");
    expect((await update("alice", CONTRACT)).message).toContain("must be admin");
    const wrong = await update("operator", "nobody");
    expect([wrong.exitCode, wrong.usage]).toEqual([2, expect.stringContaining("expected a bech32 address")]);
  });
});

describe("relaywatch query ibc", () => {
  it.each([
    [["client", "state", "07-tendermint-0"], 2],
    [["connection", "path", "07-tendermint-0"], 2],
    [["channel", "packet-receipt", "transfer", "channel-0", "1"], 2],
    [["channel", "unreceived-packets", "transfer", "channel-0", "1", "3"], 3],
    [["channel", "unreceived-acks", "transfer", "channel-0", "1", "3"], 1],
    [["channel", "params"], 2],
  ])("%j prints %i lines, and the JSON of the REST API", async (words, lines) => {
    const { out, message } = await query("ibc", ...words);
    expect(message).toBeUndefined();
    expect(out.split("\n")).toHaveLength(lines);
    expect(JSON.parse((await query("ibc", ...words, "--json")).out)).toBeTypeOf("object");
  });

  it.each([
    [["packet-commitment", "transfer", "channel-0", "1"], 1, "packet commitment hash not found"],
    [["packet-ack", "transfer", "channel-0", "1"], 1, "packet acknowledgement hash not found"],
    [["packet-ack", "transfer", "channel-0", "one"], 2, "expected an integer below 2^64"],
    [["unreceived-packets", "transfer", "channel-0"], 2, "missing required argument 'sequence'"],
    [["unreceived-acks", "transfer", "channel-0", "-1"], 2, "'-1' is invalid for argument 'sequence'"],
    [["unreceived-packets", "transfer", "channel-0", "0"], 1, "packet sequence 0 cannot be 0"],
  ])("%j exits %i", async (words, exitCode, text) => {
    const refused = await query("ibc", "channel", ...words);
    expect([refused.exitCode, refused.message ?? refused.usage]).toEqual([
      exitCode,
      expect.stringContaining(text),
    ]);
  });
});
