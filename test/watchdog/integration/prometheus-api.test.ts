import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import { inspect } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { Secret } from "../../../src/platform/base/secret.ts";
import { createDeferred } from "../../../src/platform/process/deferred.ts";
import {
  createSampleReader,
  type PrometheusConnection,
} from "../../../src/watchdog/prometheus-api/api-client.ts";
import { findTarget } from "../../../src/watchdog/prometheus-api/stored-scrapes.ts";
import { isNodeFamily, toNodeReading } from "../../../src/watchdog/sources/node-reading.ts";
import { toSourceFailure } from "../../../src/watchdog/sources/observation.ts";
import { fixtureFile } from "../../support/fixture-file.ts";

const MATRIX = readFileSync(fixtureFile("prometheus/query-matrix.json"), "utf8");
const BAD_DATA = readFileSync(fixtureFile("prometheus/query-bad-data.json"), "utf8");
const RANGE = { atMs: 1_795_326_800_500, rangeMs: 3000 };

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** A server of the Prometheus API. */
async function startApi(handle: Handler): Promise<string> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => handle(request, response, Buffer.concat(chunks).toString("utf8")));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return `http://127.0.0.1:${address.port}`;
}

const connectionTo = (url: string, more: Partial<PrometheusConnection> = {}): PrometheusConnection => ({
  url,
  deadlineMs: 5000,
  maxResponseBytes: 1_000_000,
  maxSeries: 1000,
  maxPoints: 10_000,
  ...more,
});

const read = (url: string, more: Partial<PrometheusConnection> = {}, signal = new AbortController().signal) =>
  createSampleReader(connectionTo(url, more))('{job="node"}', RANGE, signal);

/** The failure of a query, and everything that a log could print of its error. */
async function failureOf(query: Promise<unknown>) {
  const error = await query.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return { ...toSourceFailure(error), printed: inspect(error, { depth: 10 }) };
}

const answer =
  (status: number, body: string, type = "application/json"): Handler =>
  (_request, response) => {
    response.writeHead(status, { "content-type": type }).end(body);
  };

const seriesOf = (metric: Readonly<Record<string, string>>, points: number): string =>
  `{"metric":${JSON.stringify(metric)},"values":[${Array(points).fill('[1,"1"]').join(",")}]}`;
const matrixOf = (series: readonly string[]): string =>
  `{"status":"success","data":{"resultType":"matrix","result":[${series.join(",")}]}}`;

