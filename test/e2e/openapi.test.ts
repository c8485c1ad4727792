import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { SERVER_ROUTES } from "../../src/cli/generate/generated-files.ts";
import { MINUTE_MS } from "../../src/platform/base/time.ts";
import { openCliHome, until } from "../support/e2e/cli-process.ts";
import { localnetEndpoints } from "../support/e2e/localnet-endpoints.ts";

const home = await openCliHome();
const localnet = localnetEndpoints(home.portOffset);
const data = join(home.directory, "data");
const tokenIn = (folder: string): string => readFileSync(join(folder, "control-token"), "utf8").trim();
/** The watchdog of a localnet has the localnet's token. */
const localnetToken = (): string =>
  tokenIn(join(home.directory, "state", "relaywatch", `localnet-${home.portOffset}`));

const SERVERS = {
  localnet: { url: localnet.control, token: localnetToken },
  relayer: { url: localnet.relayer, token: () => tokenIn(join(data, "relayer")) },
  watchdog: { url: localnet.watchdog, token: localnetToken },
};
type ServerName = keyof typeof SERVERS;

const documentSchema = z.object({
  openapi: z.literal("3.1.0"),
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        summary: z.string().min(1),
        security: z.array(z.unknown()).optional(),
        requestBody: z.object({}).optional(),
        responses: z.record(
          z.string(),
          z.object({ content: z.record(z.string(), z.object({ schema: z.looseObject({}).optional() })) }),
        ),
      }),
    ),
  ),
  components: z.object({ schemas: z.record(z.string(), z.looseObject({})) }),
});
type Document = z.output<typeof documentSchema>;

const documents = new Map<ServerName, Document>();
const documentOf = (server: ServerName): Document => {
  const found = documents.get(server);
  if (found === undefined) throw new Error(`${server} has no document yet`);
  return found;
};

interface Call {
  readonly method?: "GET" | "POST" | "DELETE";
  /** With a query. */
  readonly path: string;
  readonly body?: unknown;
  /** Expected; default 200. */
  readonly status?: number;
}

const used = new Set<string>();

