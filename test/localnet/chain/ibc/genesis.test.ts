import { describe, expect, it } from "vitest";
import { toHex } from "../../../../src/platform/base/bytes.ts";
import { exportGenesis, initGenesis } from "../../../../src/localnet/chain/modules/ibc/module.ts";
import { ibcKeeper } from "../../../../src/localnet/chain/modules/ibc/keeper.ts";
import { openConnectionGenesis } from "../../../../src/localnet/chain/modules/ibc/open-connection.ts";
import { createSigners, signBlock } from "../../../support/comet/signed-chain.ts";
import { clientStatus } from "../../../support/ibc/client-status.ts";
import { createMemoryChain, type MemoryChain } from "../../../support/ibc/memory-chain.ts";
import { readRecordedClient } from "../../../support/ibc/recorded-client.ts";

const HOUR = 3_600_000_000_000n;
const SETTINGS = { trustingPeriodNs: HOUR, unbondingPeriodNs: 2n * HOUR, maxClockDriftNs: 10_000_000_000n };

function contents(chain: MemoryChain): readonly string[] {
  return Array.from(chain.store.iterate(), ([key, value]) => `${toHex(key)} ${toHex(value)}`);
}

describe("genesis", () => {
  it("restores the same store from an export", () => {
    const chain = createMemoryChain("test-1");
    const context = chain.at(2500n, 1_795_263_966_000_000_000n);
    initGenesis(context, undefined);
    readRecordedClient().install(context);
    const exported = exportGenesis(context);
    const copy = createMemoryChain("test-1");
    initGenesis(copy.at(2500n, context.timeNs), JSON.parse(JSON.stringify(exported)));
    expect(contents(chain)).toHaveLength(490 * 4 + 11);
    expect(contents(copy)).toEqual(contents(chain));
    expect(exportGenesis(copy.at(2500n, context.timeNs))).toEqual(exported);
  });

  it("with an open connection has an active client", () => {
    const signers = createSigners("genesis", [1n]);
    const remote = signBlock(signers, { chainId: "remote-1", height: 7n });
    const chain = createMemoryChain("local-1");
    const context = chain.at(1n, remote.header.timeNs);
    const genesis = openConnectionGenesis({
      remote,
      settings: SETTINGS,
      ownChainId: "local-1",
      ownTimeNs: remote.header.timeNs,
    });
    initGenesis(context, genesis);
    expect(ibcKeeper.connectionClientId(context, "connection-0")).toBe("07-tendermint-0");
    expect(clientStatus(context, "07-tendermint-0")).toBe("Active");
    const height = { revisionNumber: 1n, revisionHeight: 7n };
    expect(ibcKeeper.clientLatestHeight(context, "07-tendermint-0")).toEqual(height);
    expect(toHex(ibcKeeper.consensusRoot(context, "07-tendermint-0", height) ?? new Uint8Array(0))).toBe(
      toHex(remote.header.appHash),
    );
  });

  it.each([
    [[], "app_state.ibc: not an object"],
    [{ client_genesis: 3 }, "app_state.ibc.client_genesis: not an object"],
    [{ client_genesis: { clients: {} } }, "app_state.ibc.client_genesis.clients: not a list"],
    [{ client_genesis: { clients: [{}] } }, "app_state.ibc.client_genesis.clients[0].client_id: not present"],
    [
      { client_genesis: { next_client_sequence: "18446744073709551616" } },
      "app_state.ibc.client_genesis.next_client_sequence: not an unsigned 64-bit integer",
    ],
    [
      { channel_genesis: { channels: [{}] } },
      "app_state.ibc.channel_genesis.channels[0]: identifier cannot be blank: invalid identifier",
    ],
  ])("fails with the path of the invalid field: %j", (genesis, expected) => {
    const context = createMemoryChain("local-1").at(1n, 0n);
    expect(() => initGenesis(context, genesis)).toThrow(expected);
  });
});
