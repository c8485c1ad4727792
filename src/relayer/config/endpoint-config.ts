import { z } from "zod";
import type { SecretSource } from "../../platform/config/config-fields.ts";
import { endpointField } from "../../platform/config/endpoint-field.ts";

export function endpoints(secrets: SecretSource) {
  return z
    .array(endpointField(secrets, { hasKey: true }))
    .min(1)
    .max(16);
}

export function connectionSchema(secrets: SecretSource) {
  return z.strictObject({
    id: z.string().min(10).max(64).describe("connection id on the local chain"),
    chain_id: z.string().min(1).max(50).describe("the remote chain's id, checked against its endpoints"),
    rpc: endpoints(secrets).describe("RPC endpoints of the remote chain, in order of preference"),
  });
}

export function requestsSchema() {
  return z
    .strictObject({
      batch: z
        .int()
        .min(1)
        .max(100)
        .default(10)
        .describe(
          "calls per request; halved, down to single calls, for an endpoint that refuses larger batches",
        ),
      max_response_bytes: z
        .int()
        .min(1_000_000)
        .max(512 * 1024 * 1024)
        .default(64 * 1024 * 1024)
        .describe("responses above this size are not read; the next endpoint is tried instead"),
    })
    .prefault({})
    .describe("settings for requests to all endpoints");
}
