import { z } from "zod";
import {
  certificatesField,
  httpUrlField,
  secretField,
  type SecretSource,
} from "../../platform/config/config-fields.ts";

/** Accepts a list of URLs, or of sections with a URL. */
export function endpoints(secrets: SecretSource) {
  const section = z.strictObject({
    url: httpUrlField().describe("URL of the RPC server").meta({ hasKey: true }),
    name: z
      .string()
      .regex(/^[\w.:-]{1,60}$/)
      .optional()
      .describe(
        "name in log, page and metrics; default: host and port, with a number where several endpoints share them",
      ),
    headers: z
      .record(z.string().regex(/^[\w-]{1,60}$/), secretField(secrets))
      .optional()
      .describe("HTTP headers of each request, such as authorization; each value is a secret"),
  });
  const given = z.preprocess((value) => (typeof value === "string" ? { url: value } : value), section);
  return z.array(given).min(1).max(16);
}

/** A connection and the endpoints of its remote chain. */
export function connectionSchema(secrets: SecretSource) {
  return z.strictObject({
    id: z.string().min(10).max(64).describe("id of the connection on the local chain"),
    chain_id: z
      .string()
      .min(1)
      .max(50)
      .describe("chain id of the remote chain, compared with the chain id of its endpoints"),
    rpc: endpoints(secrets).describe("RPC endpoints of the remote chain, in order of preference"),
  });
}

/** The section `rpc`. */
export function requestsSchema() {
  return z
    .strictObject({
      batch: z
        .int()
        .min(1)
        .max(100)
        .default(10)
        .describe("calls in one request; halved for an endpoint that refuses so many, down to single calls"),
      max_response_bytes: z
        .int()
        .min(1_000_000)
        .max(512 * 1024 * 1024)
        .default(64 * 1024 * 1024)
        .describe("a longer response is not read, and the next endpoint is asked"),
    })
    .prefault({})
    .describe("requests to all endpoints");
}

/** The section `tls`. */
export function tlsSchema(secrets: SecretSource) {
  return z
    .strictObject({
      ca_file: certificatesField(secrets)
        .describe("PEM file with certificates of private authorities, trusted in addition to the public ones")
        .meta({ example: "/etc/ssl/private-ca.pem" }),
    })
    .optional()
    .describe("TLS of the endpoints; HTTPS_PROXY, HTTP_PROXY and NO_PROXY are read from the environment")
    .meta({ commentedOut: true });
}
