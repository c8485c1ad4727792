import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { QueryGroup } from "../../../src/localnet/cli/module-query.ts";
import {
  IBC_CHANNEL_QUERIES,
  IBC_CLIENT_QUERIES,
  IBC_CONNECTION_QUERIES,
} from "../../../src/localnet/cli/query/ibc.ts";
import { MODULE_QUERIES } from "../../../src/localnet/cli/query/modules.ts";
import { fixtureFile } from "../../support/fixture-file.ts";
import { tableText } from "../../support/table-text.ts";

interface RestCall {
  readonly chain_id: string;
  readonly path: string;
  readonly body: string;
}

// SOURCE: test/fixtures/ibc/rest.json, recorded on two real chains of release 6.0.3.
const CALLS: readonly RestCall[] = JSON.parse(readFileSync(fixtureFile("ibc/rest.json"), "utf8"));
const CHANNEL = "/ibc/core/channel/v1/channels/channel-0/ports/transfer";
const HASH = "4E41ED8F3DCAEA15F4D6ADC6EDD7C04A676160735C9710B904B7BF53525B56D6";

/** The words of the first rows of a recorded response. */
function rowsOf(group: QueryGroup, query: string, path: string): readonly (readonly string[])[] {
  const call = CALLS.find((each) => each.chain_id === "test-1" && each.path === path);
  const lines = tableText(group, query, JSON.parse(call?.body ?? "null")).split("\n");
  return lines.slice(0, 4).map((line) => line.split(/ {2,}/));
}

describe("tables of IBC", () => {
  it("show clients, also the one of the own chain, which has neither name nor periods", () => {
    expect(rowsOf(IBC_CLIENT_QUERIES, "states", "/ibc/core/client/v1/client_states")).toEqual([
      ["CLIENT", "CHAIN", "LATEST HEIGHT", "FROZEN AT", "TRUSTING PERIOD"],
      ["07-tendermint-0", "test-2", "2-1220", "0-0", "1540800s"],
      ["07-tendermint-1", "test-2", "2-3065", "0-0", "1540800s"],
      ["09-localhost", "-", "1-3060", "-", "-"],
    ]);
    const path = "/ibc/core/client/v1/consensus_states/07-tendermint-1/heights";
    expect(rowsOf(IBC_CLIENT_QUERIES, "consensus-state-heights", path).slice(0, 2)).toEqual([
      ["HEIGHT"],
      ["2-2201"],
    ]);
  });

  it("show a connection", () => {
    const path = "/ibc/core/connection/v1/connections/connection-1";
    expect(rowsOf(IBC_CONNECTION_QUERIES, "end", path)[1]).toEqual([
      "open",
      "07-tendermint-1",
      "07-tendermint-1",
      "connection-1",
    ]);
  });

  it("show channels, also those that wait for the other chain", () => {
    const open = ["open", "unordered", "ics20-1", "connection-1", "transfer", "channel-0"];
    const channels = rowsOf(IBC_CHANNEL_QUERIES, "channels", "/ibc/core/channel/v1/channels");
    expect(channels.slice(1, 3)).toEqual([
      ["transfer", "channel-0", ...open],
      ["transfer", "channel-1", "init", "unordered", "-", "connection-1", "transfer", "-"],
    ]);
    expect(rowsOf(IBC_CHANNEL_QUERIES, "end", CHANNEL)[1]).toEqual(open);
  });

  it("show packets and their numbers", () => {
    expect(rowsOf(IBC_CHANNEL_QUERIES, "packet-commitments", `${CHANNEL}/packet_commitments`)).toEqual([
      ["SEQUENCE", "HASH"],
      ["19", "GDHE6bGYpGHAxQn/XILZvvDTfe5hqwyCD29GXuOHWys="],
    ]);
    expect(
      rowsOf(IBC_CHANNEL_QUERIES, "packet-acknowledgements", `${CHANNEL}/packet_acknowledgements`)[2],
    ).toEqual(["10", "CPdVftUYJv4Y2EUSvyTsdQAe268hI6R333KgqfNkCnw="]);
    expect(rowsOf(IBC_CHANNEL_QUERIES, "next-sequence-send", `${CHANNEL}/next_sequence_send`)[1]).toEqual([
      "20",
    ]);
    expect(rowsOf(IBC_CHANNEL_QUERIES, "next-sequence-receive", `${CHANNEL}/next_sequence`)[1]).toEqual([
      "0",
    ]);
  });

  it("show where vouchers come from, and what is in escrow", () => {
    const transfer = "/ibc/apps/transfer/v1";
    const page = "pagination.limit=1&pagination.count_total=true";
    expect(
      rowsOf(MODULE_QUERIES["ibc-transfer"], "denom-traces", `${transfer}/denom_traces?${page}`),
    ).toEqual([
      ["PATH", "DENOM"],
      ["transfer/channel-0", "untrn"],
      ["next page: --page-key VAJxpuOWfvzJv21FeJE30btpXEuUXMGrnzHjwLbvK7k="],
    ]);
    expect(
      rowsOf(MODULE_QUERIES["ibc-transfer"], "denom-trace", `${transfer}/denom_traces/${HASH}`)[1],
    ).toEqual(["transfer/channel-0", "untrn"]);
    const trace = encodeURIComponent("transfer/channel-0/untrn");
    expect(
      rowsOf(MODULE_QUERIES["ibc-transfer"], "denom-hash", `${transfer}/denom_hashes/${trace}`)[1],
    ).toEqual([HASH]);
    expect(
      rowsOf(MODULE_QUERIES["ibc-transfer"], "total-escrow", `${transfer}/denoms/untrn/total_escrow`)[1],
    ).toEqual(["600538", "untrn"]);
  });
});
