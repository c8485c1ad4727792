import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CHAINS } from "../../../../src/localnet/accounts/chains.ts";
import { createLocalAccount } from "../../../../src/localnet/accounts/local-account.ts";
import { createSnapshots } from "../../../../src/localnet/control/snapshots.ts";
import { createLocalnet } from "../../../../src/localnet/network/create-localnet.ts";
import type { RunningNode } from "../../../../src/localnet/node/create-node.ts";
import { MsgSend } from "../../../../src/cosmos/proto/gen/cosmos/bank/v1beta1/tx.ts";
import { MsgUpdateClient } from "../../../../src/cosmos/proto/gen/ibc/core/client/v1/tx.ts";
import { Header } from "../../../../src/cosmos/proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import { TYPE_URL } from "../../../../src/cosmos/proto/registry.ts";
import { toHex } from "../../../../src/platform/base/bytes.ts";
import { DAY_MS } from "../../../../src/platform/base/time.ts";
import { silentLogger } from "../../../../src/platform/base/logger.ts";
import { createManualClock } from "../../../support/manual-clock.ts";

const START = Date.parse("2026-11-28T12:00:00Z");
const free = { host: "127.0.0.1", port: 0, portOption: "--port" };

const NO_HEADER = { validatorSet: undefined, trustedHeight: undefined, trustedValidators: undefined };

/** Cycles of the test that counts them: `RELAYWATCH_REVERTS=200` for a long run. */
const CYCLES = Number(process.env["RELAYWATCH_REVERTS"] ?? 6);

let home: string;
const ends: (() => Promise<void>)[] = [];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "relaywatch-snapshots-"));
});
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
  rmSync(home, { recursive: true, force: true });
});

/** Starts both chains with a clock that stands still. Blocks are made by `blocks` only. */
async function start(state?: string) {
  const stop = new AbortController();
  const localnet = createLocalnet(
    {
      chains: {
        local: { rpc: free, validatorPowers: [10n, 4n] },
        remote: { rpc: free, validatorPowers: [10n] },
      },
      blockTimeMs: 1_000,
      remoteRpcUrl: "http://127.0.0.1:1",
      ...(state === undefined ? {} : { home: state }),
    },
    { clock: createManualClock(START), logger: silentLogger },
  );
  const done = localnet.run(stop.signal);
  done.catch(() => {});
  const { chains } = await localnet.ready;
  const { local, remote } = chains;
  if (local === undefined || remote === undefined) throw new Error("both chains were expected");
  const nodes: readonly RunningNode[] = [local, remote];
  await expect.poll(() => nodes.map(({ view }) => view.status().latestHeight > 0n)).toEqual([true, true]);
  const { clock } = localnet;
  const end = async (): Promise<void> => {
    stop.abort(new Error("test over"));
    await done;
  };
  ends.push(end);
  const account = createLocalAccount(CHAINS.local, "alice");
  const transfer = (amount: bigint) => {
    const coins = [{ denom: "untrn", amount: amount.toString() }];
    const { address } = account;
    const value = MsgSend.encode({ fromAddress: address, toAddress: address, amount: coins }).finish();
    return { typeUrl: TYPE_URL.send, value };
  };
  return {
    nodes,
    local,
    clock,
    end: async () => {
      ends.splice(ends.indexOf(end), 1);
      await end();
    },
    snapshots: createSnapshots(nodes, clock, state),
    /** Broadcasts a client update with the header of this block, behind a transfer. Returns why CheckTx refuses it. */
    update: async (hash: Uint8Array): Promise<string> => {
      const commit = { height: 1n, round: 0, signatures: [], blockId: { hash, partSetHeader: undefined } };
      const header = Header.encode({ ...NO_HEADER, signedHeader: { header: undefined, commit } }).finish();
      const clientMessage = { typeUrl: TYPE_URL.tendermintHeader, value: header };
      const fields = { clientId: "07-tendermint-0", clientMessage, signer: account.address };
      const messages = [
        transfer(1n),
        { typeUrl: TYPE_URL.updateClient, value: MsgUpdateClient.encode(fields).finish() },
      ];
      const draft = { messages, memo: "", gasLimit: 300_000n, fee: { denom: "untrn", amount: 10_000n } };
      return (await account.broadcast(local.view, draft)).check.log;
    },
    /** Makes blocks a second apart, each with a transaction of the local chain. */
    blocks: async (count: number, amount = 1n): Promise<void> => {
      for (let made = 0; made < count; made += 1) {
        clock.set(clock.nowMs() + 1_000);
        const fee = { denom: "untrn", amount: 10_000n };
        const messages = [transfer(amount)];
        await account.broadcast(local.view, { messages, memo: "", gasLimit: 300_000n, fee });
        for (const { control } of nodes) control.produce(1);
      }
    },
    heads: () => nodes.map(({ view }) => headOf(view.status())),
  };
}

function headOf({ latestHeight, latestHash, latestAppHash }: ReturnType<RunningNode["view"]["status"]>) {
  return `${latestHeight} ${toHex(latestHash)} ${toHex(latestAppHash)}`;
}

