import type { Command } from "commander";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/platform/base/clock.ts";
import { silentLogger } from "../../../src/platform/base/logger.ts";
import type { CliContext } from "../../../src/platform/cli/cli-context.ts";
import { toExit } from "../../../src/platform/cli/run-process.ts";
import { createProgram } from "../../../src/cli/program.ts";
import type { ProfileName } from "../../../src/localnet/chain/deviations/deviations.ts";
import { accountNamed, CHAINS } from "../../../src/localnet/accounts/chains.ts";
import { createLocalnet, type RunningLocalnet } from "../../../src/localnet/network/create-localnet.ts";

const ALICE = accountNamed(CHAINS.local, "alice").address;
const BOB = accountNamed(CHAINS.local, "bob").address;
const PAIR = "uibcatom<>untrn";

const stop = new AbortController();
const free = { host: "127.0.0.1", port: 0, portOption: "--port" };
let running: RunningLocalnet;
let done: Promise<void>;

async function startDemo(
  signal: AbortSignal,
  profile: ProfileName,
): Promise<{ readonly running: RunningLocalnet; readonly done: Promise<void> }> {
  const chain = { rpc: free, validatorPowers: [10n], profile };
  const localnet = createLocalnet(
    {
      chains: { local: { ...chain, scenario: "dex-demo" }, remote: chain },
      blockTimeMs: 50,
      remoteRpcUrl: "http://127.0.0.1:1",
    },
    { clock: systemClock, logger: silentLogger },
  );
  const ended = localnet.run(signal);
  ended.catch(() => {});
  const ready = await localnet.ready;
  ready.chains.local?.control.produce(2);
  return { running: ready, done: ended };
}

beforeAll(async () => {
  ({ running, done } = await startDemo(stop.signal, "specification"));
});
afterAll(async () => {
  stop.abort(new Error("test over"));
  await done;
});

interface Printed {
  readonly out: string;
  readonly exitCode: number;
  readonly message: string | undefined;
}

const run = (...args: readonly string[]): Promise<Printed> => runAt(running, args);

async function runAt(localnet: RunningLocalnet, args: readonly string[]): Promise<Printed> {
  const lines: string[] = [];
  const words = [...args, "--node", `http://127.0.0.1:${localnet.chains.local?.ports.get("rpc")}`];
  const context: CliContext = {
    words,
    print: (line) => void lines.push(line),
    signal: stop.signal,
    logger: async () => silentLogger,
    isTerminal: false,
  };
  try {
    await quiet(await createProgram(context)).parseAsync(words, { from: "user" });
    return { out: lines.join("\n"), exitCode: 0, message: undefined };
  } catch (error) {
    return { out: lines.join("\n"), ...toExit(error) };
  }
}

function quiet(command: Command): Command {
  command.configureOutput({ writeErr: () => {}, writeOut: () => {} });
  for (const inner of command.commands) quiet(inner);
  return command;
}

const query = (...args: readonly string[]): Promise<Printed> => run("query", "dex", ...args);
const tx = (...args: readonly string[]): Promise<Printed> => run("tx", "dex", ...args);

/** The words of a table row by row. */
function rowsOf({ out }: Printed): readonly (readonly string[])[] {
  return out.split("\n").map((line) => line.split(/ {2,}/));
}

describe("relaywatch query dex of a chain with the profile deployed", () => {
  it("prints the same but the tranche keys", async () => {
    const ending = new AbortController();
    const deployed = await startDemo(ending.signal, "deployed");
    for (const words of [
      ["list-tick-liquidity", PAIR, "untrn", "--json"],
      ["list-limit-order-tranche-user", "--json"],
      ["show-pool-by-id", "0", "--json"],
    ]) {
      const [own, other] = await Promise.all([
        query(...words),
        runAt(deployed.running, ["query", "dex", ...words]),
      ]);
      expect(own.out).toContain('"maker_denom": "untrn"');
      expect(withoutTimes(other.out.replaceAll(/tk-(?=\d)/g, "t||"))).toBe(withoutTimes(own.out));
    }
    ending.abort(new Error("test over"));
    await deployed.done;
  });

  /** The orders of the scenario expire 30 days after the genesis time. */
  const withoutTimes = (text: string): string => text.replaceAll(/"expiration_time": "[^"]*"/g, "");
});

