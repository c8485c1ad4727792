import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createChainClient, type PooledChainClient } from "../../../src/cosmos/client/create-chain-client.ts";
import { silentObserver } from "../../../src/cosmos/client/rpc-caller.ts";
import { createTxSender } from "../../../src/cosmos/client/tx/create-tx-sender.ts";
import { confirmFlights } from "../../../src/cosmos/client/tx/flights.ts";
import { readAccount } from "../../../src/cosmos/client/tx/tx-queries.ts";
import { createSigner, type Signer } from "../../../src/cosmos/client/tx/signer.ts";
import { createProofVerifier } from "../../../src/cosmos/merkle/ics23/proof-verifier.ts";
import { MsgSend } from "../../../src/cosmos/proto/gen/cosmos/bank/v1beta1/tx.ts";
import { createApp } from "../../../src/localnet/chain/app.ts";
import { accountsOf, CHAINS } from "../../../src/localnet/accounts/chains.ts";
import { localnetSeeds, remoteGenesis } from "../../../src/localnet/genesis/genesis.ts";
import { utf8 } from "../../../src/platform/base/bytes.ts";
import { systemClock } from "../../../src/platform/base/clock.ts";
import { parseDec18 } from "../../../src/platform/base/decimal.ts";
import { errorText } from "../../../src/platform/base/errors.ts";
import { silentLogger } from "../../../src/platform/base/logger.ts";
import { Secret } from "../../../src/platform/base/secret.ts";
import { stringifyJson } from "../../../src/platform/base/json.ts";
import { parseConfig } from "../../../src/platform/config/config.ts";
import { withoutSecrets } from "../../../src/platform/config/config-fields.ts";
import { relayerConfigSchema } from "../../../src/relayer/config/relayer-config.ts";
import {
  matrixFindings,
  matrixText,
  readEndpointMatrix,
} from "../../../src/relayer/doctor/endpoint-matrix.ts";
import { createTxFinder } from "../../../src/relayer/tx/tx-finder.ts";
import { createTxProver } from "../../../src/relayer/tx/tx-prover.ts";
import { NODE_KINDS, type NodeKind, startNodeKind, type Use, USES } from "../../support/client/node-kinds.ts";
import { startTestNode, type TestNode } from "../../support/test-node.ts";

const CHAIN = CHAINS.remote;
const deps = { clock: systemClock, random: Math.random, logger: silentLogger };
/** Longer than each use needs on a node that serves it. */
const PATIENCE_MS = 8_000;
const forever = new AbortController().signal;

let node: TestNode;
let signer: Signer;
let direct: PooledChainClient;
/** A block with a transfer, and the hash of it. */
let known: { readonly height: bigint; readonly hash: Uint8Array };

function open(
  urls: readonly { readonly url: string; readonly headers?: Readonly<Record<string, Secret>> }[],
) {
  return createChainClient(
    {
      endpoints: urls,
      chainId: CHAIN.chainId,
      limits: {
        deadlineMs: 3_000,
        maxResponseBytes: 1_000_000,
        rest: { minMs: 50, baseMs: 100, maxMs: 200 },
      },
    },
    { ...deps, observer: silentObserver },
  );
}

function senderOver(client: PooledChainClient) {
  const gasPrice = { denom: CHAIN.denom, multiplier: parseDec18("1.1"), cap: parseDec18("1") };
  return createTxSender({ chainId: CHAIN.chainId, memo: "", gasPrice }, { ...deps, client, signer });
}

function transfer() {
  const { address } = signer;
  const amount = [{ denom: CHAIN.denom, amount: "5" }];
  const value = MsgSend.encode({ fromAddress: address, toAddress: address, amount }).finish();
  return { typeUrl: "/cosmos.bank.v1beta1.MsgSend", value };
}

