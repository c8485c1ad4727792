import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createChainClient } from "../../src/cosmos/client/create-chain-client.ts";
import { silentObserver } from "../../src/cosmos/client/rpc-caller.ts";
import { createTxWindow } from "../../src/cosmos/client/tx/create-tx-window.ts";
import { createSigner } from "../../src/cosmos/client/tx/signer.ts";
import { MsgSend } from "../../src/cosmos/proto/gen/cosmos/bank/v1beta1/tx.ts";
import { accountNamed, CHAINS } from "../../src/localnet/accounts/chains.ts";
import { withDeadline } from "../../src/platform/base/abort.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import { parseDec18 } from "../../src/platform/base/decimal.ts";
import { portsAt } from "../../src/platform/base/localnet-defaults.ts";
import { silentLogger } from "../../src/platform/base/logger.ts";
import { Secret } from "../../src/platform/base/secret.ts";
import { leasePorts } from "../support/port-lease.ts";
import type { BenchRow, BenchSettings } from "./bench-row.ts";
import { median } from "./measure.ts";
import { type ChainUrls, createDemand } from "./system/demand.ts";
import { countersWhen } from "./system/relayer-page.ts";
import {
  localnetArguments,
  MNEMONIC_VARIABLE,
  relayerConfig,
  SET_UP_DEADLINE_MS,
  urlsOf,
} from "./system/scenario.ts";
import { startRelaywatch, type WatchedProcess } from "./system/watched-process.ts";

const BLOCK_TIME_MS = 1_000;
const QUERIES = 100;
/** Sent by another program with the same account while the relayer is away. */
const HISTORY = 5_000;
/** A third of the target's gas, so that the price stays. */
const PER_BLOCK = 100;
const SEND_GAS = 150_000n;
const DEADLINE_MS = 180_000;

/** How long after the start of its process a relayer has its first result in a block. */
export async function benchRestart({ quick, signal }: BenchSettings): Promise<readonly BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), "relaywatch-bench-"));
  const running: WatchedProcess[] = [];
  const { offset, release } = await leasePorts();
  const start = (args: readonly string[], environment: Readonly<Record<string, string>> = {}) => {
    const one = startRelaywatch(args, { XDG_STATE_HOME: folder, ...environment });
    running.push(one);
    return one;
  };
  try {
    const urls = urlsOf(portsAt(offset));
    const chains = start(localnetArguments([], { blockTimeMs: BLOCK_TIME_MS }, offset));
    await chains.untilLine("control token in", signal);
    await withDeadline("registering the queries", SET_UP_DEADLINE_MS, signal, (inner) =>
      createDemand(urls, { queries: QUERIES, updatePeriod: 1 }, inner),
    );
    const file = join(folder, "relayer.yaml");
    writeFileSync(file, relayerConfig(urls, { queries: QUERIES, callbacks: false }));
    /** Starts the relayer, waits for its results, and kills it. Returns the times until its page responds and until the first one, ms. */
    const live = async (results: number): Promise<{ readonly pageMs: number; readonly firstMs: number }> => {
      const startedMs = performance.now();
      const relayer = start(["relayer", "start", "--config", file, "--log-level", "warn"], {
        [MNEMONIC_VARIABLE]: accountNamed(CHAINS.local, "relayer").mnemonic,
      });
      const url = await relayer.untilLine("icq-relayer", signal);
      const pageMs = performance.now() - startedMs;
      const first = await withDeadline("the first result", DEADLINE_MS, signal, (inner) =>
        countersWhen(url, (count) => count > 0, inner),
      );
      await withDeadline("more results", DEADLINE_MS, signal, (inner) =>
        countersWhen(url, (count) => count >= results, inner),
      );
      process.kill(relayer.pid, "SIGKILL");
      await relayer.ended;
      return { pageMs, firstMs: first.atMs - startedMs };
    };
    await live(6 * QUERIES);
    const afterKill: Awaited<ReturnType<typeof live>>[] = [];
    for (let run = 0; run < (quick ? 1 : 5); run++) afterKill.push(await live(3 * QUERIES));
    await withDeadline("the other program", DEADLINE_MS, signal, (inner) => sendHistory(urls, inner));
    const afterHistory = await live(QUERIES);
    const firsts = afterKill.map(({ firstMs }) => firstMs);
    const row = (name: string, ms: number, wanted: string, note: string): BenchRow => ({
      name: `first result in a block after ${name}`,
      value: ms / 1_000,
      unit: "s",
      note: `${note}; from the start of the process, blocks of ${BLOCK_TIME_MS} ms, ${QUERIES} queries`,
      beside: wanted,
    });
    return [
      row("kill -9", median(firsts), "at most 5 wanted", `median of ${firsts.length}`),
      row("kill -9, longest", Math.max(...firsts), "at most 5 wanted", `of ${firsts.length}`),
      {
        name: "the part of it until the page of the process responds",
        value: median(afterKill.map(({ pageMs }) => pageMs)) / 1_000,
        unit: "s",
        note: `median of ${firsts.length}`,
      },
      row(
        `${HISTORY} transactions of another program`,
        afterHistory.firstMs,
        "at most 10 wanted",
        "with the state of the killed process",
      ),
    ];
  } finally {
    await Promise.all(running.map((one) => one.stop()));
    release();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Sends transactions with the account of the relayer, and waits until all are in blocks. */
async function sendHistory(urls: ChainUrls, signal: AbortSignal): Promise<void> {
  const { address, mnemonic } = accountNamed(CHAINS.local, "relayer");
  const { chainId, bech32Prefix, denom } = CHAINS.local;
  const deps = { clock: systemClock, random: Math.random, logger: silentLogger };
  const client = createChainClient(
    { endpoints: [{ url: urls.local }], chainId },
    { ...deps, observer: silentObserver },
  );
  const signer = await createSigner({ kind: "mnemonic", mnemonic: new Secret(mnemonic) }, bech32Prefix);
  const [multiplier, cap, fallback] = [parseDec18("1.5"), parseDec18("10"), parseDec18("0.01")];
  const window = createTxWindow(
    { chainId, memo: "", gasPrice: { denom, multiplier, cap, fallback } },
    { ...deps, client, signer },
  );
  const amount = [{ denom, amount: "1" }];
  const value = MsgSend.encode({ fromAddress: address, toAddress: address, amount }).finish();
  const draft = { messages: [{ typeUrl: "/cosmos.bank.v1beta1.MsgSend", value }], gasLimit: SEND_GAS };
  let included = 0;
  try {
    while (included < HISTORY) {
      const { latestHeight } = await client.status(signal);
      if (window.inFlight().length === 0) {
        const at = { height: latestHeight, gasPrice: await window.gasPrice(signal) };
        await window.broadcast(
          Array.from({ length: PER_BLOCK }, () => draft),
          at,
          signal,
        );
      }
      const finals = await window.confirm(latestHeight, signal);
      included += finals.filter(({ confirmation }) => confirmation.kind === "included").length;
      await systemClock.sleep(100, signal);
    }
  } finally {
    client.close();
  }
}
