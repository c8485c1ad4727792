import { createSteppingClock } from "../../support/manual-clock.ts";
import { beforeEach, describe, expect, it } from "vitest";
import { toHex, utf8 } from "../../../src/platform/base/bytes.ts";
import { parseDec18 } from "../../../src/platform/base/decimal.ts";
import { silentLogger } from "../../../src/platform/base/logger.ts";
import { Secret } from "../../../src/platform/base/secret.ts";
import { createTxSender } from "../../../src/cosmos/client/tx/create-tx-sender.ts";
import { ClientError } from "../../../src/cosmos/client-error.ts";
import type { WindowLimits } from "../../../src/cosmos/client/tx/create-tx-window.ts";
import { createSigner, type Signer } from "../../../src/cosmos/client/tx/signer.ts";
import type { SendOutcome, TxSender, WireMessage } from "../../../src/cosmos/client/tx/tx-types.ts";
import { createFakeChain, type FakeChain } from "../../support/client/fake-chain.ts";

const signal = new AbortController().signal;
const messages: readonly WireMessage[] = [{ typeUrl: "/a.B", value: utf8("payload") }];

let signer: Signer;
let chain: FakeChain;

beforeEach(async () => {
  signer = await createSigner({ kind: "private-key", hex: new Secret("11".repeat(32)) }, "neutron");
  chain = createFakeChain(signer.address);
});

/** A sender on the fake chain. Each sleep produces a block. */
function senderOn(limits: Partial<WindowLimits> = {}, cap = "1"): TxSender {
  return createTxSender(
    {
      chainId: "test-1",
      memo: "relay",
      gasPrice: { denom: "untrn", multiplier: parseDec18("1.5"), cap: parseDec18(cap) },
      limits,
    },
    {
      client: chain.client,
      signer,
      clock: createSteppingClock(chain.mine),
      random: () => 0.5,
      logger: silentLogger,
    },
  );
}

function send(sender: TxSender): Promise<SendOutcome> {
  return sender.send(messages, 100_000n, signal);
}

/** Sequences of the broadcasts so far. */
function sequences(): readonly (bigint | undefined)[] {
  return chain.broadcasts.map(({ authInfo }) => authInfo.signerInfos[0]?.sequence);
}

