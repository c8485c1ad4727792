import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { isRecord } from "../../../src/platform/base/json.ts";
import { CHAINS } from "../../../src/localnet/accounts/chains.ts";
import { type RelayedLocalnet, sendMessage, startRelayedLocalnet } from "../../support/relayed-localnet.ts";

const WAIT = { timeout: 60_000, interval: 50 };

/** Sends a request as axios 1.x does, the client of `getUnsuccessfulTxs` and `postResubmitTxs` of neutronjsplus. */
async function axios(net: RelayedLocalnet, method: "GET" | "POST", path: string, data?: unknown) {
  const { host, port } = await net.relayer.http.ready;
  const body = data === undefined ? undefined : JSON.stringify(data);
  const headers = {
    Accept: "application/json, text/plain, */*",
    "User-Agent": "axios/1.6.0",
    "Accept-Encoding": "gzip, compress, deflate, br",
    Connection: "close",
    ...(body === undefined
      ? {}
      : { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) }),
  };
  return new Promise<{ status: number; data: unknown }>((resolve, reject) => {
    const outgoing = request({ host, port, method, path, headers }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("end", () =>
        resolve({ status: incoming.statusCode ?? 0, data: parsed(Buffer.concat(chunks).toString("utf8")) }),
      );
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

/** axios parses every body that is JSON, whatever its content type is. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function unsuccessful(data: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(data)) throw new Error("a list was expected");
  return data.filter(isRecord);
}

describe("a client library of the Go relayer", () => {
  let net: RelayedLocalnet;
  beforeAll(async () => {
    net = await startRelayedLocalnet({ relayer: "metrics: { go_relayer_names: true }" });
  });
  afterAll(() => net.stop());

  it("lists transactions that a contract rejected, and has them sent again", async () => {
    const recipient = net.alice.remote.address;
    await vi.waitFor(() => expect(net.relayer.status().loaded).toBe(true), WAIT);
    expect(await axios(net, "GET", "/unsuccessful-txs")).toEqual({ status: 200, data: [] });
    await net.execute(
      { set_failure: { kv: false, tx: true } },
      { register_transfers_query: { connection_id: "connection-0", update_period: 1, recipient } },
    );
    await vi.waitFor(
      () => expect(net.relayer.status().queries.some(({ type }) => type === "tx")).toBe(true),
      WAIT,
    );
    for (const amount of [1n, 2n])
      await net.send(net.alice.remote, sendMessage(CHAINS.remote, recipient, recipient, amount));
    const listed = await vi.waitFor(async () => {
      const txs = unsuccessful((await axios(net, "GET", "/unsuccessful-txs")).data);
      expect(txs).toHaveLength(2);
      return txs;
    }, WAIT);
    expect(listed[0]).toEqual({
      query_id: expect.any(Number),
      submitted_tx_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      neutron_hash: "",
      error_time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      status: "ErrorOnSubmit",
      message: expect.stringContaining("rejected transaction query result"),
    });
    const txs = listed.map(({ query_id, submitted_tx_hash: hash }) => ({ query_id, hash }));

    // Rejected again: 200, and still listed, with the time of the new failure.
    expect(await axios(net, "POST", "/resubmit-txs", { txs })).toEqual({ status: 200, data: "" });
    const again = unsuccessful((await axios(net, "GET", "/unsuccessful-txs")).data);
    expect(new Set(again.map(({ submitted_tx_hash }) => submitted_tx_hash))).toEqual(
      new Set(txs.map(({ hash }) => hash)),
    );
    expect(again[0]?.["error_time"]).not.toBe(listed[0]?.["error_time"]);

    await net.execute({ set_failure: { kv: false, tx: false } });
    expect(await axios(net, "POST", "/resubmit-txs", { txs })).toEqual({ status: 200, data: "" });
    expect(await axios(net, "GET", "/unsuccessful-txs")).toEqual({ status: 200, data: [] });
    const received = await net.queryConsumer({ transactions: { query_id: txs[0]?.query_id } });
    expect(received).toMatchObject({ transactions: [{}, {}] });
  });

  it("finds the metrics of the Go relayer beside the own ones", async () => {
    const page = String((await axios(net, "GET", "/metrics")).data);
    for (const line of [
      /^relayer_requests\{type="success"\} [1-9]/m,
      /^submitted_txs\{type="success"\} 2$/m,
      /^submitted_txs\{type="failed"\} [1-9]/m,
      /^request_time_count\{method="kv",type="success"\} [1-9]/m,
      /^proof_neutron_time_count\{method="kv",type="success"\} [1-9]/m,
      /^action_durations_count\{method="GetUpdateClientMsg",type="success"\} [1-9]/m,
      /^queries_to_process 2$/m,
      /^unsuccessful_txs 0$/m,
      /^relaywatch_relayer_ready /m,
    ])
      expect(page).toMatch(line);
  });

  it("gets the status and the text that it expects for an unknown transaction and for GET", async () => {
    expect(await axios(net, "POST", "/resubmit-txs", { txs: [{ query_id: 1, hash: "xyz" }] })).toEqual({
      status: 400,
      data: "no tx found with queryID=1 and hash=xyz\n",
    });
    expect(await axios(net, "GET", "/resubmit-txs")).toMatchObject({ status: 405 });
  });
});
