import { z } from "zod";
import { certificatesField, httpUrlField, processSecretSource, secretField } from "./config-fields.ts";

/**
 * Field for a server on any machine: a URL, or a section with the URL, a name and headers. `config show` redacts the URL's query
 * and, if `hasKey` is true, its path, which may be an API key.
 */
export function endpointField(secrets = processSecretSource, { hasKey = false } = {}) {
  return z.preprocess(urlAsSection, endpointSection(secrets, hasKey));
}

/** Like {@link endpointField}, but also accepts null, which means no endpoint. */
export function nullableEndpointField(secrets = processSecretSource) {
  return z.preprocess(urlAsSection, endpointSection(secrets, false).nullable());
}

/** Expands a section's short form, a URL, into the section, and returns any other value unchanged. */
export function urlAsSection(value: unknown): unknown {
  return typeof value === "string" ? { url: value } : value;
}

function endpointSection(secrets: typeof processSecretSource, hasKey: boolean) {
  return z.strictObject({
    url: httpUrlField("; put credentials into headers").describe("server URL").meta({ hasKey }),
    name: z
      .string()
      .regex(/^[\w.:-]{1,60}$/)
      .optional()
      .describe(
        "the endpoint's name in logs, pages and metrics; default: host and port, plus a number if several endpoints share them",
      ),
    headers: z
      .record(z.string().regex(/^[\w-]{1,60}$/), secretField(secrets))
      .optional()
      .describe("the HTTP headers to send with each request, e.g. authorization; each value is a secret"),
  });
}

/** Schema of the `tls` section, where `what` names the servers to which the section applies. */
export function tlsSchema(what: string, secrets = processSecretSource) {
  return z
    .strictObject({
      ca_file: certificatesField(secrets)
        .describe("a PEM file with private CA certificates to trust in addition to the public CAs")
        .meta({ example: "/etc/ssl/private-ca.pem" }),
    })
    .optional()
    .describe(
      `the TLS settings for ${what}. To use a proxy, set the environment variables HTTPS_PROXY, HTTP_PROXY and NO_PROXY`,
    )
    .meta({ commentedOut: true });
}
