import { expect, it } from "vitest";
import { readDisplayUnit } from "../../../src/cosmos/client/denom-metadata.ts";
import { ClientError } from "../../../src/cosmos/client-error.ts";
import { QueryDenomMetadataResponse } from "../../../src/cosmos/proto/gen/cosmos/bank/v1beta1/query.ts";

const { signal } = new AbortController();
const METADATA = {
  description: "",
  base: "untrn",
  display: "ntrn",
  name: "Neutron",
  symbol: "NTRN",
  uri: "",
  uriHash: "",
  denomUnits: [
    { denom: "untrn", exponent: 0, aliases: [] },
    { denom: "ntrn", exponent: 6, aliases: [] },
  ],
};
const read = (response: Uint8Array | Error) =>
  readDisplayUnit(
    {
      grpcQuery: async () => {
        if (response instanceof Error) throw response;
        return response;
      },
    },
    "untrn",
    signal,
  );

it("reads the unit", async () =>
  expect(await read(QueryDenomMetadataResponse.encode({ metadata: METADATA }).finish())).toEqual({
    denom: "untrn",
    name: "NTRN",
    exponent: 6,
  }));

it("knows none when the chain has no metadata", async () => {
  const log = "client metadata for denom untrn: key not found";
  const facts = { code: "abci", path: "p", abciCode: 22, codespace: "sdk", log } as const;
  expect(await read(new ClientError(facts, log))).toBeUndefined();
  expect(await read(QueryDenomMetadataResponse.encode({ metadata: undefined }).finish())).toBeUndefined();
});

it("rejects when the chain cannot be read", async () => {
  const lost = new ClientError({ code: "closed" }, "the connection is closed");
  await expect(read(lost)).rejects.toBe(lost);
});