beforeAll(async () => {
  const timeNs = BigInt(Date.now()) * 1_000_000n;
  const genesis = remoteGenesis({ timeNs, validatorPowers: [10n] });
  node = await startTestNode(
    {
      chainId: CHAIN.chainId,
      powers: [10n],
      validatorSeeds: localnetSeeds(CHAIN, 1),
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
  const alice = accountsOf(CHAIN).find(({ name }) => name === "alice");
  signer = await createSigner(
    { kind: "mnemonic", mnemonic: new Secret(alice?.mnemonic ?? "") },
    CHAIN.bech32Prefix,
  );
  direct = open([{ url: node.rpcUrl }]);
  const { confirmation, hash } = await senderOver(direct).send([transfer()], 200_000n, forever);
  if (confirmation.kind !== "included") throw new Error(confirmation.kind);
  known = { height: confirmation.height, hash };
  while ((await direct.status(forever)).latestHeight < known.height + 3n)
    await systemClock.sleep(20, forever);
});
afterAll(async () => {
  direct.close();
  await node.stop();
});

async function sequenceOf(signal: AbortSignal): Promise<bigint> {
  return (await readAccount(direct, signer.address, signal)).sequence;
}

/** What the relayer does with a remote or a local chain. Each rejects, or throws, with the reason when it cannot. */
const WORK: Readonly<Record<Use, (client: PooledChainClient, signal: AbortSignal) => Promise<unknown>>> = {
  KV: async (client, signal) => {
    const { latestHeight: height } = await direct.status(signal);
    const { appHash } = await client.lightBlock(height, signal);
    const key = utf8(`\u0000${CHAIN.denom}`);
    const verifier = createProofVerifier();
    // After a proof that does not verify, the relayer reads the values again.
    for (let tries = 1; ; tries++) {
      const read = await client.readStore({ store: "bank", key, height: height - 1n }, signal);
      const proof = verifier.decode(read.proof.map(({ data }) => data));
      const claim = proof.ok ? { root: appHash, store: "bank", key, proof: proof.value } : undefined;
      const result = claim && verifier.verifyMembership(claim, read.value ?? new Uint8Array());
      if (result?.ok === true) return;
      const reason = `the proof of ${read.endpoint} does not verify`;
      client.distrust(read.endpoint, reason);
      if (tries === 2) throw new Error(reason);
    }
  },
  TX: async (client, signal) => {
    const finder = createTxFinder(client, {
      connectionId: "connection-0",
      clock: systemClock,
      logger: silentLogger,
    });
    const conditions = [{ field: "transfer.recipient", op: "=", value: signer.address }] as const;
    const range = { from: known.height, to: known.height };
    const trusted = {
      height: { revision: 1n, height: 1n },
      validatorSet: (await direct.lightBlock(2n, signal)).validatorSet,
    };
    const trust = { below: () => Promise.resolve(trusted) };
    const intermediate = async () => trusted;
    const prover = createTxProver({ remote: client, trust, intermediate, revision: 1n }, signal);
    // After a wrong transaction, the relayer searches again.
    for (let tries = 1; ; tries++) {
      const { found } = await finder.find({ conditions, range, isHandled: () => false }, signal);
      expect(found).toHaveLength(1);
      try {
        expect(await prover.prove(known.height, found)).toHaveLength(1);
        return;
      } catch (error) {
        if (tries === 2 || prover.wrongEndpoints() === 0) throw error;
      }
    }
  },
  "client update": async (client, signal) => {
    const { latestHeight } = await direct.status(signal);
    expect((await client.lightBlock(latestHeight, signal)).height).toBe(latestHeight);
  },
  broadcast: async (client, signal) => {
    const before = await sequenceOf(signal);
    const { confirmation } = await senderOver(client).send([transfer()], 200_000n, signal);
    expect(confirmation.kind).toBe("included");
    // Once, and nothing in its place.
    expect((await sequenceOf(signal)) - before).toBe(1n);
  },
  confirmation: async (client, signal) => {
    const tx = { hash: known.hash, sequence: 0n, size: 1, gasLimit: 1n, feeAmount: 1n };
    const flight = {
      tx,
      bytes: new Uint8Array(1),
      timeoutHeight: known.height + 100n,
      deadlineMs: systemClock.monotonicMs() + 60_000,
      checkedAt: known.height - 1n,
      searchedTo: known.height - 1n,
      refused: undefined,
    };
    // Of a node without it in its index, the blocks are read when it is late and was broadcast again.
    const at = { height: known.height + 2n, isUncertain: false };
    const { finals } = await confirmFlights([flight], at, { client, clock: systemClock }, signal);
    expect(finals.map(({ confirmation }) => confirmation.kind)).toEqual(["included"]);
  },
};

/** Returns "served", or the reason that log and page have. */
async function outcomeOf(use: Use, urls: Parameters<typeof open>[0]): Promise<string> {
  const client = open(urls);
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(new Error("not served in time")), PATIENCE_MS);
  try {
    for (let cycle = 1; ; cycle++)
      try {
        await WORK[use](client, stop.signal);
        return "served";
      } catch (error) {
        // The relayer tries again in its next cycle. With a second endpoint, one must be enough.
        if (stop.signal.aborted || cycle === 3 || urls.length > 1) throw error;
      }
  } catch (error) {
    const shown = client.pool
      .health()
      .flatMap(({ lastError, lacks, distrusted }) => [
        lastError ?? "",
        distrusted ?? "",
        ...(lacks?.values() ?? []),
      ]);
    return `${errorText(error)}; ${shown.join("; ")}`;
  } finally {
    clearTimeout(timer);
    client.close();
  }
}

describe.each(NODE_KINDS)("a node: $name", (kind) => {
  const withNode = async (use: Use, isAlone: boolean): Promise<string> => {
    const server = await startNodeKind(kind, node.rpcUrl, known);
    const headers = Object.fromEntries(
      Object.entries(kind.headers ?? {}).map(([name, value]) => [name, new Secret(value)]),
    );
    try {
      return await outcomeOf(use, [{ url: server.url, headers }, ...(isAlone ? [] : [{ url: node.rpcUrl }])]);
    } finally {
      await server.close();
    }
  };
  it.each(USES)("alone serves %s, or says why not", async (use) => {
    const reason = kind.alone?.[use];
    const outcome = await withNode(use, true);
    if (reason === undefined) expect(outcome).toBe("served");
    else expect(outcome).toContain(reason);
  });
  it.each(USES)("as the first of two leaves %s to the second in the same read", async (use) => {
    expect(await withNode(use, false)).toBe("served");
  });
});

describe("the matrix of doctor", () => {
  const matrixOf = async (names: readonly string[], role: "local" | "remote") => {
    const kinds = names.flatMap((name) => NODE_KINDS.find((kind) => kind.name.startsWith(name)) ?? []);
    const servers = await Promise.all(kinds.map((kind) => startNodeKind(kind, node.rpcUrl, known)));
    opened.push(...servers);
    const rpc = servers.map(({ url }, index) => ({ url, name: `n${index}` }));
    const other = [{ url: node.rpcUrl, name: "other" }];
    const text = stringifyJson({
      chain: { id: role === "local" ? CHAIN.chainId : "other-1", rpc: role === "local" ? rpc : other },
      signer: { mnemonic: { env: "NONE" } },
      connections: [{ id: "connection-0", chain_id: CHAIN.chainId, rpc: role === "local" ? other : rpc }],
    });
    const config = withoutSecrets(() => parseConfig({ file: "test", text }, relayerConfigSchema()));
    const rows = await readEndpointMatrix(config, deps, forever);
    return { rows: rows.filter(({ endpoint }) => endpoint !== "other"), config };
  };
  const opened: { readonly close: () => Promise<void> }[] = [];
  afterEach(async () => {
    for (const server of opened.splice(0)) await server.close();
  });

  it("has what each endpoint can", async () => {
    const { rows } = await matrixOf(
      ["Tendermint 0.34", "batches of at most 2", "results discarded", "index in"],
      "remote",
    );
    const view = rows.map(({ endpoint, cells }) => [
      endpoint,
      cells.version.text,
      cells["calls in a batch"].text,
      cells["block results"].text,
      cells.index.text,
      cells.proofs.text,
    ]);
    const version = rows[1]?.cells.version.text;
    expect(view).toEqual([
      ["n0", "0.34.29", "10", "kept", "on", "yes"],
      ["n1", version, "2", "kept", "on", "yes"],
      ["n2", version, "10", "no", "on", "yes"],
      ["n3", version, "10", "kept", "no", "yes"],
    ]);
    const table = matrixText(rows).split("\n");
    expect(table.find((line) => line.startsWith("block results"))).toMatch(/kept +kept +no +kept$/);
    // Another endpoint has what one lacks.
    const findings = matrixFindings(rows, "other-1");
    expect(findings.map(({ subject, outcome }) => [subject, outcome])).toEqual([
      [`${CHAIN.chainId}: block results`, "good"],
      [`${CHAIN.chainId}: index`, "good"],
    ]);
  });

  it("is a problem with its remedy when no endpoint has what is needed", async () => {
    const { rows } = await matrixOf(["results discarded"], "remote");
    const [finding] = matrixFindings(rows, "other-1");
    expect(finding).toMatchObject({ outcome: "problem", subject: `${CHAIN.chainId}: block results` });
    expect(finding?.text).toContain("set storage.discard_abci_responses = false on the node");
    // The local chain's results are not proven.
    const local = await matrixOf(["results discarded"], "local");
    expect(matrixFindings(local.rows, CHAIN.chainId).filter(({ outcome }) => outcome === "problem")).toEqual(
      [],
    );
  });

  it("says why an endpoint does not respond", async () => {
    const { rows } = await matrixOf(["gateway page 502", "slow"], "remote");
    expect(matrixText(rows)).toContain("n0: n0 responded with HTTP status 502");
    expect(rows.map(({ cells }) => cells.height.text)).toEqual(["?", expect.stringMatching(/^\d+$/)]);
  });
});

it("the table of the documentation is this one", async () => {
  expect(NODE_KINDS.length).toBeGreaterThanOrEqual(16);
  await expect(tableOf(NODE_KINDS)).toMatchFileSnapshot("../../../docs/compatibility.md");
});

function tableOf(kinds: readonly NodeKind[]): string {
  const complete = kinds.filter(({ alone }) => alone === undefined).map(({ name }) => `- ${name}`);
  const rows = kinds.flatMap(({ name, alone }) => {
    if (alone === undefined) return [];
    const lacks = USES.filter((use) => alone[use] !== undefined);
    const reasons = [...new Set(Object.values(alone))].map((reason) => `\`${reason}\``);
    return [
      `| ${name} | ${lacks.length === USES.length ? "all" : lacks.join(", ")} | ${reasons.join(", ")} |`,
    ];
  });
  return `# Nodes the relayer can use

Generated by \`npm run compatibility\`, which tests each use (${USES.join(", ")}) with a real node behind a proxy.

These nodes serve all uses:

${complete.join("\n")}

If one of the following nodes is the only endpoint, the relayer lacks some uses. The relayer reports the reason in \`/readyz\`, on its page
and in its log; the last column quotes part of the reason. If a second endpoint can serve the use, the relayer tries it in the same read,
so nothing is lost or sent twice.

| kind of node | lacks | reason |
|---|---|---|
${rows.join("\n")}

If a node has no complete transaction index, the relayer makes one call per block instead of one search. [answers.ts](../src/cosmos/client/answers.ts) lists
the error texts, codes and HTTP statuses that mean "cannot", "cannot now" or "wrong request".
`;
}
