import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../../../src/platform/base/clock.ts";
import { fromUtf8, toHex, utf8 } from "../../../../src/platform/base/bytes.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../../../src/platform/base/json.ts";
import { silentLogger } from "../../../../src/platform/base/logger.ts";
import { Secret } from "../../../../src/platform/base/secret.ts";
import { accountNamed, CHAINS, type ChainPart } from "../../../../src/localnet/accounts/chains.ts";
import { createLocalnet, type RunningLocalnet } from "../../../../src/localnet/network/create-localnet.ts";
import { messageFromJson, messageToJson } from "../../../../src/cosmos/proto/json.ts";
import {
  QuerySmartContractStateRequest,
  QuerySmartContractStateResponse,
} from "../../../../src/cosmos/proto/gen/cosmwasm/wasm/v1/query.ts";

const TOKEN = "test-token";
const POWERS = [20n, 5n, 2n];
const free = (portOption: string) => ({ host: "127.0.0.1", port: 0, portOption });

const home = mkdtempSync(join(tmpdir(), "relaywatch-hooks-"));
let running: RunningLocalnet;
let stop: () => Promise<void>;

async function start(): Promise<void> {
  const stopping = new AbortController();
  const chain = { validatorPowers: POWERS };
  const localnet = createLocalnet(
    {
      chains: {
        local: { ...chain, rpc: free("--local-rpc"), scenario: "hooks-demo" },
        remote: { ...chain, rpc: free("--remote-rpc") },
      },
      home,
      blockTimeMs: 60_000,
      remoteRpcUrl: "http://127.0.0.1:1",
      control: { address: free("--control-port"), token: new Secret(TOKEN) },
    },
    { clock: systemClock, logger: silentLogger },
  );
  const done = localnet.run(stopping.signal);
  done.catch(() => {});
  running = await localnet.ready;
  stop = async () => {
    stopping.abort(new Error("test over"));
    await done;
  };
}

beforeAll(start);
afterAll(async () => {
  await stop();
  rmSync(home, { recursive: true, force: true });
});

function viewOf(part: ChainPart) {
  return running.chains[part]?.view ?? expect.unreachable(`no ${part} chain`);
}