describe("queries of the Prometheus API", () => {
  it("read no further than a limit, however long the response is", async () => {
    const ended = createDeferred<number>();
    const url = await startApi((_request, response) => {
      const part = `${Array(1000).fill('[1,"1"]').join(",")},`;
      let bytes = 0;
      const write = (text: string): void => {
        bytes += text.length;
        // 30 MB are below the limit of bytes, and 3.9 million samples.
        if (bytes > 30_000_000) response.end();
        else response.write(text, (error) => (error ? undefined : write(part)));
      };
      response.on("close", () => ended.resolve(bytes));
      write('{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[');
    });
    const failure = await failureOf(read(url, { maxResponseBytes: 32 * 1024 * 1024, deadlineMs: 60_000 }));
    expect([failure.code, failure.text]).toEqual(["too-large", expect.stringContaining("max_points")]);
    // What the buffers of the two sockets hold.
    expect(await ended.promise).toBeLessThan(15_000_000);
  });

  it("read a response wherever its chunks end, with brackets, quotes and other alphabets in labels", async () => {
    const metric = { __name__: "x", job: 'a"]}\\', place: "Zürich 東京 [{" };
    const text = matrixOf([seriesOf(metric, 2), seriesOf({ b: "" }, 1)]).replace('"1"', '"+Inf"');
    const bytes = Buffer.from(text.replaceAll(",", " ,\n"));
    const url = await startApi((_request, response) => {
      response.socket?.setNoDelay(true);
      const write = (from: number): void => {
        if (from >= bytes.length) response.end();
        else response.write(bytes.subarray(from, from + 3), () => setImmediate(write, from + 3));
      };
      write(0);
    });
    const [point, infinite] = [
      { atMs: 1000, value: 1 },
      { atMs: 1000, value: Number.NaN },
    ];
    expect(await read(url)).toEqual([
      {
        name: "x",
        labels: new Map([
          ["job", metric.job],
          ["place", metric.place],
        ]),
        points: [infinite, point],
      },
      { name: "", labels: new Map([["b", ""]]), points: [point] },
    ]);
  });

  it("read a response with a line for each bracket", async () => {
    const text = matrixOf([9000, 500].map((points, job) => seriesOf({ job: String(job) }, points)));
    const url = await startApi(answer(200, JSON.stringify(JSON.parse(text), null, 8)));
    const series = await read(url, { maxResponseBytes: 10_000_000 });
    expect(series.map(({ points }) => points.length)).toEqual([9000, 500]);
  });

  it("use the share of the limits that they are given", async () => {
    const url = await startApi(answer(200, matrixOf([seriesOf({}, 2001)])));
    const query = (share: number) =>
      createSampleReader(connectionTo(url))("x", { ...RANGE, share }, new AbortController().signal);
    expect((await query(0.3))[0]?.points.length).toBe(2001);
    expect((await failureOf(query(0.2))).text).toContain("more than 2000 samples");
  });

  it("read the recorded samples of a node, each with its own time", async () => {
    const series = await read(await startApi(answer(200, MATRIX)));
    expect(series.find(({ name, labels }) => name === "up" && labels.get("job") === "gone")?.points).toEqual(
      [1_795_326_798_368, 1_795_326_799_368, 1_795_326_800_368].map((atMs) => ({ atMs, value: 0 })),
    );
    const target = findTarget(series, { validator: "alpha" }, isNodeFamily);
    expect(target?.scrapes.map(({ atMs }) => atMs)).toEqual([1_795_326_799_062, 1_795_326_800_062]);
    expect(toNodeReading(target?.scrapes.at(-1)?.samples ?? [])).toMatchObject({
      chainId: "test-1",
      success: 1110n,
      failure: 16n,
      height: 1127n,
      processStartMs: 1_795_262_370_310,
    });
  });

  it("are instant queries of a range, with the credentials and the tenant", async () => {
    const requests: unknown[] = [];
    const url = await startApi((request, response, body) => {
      const { authorization, "x-scope-orgid": tenant } = request.headers;
      requests.push([
        request.method,
        request.url,
        Object.fromEntries(new URLSearchParams(body)),
        authorization,
        tenant,
      ]);
      response.end(MATRIX);
    });
    await read(`${url}/select/0/`, {
      tenant: "t-1",
      credentials: { kind: "bearer", token: new Secret("top") },
    });
    await read(url, { credentials: { kind: "basic", username: "u", password: new Secret("pass") } });
    const query = { query: '{job="node"}[3s]', time: "1795326800.5" };
    expect(requests).toEqual([
      ["POST", "/select/0/api/v1/query", query, "Bearer top", "t-1"],
      ["POST", "/api/v1/query", query, "Basic dTpwYXNz", undefined],
    ]);
  });

  it.each<[string, Handler, string, string]>([
    [
      "an error of Prometheus",
      answer(400, BAD_DATA),
      "http-status",
      'Prometheus answered HTTP 400: invalid parameter "query": 1:4: parse error: unexpected end of input inside braces',
    ],
    [
      "a refusal of a proxy",
      answer(401, "<html>no</html>", "text/html"),
      "http-status",
      "Prometheus answered HTTP 401; configure credentials if they are required",
    ],
    ["an error without a body", answer(503, ""), "http-status", "Prometheus answered HTTP 503"],
    [
      "a redirect",
      (_request, response) => response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(),
      "http-status",
      "Prometheus redirects to http://127.0.0.1:1/ (HTTP 302); configure that URL if it is correct",
    ],
    [
      "a page that is not JSON",
      answer(200, "<html></html>"),
      "not-prometheus",
      "the response does not come from the Prometheus API; check prometheus.url",
    ],
    [
      "another result",
      answer(200, '{"status":"success","data":{"resultType":"vector","result":[]}}'),
      "not-prometheus",
      "the Prometheus result is not a list of series",
    ],
    [
      "a result of another shape",
      answer(200, '{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"a":1}}]}}'),
      "not-prometheus",
      "the Prometheus result is not a list of series",
    ],
    [
      "a part of the result",
      answer(200, MATRIX.replace(/\}$/, ',"warnings":["store a: connection refused"]}')),
      "incomplete",
      "Prometheus returned an incomplete result: store a: connection refused",
    ],
    [
      "a part of the result, as VictoriaMetrics says it",
      answer(200, MATRIX.replace(/\}$/, ',"isPartial":true}')),
      "incomplete",
      "Prometheus returned an incomplete result: it is marked as partial, so a storage node is not responding",
    ],
    [
      "a response that is too large",
      answer(200, matrixOf([seriesOf({}, 9000)]).replaceAll('"1"', `"${"1".repeat(200)}"`)),
      "too-large",
      "the Prometheus response has more than 1000000 bytes; select fewer series with labels, shorten prometheus.stale_after, or raise prometheus.max_response_bytes",
    ],
    [
      "a response with too many series",
      answer(200, matrixOf(Array.from({ length: 1001 }, () => seriesOf({}, 1)))),
      "too-large",
      "the Prometheus response has more than 1000 series; select fewer series with labels, shorten prometheus.stale_after, or raise prometheus.max_series",
    ],
    [
      "a response with too many samples of several series",
      answer(200, matrixOf([seriesOf({}, 6000), seriesOf({}, 4001)])),
      "too-large",
      "the Prometheus response has more than 10000 samples; select fewer series with labels, shorten prometheus.stale_after, or raise prometheus.max_points",
    ],
    [
      "a response with too many labels",
      answer(
        200,
        matrixOf(
          Array(101).fill(seriesOf(Object.fromEntries(Array.from({ length: 200 }, (_, i) => [i, ""])), 1)),
        ),
      ),
      "too-large",
      "the Prometheus response has more than 20000 labels; select fewer series with labels, shorten prometheus.stale_after, or raise prometheus.max_series",
    ],
    ...[
      [
        "objects beside the series",
        `{"status":"success","data":{"resultType":"matrix","result":[]},"x":[${"{},".repeat(60_000)}0]}`,
      ],
      ["lists in a sample", matrixOf([`{"metric":{},"values":[[1,"1",${"[],".repeat(60_000)}0]]}`])],
      ["labels of a series", matrixOf([seriesOf({ a: "x".repeat(180_000) }, 1)])],
    ].map(
      ([what, body = ""]) =>
        [
          `too many ${what}`,
          answer(200, body),
          "too-large",
          "a series, sample or message in the Prometheus response exceeds 65536 characters; check prometheus.url and the labels",
        ] satisfies [string, Handler, string, string],
    ),
    [
      "a sample that is not a time and a text",
      answer(200, matrixOf(['{"metric":{},"values":[["1","1"]]}'])),
      "not-prometheus",
      "the Prometheus result is not a list of series",
    ],
    [
      "a label that is not a text",
      answer(200, matrixOf(['{"metric":{"a":["b"]},"values":[[1,"1"]]}'])),
      "not-prometheus",
      "the Prometheus result is not a list of series",
    ],
    [
      "brackets that do not match",
      answer(200, '{"status":"success","data":{"resultType":"matrix","result":[}]}'),
      "not-prometheus",
      "the response does not come from the Prometheus API; check prometheus.url",
    ],
    [
      "a response that is nested without end",
      answer(200, "[".repeat(100_000)),
      "not-prometheus",
      "the response does not come from the Prometheus API; check prometheus.url",
    ],
    [
      "a response that ends in its middle",
      (_request, response) => {
        response.writeHead(200, { "content-length": "1000" });
        response.write("{");
        setImmediate(() => response.destroy());
      },
      "unreachable",
      "Prometheus cannot be read (UND_ERR_SOCKET)",
    ],
  ])("fail with a clear text for %s, without the secret", async (_name, handle, code, text) => {
    const url = await startApi(handle);
    const credentials = { kind: "bearer", token: new Secret("top-secret") } as const;
    const failure = await failureOf(read(url, { credentials }));
    expect([failure.code, failure.text]).toEqual([code, text]);
    expect(failure.printed).not.toContain("top-secret");
    expect(failure.printed).not.toContain(url);
  });

  it("fail when nobody listens", async () => {
    const url = await startApi(answer(200, MATRIX));
    await closing.splice(0)[0]?.();
    expect(await failureOf(read(url))).toMatchObject({
      code: "refused",
      text: "Prometheus refused the connection",
    });
  });

  it("end at their deadline, while the server is silent and while it is slow", async () => {
    const silent = await startApi(() => {});
    const slow = await startApi((_request, response) => {
      response.writeHead(200);
      response.write("{");
    });
    for (const url of [silent, slow])
      expect(await failureOf(read(url, { deadlineMs: 100 }))).toMatchObject({
        code: "timeout",
        text: "no complete response within 100 ms",
      });
  });

  it("end when they are aborted, and close their connection", async () => {
    const abort = new AbortController();
    const closed = createDeferred<boolean>();
    const url = await startApi((request) => {
      request.socket.once("close", () => closed.resolve(true));
      abort.abort(new Error("stop"));
    });
    await expect(read(url, {}, abort.signal)).rejects.toThrow("stop");
    expect(await closed.promise).toBe(true);
  });
});
