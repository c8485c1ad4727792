import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createApp } from "../../../../src/localnet/chain/app.ts";
import { CHAINS } from "../../../../src/localnet/accounts/chains.ts";
import { localnetSeeds, remoteGenesis } from "../../../../src/localnet/genesis/genesis.ts";
import { startTestNode, type TestNode } from "../../../support/test-node.ts";

interface RecordedCall {
  readonly request?: unknown;
  readonly path?: string;
  readonly status: number;
  readonly response: unknown;
}

const calls: readonly RecordedCall[] = JSON.parse(
  readFileSync(new URL("../../../fixtures/rpc.json", import.meta.url), "utf8"),
);

/** Recorded calls to the application whose result is the same on every SDK chain. */
const APP_CALLS = [31, 33, 49, 50, 52, 53, 54, 56, 57, 74, 84];

/** Removes the paths of the build and the height of the recorded chain from a response. */
function comparable(answer: unknown): unknown {
  const text = JSON.stringify(answer)
    .replaceAll(/ \[\/[^\]]*\]/g, "")
    .replaceAll('"height":"1556"', '"height":"latest"');
  return JSON.parse(text);
}

describe("results of the application through the RPC", () => {
  let node: TestNode;
  beforeAll(async () => {
    const chain = CHAINS.remote;
    const made = remoteGenesis({ timeNs: 1_700_000_000_000_000_000n, validatorPowers: [10n] });
    const genesis = { ...made, appState: {} }; // the recorded calls ask for addresses of another prefix
    node = await startTestNode(
      { validatorSeeds: localnetSeeds(chain, 1) },
      {
        genesis: () => genesis,
        createApp: (storage) =>
          createApp({ kind: "remote", denom: chain.denom, bech32Prefix: "neutron" }, { storage }),
      },
    );
    node.control.produce(5);
  });
  afterAll(() => node.stop());

  it.each(
    APP_CALLS.map((index) => ({
      index,
      name: JSON.stringify(calls[index]?.request ?? calls[index]?.path).slice(0, 100),
    })),
  )("$index $name", async ({ index }) => {
    const call = calls[index] ?? expect.unreachable("no such call");
    const answer =
      call.path === undefined
        ? await fetch(node.rpcUrl, { method: "POST", body: JSON.stringify(call.request) })
        : await fetch(`${node.rpcUrl}${encodeURI(call.path)}`);
    expect(answer.status).toBe(call.status);
    const ours = JSON.stringify(await answer.json()).replaceAll('"height":"5"', '"height":"latest"');
    expect(comparable(JSON.parse(ours))).toEqual(comparable(call.response));
  });
});
