import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toBase64 } from "../../../../src/platform/base/bytes.ts";
import { isRecord } from "../../../../src/platform/base/json.ts";
import { parseRfc3339Ns } from "../../../../src/platform/base/time.ts";
import { lightBlockAt } from "../../../support/comet/light-block.ts";
import {
  acknowledgeTransfer,
  CLIENT,
  openTransferChannel,
  receiveTransfer,
  sendTransfer,
} from "../../../support/localnet/carry.ts";
import { type ChainEnd, startBothEnds, textOf } from "../../../support/localnet/chain-end.ts";

describe("a localnet", () => {
  let local: ChainEnd;
  let remote: ChainEnd;
  let stop: () => Promise<void>;

  beforeAll(async () => {
    ({ local, remote, stop } = await startBothEnds());
  });
  afterAll(() => stop());

  it("starts with an open connection at both ends, over clients that trust real headers", () => {
    for (const [end, other] of [
      [local, remote],
      [remote, local],
    ] as const) {
      expect(
        end.query("/ibc.core.connection.v1.Query/Connection", { connection_id: "connection-0" }),
      ).toMatchObject({
        connection: {
          state: "STATE_OPEN",
          client_id: CLIENT,
          counterparty: { client_id: CLIENT, connection_id: "connection-0" },
        },
      });
      expect(end.query("/ibc.core.client.v1.Query/ClientStatus", { client_id: CLIENT })).toEqual({
        status: "Active",
      });
      const states = end.query("/ibc.core.client.v1.Query/ConsensusStates", { client_id: CLIENT })[
        "consensus_states"
      ];
      const first: unknown = Array.isArray(states) ? states[0] : undefined;
      if (!isRecord(first) || !isRecord(first["height"]) || !isRecord(first["consensus_state"]))
        throw new Error("no state");
      const header = lightBlockAt(other.node.view, BigInt(textOf(first["height"]["revision_height"]))).header;
      // JSON of protobuf has three, six or nine decimals.
      expect(parseRfc3339Ns(textOf(first["consensus_state"]["timestamp"]))).toBe(header.timeNs);
      expect(first["consensus_state"]).toMatchObject({
        root: { hash: toBase64(header.appHash) },
        next_validators_hash: Buffer.from(header.nextValidatorsHash).toString("hex").toUpperCase(),
      });
    }
  });

  it("carries a channel and a transfer with proofs of both chains", async () => {
    await openTransferChannel(local, remote);
    const transfer = { sequence: "1", amount: "1234" };
    await sendTransfer(local, remote, transfer.amount);
    await receiveTransfer(local, remote, transfer);
    await acknowledgeTransfer(local, remote, transfer);
    const voucher = "ibc/4E41ED8F3DCAEA15F4D6ADC6EDD7C04A676160735C9710B904B7BF53525B56D6";
    expect(
      remote.query("/cosmos.bank.v1beta1.Query/Balance", { address: remote.address, denom: voucher }),
    ).toEqual({ balance: { denom: voucher, amount: "1234" } });
    expect(
      local.query("/ibc.applications.transfer.v1.Query/TotalEscrowForDenom", { denom: "untrn" }),
    ).toEqual({ amount: { denom: "untrn", amount: "1234" } });
    expect(
      local.query("/ibc.core.channel.v1.Query/PacketCommitments", {
        port_id: "transfer",
        channel_id: "channel-0",
      }),
    ).toMatchObject({ commitments: [] });
  });
});
