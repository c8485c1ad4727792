import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RecordedNode, RECORDED_ACCOUNT, startRecordedNode } from "../../../../support/recorded-node.ts";
import { recordedTxBase64 } from "../../../../support/recorded-rest.ts";

const SUPPLY = "/cosmos/bank/v1beta1/supply/by_denom?denom=untrn";
const NOT_IMPLEMENTED = { code: 12, message: "Not Implemented", details: [] };

let node: RecordedNode;

beforeAll(async () => {
  node = await startRecordedNode("acme");
});
afterAll(() => node.stop());

async function get(
  path: string,
  init: RequestInit = {},
): Promise<{ status: number; height: string | null; body: unknown }> {
  const answer = await fetch(`${node.restUrl}${path}`, init);
  const text = await answer.text();
  return {
    status: answer.status,
    height: answer.headers.get("grpc-metadata-x-cosmos-block-height"),
    body: text === "" ? "" : JSON.parse(text),
  };
}

/** Sends a request line that HTTP clients do not send. */
function raw(line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(node.ports.get("rest") ?? 0, "127.0.0.1");
    let text = "";
    socket.on("data", (bytes) => (text += bytes.toString()));
    socket.on("error", reject);
    socket.on("close", () => resolve(text));
    socket.end(`${line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  });
}

describe("the REST server of a chain of another name", () => {
  it("serves paths only under its own name", async () => {
    const own = await get("/acme/interchainqueries/registered_query?query_id=1");
    expect(own.status).toBe(200);
    expect(await get("/neutron/interchainqueries/registered_query?query_id=1")).toEqual({
      status: 501,
      height: null,
      body: NOT_IMPLEMENTED,
    });
  });

  it("calls the application by that name", async () => {
    const { body } = await get("/cosmos/base/tendermint/v1beta1/node_info");
    expect(body).toMatchObject({ application_version: { name: "acme", app_name: "acmed" } });
  });
});

describe("heights by header", () => {
  it.each(["x-cosmos-block-height", "X-Cosmos-Block-Height", "Grpc-Metadata-X-Cosmos-Block-Height"])(
    "%s chooses the state",
    async (name) =>
      expect(await get(SUPPLY, { headers: { [name]: "4" } })).toMatchObject({ status: 200, height: "4" }),
  );

  it("several have no effect", async () => {
    const headers = [
      ["x-cosmos-block-height", "4"],
      ["x-cosmos-block-height", "5"],
    ] satisfies [string, string][];
    expect(await get(SUPPLY, { headers })).toMatchObject({ status: 200, height: "12" });
  });

  it.each([
    [
      "x",
      'Baseapp.RegisterGRPCServer: invalid height header "x-cosmos-block-height": strconv.ParseInt: parsing "x": invalid syntax',
    ],
    ["-3", "cannot query with height < 0; please provide a valid height"],
  ])("%s is refused", async (height, text) =>
    expect(await get(SUPPLY, { headers: { "x-cosmos-block-height": height } })).toEqual({
      status: 500,
      height: null,
      body: { code: 2, message: `codespace sdk code 18: invalid request: ${text}`, details: [] },
    }),
  );
});

describe("unusual requests", () => {
  it.each([
    ["POST", "/cosmos/bank/v1beta1/params"],
    ["PUT", "/cosmos/bank/v1beta1/params"],
    ["GET", "/cosmos/tx/v1beta1/simulate"],
    ["GET", "/cosmos/bank/v1beta1/params/"],
    ["GET", "/cosmos/bank/v1beta1/denom_owners/:x"],
  ])("%s %s is not implemented", async (method, path) =>
    expect(await get(path, { method })).toMatchObject({ status: 501, body: NOT_IMPLEMENTED }),
  );

  it("a form may be posted for a query that is too long for a URL", async () => {
    const init = {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: "denom=untrn",
    };
    const posted = await get("/cosmos/bank/v1beta1/supply/by_denom", init);
    expect(posted).toEqual(await get(SUPPLY));
    expect(posted.status).toBe(200);
  });

  it("a slash in a value may be escaped or plain", async () => {
    const denom = "ibc/4E41ED8F3DCAEA15F4D6ADC6EDD7C04A676160735C9710B904B7BF53525B56D6";
    const plain = await get(`/cosmos/bank/v1beta1/denom_owners/${denom}`);
    expect(plain.body).toMatchObject({ denom_owners: [{ address: RECORDED_ACCOUNT }] });
    expect((await get(`/cosmos/bank/v1beta1/denom_owners/${encodeURIComponent(denom)}`)).body).toEqual(
      plain.body,
    );
  });

  it("broken escapes are refused: in the path by the server, in the query by the gateway", async () => {
    expect(await raw("GET /cosmos/%zz")).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(await get("/cosmos/bank/v1beta1/supply/by_denom?denom=%zz")).toMatchObject({
      status: 400,
      body: { code: 3, message: 'invalid URL escape "%zz"', details: [] },
    });
  });

  it("a body beyond 4 MB is refused", async () => {
    const answer = await fetch(`${node.restUrl}/cosmos/tx/v1beta1/decode`, {
      method: "POST",
      body: "x".repeat(4_000_001),
    });
    expect(answer.status).toBe(413);
  });

  it("a HEAD request gets a status and no body", async () => {
    expect(await get("/cosmos/bank/v1beta1/params", { method: "HEAD" })).toEqual({
      status: 501,
      height: null,
      body: "",
    });
  });
});

describe("transactions over REST", () => {
  let local: RecordedNode;
  beforeAll(async () => {
    local = await startRecordedNode();
  });
  afterAll(() => local.stop());

  const post = async (
    url: string,
    path: string,
    body: unknown,
  ): Promise<{ status: number; body: unknown }> => {
    const answer = await fetch(`${url}${path}`, { method: "POST", body: JSON.stringify(body) });
    return { status: answer.status, body: await answer.json() };
  };

  it("are found by events, with limit and order", async () => {
    const search = `${local.restUrl}/cosmos/tx/v1beta1/txs?query=tx.height%3D12`;
    for (const order of ["2", "ORDER_BY_DESC"]) {
      expect(await (await fetch(`${search}&limit=1&order_by=${order}`)).json()).toMatchObject({
        total: "1",
        pagination: null,
        tx_responses: [{ height: "12", code: 0 }],
      });
    }
    const refused = await fetch(`${search}&order_by=desc`);
    expect(refused.status).toBe(400);
    expect(await refused.json()).toEqual({
      code: 3,
      message: "desc is not a valid tx.OrderBy",
      details: [],
    });
  });

  it("decode and encode to the same bytes", async () => {
    const tx_bytes = recordedTxBase64();
    const decoded = await post(local.restUrl, "/cosmos/tx/v1beta1/decode", { tx_bytes });
    expect(await post(local.restUrl, "/cosmos/tx/v1beta1/encode", decoded.body)).toEqual({
      status: 200,
      body: { tx_bytes },
    });
  });

  it("of another chain's name do not decode", async () => {
    const decoded = await post(node.restUrl, "/cosmos/tx/v1beta1/decode", { tx_bytes: recordedTxBase64() });
    expect(decoded).toMatchObject({
      status: 500,
      body: { code: 2, message: expect.stringContaining("/neutron.interchainqueries.MsgSubmitQueryResult") },
    });
  });
});
