import { systemClock } from "../../../src/platform/base/clock.ts";
import { parseDec18 } from "../../../src/platform/base/decimal.ts";
import { isRecord, type JsonObject, stringifyJson } from "../../../src/platform/base/json.ts";
import { silentLogger } from "../../../src/platform/base/logger.ts";
import { Secret } from "../../../src/platform/base/secret.ts";
import { createChainClient } from "../../../src/cosmos/client/create-chain-client.ts";
import { silentObserver } from "../../../src/cosmos/client/rpc-caller.ts";
import { createTxSender } from "../../../src/cosmos/client/tx/create-tx-sender.ts";
import { createSigner } from "../../../src/cosmos/client/tx/signer.ts";
import type { RunningNode } from "../../../src/localnet/node/create-node.ts";
import { createLocalnet } from "../../../src/localnet/network/create-localnet.ts";
import { accountNamed, type ChainProfile, CHAINS } from "../../../src/localnet/accounts/chains.ts";
import { messageFromJson, messageToJson } from "../../../src/cosmos/proto/json.ts";

const deps = { clock: systemClock, random: Math.random, logger: silentLogger };

/** One chain of a localnet with the account alice. */
export interface ChainEnd {
  readonly node: RunningNode;
  readonly address: string;
  readonly send: (...messages: readonly JsonObject[]) => Promise<void>;
  readonly query: (path: string, request: JsonObject) => JsonObject;
}

/** Returns a text, or throws. */
export function textOf(value: unknown): string {
  if (typeof value !== "string") throw new Error("a text was expected");
  return value;
}

/** Opens the account alice of a chain. */
export async function openEnd(
  profile: ChainProfile,
  node: RunningNode | undefined,
  signal: AbortSignal,
): Promise<ChainEnd> {
  if (node === undefined) throw new Error("the chain does not run");
  const url = `http://127.0.0.1:${node.ports.get("rpc")}`;
  const client = createChainClient(
    { endpoints: [{ url }], chainId: profile.chainId },
    { ...deps, observer: silentObserver },
  );
  const mnemonic = new Secret(accountNamed(profile, "alice").mnemonic);
  const signer = await createSigner({ kind: "mnemonic", mnemonic }, profile.bech32Prefix);
  const gasPrice = { denom: profile.denom, multiplier: parseDec18("1.2"), cap: parseDec18("1") };
  const sender = createTxSender(
    { chainId: profile.chainId, memo: "", gasPrice },
    { client, signer, ...deps },
  );
  return {
    node,
    address: sender.address,
    send: async (...messages) => {
      const wire = messages.map(({ "@type": type, ...fields }) => {
        const typeUrl = textOf(type);
        return { typeUrl, value: messageFromJson(typeUrl.slice(1), fields) };
      });
      const { confirmation } = await sender.send(wire, 5_000_000n + 300_000n * BigInt(wire.length), signal);
      if (confirmation.kind !== "included") throw new Error(stringifyJson(confirmation));
    },
    query: (path, request) => {
      const rpc = path.slice(path.lastIndexOf("/") + 1);
      const base = `${path.slice(1, path.lastIndexOf(".Query/"))}.Query${rpc}`;
      const bytes = messageFromJson(`${base}Request`, request);
      const { value, code, log } = node.view.query({ path, data: bytes, height: 0n, prove: false });
      if (code !== 0) throw new Error(log);
      const json = messageToJson(`${base}Response`, value);
      if (!isRecord(json)) throw new Error("not an object");
      return json;
    },
  };
}

/** Starts a localnet of two connected chains with some blocks, and opens the account alice of both. */
export async function startBothEnds() {
  const end = new AbortController();
  const free = { host: "127.0.0.1", port: 0, portOption: "--port" };
  const chain = { rpc: free, validatorPowers: [10n, 5n] };
  const localnet = createLocalnet(
    {
      chains: { local: chain, remote: { ...chain, localPowers: [10n, 5n] } },
      blockTimeMs: 100,
      remoteRpcUrl: "http://127.0.0.1:1",
    },
    { clock: systemClock, logger: silentLogger },
  );
  const done = localnet.run(end.signal);
  done.catch(() => {});
  const { chains } = await localnet.ready;
  const local = await openEnd(CHAINS.local, chains.local, end.signal);
  const remote = await openEnd(CHAINS.remote, chains.remote, end.signal);
  for (const { node } of [local, remote]) node.control.produce(3);
  const stop = async (): Promise<void> => {
    end.abort(new Error("the test is over"));
    await done;
  };
  return { local, remote, stop };
}