async function control(chain: string, command: string, body: object): Promise<void> {
  const reply = await fetch(`http://127.0.0.1:${running.controlPort}/chains/${chain}/${command}`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(reply.status).toBe(200);
}

const produce = (count: number, chain = "local-1") => control(chain, "blocks", { count });

function heightOf(part: ChainPart = "local"): bigint {
  return viewOf(part).status().latestHeight;
}

/** The hooks of a block as `echo` received them: name, and place in the block. */
function hooksAt(height: bigint): readonly string[] {
  return (viewOf("local").results(height)?.events ?? []).flatMap(({ type, attributes }) => {
    const text = attributes.find(({ key }) => key === "sudo")?.value;
    const mode = attributes.find(({ key }) => key === "mode")?.value ?? "";
    return type === "wasm" && text !== undefined ? [`${mode} ${Object.keys(JSON.parse(text)).join()}`] : [];
  });
}

function addressOf(index: number): string {
  const set = viewOf("local").validators(1n)?.validators ?? [];
  const power = POWERS[index];
  return toHex(set.find((one) => one.power === power)?.address ?? new Uint8Array());
}

function signersAt(height: bigint): number {
  return (viewOf("local").commit(height)?.signatures ?? []).filter(({ flag }) => flag === 2).length;
}

/** Queries a module: its REST JSON. */
function query(part: ChainPart, method: string, request: JsonObject = {}): JsonValue {
  const [service = "", rpc = ""] = method.split("/");
  const name = service.replace(/Query$/, `Query${rpc}`);
  const path = `/${service}/${rpc}`;
  const data = messageFromJson(`${name}Request`, request);
  const { code, log, value } = viewOf(part).query({ path, data, height: 0n, prove: false });
  expect(log, `code ${code}`).toBe("");
  return messageToJson(`${name}Response`, value);
}

/** The second subscriber of a hook type that both contracts have. */
function votingPowerAddress(): string {
  const response = query("local", "neutron.harpoon.Query/SubscribedContracts", { hook_type: 1 });
  const list = isRecord(response) ? response["contract_addresses"] : undefined;
  return Array.isArray(list) ? String(list[1]) : "";
}

function askPower(message: JsonObject): JsonValue {
  const data = QuerySmartContractStateRequest.encode({
    address: votingPowerAddress(),
    queryData: utf8(JSON.stringify(message)),
  }).finish();
  const path = "/cosmwasm.wasm.v1.Query/SmartContractState";
  const { value, log } = viewOf("local").query({ path, data, height: 0n, prove: false });
  expect(log).toBe("");
  return JSON.parse(fromUtf8(QuerySmartContractStateResponse.decode(value).data));
}

function totalPower(): unknown {
  const answer = askPower({ total_power_at_height: {} });
  return isRecord(answer) ? answer["power"] : undefined;
}

function statuses(part: ChainPart): readonly unknown[] {
  const response = query(part, "cosmos.staking.v1beta1.Query/Validators");
  const list = isRecord(response) ? response["validators"] : undefined;
  return (Array.isArray(list) ? list : [])
    .map((one) => (isRecord(one) ? `${String(one["status"])} ${String(one["tokens"])}` : ""))
    .toSorted();
}

describe("localnet with the scenario hooks-demo", () => {
  it("has both contracts subscribed before the validators bond", async () => {
    await produce(3);
    expect(totalPower()).toBe("27000000");
    const { address } = accountNamed(CHAINS.local, "operator");
    expect(askPower({ voting_power_at_height: { address } })).toEqual({
      power: "20000000",
      height: Number(heightOf()),
    });
  });

  it("shows all hooks of a double sign in order, and the blocks are signed without the validator", async () => {
    await control("local-1", "double-sign", { validator: addressOf(2) });
    await produce(1);
    const height = heightOf();
    expect(hooksAt(height)).toEqual([
      "BeginBlock before_validator_modified",
      "BeginBlock before_validator_slashed",
      "EndBlock after_validator_begin_unbonding",
      "EndBlock after_unbonding_initiated",
    ]);
    expect(totalPower()).toBe("25000000");
    await produce(3);
    expect([signersAt(height), signersAt(height + 2n)]).toEqual([3, 2]);
  });

  it("shows all hooks of a validator that was down for a window", async () => {
    await control("local-1", "absent", { validators: [addressOf(1)] });
    const from = heightOf();
    await produce(110);
    const slashed = Array.from({ length: 110 }, (_, index) => from + BigInt(index) + 1n).filter(
      (height) => hooksAt(height).length > 0,
    );
    expect(slashed).toHaveLength(1);
    expect(hooksAt(slashed[0] ?? 0n)).toEqual([
      "BeginBlock before_validator_modified",
      "BeginBlock before_validator_slashed",
      "EndBlock after_validator_begin_unbonding",
      "EndBlock after_unbonding_initiated",
    ]);
    expect(totalPower()).toBe("20000000");
    expect(signersAt(heightOf())).toBe(1);
  });

  it("goes on with the state of both chains after a restart with the same home", async () => {
    await produce(2, "remote-1");
    await control("remote-1", "double-sign", {
      validator: toHex(
        viewOf("remote")
          .validators(1n)
          ?.validators.find(({ power }) => power === 2n)?.address ?? new Uint8Array(),
      ),
    });
    await produce(2, "remote-1");
    const parts = ["local", "remote"] as const;
    const stateOf = () =>
      parts.map((part) => [heightOf(part), statuses(part), viewOf(part).status().latestAppHash]);
    const infos = query("local", "cosmos.slashing.v1beta1.Query/SigningInfos");
    const before = stateOf();
    expect(before.map(([, list]) => list)).toEqual([
      ["BOND_STATUS_BONDED 20000000", "BOND_STATUS_UNBONDING 1900000", "BOND_STATUS_UNBONDING 4950000"],
      ["BOND_STATUS_BONDED 20000000", "BOND_STATUS_BONDED 5000000", "BOND_STATUS_UNBONDING 1900000"],
    ]);
    await stop();
    await start();
    expect(stateOf()).toEqual(before);
    expect(query("local", "cosmos.slashing.v1beta1.Query/SigningInfos")).toEqual(infos);
    await produce(3);
    await produce(3, "remote-1");
    expect(signersAt(heightOf())).toBe(1);
    expect(totalPower()).toBe("20000000");
    expect(statuses("remote")).toEqual(before[1]?.[1]);
  });
});