describe("snapshot and revert", () => {
  it.each([
    ["in memory", false],
    ["on disk", true],
  ])(`leave no trace in the chains, %s, after ${CYCLES} times`, { timeout: 300_000 }, async (_, onDisk) => {
    const straight = await start();
    await straight.blocks(30);
    const net = await start(onDisk ? home : undefined);
    await net.blocks(5);
    const { id } = net.snapshots.take();
    const before = net.heads();
    const sizes: number[] = [];
    for (let cycle = 0; cycle < CYCLES; cycle += 1) {
      await net.blocks(3, 7n);
      net.clock.set(net.clock.nowMs() + 40 * DAY_MS);
      await net.blocks(2, 8n);
      net.snapshots.revert(id);
      expect(net.heads()).toEqual(before);
      if (onDisk) sizes.push(statSync(join(home, "local-1", "node.db")).size);
    }
    expect(sizes.at(-1)).toBe(sizes.at(4));
    await net.blocks(25);
    expect(net.heads()).toEqual(straight.heads());
    for (let height = 1n; height <= 30n; height += 1n)
      for (const [index, { view }] of net.nodes.entries()) {
        const other = straight.nodes[index]?.view;
        expect(view.block(height)).toEqual(other?.block(height));
        expect(view.validators(height)).toEqual(other?.validators(height));
        expect(view.results(height)?.appHash).toEqual(other?.results(height)?.appHash);
      }
    const search = { query: "tx.height>0", order: "asc", page: 1, perPage: 100 } as const;
    expect(net.local.view.searchTxs(search).total).toBe(straight.local.view.searchTxs(search).total);
  });

  it("go on after a restart, and finish what a killed process began", async () => {
    const first = await start(home);
    await first.blocks(4);
    const taken = first.snapshots.take();
    const kept = first.heads();
    await first.blocks(3);
    await first.end();
    const second = await start(home);
    expect(second.snapshots.list()).toEqual([taken]);
    await second.blocks(2);
    const gone = second.nodes.map(({ view }) => view.status().latestHash);
    // As after a kill between the two chains.
    const local = second.nodes[0];
    local?.control.revert(taken.heights["local-1"] ?? 0n);
    await second.end();
    const texts = Object.fromEntries(Object.entries(taken.heights).map(([chain, at]) => [chain, `${at}`]));
    writeFileSync(join(home, "revert.json"), JSON.stringify(texts));
    const third = await start(home);
    const refusals = await Promise.all(gone.map(third.update));
    expect(refusals).toEqual(gone.map(() => expect.stringMatching("^a revert has removed block")));
    await third.blocks(1);
    const parents = third.nodes.map(({ view, genesis }) => {
      const next = view.block((taken.heights[genesis.chainId] ?? 0n) + 1n);
      return toHex(next?.header.lastBlockId.hash ?? new Uint8Array());
    });
    expect(parents).toEqual(kept.map((head) => head.split(" ")[1]));
    await third.end();
    writeFileSync(join(home, "revert.json"), "");
    await (await start(home)).blocks(1);
  });

  it("let no client be updated to a block that is gone, until the chain makes it again", async () => {
    const net = await start();
    await net.blocks(2);
    const kept = net.nodes.map(({ view }) => view.status().latestHash);
    const { id } = net.snapshots.take();
    const startMs = net.clock.nowMs();
    await net.blocks(3);
    const gone = net.nodes.map(({ view }) => view.status().latestHash);
    const texts = (hashes: readonly Uint8Array[]) => Promise.all(hashes.map(net.update));
    const other = /^(?!.*a revert has removed)./;
    const refused = gone.map((hash) =>
      expect.stringMatching(`^a revert has removed block ${toHex(hash).toUpperCase()} from its chain`),
    );
    expect(await texts(gone)).toEqual(gone.map(() => expect.stringMatching(other)));
    net.snapshots.revert(id);
    expect(await texts(gone)).toEqual(refused);
    expect(await texts(kept)).toEqual(kept.map(() => expect.stringMatching(other)));
    // A second revert does not forget what the first has removed.
    net.snapshots.revert(id);
    expect(await texts(gone)).toEqual(refused);
    net.clock.set(startMs);
    await net.blocks(3);
    expect(net.nodes.map(({ view }) => view.status().latestHash)).toEqual(gone);
    expect(await texts(gone)).toEqual(gone.map(() => expect.stringMatching(other)));
  });

  it("know what they cannot go back to", async () => {
    const net = await start();
    const refusal = (work: () => unknown): string => {
      try {
        return String(work());
      } catch (error) {
        return error instanceof Error ? error.message : "";
      }
    };
    expect(refusal(() => net.snapshots.revert(1))).toContain("no snapshot 1; there are no snapshots");
    const [one, two] = [net.snapshots.take(), net.snapshots.take()];
    await net.blocks(1);
    const three = net.snapshots.take();
    net.snapshots.revert(one.id);
    expect(net.snapshots.list().map(({ id }) => id)).toEqual([one.id, two.id]);
    expect(refusal(() => net.snapshots.revert(three.id))).toContain("available: 1, 2");
    net.snapshots.remove(one.id);
    for (let more = 0; more < 19; more += 1) net.snapshots.take();
    expect(refusal(net.snapshots.take)).toContain("limit of 20 snapshots reached");
  });
});