describe("send", () => {
  it("prices, signs and broadcasts a transaction and finds it in a block", async () => {
    const outcome = await send(senderOn());
    const [tx] = chain.broadcasts;
    expect(outcome).toMatchObject({
      gasLimit: 100_000n,
      feeAmount: 375n,
      confirmation: { kind: "included", height: 101n, gasUsed: 90_000n, gasWanted: 100_000n },
    });
    expect(toHex(outcome.hash)).toBe(tx?.hash);
    expect(tx?.body).toMatchObject({ memo: "relay", timeoutHeight: 120n });
    expect(tx?.authInfo.fee).toMatchObject({
      amount: [{ denom: "untrn", amount: "375" }],
      gasLimit: 100_000n,
    });
    expect(tx?.raw.signatures[0]).toHaveLength(64);
  });

  it("ends at its deadline when the chain dies after the broadcast", async () => {
    const dead = new ClientError({ code: "unreachable", endpoint: "a", reason: "ECONNREFUSED" }, "refused");
    const { status } = chain.client;
    let calls = 0;
    const client = {
      ...chain.client,
      status: async (given: AbortSignal) => {
        calls += 1;
        if (calls > 1) throw dead;
        return status(given);
      },
    };
    const clock = createSteppingClock(() => {});
    const sender = createTxSender(
      {
        chainId: "test-1",
        memo: "",
        gasPrice: { denom: "untrn", multiplier: parseDec18("1.5"), cap: parseDec18("1") },
      },
      { client, signer, clock, random: () => 0.5, logger: silentLogger },
    );
    await expect(send(sender)).rejects.toThrow(
      /^the chain had no new block for 90 s: unknown whether transaction [0-9A-F]{64} is in a block$/i,
    );
    expect(calls).toBeGreaterThan(100);
    expect(calls).toBeLessThan(200);
  });

  it("uses the next sequence after an inclusion without reading the account again", async () => {
    const sender = senderOn();
    await Promise.all([send(sender), send(sender), send(sender)]);
    expect(sequences()).toEqual([40n, 41n, 42n]);
    expect(chain.calls.filter((call) => call.endsWith("/Account"))).toHaveLength(1);
  });

  it("sends once more after a block when the sequence was stale", async () => {
    const sender = senderOn();
    await send(sender);
    chain.useElsewhere();
    expect((await send(sender)).confirmation.kind).toBe("included");
    expect(sequences()).toEqual([40n, 41n, 42n]);
  });

  it("succeeds after a refused transaction that the node counts until the next block", async () => {
    chain.broadcastResults.push("out-of-gas");
    const sender = senderOn();
    expect((await send(sender)).confirmation).toMatchObject({ kind: "refused", code: 11, codespace: "sdk" });
    expect((await send(sender)).confirmation.kind).toBe("included");
    expect(sequences()).toEqual([40n, 40n, 40n]);
  });

  it("returns the code of a transaction that fails in the block, and uses the next sequence", async () => {
    chain.broadcastResults.push("fails-in-block");
    const sender = senderOn();
    expect((await send(sender)).confirmation).toMatchObject({ kind: "failed", code: 5, log: "reason" });
    expect((await send(sender)).confirmation.kind).toBe("included");
    expect(sequences()).toEqual([40n, 41n]);
  });

  it("sends the same bytes again when the response was lost", async () => {
    chain.broadcastResults.push("unanswered");
    expect((await send(senderOn())).confirmation.kind).toBe("included");
    expect(new Set(chain.broadcasts.map(({ hash }) => hash)).size).toBe(1);
  });

  it("sends again when the transaction did not arrive", async () => {
    chain.broadcastResults.push("unreachable", "unreachable", "good");
    expect((await send(senderOn())).confirmation.kind).toBe("included");
    expect(chain.broadcasts.length).toBeGreaterThanOrEqual(3);
    expect(new Set(chain.broadcasts.map(({ hash }) => hash)).size).toBe(1);
  });

  it("returns lost after the timeout height when no broadcast arrived", async () => {
    chain.broadcastResults.push(...Array.from({ length: 40 }, () => "unreachable" as const));
    const outcome = await send(senderOn({ timeoutBlocks: 5n }));
    expect(outcome.confirmation).toEqual({
      kind: "lost",
      reason: "not in a block up to its timeout height 105",
    });
  });

  it("broadcasts a transaction again that the mempool dropped", async () => {
    chain.broadcastResults.push("vanish");
    expect((await send(senderOn())).confirmation.kind).toBe("included");
    expect(new Set(chain.broadcasts.map(({ hash }) => hash)).size).toBe(1);
  });

  it("returns lost when no block takes the transaction, and uses its sequence again", async () => {
    chain.broadcastResults.push(...Array.from({ length: 40 }, () => "vanish" as const));
    const sender = senderOn({ timeoutBlocks: 5n });
    expect((await send(sender)).confirmation.kind).toBe("lost");
    chain.broadcastResults.length = 0;
    expect((await send(sender)).confirmation.kind).toBe("included");
    expect(new Set(sequences())).toEqual(new Set([40n]));
  });

  it("returns lost at the deadline when the chain has halted", async () => {
    const sender = createTxSender(
      {
        chainId: "test-1",
        memo: "",
        gasPrice: { denom: "untrn", multiplier: parseDec18("1"), cap: parseDec18("1") },
        limits: { confirmDeadlineMs: 4_000 },
      },
      { client: chain.client, signer, clock: createSteppingClock(), random: () => 0.5, logger: silentLogger },
    );
    expect((await send(sender)).confirmation).toEqual({
      kind: "lost",
      reason: "not in a block before its deadline",
      isUncertain: true,
    });
  });

  it("throws when the mempool is full or the gas price exceeds the cap", async () => {
    chain.broadcastResults.push("mempool-full");
    await expect(send(senderOn())).rejects.toThrow("mempool is full");
    await expect(send(senderOn({}, "0.002"))).rejects.toThrow(/0\.0025\d* ?untrn exceeds the cap/);
    expect(chain.broadcasts).toHaveLength(1);
  });

  it("returns refused when the transaction is too large for the node, after one broadcast", async () => {
    chain.broadcastResults.push("too-large");
    expect((await send(senderOn())).confirmation).toMatchObject({
      kind: "refused",
      codespace: "sdk",
      code: 21,
    });
    expect(chain.broadcasts).toHaveLength(1);
  });

  it("stops waiting for its turn when its signal aborts", async () => {
    const sender = senderOn();
    const stop = new AbortController();
    const first = send(sender);
    const second = sender.send(messages, 1n, stop.signal);
    const third = send(sender);
    stop.abort(new Error("asked to stop"));
    await expect(second).rejects.toThrow("asked to stop");
    expect([(await first).confirmation.kind, (await third).confirmation.kind]).toEqual([
      "included",
      "included",
    ]);
    expect(sequences()).toEqual([40n, 41n]);
  });
});

describe("simulate", () => {
  it("reports a transaction whose request is too large for the node", async () => {
    chain.maxSimulatedBytes = 100;
    expect(await senderOn().simulate(messages, signal)).toMatchObject({
      ok: false,
      code: 21,
      codespace: "sdk",
      failedMessage: undefined,
    });
  });

  it("returns the gas", async () => {
    expect(await senderOn().simulate(messages, signal)).toEqual({ ok: true, gasUsed: 136_165n });
  });

  it("uses the sequence that the node expects when ours is stale", async () => {
    const sender = senderOn();
    await sender.simulate(messages, signal);
    chain.useElsewhere();
    expect(await sender.simulate(messages, signal)).toEqual({ ok: true, gasUsed: 136_165n });
  });

  it("returns the index of the message that failed", async () => {
    chain.simulationLog = "failed to execute message; message index: 2: invalid proof: invalid request";
    expect(await senderOn().simulate(messages, signal)).toMatchObject({
      ok: false,
      code: 18,
      codespace: "sdk",
      failedMessage: 2,
    });
  });

  it("throws when the account does not exist", async () => {
    const log = "rpc error: code = NotFound desc = account neutron1 not found: key not found";
    const client = {
      ...chain.client,
      grpcQuery: () =>
        Promise.reject(new ClientError({ code: "abci", path: "", abciCode: 22, codespace: "sdk", log }, log)),
    };
    const sender = createTxSender(
      {
        chainId: "test-1",
        memo: "",
        gasPrice: { denom: "untrn", multiplier: parseDec18("1"), cap: parseDec18("1") },
      },
      { client, signer, clock: createSteppingClock(), random: () => 0, logger: silentLogger },
    );
    await expect(sender.simulate(messages, signal)).rejects.toThrow(/does not exist on the chain yet/);
  });
});