/** Calls a route, and checks the response against the document. Returns its body. */
async function call(server: ServerName, route: string, { method = "GET", path, body, status = 200 }: Call) {
  const document = documentOf(server);
  const operation = document.paths[route]?.[method.toLowerCase()];
  if (operation === undefined) throw new Error(`${server}: no ${method} ${route}`);
  used.add(`${server} ${method} ${route}`);
  const { url, token } = SERVERS[server];
  const response = await fetch(`${url}${path}`, {
    method,
    headers: operation.security === undefined ? {} : { authorization: `Bearer ${token()}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(10_000),
  });
  const type = response.headers.get("content-type")?.split(";")[0] ?? "";
  const text = type === "text/event-stream" ? "" : await response.text();
  await response.body?.cancel().catch(() => undefined);
  expect([method, path, response.status, response.status === status ? "" : text]).toEqual([
    method,
    path,
    status,
    "",
  ]);
  const documented = operation.responses[status] ?? operation.responses["default"];
  expect(Object.keys(documented?.content ?? {})).toEqual([type]);
  const schema = documented?.content[type]?.schema;
  if (schema === undefined) return undefined;
  const value: unknown = JSON.parse(text);
  const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { base64: true } });
  addFormats.default(ajv);
  const validate = ajv.compile({ ...schema, components: document.components });
  if (!validate(value))
    throw new Error(
      `${method} ${path}: ${ajv.errorsText(validate.errors?.slice(0, 5))}\n${text.slice(0, 500)}`,
    );
  return value;
}

beforeAll(async () => {
  const up = home.start("up", "--home", data, "$PORTS");
  await up.printed(/oracle-watchdog +http/);
  await until("a result", () =>
    localnet.read("/neutron/interchainqueries/query_result?query_id=1", "result"),
  );
  for (const [server, { url }] of Object.entries(SERVERS)) {
    const response = await fetch(`${url}/openapi.json`);
    if (server === "localnet" || server === "relayer" || server === "watchdog")
      documents.set(server, documentSchema.parse(await response.json()));
  }
});
afterAll(home.close);

/** Values of the `:name` parts of paths. */
const PARTS: Readonly<Record<string, string>> = { id: "1", name: "default", file: "sidecar-down.md" };

/** Queries of the routes that need one. */
const QUERIES: Readonly<Record<string, () => string>> = {
  "/api/attempts/summary": () => `since=${hourAgo()}&until=${new Date().toISOString()}&parts=2`,
  "/api/costs": () => {
    const today = Math.floor(Date.now() / (24 * 60 * MINUTE_MS));
    return `from=${today - 1}&to=${today + 1}`;
  },
  "/api/attempts": () => `limit=5&since=${hourAgo()}`,
};

const hourAgo = (): string => new Date(Date.now() - 60 * MINUTE_MS).toISOString();

describe.each(["localnet", "relayer", "watchdog"] as const)("/openapi.json of the %s", (server) => {
  it("has the routes of docs/http-api.md, and for each page its stream", () => {
    const served = Object.entries(documentOf(server).paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const isStream = (route: string): boolean => /^GET \/live(?:\/|$)/.test(route);
    const listed = SERVER_ROUTES[server].map(
      ({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`,
    );
    const others = {
      localnet: [],
      // The Go relayer accepts every method.
      relayer: ["POST /unsuccessful-txs"],
      watchdog: [],
    }[server];
    // `up` has no configuration file.
    const expected = [...listed.filter((route) => route !== "POST /-/reload"), ...others];
    expect(served.filter((route) => !isStream(route)).toSorted()).toEqual(expected.toSorted());
    const pages = SERVER_ROUTES[server].filter(({ about }) => about.replies[200]?.mediaType === "text/html");
    expect(served.filter(isStream).length).toBe(pages.length);
  });

  it("describes what every open route responds with", async () => {
    for (const path of Object.keys(documentOf(server).paths)) {
      if (documentOf(server).paths[path]?.["get"] === undefined || path === "/profiles/{hash}") continue;
      const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => PARTS[name] ?? name);
      const query = QUERIES[path]?.();
      await call(server, path, { path: query === undefined ? filled : `${filled}?${query}` });
    }
  });

  it("refuses a request without the token as documented", async () => {
    const { paths } = documentOf(server);
    const guarded = Object.entries(paths).filter(([, { post }]) => post?.security !== undefined);
    expect(guarded.length).toBeGreaterThan(0);
    for (const [path] of guarded) {
      const response = await fetch(`${SERVERS[server].url}${path}`, { method: "POST" });
      expect([path, response.status]).toEqual([path, 401]);
      expect(await response.json()).toEqual({ error: "unauthorized", message: expect.any(String) });
    }
  });
});

