import { z } from "zod";
import { certificatesField, httpUrlField, processSecretSource, secretField } from "./config-fields.ts";

/**
 * Field for a server on any machine: a URL, or a section with the URL, a name and headers. `hasKey`: its path and query may contain a
 * key, which `config show` leaves out.
 */
export function endpointField(secrets = processSecretSource, { hasKey = false } = {}) {
  return z.preprocess(
    (value) => (typeof value === "string" ? { url: value } : value),
    endpointSection(secrets, hasKey),
  );
}

/** As {@link endpointField}; null stands for none. */
export function nullableEndpointField(secrets = processSecretSource) {
  return z.preprocess(
    (value) => (typeof value === "string" ? { url: value } : value),
    endpointSection(secrets, false).nullable(),
  );
}

function endpointSection(secrets: typeof processSecretSource, hasKey: boolean) {
  return z.strictObject({
    url: httpUrlField("; credentials go into headers").describe("URL of the server").meta({ hasKey }),
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
}

/** The section `tls`. `what`: the servers that it is about. */
export function tlsSchema(what: string, secrets = processSecretSource) {
  return z
    .strictObject({
      ca_file: certificatesField(secrets)
        .describe("PEM file with certificates of private authorities, trusted in addition to the public ones")
        .meta({ example: "/etc/ssl/private-ca.pem" }),
    })
    .optional()
    .describe(`TLS of ${what}; HTTPS_PROXY, HTTP_PROXY and NO_PROXY are read from the environment`)
    .meta({ commentedOut: true });
}