describe("relaywatch query dex", () => {
  it("lists the ticks of the scenario", async () => {
    const rows = rowsOf(await query("list-tick-liquidity", PAIR, "untrn"));
    expect(rows[0]).toEqual([
      "KIND",
      "MAKER",
      "TAKER",
      "TICK",
      "FEE",
      "TRANCHE",
      "RESERVES",
      "PRICE",
      "EXPIRES",
    ]);
    expect(rows.slice(1).map(([kind]) => kind)).toEqual([
      "pool",
      "pool",
      "pool",
      "limit order",
      "limit order",
    ]);
    expect(rows.at(-1)?.slice(3, 6)).toEqual(["-22800", "-", "t||1"]);
  });

  it.each([
    [["params"], 5],
    [["show-pool", PAIR, "[-23027]", "5"], 2],
    [["show-pool-by-id", "0"], 2],
    [["list-pool-reserves", PAIR, "uibcatom"], 3],
    [["show-pool-reserves", PAIR, "[-23022]", "untrn", "5"], 1],
    [["list-user-limit-orders", BOB], 4],
    [["list-limit-order-tranche-user"], 4],
    [["show-limit-order-tranche-user", BOB, "t||0"], 1],
    [["show-limit-order-tranche", PAIR, "untrn", "[-22900]", "t||0"], 1],
    [["list-limit-order-tranche", PAIR, "untrn"], 2],
    [["list-user-deposits", ALICE], 5],
    [["list-user-deposits", ALICE, "--include-pool-data"], 5],
    [["list-pool-metadata"], 5],
    [["show-pool-metadata", "4"], 1],
    [["list-inactive-limit-order-tranche"], 0],
    [["list-filled-limit-order-tranche"], 0],
  ])("%j prints a table with %i rows, and the JSON of the REST API", async (words, count) => {
    const table = await query(...words);
    expect(table).toMatchObject({ exitCode: 0 });
    expect(rowsOf(table)).toHaveLength(count + 1);
    const json: unknown = JSON.parse((await query(...words, "--json")).out);
    expect(json).toBeTypeOf("object");
  });

  it("prints the next page, and the shares that can be withdrawn", async () => {
    const first = await query("list-pool-metadata", "--limit", "2");
    const key = /--page-key (\S+)$/.exec(first.out)?.[1] ?? "";
    expect(rowsOf(await query("list-pool-metadata", "--limit", "2", "--page-key", key))[1]?.[0]).toBe("2");
    const { out } = await query("show-limit-order-tranche-user", BOB, "t||0", "--calc-withdraw");
    expect(out).toContain("withdrawable shares: 0");
  });

  it.each([
    [["show-pool-by-id", "99"], 1, "not found"],
    [["show-inactive-limit-order-tranche", PAIR, "untrn", "5", "x"], 1, "not found"],
    [["show-pool", "nonsense", "0", "1"], 1, "PairID does not conform"],
    [["show-pool", PAIR, "x", "1"], 2, "invalid syntax"],
    [["show-pool", PAIR, "1", "[-1]"], 2, "invalid syntax"],
    [["show-pool", PAIR], 2, "missing required argument"],
  ])("%j exits %i", async (words, exitCode, text) => {
    const printed = await query(...words);
    expect(printed.exitCode).toBe(exitCode);
    if (printed.message !== undefined) expect(printed.message).toContain(text);
  });
});

