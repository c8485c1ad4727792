import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toHex, utf8 } from "../../../../src/platform/base/bytes.ts";
import { systemClock } from "../../../../src/platform/base/clock.ts";
import { parseDec18 } from "../../../../src/platform/base/decimal.ts";
import { silentLogger } from "../../../../src/platform/base/logger.ts";
import { createApp } from "../../../../src/localnet/chain/app.ts";
import {
  createChainClient,
  type PooledChainClient,
} from "../../../../src/cosmos/client/create-chain-client.ts";
import { createTxSender } from "../../../../src/cosmos/client/tx/create-tx-sender.ts";
import { createSigner, type Signer } from "../../../../src/cosmos/client/tx/signer.ts";
import { silentObserver } from "../../../../src/cosmos/client/rpc-caller.ts";
import type { TxSender, WireMessage } from "../../../../src/cosmos/client/tx/tx-types.ts";
import { createWebSocketSubscription } from "../../../../src/cosmos/client/events/websocket-subscription.ts";
import { verifyHeader } from "../../../../src/cosmos/comet/light-client.ts";
import { signedHeaderFromProto, validatorSetFromProto } from "../../../../src/cosmos/comet/proto-blocks.ts";
import { CHAINS, accountsOf } from "../../../../src/localnet/accounts/chains.ts";
import { localnetSeeds, remoteGenesis } from "../../../../src/localnet/genesis/genesis.ts";
import { Secret } from "../../../../src/platform/base/secret.ts";
import { MsgSend } from "../../../../src/cosmos/proto/gen/cosmos/bank/v1beta1/tx.ts";
import { SignedHeader } from "../../../../src/cosmos/proto/gen/tendermint/types/types.ts";
import { ValidatorSet } from "../../../../src/cosmos/proto/gen/tendermint/types/validator.ts";
import { startTestNode, type TestNode } from "../../../support/test-node.ts";

const CHAIN = CHAINS.remote;
const POWERS = [10n, 5n, 1n];
const signal = new AbortController().signal;
const deps = { clock: systemClock, random: Math.random, logger: silentLogger };

let node: TestNode;
let client: PooledChainClient;
let signer: Signer;

beforeAll(async () => {
  const timeNs = BigInt(Date.now()) * 1_000_000n;
  const genesis = remoteGenesis({ timeNs, validatorPowers: POWERS });
  node = await startTestNode(
    {
      chainId: CHAIN.chainId,
      powers: POWERS,
      validatorSeeds: localnetSeeds(CHAIN, POWERS.length),
      consensusPrefix: "cosmosvalcons",
      startHalted: false,
      blockTimeMs: 100,
    },
    {
      genesis: (stored) => stored ?? genesis,
      createApp: (storage) =>
        createApp({ kind: "remote", denom: CHAIN.denom, bech32Prefix: CHAIN.bech32Prefix }, { storage }),
    },
  );
  client = createChainClient(
    { endpoints: [{ url: node.rpcUrl }], chainId: CHAIN.chainId },
    { ...deps, observer: silentObserver },
  );
  const alice = accountsOf(CHAIN).find(({ name }) => name === "alice");
  signer = await createSigner(
    { kind: "mnemonic", mnemonic: new Secret(alice?.mnemonic ?? "") },
    CHAIN.bech32Prefix,
  );
});

afterAll(async () => {
  client.close();
  await node.stop();
});

async function untilHeight(height: bigint): Promise<void> {
  while ((await client.status(signal)).latestHeight < height)
    await new Promise((resolve) => setTimeout(resolve, 20));
}

function sender(): TxSender {
  return createTxSender(
    {
      chainId: CHAIN.chainId,
      memo: "",
      gasPrice: { denom: CHAIN.denom, multiplier: parseDec18("1.1"), cap: parseDec18("1") },
    },
    { ...deps, client, signer },
  );
}

function transfer(amount: string): WireMessage {
  const { address } = signer;
  const value = MsgSend.encode({
    fromAddress: address,
    toAddress: address,
    amount: [{ denom: CHAIN.denom, amount }],
  });
  return { typeUrl: "/cosmos.bank.v1beta1.MsgSend", value: value.finish() };
}