describe("routes that change something", () => {
  const post = (server: ServerName, route: string, body?: unknown, status?: number) =>
    call(server, route, { method: "POST", path: route, body, ...(status === undefined ? {} : { status }) });

  it("respond as the watchdog's document says", async () => {
    const { id } = z
      .object({ id: z.string() })
      .parse(
        await post(
          "watchdog",
          "/api/silences",
          { author: "me", reason: "a test", ends_at: new Date(Date.now() + 60 * MINUTE_MS).toISOString() },
          201,
        ),
      );
    await call("watchdog", "/api/silences", { path: "/api/silences" });
    await call("watchdog", "/api/silences/{id}", { method: "DELETE", path: `/api/silences/${id}` });
    await call("watchdog", "/api/silences/{id}", {
      method: "DELETE",
      path: `/api/silences/${id}`,
      status: 404,
    });
    await post("watchdog", "/api/silences", {}, 400);
    await post("watchdog", "/api/alerts/test");
    await post("watchdog", "/api/alerts/dead-letters/resend", {});
    await post("watchdog", "/api/alerts/dead-letters/discard", { channels: ["mail"] });
    // Nothing fires in a young localnet.
    await post("watchdog", "/api/alerts/ack", { author: "me", note: "a test" }, 400);
    await post("watchdog", "/api/alerts/unack", {}, 400);
    await post("watchdog", "/-/log-level", { level: "warn" });
    await post("watchdog", "/-/log-level", { level: "loud" }, 400);
  });

  it("respond as the relayer's document says", async () => {
    const txs = [{ query_id: 1, hash: "ab" }];
    await post("relayer", "/unsuccessful-txs");
    await post("relayer", "/resubmit-txs", { txs: [] });
    await post("relayer", "/resubmit-txs", { txs }, 400);
    await post("relayer", "/api/dead-letters/acknowledge", { txs: [] });
    await post("relayer", "/api/dead-letters/acknowledge", { txs }, 400);
    await post("relayer", "/-/log-level", { level: "warn" });
  });

  it("respond as the localnet's document says", async () => {
    const chain = (name: string, body?: unknown, status = 200) =>
      call("localnet", `/chains/{chain}/${name}`, {
        method: "POST",
        path: `/chains/local-1/${name}`,
        body,
        status,
      });
    const { chains } = z
      .object({ chains: z.array(z.object({ validators: z.array(z.object({ address: z.string() })) })) })
      .parse(await call("localnet", "/chains", { path: "/chains" }));
    const validator = chains[0]?.validators[0]?.address ?? "";
    await chain("halt");
    await chain("resume");
    await chain("blocks", { count: 1 });
    await chain("blocks", { count: 0 }, 400);
    await chain("absent", { validators: [validator] });
    await chain("absent", { validators: [] });
    await chain("validators", { index: 9, power: "1" });
    const { rest } = localnet;
    const accounts = z
      .object({ accounts: z.array(z.object({ address: z.string().optional() })) })
      .parse(await (await fetch(`${rest}/cosmos/auth/v1beta1/accounts`)).json());
    const address = accounts.accounts.find((one) => one.address !== undefined)?.address ?? "";
    const { hash } = z.object({ hash: z.string() }).parse(await chain("faucet", { address, amount: "1" }));
    await until("the transaction's profile", async () =>
      (await fetch(`${localnet.control}/profiles/${hash}`)).ok ? true : undefined,
    );
    await call("localnet", "/profiles/{hash}", { path: `/profiles/${hash}` });
    await call("localnet", "/profiles/{hash}", { path: "/profiles/x", status: 400 });
    await chain("double-sign", { validator });
    const fault = { method: "POST", path: "/faults/slow" } as const;
    await call("localnet", "/faults/{name}", { ...fault, body: { on: true, for: "2m" } });
    await call("localnet", "/faults/{name}", { ...fault, body: { on: false } });
    await call("localnet", "/faults/{name}", {
      ...fault,
      path: "/faults/none",
      body: { on: true },
      status: 404,
    });
    await post("localnet", "/snapshots");
    await call("localnet", "/snapshots", { path: "/snapshots" });
    await post("localnet", "/time", { add: "1s" });
    await post("localnet", "/blocks", { count: 2, interval: "6s" });
    await post("localnet", "/snapshots/revert", { id: 7 }, 409);
    await post("localnet", "/snapshots/revert", { id: 1 });
    await post("localnet", "/snapshots/remove", { id: 1 });
  });

  it("were all called", () => {
    const all = [...documents].flatMap(([server, { paths }]) =>
      Object.entries(paths).flatMap(([path, operations]) =>
        Object.keys(operations).map((method) => `${server} ${method.toUpperCase()} ${path}`),
      ),
    );
    expect(all.filter((route) => !used.has(route))).toEqual([]);
  });
});