describe("relaywatch tx dex", () => {
  const ORDER = [BOB, "untrn", "uibcatom", "[-500]", "1000"];

  it("deposits, places, cancels, withdraws and swaps", async () => {
    const deposit = [
      ALICE,
      "uibcatom",
      "untrn",
      "100,200",
      "1000,0",
      "[-23027,-23060]",
      "5,10",
      "true,false",
      "false,false",
    ];
    const outcomes = [
      await tx("deposit", ...deposit, "--from", "alice"),
      await tx("deposit", ...deposit, "--swap-on-deposit", "--from", "alice").then(({ message }) => message),
      await tx("withdrawal", ALICE, "untrn", "uibcatom", "10", "23027", "5", "--from", "alice"),
      await tx(
        "place-limit-order",
        BOB,
        "untrn",
        "uibcatom",
        "22900",
        "1000",
        "GOOD_TIL_TIME",
        "01/01/2099 00:00:00",
        "--from",
        "bob",
      ),
      await tx(
        "place-limit-order",
        BOB,
        "untrn",
        "uibcatom",
        "0",
        "1000",
        "FILL_OR_KILL",
        "--price",
        "0.09",
        "--max-amout-out",
        "50",
        "--from",
        "bob",
      ),
      await tx("cancel-limit-order", "t||0", "--from", "bob"),
      await tx(
        "multi-hop-swap",
        BOB,
        "uibcusdc,untrn,uibcatom;uibcusdc,uibcatom",
        "100000",
        "0.1",
        "true",
        "--from",
        "bob",
      ),
    ];
    expect(outcomes.map((outcome) => (typeof outcome === "object" ? outcome.message : outcome))).toEqual([
      undefined,
      expect.stringContaining("Cannot disable autoswap when using swap_on_deposit"),
      ...Array.from({ length: 5 }, () => undefined),
    ]);
    expect((await tx("withdraw-filled-limit-order", "t||2", "--from", "bob")).message).toContain(
      "Cannot withdraw additional liqudity",
    );
  }, 240_000);

  it("prints what a message returned, as a table and with --json", async () => {
    const order = ["place-limit-order", BOB, "untrn", "uibcatom", "22950", "1000", "--from", "bob"];
    const table = await tx(...order);
    expect(table.message).toBeUndefined();
    const key = /^tranche key +(\S+)$/m.exec(table.out)?.[1];
    expect(table.out).toMatch(/^paid in total +1000untrn$/m);
    const json: unknown = JSON.parse((await tx(...order, "--json")).out);
    expect(json).toMatchObject({
      code: 0,
      txhash: expect.stringMatching(/^[0-9A-F]{64}$/),
      resp: { trancheKey: key, coin_in: { denom: "untrn", amount: "1000" } },
    });
    expect((await tx("cancel-limit-order", key ?? "", "--from", "bob")).out).toMatch(
      /^not sold +2000untrn$/m,
    );
    const failed = await tx("cancel-limit-order", "t||0", "--gas", "100000", "--from", "alice", "--json");
    expect(failed).toMatchObject({ exitCode: 1 });
    expect(JSON.parse(failed.out)).not.toHaveProperty("resp");
  }, 240_000);

  it("prints with --dry-run what the message would return, and sends nothing", async () => {
    const before = await query("list-limit-order-tranche-user", "--json");
    const printed = await tx("place-limit-order", ...ORDER, "--from", "bob", "--dry-run", "--json");
    expect(printed.message).toBeUndefined();
    expect(JSON.parse(printed.out)).toMatchObject({
      gas_used: expect.stringMatching(/^\d+$/),
      resp: { coin_in: { denom: "untrn", amount: "1000" } },
    });
    expect(await query("list-limit-order-tranche-user", "--json")).toEqual(before);
    const table = await tx("place-limit-order", ...ORDER, "--from", "bob", "--dry-run");
    expect(table.out).toMatch(/^gas_used: "\d+"\n\nRESULT +VALUE\ntranche key +t\|\|\d+\n/);
    const refused = await tx("place-limit-order", ...ORDER, "FILL_OR_KILL", "--from", "bob", "--dry-run");
    expect(refused).toMatchObject({ exitCode: 1, message: expect.stringContaining("Fill Or Kill") });
  });

  it.each([
    [["place-limit-order", ...ORDER, "fok"], "Order type must be one of"],
    [["place-limit-order", ...ORDER, "GOOD_TIL_TIME", "2099-01-01"], "MM/dd/yyyy HH:mm:ss"],
    [["place-limit-order", ...ORDER, "--price", "1e5"], "failed to set decimal string"],
    [["place-limit-order", ...ORDER, "--max-amount-out", "1", "--max-amout-out", "1"], "specify only one of"],
    [["deposit", ALICE, "a", "b", "1", "1", "0", "1", "true", "true,false"], "must have the same length"],
    [["deposit", ALICE, "a", "b", "1,x", "1", "0", "1", "true", "true"], "cannot unmarshal"],
    [["withdrawal", ALICE, "a", "b", "1", "0", "[-1]"], "invalid syntax"],
    [["multi-hop-swap", BOB, "a,b", "1", "0.5", "maybe"], "invalid syntax"],
    [["cancel-limit-order"], "missing required argument"],
    [["cancel-limit-order", "t||0", "--bogus"], "unknown option"],
  ])("%j is a wrong command line", async (words, text) => {
    const printed = await tx(...words, "--from", "bob");
    expect(printed.exitCode).toBe(2);
    if (printed.message !== undefined) expect(printed.message).toContain(text);
  });
});