describe("the client against a running node", () => {
  it("reads light blocks that pass light-client verification", async () => {
    await untilHeight(4n);
    const blocks = await Promise.all([2n, 4n].map((height) => client.lightBlock(height, signal)));
    const [trusted, untrusted] = blocks.map((bytes) => ({
      ...signedHeaderFromProto(SignedHeader.decode(bytes.signedHeader)),
      validators: validatorSetFromProto(ValidatorSet.decode(bytes.validatorSet)),
    }));
    if (trusted === undefined || untrusted === undefined) throw new Error("no light blocks");
    expect(untrusted.validators.validators).toHaveLength(POWERS.length);
    verifyHeader(trusted, untrusted, {
      nowNs: untrusted.header.timeNs + 1n,
      trustingPeriodNs: 3_600_000_000_000n,
      maxClockDriftNs: 10_000_000_000n,
      trustLevel: { numerator: 1n, denominator: 3n },
    });
    expect((await client.comet.commit(4)).header.appHash).toEqual(untrusted.header.appHash);
  });

  it("reads a store with proof: present, absent, and a store that does not exist", async () => {
    await untilHeight(3n);
    const supply = utf8(`\u0000${CHAIN.denom}`);
    const read = (store: string, key: Uint8Array) => client.readStore({ store, key, height: 2n }, signal);
    const [present, absent, refused] = await Promise.all([
      read("bank", supply),
      read("bank", utf8("\u0000nothing")),
      read("nowhere", supply),
    ]);
    expect(present).toMatchObject({ code: 0, height: 2n });
    expect(present.value?.length).toBeGreaterThan(0);
    expect(present.proof.map(({ type }) => type)).toEqual(["ics23:iavl", "ics23:simple"]);
    expect(absent).toMatchObject({ code: 0, value: undefined });
    expect(absent.proof).toHaveLength(2);
    expect(refused).toMatchObject({ code: 4, value: undefined, proof: [] });
  });

  it("sends transactions one after the other and returns their final states", async () => {
    const account = sender();
    const simulated = await account.simulate([transfer("5")], signal);
    if (!simulated.ok) throw new Error(simulated.log);
    const gasLimit = (simulated.gasUsed * 13n) / 10n;
    const sent = await Promise.all(
      ["5", "6"].map((amount) => account.send([transfer(amount)], gasLimit, signal)),
    );
    expect(sent.map(({ confirmation }) => confirmation.kind)).toEqual(["included", "included"]);
    const tooMuch = await account.send([transfer("9".repeat(30))], gasLimit, signal);
    expect(tooMuch.confirmation).toMatchObject({ kind: "failed", codespace: "sdk", code: 5 });
    // Its messages failed after the fee was charged.
    expect(tooMuch.confirmation).not.toHaveProperty("isUnpaid");
    const after = await account.send([transfer("7")], gasLimit, signal);
    expect(after.confirmation.kind).toBe("included");
  });

  it("recovers when another process uses the account", async () => {
    const [one, other] = [sender(), sender()];
    const kinds: string[] = [];
    for (const account of [one, other, one, other])
      kinds.push((await account.send([transfer("1")], 200_000n, signal)).confirmation.kind);
    expect(kinds).toEqual(["included", "included", "included", "included"]);
  });

  it("returns refused for too little gas, and the next transaction succeeds", async () => {
    const account = sender();
    const refused = await account.send([transfer("1")], 2_000n, signal);
    expect(refused.confirmation).toMatchObject({ kind: "refused", codespace: "sdk", code: 11 });
    expect((await account.send([transfer("1")], 200_000n, signal)).confirmation.kind).toBe("included");
  });

  it("returns the index of the message that fails in a simulation", async () => {
    const outcome = await sender().simulate([transfer("1"), transfer("9".repeat(30))], signal);
    expect(outcome).toMatchObject({ ok: false, failedMessage: 1 });
  });

  it("follows blocks and transactions over WebSocket", async () => {
    const stop = new AbortController();
    const subscription = createWebSocketSubscription(
      {
        endpoints: [{ url: node.rpcUrl }],
        chainId: CHAIN.chainId,
        queries: [
          "tm.event='NewBlockHeader'",
          "tm.event='Tx' AND message.action='/cosmos.bank.v1beta1.MsgSend'",
        ],
      },
      deps,
    );
    const running = subscription.run(stop.signal);
    expect((await subscription.next(stop.signal)).kind).toBe("connected");
    const sent = await sender().send([transfer("3")], 200_000n, signal);
    expect(sent.confirmation.kind).toBe("included");
    const hashes: string[] = [];
    let blocks = 0;
    while (hashes.length === 0) {
      const notice = await subscription.next(stop.signal);
      if (notice.kind === "block") blocks += 1;
      if (notice.kind === "tx") hashes.push(toHex(notice.hash));
    }
    expect(hashes).toEqual([toHex(sent.hash)]);
    expect(blocks).toBeGreaterThan(0);
    stop.abort(new Error("test over"));
    await running;
  });
});
